"""Which rules hold for one request, and which of them decides what (FORMAT.md). Pure."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from agent.errors import UsageError
from policy.hosts import HostIndex, host_of
from policy.precedence import Attributes, Precedence, Verdicts
from policy.rules import ANY, GROUP, SIGN, Policy, Pools, Rule, Words, spoken
from policy.services import Search, SearchEngine, engine_at, engines, home_of, usable
from policy.settings import Carry

Ranked = tuple[Rule, int]
BEGIN = 2  # characters
KEPT = 4096  # recipients, and combinations of rules


class RecipientIndex:
    """Rules by the recipients that they name, each with how specific it is there."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        """Take the rules; one that names no recipient is for everybody."""
        listed = [*rules]
        self._anywhere = [rule for rule in listed if rule.anywhere]
        self._hosts = HostIndex((each, rule) for rule in listed for each in rule.recipients)
        self._groups: dict[str | None, list[Rule]] = {}
        for rule in listed:
            for group in rule.groups:
                self._groups.setdefault(group, []).append(rule)

    def by(self, host: str, group: str | None) -> Iterator[Ranked]:
        """Yield the rules for a canonical host in a group, each once, with its highest rank."""
        found: dict[Rule, int] = {}
        for rule, rank in self._hosts.find(host):
            found.setdefault(rule, rank)
        for rule in self._groups.get(group, ()):
            found.setdefault(rule, GROUP)
        yield from found.items()
        for rule in self._anywhere:
            yield rule, ANY


class QueryIndex:
    """Rules by the queries that they name."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        """Take the rules; those that name no query are found by none."""
        rules_of: dict[Words, list[Rule]] = {}
        for rule in rules:
            for words in rule.queries:
                rules_of.setdefault(words, []).append(rule)
        self._begun: dict[str, list[tuple[Words, list[Rule]]]] = {}
        for words, named in rules_of.items():
            # A query with the words has their beginning, up to the first * at the least.
            begin = words.text.partition("*")[0][:BEGIN]
            self._begun.setdefault(begin, []).append((words, named))
        self._sizes = {len(begin) for begin in self._begun}

    def find(self, query: str) -> Mapping[Rule, int]:
        """Return the rules for a spoken query, each with how specific it is there."""
        found: dict[Rule, int] = {}
        begins = {query[at : at + size] for size in self._sizes for at in range(len(query))}
        for begin in self._begun.keys() & begins:
            for words, rules in self._begun[begin]:
                if words.matches(query):
                    for rule in rules:
                        found[rule] = max(found.get(rule, 0), words.rank)
        return found


@dataclass(frozen=True, slots=True)
class Ruling:
    """What a policy decides about one request.

    ``host``: the recipient; ``pool``: who shares what it learns: its registered domain, or
    ``@`` and its group; ``settings``: of the request, by key, where any rule or default has one;
    ``attributes``: for each name asked about, the same of ``disclose``, ``sensitivity``, ``guard``;
    ``known``: what each of them goes by.
    """

    host: str
    pool: str
    settings: Verdicts
    attributes: Mapping[str, Verdicts]
    known: Attributes

    @property
    def carry(self) -> Carry:
        """How facts reach the recipient."""
        carry: Carry = self.settings["carry"].value  # type: ignore[assignment]  # as it was read
        return carry

    @property
    def engine(self) -> SearchEngine | None:
        """The search engine that the recipient is, None where nothing says so."""
        verdict = self.settings.get("engine")
        name = engine_at(self.host) if verdict is None else str(verdict.value)
        return None if name is None else engines()[name]


class Rulebook:
    """A policy made ready to be asked often, about the same attributes.

    Rules that hold for every request are compared once; those that hold for one join them.
    """

    def __init__(self, policy: Policy, attributes: Attributes) -> None:
        """Take the policy, and the attributes that it is asked about."""
        self.policy = policy
        self._known = attributes
        self._precedence = Precedence(policy.rules, attributes)
        self._pools = Pools(policy.groups)
        self._places = {rule: place for place, rule in enumerate(policy.rules)}
        some = [rule for rule in policy.rules if not rule.lasting]
        self._asks = any(rule.queries for rule in some)
        self._queries = QueryIndex(some)
        self._of_queries = {rule for rule in some if rule.queries and rule.anywhere}
        self._reached = RecipientIndex(rule for rule in some if rule not in self._of_queries)
        self._recipient = lru_cache(KEPT)(self._found)
        self._verdicts = lru_cache(KEPT)(self._precedence.verdicts)

    def match(self, recipient: str, query: str, today: date) -> Ruling:
        """Return the ruling for a request.

        ``recipient``: a host or an address; ``today``: for rules that expire. UsageError where
        the recipient is not a host.
        """
        host, pool, reached = self._recipient(recipient)
        asked = self._queries.find(spoken(query)) if self._asks else {}
        ranked = [
            (rule, rank, asked.get(rule, ANY))
            for rule, rank in reached
            if not rule.queries or rule in asked
        ]
        ranked += [(rule, ANY, words) for rule, words in asked.items() if rule in self._of_queries]
        matched = sorted(
            (self._places[rule], rank, words)
            for rule, rank, words in ranked
            if not rule.is_over(today)
        )
        return Ruling(host, pool, *self._verdicts(tuple(matched)), self._known)

    def refusing(self, recipient: str, today: date) -> Rule | None:
        """Return the rule by which a recipient gets nothing, whatever the query; None for none.

        UsageError where the recipient is not a host.
        """
        nothing = self.match(recipient, "", today).settings["nothing"]
        return nothing.rule if nothing.value is True else None

    def _found(self, recipient: str) -> tuple[str, str, tuple[Ranked, ...]]:
        """Return its host, who that pools with, and the rules for it that need not always hold."""
        if recipient in self.policy.groups:
            raise UsageError(f"{recipient!r} is a group", "name one of its members")
        host = host_of(recipient)
        pool = self._pools.of(host)
        group = pool.removeprefix(SIGN) if pool.startswith(SIGN) else None
        return host, pool, tuple(self._reached.by(host, group))

    def searches(self, today: date) -> Iterator[Search]:
        """Yield the searches that browsers can use, of recipients that get anything.

        Each is of the rule that decides about its own host on that day; some may come twice.
        """
        for rule in self.policy.rules:
            text = rule.settings.get("search")
            search = usable(text) if isinstance(text, str) and not rule.is_over(today) else None
            if search is None or self.refusing(search.host, today):
                continue
            if self.match(search.host, "", today).settings["search"].value == text:
                yield search

    def assistants(self, today: date) -> Iterator[tuple[str, str]]:
        """Yield the host and the origin of each assistant, of those that get anything.

        The origin as browsers write it: scheme, host, and a port that is not the usual one.
        """
        for rule in self.policy.rules:
            text = rule.settings.get("address")
            if not isinstance(text, str) or rule.is_over(today):
                continue
            try:
                host, origin = home_of(text)
            except UsageError:  # a port that is none: browsers go nowhere
                continue
            settings = self.match(host, "", today).settings
            if settings["address"].value != text or self.refusing(host, today) is not None:
                continue
            if "assistant" in settings and settings["assistant"].value is True:
                yield host, origin

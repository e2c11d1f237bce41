"""Which rules hold for one request, and which of them decides what (FORMAT.md). Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from operator import attrgetter
from typing import Literal, NamedTuple

from agent.errors import UsageError
from policy.hosts import HostIndex, host_of
from policy.rules import ANY, GROUP, SIGN, NamePattern, Policy, Pools, Reach, Rule, Words, spoken
from policy.services import Search, SearchEngine, engine_at, engines, home_of, usable
from policy.settings import SETTINGS, Carry, Value

GUARDED = "guarded"
PER_ATTRIBUTE = tuple(key for key, each in SETTINGS.items() if each.about == "attribute")
WHOLE = tuple(key for key in SETTINGS if key not in PER_ATTRIBUTE)
NOTHING = "nothing"
Matched = tuple[int, int, int]  # a rule's place, and how specific it is in recipient and query
Why = Literal["block", "more specific", "later layer", "stricter", "later", "the same"]


class Known(NamedTuple):
    """An attribute as models know it, one or several.

    ``concepts``: what it is called across models, more than one where they call several facts
    alike; ``names``: all that any model calls these, so all by which a rule can mean it.
    """

    concepts: frozenset[str]
    names: frozenset[str]


Attributes = Mapping[str, Known]  # by the name that is asked about


def known(*names: str) -> dict[str, Known]:
    """Return attributes that every model calls by the same name."""
    return {name: Known(frozenset({name}), frozenset({name})) for name in names}


class Contender(NamedTuple):
    """A rule that holds, how specific it is here, what it sets, and how strict that is.

    ``strictness``: of a setting that knows no stricter, the place of the rule: the later wins.
    """

    rule: Rule
    reach: Reach
    value: Value
    strictness: float


class Verdict(NamedTuple):
    """A value, the rule that decided it, and what all rules claim that might have."""

    value: Value
    rule: Rule
    claims: tuple[Contender, ...] = ()

    @property
    def lost(self) -> tuple[Rule, ...]:
        """The rules that lost to the one that decided."""
        return tuple(claim.rule for claim in self.claims if claim.rule is not self.rule)


Verdicts = Mapping[str, Verdict]
Claims = dict[str, list[Contender]]


class Decided(NamedTuple):
    """A verdict, and those of its claims that no other beats."""

    verdict: Verdict
    unbeaten: tuple[Contender, ...]


def may(verdicts: Verdicts) -> str:
    """Return what may happen to an attribute: how it is disclosed, or that it is guarded."""
    guard = verdicts.get("guard")
    if guard is not None and float(guard.value) > 0:
        return GUARDED
    return str(verdicts["disclose"].value)


def decide(claims: Sequence[Contender], before: Decided | None = None) -> Decided:
    """Return what claims decide, together with those that were compared before.

    What these have beaten stays beaten: whatever beats the rule that beat it beats it as well.
    """
    settled = () if before is None else before.verdict.claims
    together = (*(() if before is None else before.unbeaten), *claims)
    unbeaten = together
    for other in together:
        unbeaten = tuple(claim for claim in unbeaten if not _outranks(other, claim))
    best = max(unbeaten, key=attrgetter("strictness"))  # the first of equals
    return Decided(Verdict(best.value, best.rule, (*settled, *claims)), unbeaten)


def _outranks(one: Contender, other: Contender) -> Why | None:
    """Say why a rule wins whatever its value; None where it does not.

    In one file, if it is more specific; over a preset, if it is at least as specific. What beats
    the winner beats the loser too.
    """
    own, its = one[1], other[1]
    layer, its_layer = one[0].layer, other[0].layer
    if layer < its_layer or own[0] < its[0] or own[1] < its[1] or own[2] < its[2]:
        return None
    if own != its:
        return "more specific"
    return "later layer" if layer > its_layer else None


class Precedence:
    """The rules of a policy, those that always hold compared once."""

    def __init__(self, rules: Sequence[Rule], names: Attributes) -> None:
        """Take the rules, and the attributes that are asked about."""
        self._rules = rules
        self._ranks = _ranks(rules, names)
        general = Claims()
        for place, rule in enumerate(rules):
            if rule.lasting and not rule.attributes:
                _add(general, rule, Reach(ANY, ANY, ANY), place)
        self._always = {key: decide(general[key]) for key in WHOLE if key in general}
        named = [rule for rule in rules if rule.lasting and rule.attributes]
        alike: dict[tuple[str, tuple[int | None, ...]], Mapping[str, Decided]] = {}
        self._attributes: dict[str, Mapping[str, Decided]] = {}
        for name in names:
            several = len(names[name].names) > 1
            ranks = tuple(self._ranks[rule].get(name) for rule in named)
            key = (name if several else "", ranks)
            if key not in alike:
                claims = {each: [*general[each]] for each in PER_ATTRIBUTE if each in general}
                ranked = [*zip(named, ranks, strict=True)]
                if several:  # of equals the rule decides that has the name that is asked about
                    own = {
                        rule for rule, _ in ranked if any(p.matches(name) for p in rule.attributes)
                    }
                    ranked.sort(key=lambda each: each[0] not in own)
                for rule, rank in ranked:
                    if rank is not None:
                        _add(claims, rule, Reach(ANY, rank, ANY))
                alike[key] = {each: decide(claims[each]) for each in claims}
            self._attributes[name] = alike[key]

    def verdicts(self, matched: Iterable[Matched]) -> tuple[Verdicts, Mapping[str, Verdicts]]:
        """Return what is decided of the request, and of each attribute.

        ``matched``: the rules that hold now and need not always.
        """
        general, about, block = Claims(), list[tuple[Rule, Matched]](), None
        for each in matched:
            rule = self._rules[each[0]]
            if not rule.attributes:
                _add(general, rule, Reach(each[1], ANY, each[2]), each[0])
                block = block or (rule if rule.blocks else None)
            if any(key in rule.settings for key in PER_ATTRIBUTE):
                about.append((rule, each))
        settings = _joined(WHOLE, self._always, general)
        if block is not None:  # it wins over everything
            settings[NOTHING] = settings[NOTHING]._replace(value=True, rule=block)
        return settings, _Attributes(self._attributes, self._ranks, about)


class _Attributes(Mapping[str, Verdicts]):
    """What is decided about each attribute, computed when it is asked for."""

    def __init__(
        self,
        always: Mapping[str, Mapping[str, Decided]],
        ranks: Mapping[Rule, Mapping[str, int]],
        about: Sequence[tuple[Rule, Matched]],
    ) -> None:
        self._always, self._ranks, self._about = always, ranks, about
        self._found: dict[str, Verdicts] = {}
        self._alike: dict[tuple[object, ...], Verdicts] = {}

    def __getitem__(self, name: str) -> Verdicts:
        if name in self._found:
            return self._found[name]
        always = self._always[name]
        ranks = tuple(
            self._ranks[rule].get(name) if rule.attributes else ANY for rule, _ in self._about
        )
        alike = (id(always), *ranks)
        if alike not in self._alike:
            claims = Claims()
            for (rule, (_, recipient, query)), rank in zip(self._about, ranks, strict=True):
                if rank is not None:
                    _add(claims, rule, Reach(recipient, rank, query))
            self._alike[alike] = _joined(PER_ATTRIBUTE, always, claims)
        self._found[name] = self._alike[alike]
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._always)

    def __len__(self) -> int:
        return len(self._always)


def _ranks(rules: Iterable[Rule], names: Attributes) -> Mapping[Rule, Mapping[str, int]]:
    """Return the attributes that each rule is about by any name, with how specific it is."""
    by_rule: dict[Rule, dict[str, int]] = {}
    matching: dict[NamePattern, list[str]] = {}
    for rule in rules:
        for pattern in rule.attributes:
            if pattern not in matching:
                matching[pattern] = [
                    name for name, each in names.items() if any(map(pattern.matches, each.names))
                ]
            ranks = by_rule.setdefault(rule, {})
            for name in matching[pattern]:
                ranks[name] = max(ranks.get(name, ANY), pattern.rank)
    return by_rule


def _joined(
    keys: Iterable[str], always: Mapping[str, Decided], claims: Claims
) -> dict[str, Verdict]:
    """Return what is decided when claims join those that always hold."""
    verdicts = {}
    for key in keys:
        decided = always.get(key)
        if key in claims:
            decided = decide(claims[key], decided)
        if decided is not None:
            verdicts[key] = decided.verdict
    return verdicts


def _add(claims: Claims, rule: Rule, reach: Reach, place: int = 0) -> None:
    """Add what a rule claims; ``place``: its place, which decides where there is no order."""
    for key, value in rule.settings.items():
        setting = SETTINGS[key]
        strictness = setting.strictness(value) if setting.order else float(place)
        claims.setdefault(key, []).append(Contender(rule, reach, value, strictness))


class Loss(NamedTuple):
    """A rule that lost, its value, the rule that it lost to, and why."""

    rule: Rule
    value: Value
    winner: Rule
    why: Why


def losses(key: str, verdict: Verdict) -> Iterator[Loss]:
    """Yield why each rule lost that has the setting too, in the order of the verdict."""
    best_first = sorted(verdict.claims, key=lambda claim: claim.rule is not verdict.rule)
    for claim in best_first[1:]:
        reasons = [(each.rule, _outranks(each, claim)) for each in best_first]
        winner, why = next((each for each in reasons if each[1]), (verdict.rule, None))
        if key == NOTHING and verdict.rule.blocks:
            winner, why = verdict.rule, "the same" if claim.rule.blocks else "block"
        if why is None and verdict.value == claim.value:
            why = "the same"
        elif why is None:
            why = "stricter" if SETTINGS[key].order else "later"
        yield Loss(claim.rule, claim.value, winner, why)


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
        ranks: dict[Rule, int] = {}
        for rule, rank in self._hosts.find(host):
            ranks.setdefault(rule, rank)
        for rule in self._groups.get(group, ()):
            ranks.setdefault(rule, GROUP)
        yield from ranks.items()
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
        ranks: dict[Rule, int] = {}
        begins = {query[at : at + size] for size in self._sizes for at in range(len(query))}
        for begin in self._begun.keys() & begins:
            for words, rules in self._begun[begin]:
                if words.matches(query):
                    for rule in rules:
                        ranks[rule] = max(ranks.get(rule, 0), words.rank)
        return ranks


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
        by_query = self._queries.find(spoken(query)) if self._asks else {}
        ranked = [
            (rule, rank, by_query.get(rule, ANY))
            for rule, rank in reached
            if not rule.queries or rule in by_query
        ]
        ranked += [
            (rule, ANY, words) for rule, words in by_query.items() if rule in self._of_queries
        ]
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

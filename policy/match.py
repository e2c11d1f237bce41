"""Which rules hold for one request, and which of them decides what (FORMAT.md). Pure."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from urllib.parse import unquote

from agent.errors import UsageError
from policy.engines import Engine, engine_at, engines
from policy.hosts import HIGHEST_PORT, HostIndex, host_of
from policy.precedence import Attributes, Precedence, Verdicts
from policy.rules import ANY, GROUP, SIGN, Policy, Pools, Rule, Words, spoken
from policy.settings import Carry

Ranked = tuple[Rule, int]
BEGIN = 2  # characters
KEPT = 4096  # recipients, and combinations of rules
SLOT = "{query}"
LONGEST = 2000  # characters of an address
TOO_LONG = f"it has more than {LONGEST} characters"
WRITE = f"write it like https://search.example/find?q={SLOT}"
_OF_THIS_MACHINE = re.compile(r"(?:[a-z0-9-]+\.)*localhost|127(?:\.[0-9]{1,3}){3}|::1")
_FORM = re.compile(r"(https?)://([^/?#\\]+)(/[^?#]*)?\?([^?#][^#]*)")
_HOME = re.compile(r"(https?)://([^\s/?#@{}\\]+)/?")
_AUTHORITY = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\[\]:]+)(?::([0-9]{1,5}))?")
_PATH = re.compile(r"(?:/(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})*)*")
_DOTS = re.compile(r"/(?:\.|%2e){1,2}(?:/|\Z)", re.IGNORECASE)  # which browsers take out
_PARAMETER = re.compile(r"[A-Za-z0-9._-]+")  # what is the same however a browser writes it
_FIXED = re.compile(r"(?:[A-Za-z0-9._~!$()*+,;=:@/-]|%[0-9A-Fa-f]{2})*")
_USUAL_PORTS = {"http": 80, "https": 443}


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
    def engine(self) -> Engine | None:
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


@dataclass(frozen=True, slots=True, order=True)
class Search:
    """Where a recipient is searched: its canonical ``host``, and the address as browsers write it.

    ``{query}`` is in ``text`` once, as the whole value of one parameter of the query string.
    """

    host: str
    text: str

    @classmethod
    def parse(cls, text: str) -> "Search":
        """Return the search at an address; UsageError where a browser could not tell it.

        There is no user and no fragment in it, and nothing that browsers write in another way; a
        host in any script is written in punycode, and a usual port is left out.
        Source: RFC 3986, 3; WHATWG URL, 4.4.
        """
        if len(text) > LONGEST:
            raise _unfit(TOO_LONG)
        if in_clear(text):
            raise _unfit("it is not https, so the network could read what it carries")
        found = _FORM.fullmatch(text)
        if found is None or text.count(SLOT) != 1:
            raise _unfit(f"it is not a web address with {SLOT} once, after the ?")
        scheme, authority, path, rest = found.groups(default="/")
        host, origin = _origin(scheme, authority)
        if not _PATH.fullmatch(path) or _DOTS.search(path):
            raise _unfit("browsers write its path in another way")
        _check_parameters(rest.split("&"))
        written = f"{origin}{path}?{rest}"
        if len(written) > LONGEST:  # punycode is longer
            raise _unfit(TOO_LONG)
        return cls(host, written)


def in_clear(text: str) -> bool:
    """Say whether the network reads what is sent to an address: not https, nor this machine's http.

    A host alone says nothing of that.
    """
    scheme, separator, _ = text.lower().partition("://")
    if not separator or scheme == "https":
        return False
    try:
        return scheme != "http" or _OF_THIS_MACHINE.fullmatch(host_of(text)) is None
    except UsageError:
        return True


def usable(text: str) -> Search | None:
    """Return the search at an address, None where a browser could not tell it."""
    try:
        return Search.parse(text)
    except UsageError:
        return None


def searches(book: Rulebook, today: date) -> Iterator[Search]:
    """Yield the searches of a policy that browsers can use, of recipients that get anything.

    Each is of the rule that decides about its own host on that day; some may come twice.
    """
    for rule in book.policy.rules:
        text = rule.settings.get("search")
        search = usable(text) if isinstance(text, str) and not rule.is_over(today) else None
        if search is None or book.refusing(search.host, today):
            continue
        if book.match(search.host, "", today).settings["search"].value == text:
            yield search


def assistants(book: Rulebook, today: date) -> Iterator[tuple[str, str]]:
    """Yield the host and the origin of each assistant of a policy, of those that get anything.

    The origin as browsers write it: scheme, host, and a port that is not the usual one.
    """
    for rule in book.policy.rules:
        text = rule.settings.get("address")
        if not isinstance(text, str) or rule.is_over(today):
            continue
        try:
            host, origin = home_of(text)
        except UsageError:  # a port that is none: browsers go nowhere
            continue
        settings = book.match(host, "", today).settings
        if settings["address"].value != text or book.refusing(host, today) is not None:
            continue
        if "assistant" in settings and settings["assistant"].value is True:
            yield host, origin


def home_of(text: str) -> tuple[str, str]:
    """Return the canonical host of a whole site's address, and its origin as browsers write it.

    UsageError where it is none, or where the network reads what is sent there.
    """
    found = _HOME.fullmatch(text)
    if found is None or in_clear(text):
        what = f"{text!r} is not the https address of a whole site"
        raise UsageError(what, "write it like https://chat.example/")
    return _origin(found[1], found[2])


def _origin(scheme: str, authority: str) -> tuple[str, str]:
    """Return the canonical host, and the origin as browsers write it."""
    if "@" in authority:
        raise _unfit("it has a user")
    found = _AUTHORITY.fullmatch(authority)
    if found is None:
        raise _unfit("its host or port is not valid")
    port = None if found[2] is None else int(found[2])
    if port is not None and not 0 < port <= HIGHEST_PORT:
        raise _unfit(f"{port} is not a port")
    host = host_of(found[1])
    place = f"[{host}]" if ":" in host else host
    place += "" if port in (None, _USUAL_PORTS[scheme]) else f":{port}"
    return host, f"{scheme}://{place}"


def _check_parameters(parts: Sequence[str]) -> None:
    """Raise UsageError where {query} is not the whole value of one parameter with that name."""
    name, _, slot = next(part for part in parts if SLOT in part).partition("=")
    if slot != SLOT or not _PARAMETER.fullmatch(name):
        raise _unfit(f"{SLOT} is not the whole value of a parameter")
    others = [part for part in parts if SLOT not in part]
    if not all(map(_FIXED.fullmatch, others)):
        raise _unfit("browsers write what is after its ? in another way")
    if any(unquote(part.partition("=")[0]) == name for part in others):
        raise _unfit(f"it has the parameter {name} twice")


def _unfit(why: str) -> UsageError:
    return UsageError(f"browsers cannot use this search: {why}", WRITE)

"""Past requests: how many in a minute, what is in no ledger, which rules decided, what they say.

The sources of request attributes are the clock and past requests. What a source says stands for the
request alone: it is no knowledge, and it never decides what is disclosed (DESIGN.md 2.6).
"""

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from operator import itemgetter
from types import MappingProxyType
from typing import Literal, NamedTuple

import msgspec

from agent.decision.values import Code, Reading
from agent.errors import VaultError
from agent.model.attributes import Attribute
from agent.model.reading import normalise
from agent.vault.store import Items
from agent.wire.decide import Answer, Ask, Clicked
from policy.match import Ruling, Verdicts
from policy.rules import Rule

Asker = Literal[
    "command", "user", "page", "program", "assistant", "draft"
]  # who asks, as the door says
MINUTE = timedelta(minutes=1)
RECORDED: Mapping[Asker, int] = MappingProxyType(
    {"user": 120, "page": 600, "program": 600, "assistant": 600}
)
# Whose places an asker takes.
SHARES: Mapping[Asker, Asker] = MappingProxyType({"page": "program", "assistant": "program"})
# Whose requests are so many a minute for each recipient, and the answer to one more.
CAPPED: Mapping[Asker, Code] = MappingProxyType(
    {"page": "too many from pages", "assistant": "too many", "draft": "too many"}
)
MOST_POOLS = (
    1000  # that are counted for these, each for one asker; the one that was counted first goes
)
MOST_SILENT = 1_000  # requests
ROOM = 2**20  # characters of them in all
KEPT_RULINGS = 256  # combinations of rules that are not looked into yet
MOST_RULES = 50_000  # of the policy and of those before it
_Answered = tuple[datetime, Verdicts, Mapping[str, Verdicts]]
Identity = tuple[object, ...]


class Rates:
    """What was decided in the last minute; it belongs to one thread, and is forgotten at a lock."""

    def __init__(self) -> None:
        self._recorded: defaultdict[Asker, deque[datetime]] = defaultdict(deque)
        self._of_capped: defaultdict[tuple[Asker, str], deque[datetime]] = defaultdict(deque)

    def is_capped(self, by: Asker, pool: str, most: int, now: datetime) -> bool:
        """Return whether an asker in `CAPPED` came to a pool so often; if not, this time counts.

        Each has its own count: neither can silence the other.
        """
        times = self._of_capped[by, pool]
        if _lately(times, now) >= most:
            return True
        times.append(now)
        if len(self._of_capped) > MOST_POOLS:
            del self._of_capped[next(iter(self._of_capped))]
        return False

    def is_full(self, by: Asker, now: datetime) -> bool:
        """Return whether as many requests of an asker are recorded as may be."""
        times = self._recorded[SHARES.get(by, by)]
        return by in RECORDED and _lately(times, now) >= RECORDED[by]

    def record(self, by: Asker, now: datetime) -> None:
        """Count a request that is recorded."""
        if by in RECORDED:
            self._recorded[SHARES.get(by, by)].append(now)

    def clear(self) -> None:
        """Forget who was asked, and when."""
        self._recorded.clear()
        self._of_capped.clear()


def _lately(times: deque[datetime], now: datetime) -> int:
    """Return how many times lie within a minute; a clock that is set back forgives nothing new."""
    while times and abs(now - times[0]) >= MINUTE:
        times.popleft()
    return len(times)


@dataclass(frozen=True, slots=True, repr=False)
class Silent:
    """A request that carried nothing.

    ``number``: below 0, by which it is known; ``after``: the entry of the ledger that was the last
    one then, which says better than a clock what came before what; ``waiting``: the attributes
    that waited for the user; ``read_as``: what it was read as.
    """

    number: int
    after: int
    at: datetime
    ask: Ask
    code: Code
    waiting: frozenset[str]
    read_as: Reading | None = None

    def __repr__(self) -> str:
        return f"Silent(number={self.number}, at={self.at.isoformat()})"

    @property
    def size(self) -> int:
        """How many characters it takes."""
        return len(self.ask.query) + len(self.ask.recipient) + sum(map(len, self.ask.asked or ()))


class SilentRequests:
    """The latest requests that carried nothing, and what waited where an entry says else.

    Numbers run from -1 downwards for as long as the daemon lives, so that none comes twice.
    """

    def __init__(self) -> None:
        self._silent: deque[Silent] = deque()
        self._size = 0
        self._number = 0
        self._waiting: dict[int, frozenset[str]] = {}

    def __iter__(self) -> Iterator[Silent]:
        """Yield the requests that carried nothing, in the order in which they came."""
        return iter(self._silent)

    def silent(self, ask: Ask, answer: Answer, after: int, at: datetime) -> int:
        """Remember a request that carried nothing, and return its number."""
        self._number -= 1
        summary, waiting, read_as = answer.summary, frozenset[str](), None
        if summary is not None:
            waiting, read_as = frozenset(summary.pending), summary.read_as
        silent = Silent(self._number, after, at, ask, answer.code, waiting, read_as)
        self._silent.append(silent)
        self._size += silent.size
        while len(self._silent) > MOST_SILENT or self._size > ROOM:
            self._size -= self._silent.popleft().size
        return silent.number

    def recorded(self, entry: int, answer: Answer) -> None:
        """Remember what waits beside what an entry of the ledger says."""
        if answer.summary is not None and answer.summary.pending:
            self._waiting[entry] = frozenset(answer.summary.pending)
            if len(self._waiting) > MOST_SILENT:
                del self._waiting[next(iter(self._waiting))]

    def replaced(self, number: int | None, entry: int, answer: Answer) -> None:
        """Forget a request that the ledger has by now, in this entry."""
        others = [each for each in self._silent if each.number != number]
        self._silent, self._size = deque(others), sum(each.size for each in others)
        self.recorded(entry, answer)

    def waiting(self, entry: int) -> frozenset[str]:
        """Return the attributes that waited at an entry, none where that is not known any more."""
        return self._waiting.get(entry, frozenset())

    def clear(self) -> None:
        """Forget all but how many there were."""
        self._silent.clear()
        self._waiting.clear()
        self._size = 0


class OfferedDraft(NamedTuple):
    """A draft that may be told: the question, when, the digest, and its number in the list."""

    ask: Ask
    at: datetime
    digest: bytes
    number: int | None


class RuleUsage:
    """When each rule last decided something about a request that was answered.

    A rule that says the same after the policy was read again is the same. ``since``: when it was
    begun to note that, None before.
    """

    def __init__(self) -> None:
        """Begin with none."""
        self.since: datetime | None = None
        self._answered: dict[int, _Answered] = {}  # by the id of its settings, which it keeps
        self._times: dict[Identity, datetime] = {}

    def begin(self, now: datetime) -> None:
        """Begin anew."""
        self.clear()
        self.since = now

    def clear(self) -> None:
        """Forget all that decided."""
        self._answered.clear()
        self._times.clear()

    def note(self, ruling: Ruling, at: datetime) -> None:
        """Note that a request was answered under a ruling; nothing else of it is kept."""
        self._answered[id(ruling.settings)] = (at, ruling.settings, ruling.attributes)
        if len(self._answered) > KEPT_RULINGS:
            self._sort_in()

    def at(self, rule: Rule) -> datetime | None:
        """Return when a rule last decided something, None where it has not yet."""
        self._sort_in()
        return self._times.get(_identity(rule))

    def _sort_in(self) -> None:
        """Take down the time of each rule that decided something, the latest as the last."""
        for at, settings, attributes in sorted(self._answered.values(), key=itemgetter(0)):
            verdicts = [settings, *attributes.values()]
            for rule in {verdict.rule for each in verdicts for verdict in each.values()}:
                key = _identity(rule)
                self._times.pop(key, None)
                self._times[key] = at
        self._answered.clear()
        for key in [*self._times][: max(len(self._times) - MOST_RULES, 0)]:
            del self._times[key]


def _identity(rule: Rule) -> Identity:
    """Return what identifies a rule after its policy is read again; its place may change."""
    parts = (*rule.settings.items(), *rule.conditions.items())
    return (rule.source, rule.path[:1], rule.name, *parts)


FROM, TO = 7, 18  # hours of the day, in the zone of the user, at which people work
SATURDAY = 5  # the first weekday at which they do not
MOST = 10_000  # queries
WEEK = timedelta(days=7)
DAY = timedelta(days=1)
SIZE = 16  # bytes of a digest
RECORD = "history"
ANSWERS = frozenset({"yes", "no"})
EVERY = timedelta(minutes=5)  # between two writings of the history
OF_QUERIES = frozenset({"asked_before", "visited_before"})
OF_HISTORY = OF_QUERIES | {"daily"}
SOURCES = OF_HISTORY | {"working_hours", "workday"}


class History(msgspec.Struct, forbid_unknown_fields=True):
    """Past requests: ``queries`` by digest, with whether a result was visited, oldest first.

    ``first``: when the first was made; ``requests``: how many were. The one thing of its room
    that changes in place: it is long, and changes with every request.
    """

    first: datetime | None = None
    requests: int = 0
    queries: dict[bytes, bool] = msgspec.field(default_factory=dict)

    def daily(self, at: datetime) -> bool:
        """Return whether there was a request a day, on average over a week or more."""
        span = at - self.first if self.first else timedelta()
        return span >= WEEK and self.requests >= span / DAY

    def note(self, query: str | None, at: datetime) -> None:
        """Take note of a request, None where its query is not to be kept; the oldest may go."""
        self.first = self.first or at
        self.requests += 1
        if query is not None:
            own = digest(query)
            self.queries[own] = self.queries.pop(own, False)
            if len(self.queries) > MOST:
                del self.queries[next(iter(self.queries))]

    def visit(self, query: str) -> bool:
        """Take note that a result was visited; say whether that is new. Of no unknown query."""
        own = digest(query)
        new = self.queries.get(own) is False
        if new:
            self.queries[own] = True
        return new


def history_of(record: bytes | None) -> History:
    """Return a history that was kept; an empty one if none can be read."""
    try:
        return msgspec.msgpack.decode(record or b"", type=History)
    except msgspec.DecodeError:
        return History()


def digest(query: str) -> bytes:
    """Return the digest of a query, the same for all spellings that a model treats alike."""
    return sha256(normalise(query).encode("utf-8", "surrogatepass")).digest()[:SIZE]


class Sources:
    """Answers for the request attributes that have a source; it belongs to one thread."""

    def __init__(self) -> None:
        """Begin while the vault is locked."""
        self._needed: frozenset[str] = frozenset()
        self._items: Items | None = None
        self._history: History | None = None
        self._changed = False
        self._written_at: datetime | None = None

    def opened(self, items: Items, names: frozenset[str], *, complete: bool = False) -> None:
        """Take the vault's records, once it is unlocked, and again when the models change.

        ``names``: all request attributes of the models in use; where none of them needs the
        history of queries, none is kept. ``complete``: no model is away that could need it, so
        what was kept goes. VaultError where it cannot.
        """
        self.closed()
        self._needed = names & OF_HISTORY
        record = items.get(RECORD)
        if self._needed:
            self._items, self._history = items, history_of(record)
        elif complete and record is not None:
            items.delete(RECORD)

    def closed(self) -> None:
        """Write what is not written yet, and forget it, before the vault is locked."""
        self._write()
        self._items, self._history, self._changed = None, None, False

    def available(self, attributes: Iterable[Attribute]) -> frozenset[str]:
        """Return those that a source can answer for any request.

        An attribute must be a yes-no question; past requests must be kept if it is about them.
        """
        return frozenset(
            each.name
            for each in attributes
            if each.name in SOURCES
            and (self._history is not None or each.name not in OF_HISTORY)
            and ANSWERS.issubset(each.values)
        )

    def values(self, names: Iterable[str], ask: Ask, now: datetime) -> Mapping[str, str]:
        """Return yes or no for each of the names, which are available.

        ``now``: in the zone in which the user lives.
        """
        past, own = self._history or History(), digest(ask.query)
        answers = {
            "working_hours": FROM <= now.hour < TO,
            "workday": now.weekday() < SATURDAY,
            "asked_before": own in past.queries,
            "visited_before": past.queries.get(own, False),
            "daily": past.daily(now),
        }
        return {name: "yes" if answers[name] else "no" for name in names}

    def noted(self, ask: Ask, now: datetime) -> None:
        """Note a request, once its values are known."""
        if self._history is None:
            return
        self._history.note(ask.query if self._needed & OF_QUERIES else None, now)
        self._changed = True
        if self._written_at is None or abs(now - self._written_at) >= EVERY:
            self._written_at = now
            self._write()

    def clicked(self, clicked: Clicked) -> None:
        """Note a visit, if the query was asked before."""
        if self._history is not None and "visited_before" in self._needed:
            self._changed |= self._history.visit(clicked.query)

    def _write(self) -> None:
        """Write the history; a disk that is full costs no more than what was noted lately."""
        if self._items is not None and self._history is not None and self._changed:
            with suppress(VaultError):
                self._items.put(RECORD, msgspec.msgpack.encode(self._history), durable=False)
                self._changed = False

"""Past requests: how many in a minute, what is in no ledger, what they say.

The sources of request attributes are the clock and past requests. What a source says stands for the
request alone: it is no knowledge, and it never decides what is disclosed (DESIGN.md 2.6).
"""

from collections import deque
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from agent.decision.values import Code
from agent.errors import VaultError, normalise
from agent.model.attributes import Attribute
from agent.vault.store import Items
from agent.wire.decide import Answer, Ask, Clicked
from agent.wire.state import Entry
from policy.settings import HOSTED, Door, HostProgram

# Who asks, as the door says.
Asker = Literal["command", "user", "page", "program", "assistant", "proxy", "draft", HostProgram]
# By which door, as policies name it. Whoever may use the query socket can claim any.
DOORS: Mapping[Asker, Door] = {
    "command": "cli",
    "user": "browser",
    "draft": "browser",
    "page": "page",
    "program": "program",
    "assistant": "mcp",
    "proxy": "proxy",
    **{each: each for each in HOSTED},
}
# Who asks by each, as far as that matters to what is decided.
ASKERS: Mapping[str, Asker] = {door: by for by, door in DOORS.items() if by != "draft"}
MINUTE = timedelta(minutes=1)
ASSISTED: tuple[Asker, ...] = ("assistant", "proxy", *HOSTED)
PROGRAMS: tuple[Asker, ...] = ("page", "program", *ASSISTED)
RECORDED: Mapping[Asker, int] = {"user": 120, **dict.fromkeys(PROGRAMS, 600)}
# Whose places an asker takes.
SHARES: Mapping[Asker, Asker] = dict.fromkeys(PROGRAMS, "program")
# Whose requests are so many a minute for each recipient, and the answer to one more.
CAPPED: Mapping[Asker, Code] = {
    "page": "too many from pages",
    **dict.fromkeys((*ASSISTED, "draft"), "too many"),
}
MOST_POOLS = 1000  # that are counted for these, each for one asker; the first counted goes
MOST_SILENT = 1_000  # requests


class Rates:
    """What came in the last minute; it belongs to one thread, and is forgotten at a lock."""

    def __init__(self) -> None:
        self._times: dict[tuple[str, str], deque[datetime]] = {}

    def is_reached(self, by: str, pool: str, most: int, now: datetime) -> bool:
        """Say whether so many were counted; a clock that is set back forgives nothing new."""
        times = self._times.get((by, pool), deque())
        while times and abs(now - times[0]) >= MINUTE:
            times.popleft()
        return len(times) >= most

    def count(self, by: str, pool: str, now: datetime) -> None:
        """Count a request; each asker has its own count of each pool."""
        self._times.setdefault((by, pool), deque()).append(now)
        if len(self._times) > MOST_POOLS:
            del self._times[next(each for each in self._times if each[1])]

    def clear(self) -> None:
        """Forget who was asked, and when."""
        self._times.clear()


class SilentRequests:
    """The latest requests that carried nothing, and what waited for the user beside any.

    ``entries``: each after the number of the last entry of the ledger then, which says better than
    a clock what came before what; ``waiting``: names of attributes, by the number of the request.
    Numbers run from -1 downwards for as long as the daemon lives, so that none comes twice.
    """

    def __init__(self) -> None:
        self.entries = deque[tuple[int, Entry]](maxlen=MOST_SILENT)
        self.waiting: dict[int, frozenset[str]] = {}
        self._number = 0

    def add(self, entry: Entry, after: int) -> int:
        """Remember a request that carried nothing, and give it the next number."""
        self._number -= 1
        self.entries.append((after, replace(entry, number=self._number)))
        return self._number

    def note(self, number: int, answer: Answer) -> None:
        """Remember what waits beside the answer to a request."""
        if answer.summary is not None and answer.summary.pending:
            self.waiting[number] = frozenset(answer.summary.pending)
            if len(self.waiting) > MOST_SILENT:
                del self.waiting[next(iter(self.waiting))]

    @property
    def count(self) -> int:
        """How many there were since the daemon began."""
        return -self._number

    def clear(self, before: datetime | None = None) -> None:
        """Forget all from ``before`` a time, or all, but how many there were."""
        kept = [each for each in self.entries if before is not None and each[1].at >= before]
        self.entries = deque(kept, MOST_SILENT)
        if before is None:
            self.waiting.clear()


class OfferedDraft(NamedTuple):
    """A draft that may be told: the question, when, and the digest of what was shown."""

    ask: Ask
    at: datetime
    digest: bytes


FROM, TO = 7, 18  # hours of the day, in the zone of the user, at which people work
SATURDAY = 5  # the first weekday at which they do not
MOST = 10_000  # queries
WEEK = timedelta(days=7)
DAY = timedelta(days=1)
SIZE = 16  # bytes of a digest
RECORD = "history"
ANSWERS = frozenset({"yes", "no"})
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
        """Say whether there was a request a day, on average over a week or more."""
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

    def visit(self, query: str) -> None:
        """Take note that a result of a known query was visited."""
        own = digest(query)
        if own in self.queries:
            self.queries[own] = True


def history_of(record: bytes | None) -> History:
    """Decode a stored history; an empty one if none can be read."""
    try:
        return msgspec.msgpack.decode(record or b"", type=History)
    except msgspec.DecodeError:
        return History()


def digest(query: str) -> bytes:
    """Digest a query, all spellings alike that a model treats alike."""
    return sha256(normalise(query).encode("utf-8", "surrogatepass")).digest()[:SIZE]


class Sources:
    """Answers for the request attributes that have a source; it belongs to one thread.

    ``needed``: names of those that the models in use have and past requests answer.
    """

    def __init__(self) -> None:
        """Begin while the vault is locked."""
        self.needed: frozenset[str] = frozenset()
        self._items: Items | None = None
        self._history: History | None = None

    def opened(self, items: Items, names: frozenset[str]) -> None:
        """Take the vault's records, once it is unlocked, and again when the models change.

        ``names``: all request attributes of the models in use; where none of them needs the
        history of queries, nothing is added to it. VaultError where it cannot be read.
        """
        self.closed()
        self.needed = names & OF_HISTORY
        if self.needed:
            self._items, self._history = items, history_of(items.get(RECORD))

    def closed(self) -> None:
        """Write the history, and forget it, before the vault is locked.

        A disk that is full costs no more than what was noted since the vault was opened.
        """
        if self._items is not None and self._history is not None:
            with suppress(VaultError):
                self._items.put(RECORD, msgspec.msgpack.encode(self._history), durable=False)
        self._items, self._history = None, None

    def available(self, attributes: Iterable[Attribute]) -> frozenset[str]:
        """Name those that a source can answer for any request.

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
        """Answer yes or no for each of the names, which are available.

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
        if self._history is not None:
            self._history.note(ask.query if self.needed & OF_QUERIES else None, now)

    def clicked(self, clicked: Clicked) -> None:
        """Note a visit, if the query was asked before."""
        if self._history is not None and "visited_before" in self.needed:
            self._history.visit(clicked.query)

"""Sources of request attributes: what the clock and past requests say of one request.

What a source says stands for the request alone: it is no knowledge, and it never decides what is
disclosed (DESIGN.md 2.6).
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256

import msgspec

from agent.errors import VaultError
from agent.model.attributes import Attribute
from agent.model.reading import normalise
from agent.vault.store import Items
from agent.wire.decide import Ask, Clicked

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


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A history as it is kept: the queries, oldest first, each with whether one was visited."""

    first: datetime | None
    requests: int
    queries: tuple[tuple[bytes, bool], ...]


@dataclass(slots=True)
class History:
    """Past requests: ``queries`` by digest, with whether a result was visited, oldest first.

    ``first``: when the first was made; ``requests``: how many were. The one thing of its room
    that changes in place: it is long, and changes with every request.
    """

    first: datetime | None = None
    requests: int = 0
    queries: dict[bytes, bool] = field(default_factory=dict)

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

    def record(self) -> bytes:
        """Return it as it is kept."""
        record = Record(self.first, self.requests, tuple(self.queries.items()))
        return msgspec.msgpack.encode(record)


def history_of(record: bytes | None) -> History:
    """Return a history that was kept; an empty one if none can be read."""
    if record is None:
        return History()
    try:
        known = msgspec.msgpack.decode(record, type=Record)
    except msgspec.DecodeError:
        return History()
    return History(known.first, known.requests, dict(known.queries))


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
                self._items.put(RECORD, self._history.record(), durable=False)
                self._changed = False

"""Sources of request attributes: what the clock and past requests say of one request.

What a source says stands for the request alone: it is no knowledge, and it never decides what is
disclosed (DESIGN.md 2.6).
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import NamedTuple

from agent.daemon.desk.kept import Items
from agent.daemon.sources.clock import workday, working_hours
from agent.daemon.sources.history import History, history_of
from agent.errors import VaultError
from agent.model.attributes import Attribute
from agent.wire.decide import Ask, Clicked

RECORD = "history"
ANSWERS = frozenset({"yes", "no"})
EVERY = timedelta(minutes=5)  # between two writings of the history


class Moment(NamedTuple):
    """What a source may look at: the request, and what came before."""

    query: str
    at: datetime
    past: History


Source = Callable[[Moment], bool]


SOURCES: Mapping[str, Source] = MappingProxyType(
    {
        "working_hours": lambda moment: working_hours(moment.at),
        "workday": lambda moment: workday(moment.at),
        "asked_before": lambda moment: moment.past.asked_before(moment.query),
        "visited_before": lambda moment: moment.past.visited_before(moment.query),
        "daily": lambda moment: moment.past.daily(moment.at),
    }
)
OF_QUERIES = frozenset({"asked_before", "visited_before"})
OF_HISTORY = OF_QUERIES | {"daily"}


class Sources:
    """Answers for the request attributes that have a source; it belongs to one thread."""

    def __init__(self, sources: Mapping[str, Source] = SOURCES) -> None:
        """Take the sources, by the name of the attribute that each is for."""
        self._sources = sources
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
        """Return those of which a source can say yes or no, whatever the request is.

        There is none for what is no question of yes or no, nor of past requests where none are
        kept.
        """
        return frozenset(
            each.name
            for each in attributes
            if each.name in self._sources
            and (self._history is not None or each.name not in OF_HISTORY)
            and ANSWERS.issubset(each.values)
        )

    def values(self, names: Iterable[str], ask: Ask, now: datetime) -> Mapping[str, str]:
        """Return yes or no for each of the names, which are available.

        ``now``: in the zone in which the user lives.
        """
        moment = Moment(ask.query, now, self._history or History())
        return {name: "yes" if self._sources[name](moment) else "no" for name in names}

    def noted(self, ask: Ask, now: datetime) -> None:
        """Take note of a request, once the values for it are known."""
        if self._history is None:
            return
        self._history.note(ask.query if self._needed & OF_QUERIES else None, now)
        self._changed = True
        if self._written_at is None or abs(now - self._written_at) >= EVERY:
            self._written_at = now
            self._write()

    def clicked(self, clicked: Clicked) -> None:
        """Take note of a visit, if the query is one that was asked before."""
        if self._history is not None and "visited_before" in self._needed:
            self._changed |= self._history.visit(clicked.query)

    def _write(self) -> None:
        """Write the history; a disk that is full costs no more than what was noted lately."""
        if self._items is not None and self._history is not None and self._changed:
            with suppress(VaultError):
                self._items.put(RECORD, self._history.record(), durable=False)
                self._changed = False

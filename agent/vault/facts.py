"""What recipients were told, in memory: all that can matter to whoever pools what they learn."""

from bisect import bisect_right, insort
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

from agent.decision.knowledge import WEEK
from agent.model.memory import Recent
from agent.vault.entry import Disclosure, Forgetting, Record
from policy.hosts import site_of

PoolOf = Callable[[str], str]
Pairs = tuple[tuple[str, str], ...]

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
VIEWS = 4  # groupings at hand: a policy's, and that before it was edited
registrant = lru_cache(maxsize=4096)(site_of)


class Fact(NamedTuple):
    """A value that is held, and since when."""

    value: str
    since: datetime

    def __repr__(self) -> str:
        return f"Fact(***, since={self.since.isoformat()})"


class Pool:
    """What one pool of recipients holds, as `agent.decision.knowledge.knowledge_of` says."""

    def __init__(self) -> None:
        """Hold nothing."""
        self._held: dict[str, Fact] = {}
        self._learnt: list[timedelta] = []  # when each fact was new, ascending

    @property
    def held(self) -> Mapping[str, Fact]:
        """The facts by attribute; a view, which later entries change."""
        return MappingProxyType(self._held)

    def recent(self, now: datetime) -> int:
        """Return how many facts were new since seven days before a time, forgotten or not."""
        return len(self._learnt) - bisect_right(self._learnt, now - EPOCH - WEEK)

    def take(self, at: datetime, facts: Pairs | None) -> None:
        """Be told facts, or forget all that is held (None)."""
        if facts is None:
            self._held.clear()
            return
        for name, value in facts:
            before = self._held.get(name)
            if before is None or before.value != value:
                self._held[name] = Fact(value, at)
                insort(self._learnt, at - EPOCH)


class Facts:
    """The notes: what was told that may be new to some pool, whatever the policy's groups are.

    A fact is no news where its site was told the same before, and since then no host at all was
    told another value of the attribute or was stated to forget: then whatever pool the site is
    in holds it already. Hosts of one site are always in one pool.
    """

    def __init__(self) -> None:
        """Know of no entry."""
        self._notes: list[_Note] = []
        self._told: dict[tuple[str, str], int] = {}  # by site and attribute: its last note
        self._latest: dict[str, _Latest] = {}
        self._forgot = 0
        self._views: Recent[PoolOf, _View] = Recent(VIEWS)

    def news(self, record: Record) -> Pairs:
        """Return the facts in an entry that may be new to some pool; none where it forgets."""
        if isinstance(record, Forgetting):
            return ()
        site = registrant(record.host)
        return tuple(pair for pair in record.facts if self._is_news(site, *pair))

    def add(self, number: int, record: Record, news: Pairs) -> None:
        """Take an entry, the next in the ledger; ``news``: what is in it now."""
        if isinstance(record, Disclosure) and not news:
            return
        site = registrant(record.host)
        if isinstance(record, Forgetting):
            self._forgot = number
        for name, value in news:
            before = self._latest.get(name)
            if before is None or before.value != value:
                self._latest[name] = _Latest(value, number)
            self._told[site, name] = number
        facts = None if isinstance(record, Forgetting) else news
        self._notes.append(_Note(record.at, record.host, facts))

    def pool(self, pool: str, pool_of: PoolOf) -> Pool:
        """Return what a pool holds; ``pool_of``: the pool of a host, the same for its whole site.

        The same function should be given again: what was found for it is at hand.
        """
        return self._view(pool_of).pools.get(pool) or Pool()

    def pools(self, pool_of: PoolOf) -> Iterator[tuple[str, Pool]]:
        """Yield every pool that was ever told anything, in the order of its name."""
        yield from sorted(self._view(pool_of).pools.items(), key=lambda named: named[0])

    def _is_news(self, site: str, name: str, value: str) -> bool:
        told, latest = self._told.get((site, name), 0), self._latest.get(name)
        if latest is None or latest.value != value:
            return True
        return told <= self._forgot or told < latest.since

    def _view(self, pool_of: PoolOf) -> "_View":
        view = self._views.get(pool_of, lambda: _View(pool_of))
        view.read(self._notes)
        return view


class _Note(NamedTuple):
    """Facts that a host was told, or None where it was stated to forget."""

    at: datetime
    host: str
    facts: Pairs | None


class _Latest(NamedTuple):
    """The value of an attribute that was told last, to anybody; ``since``: which entry."""

    value: str
    since: int


class _View:
    """The pools under one grouping, as far as the notes were read."""

    def __init__(self, pool_of: PoolOf) -> None:
        self.pools: dict[str, Pool] = {}
        self._pool_of = pool_of
        self._read = 0

    def read(self, notes: list[_Note]) -> None:
        """Read the notes that are new."""
        for note in notes[self._read :]:
            self.pools.setdefault(self._pool_of(note.host), Pool()).take(note.at, note.facts)
        self._read = len(notes)

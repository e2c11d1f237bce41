"""The entries of the ledger, and who was told what by them."""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from math import isfinite
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple

import msgspec
from msgspec import Meta, Struct

from agent.decision.request import WEEK
from agent.model.lookup import Recent
from agent.vault.connection import damaged
from policy import hosts

MOST_SITES = 48  # in one entry, which has room for so many of the longest
_ENCODER = msgspec.json.Encoder()
PoolOf = Callable[[str], str]
Pairs = tuple[tuple[str, str], ...]
_Gone = frozenset[str]  # sites that were stated to forget
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
VIEWS = 4  # groupings at hand: a policy's, and that before it was edited


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class Disclosure:
    """What one request carried; appended before its answer leaves.

    ``at``: with a time zone; ``host``: canonical, as policy.hosts.host_of gives it; ``asked``: the
    names that the recipient could use, None where it did not say; ``disclosed``: (name, value)
    pairs in the order chosen, "unspecified" included; ``persons``: those of them that are
    attributes of the person, and so knowledge; ``model``, ``digest``: of the model that decided;
    ``people_left``: who agree with all that the recipient's pool holds from now on.
    Raises ValueError if one of these does not hold.
    """

    at: datetime
    host: str
    query: str
    asked: tuple[str, ...] | None
    disclosed: tuple[tuple[str, str], ...]
    persons: tuple[str, ...]
    model: str
    digest: str
    utility_bits: float
    people_left: int

    def __post_init__(self) -> None:
        names = [name for name, _ in self.disclosed]
        checks = (
            (self.at.utcoffset() is not None, "a time has no zone"),
            (self.host, "there is no host"),
            (all(name and value for name, value in self.disclosed), "a name or value is empty"),
            (len(set(names)) == len(names), "a name is disclosed twice"),
            (len(set(self.persons)) == len(self.persons), "a person attribute is named twice"),
            (set(self.persons) <= set(names), "a person attribute is not disclosed"),
            (isfinite(self.utility_bits), "the utility is not finite"),
            (self.people_left >= 0, "fewer than no people are left"),
        )
        if problem := next((problem for holds, problem in checks if not holds), None):
            raise ValueError(problem)

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """The pairs that are knowledge: those of person attributes."""
        persons = set(self.persons)
        return tuple(pair for pair in self.disclosed if pair[0] in persons)

    def __repr__(self) -> str:
        return f"Disclosure(at={self.at.isoformat()}, {len(self.disclosed)} attributes)"


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class Forgetting:
    """The user's statement that a recipient, and whoever it pooled with, can no longer link.

    ``host``: whom the user named, or one of them; ``sites``: of all whom it is said, registered
    sites (policy.hosts.site_of), ascending. What they were told until then is forgotten, whoever
    pools with whom later. Raises ValueError where the time has no zone, there is no host, or the
    sites are none, too many or not in order.
    """

    at: datetime
    host: str
    sites: tuple[str, ...]

    def __post_init__(self) -> None:
        if self.at.utcoffset() is None or not self.host:
            raise ValueError("a time has no zone, or there is no host")
        if not 0 < len(self.sites) <= MOST_SITES or "" in self.sites:
            raise ValueError("it is said of nobody, or of too many at once")
        if self.sites != tuple(sorted({*self.sites})):
            raise ValueError("its sites are not in order")

    def __repr__(self) -> str:
        return f"Forgetting(at={self.at.isoformat()}, {len(self.sites)} sites)"


Record = Disclosure | Forgetting


class Numbered(NamedTuple):
    """An entry in its place; numbers run from 1 without gaps."""

    number: int
    record: Record


def encode(record: Record) -> bytes:
    """Return an entry as JSON."""
    at = {"at": _written(record.at)}
    if isinstance(record, Forgetting):
        return _ENCODER.encode(_Forgotten(**_fields(record) | at))
    return _ENCODER.encode(_Disclosed(**_fields(record) | at))


def decode(payload: bytes) -> Record:
    """Return the entry that is written here; DamagedVaultError where none is."""
    try:
        read = _DECODER.decode(payload)
        kind = Disclosure if isinstance(read, _Disclosed) else Forgetting
        return kind(**_fields(read))
    except (msgspec.MsgspecError, ValueError, RecursionError):  # which may quote what they read
        raise damaged("an entry of its ledger cannot be read") from None


class _Entry(Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind"):
    at: Annotated[datetime, Meta(tz=True)]
    host: str


class _Forgotten(_Entry, frozen=True, tag="forgotten"):
    sites: tuple[str, ...]


class _Disclosed(_Entry, frozen=True, tag="disclosed"):
    query: str
    asked: tuple[str, ...] | None
    disclosed: tuple[tuple[str, str], ...]
    persons: tuple[str, ...]
    model: str
    digest: str
    utility_bits: float
    people_left: int


_DECODER = msgspec.json.Decoder(_Disclosed | _Forgotten)


def _fields(value: Record | _Entry) -> dict[str, Any]:
    names = value.__struct_fields__ if isinstance(value, Struct) else value.__slots__
    return {name: getattr(value, name) for name in names}


def _written(at: datetime) -> datetime:
    """Return the same instant with a zone that RFC 3339 can write: whole minutes."""
    offset = at.utcoffset() or timedelta()
    return at.astimezone(UTC) if offset % timedelta(minutes=1) else at


site_of = lru_cache(maxsize=4096)(hosts.site_of)


class Fact(NamedTuple):
    """A value that is held, and since when."""

    value: str
    since: datetime

    def __repr__(self) -> str:
        return f"Fact(***, since={self.since.isoformat()})"


class _Told(NamedTuple):
    """A fact, and the site by way of which it was told."""

    site: str
    fact: Fact


class Written(NamedTuple):
    """A note by the number of its entry: of a site and what it was told, or of who forgot."""

    number: int
    at: datetime | None
    sites: tuple[str, ...]
    facts: Pairs

    def __repr__(self) -> str:
        return "Written(…)"


class Pool:
    """What one pool of recipients holds, as `agent.decision.request.knowledge_of` says."""

    def __init__(self) -> None:
        """Hold nothing."""
        self._standing: dict[str, list[_Told]] = {}  # by attribute: what was not forgotten
        self._held: dict[str, Fact] = {}
        self._learnt: list[timedelta] = []  # when each fact was new, ascending

    @property
    def held(self) -> Mapping[str, Fact]:
        """The facts by attribute; a view, which later entries change."""
        return MappingProxyType(self._held)

    def recent(self, now: datetime) -> int:
        """Return how many facts were new since seven days before a time, forgotten or not."""
        return len(self._learnt) - bisect_right(self._learnt, now - EPOCH - WEEK)

    def tell(self, at: datetime, site: str, facts: Pairs) -> None:
        """Be told facts, by way of one of its sites."""
        for name, value in facts:
            told = _Told(site, Fact(value, at))
            self._standing.setdefault(name, []).append(told)
            held = self._held.get(name)
            if held is None or held.value != value:
                self._held[name] = told.fact
                insort(self._learnt, at - EPOCH)

    def forget(self, sites: _Gone) -> None:
        """Hold from now on what was told by way of other sites, or is told later."""
        self._held.clear()
        for name, told in self._standing.items():
            told[:] = [each for each in told if each.site not in sites]
            for _, fact in told:
                if name not in self._held or self._held[name].value != fact.value:
                    self._held[name] = fact


class Facts:
    """The notes: what was told that may be new to some pool, whatever the policy's groups are.

    A fact is no news where its site was told the same before and was not stated to forget since,
    and no host at all was told another value of the attribute since: then whatever pool the site
    is in holds it already. Hosts of one site are always in one pool.
    """

    def __init__(self) -> None:
        """Know of no entry."""
        self._notes: list[_Note | _Gone] = []
        self._numbers: list[int] = []  # of the entry that each note is from
        self._told: dict[str, dict[str, int]] = {}  # by site and attribute: its last note
        self._latest: dict[str, _Latest] = {}
        self._views: Recent[PoolOf, _View] = Recent(VIEWS)

    def news(self, record: Record) -> Pairs:
        """Return the facts in an entry that may be new to some pool; none where it forgets."""
        if isinstance(record, Forgetting):
            return ()
        site = site_of(record.host)
        return tuple(pair for pair in record.facts if self._is_news(site, *pair))

    def add(self, number: int, record: Record, news: Pairs) -> None:
        """Take an entry, the next in the ledger; ``news``: what is in it now."""
        if isinstance(record, Forgetting):
            self._forget(number, record.sites)
        elif news:
            self._learn(number, _Note(record.at, site_of(record.host), news))

    def written(self, after: int, last: int) -> list[Written]:
        """Return the notes of the entries after a number, up to the last, for `take`."""
        begin, end = (bisect_right(self._numbers, each) for each in (after, last))
        return [
            Written(number, note.at, (note.site,), note.facts)
            if isinstance(note, _Note)
            else Written(number, None, tuple(sorted(note)), ())
            for number, note in zip(self._numbers[begin:end], self._notes[begin:end], strict=True)
        ]

    def take(self, notes: Iterable[Written]) -> None:
        """Take notes of the entries that follow, as they were written."""
        for number, at, sites, facts in notes:
            if at is None:
                self._forget(number, sites)
            else:
                self._learn(number, _Note(at, sites[0], facts))

    def pool(self, pool: str, pool_of: PoolOf) -> Pool:
        """Return what a pool holds; ``pool_of``: the pool of a host, the same for its whole site.

        The same function should be given again: what was found for it is at hand.
        """
        return self._view(pool_of).pools.get(pool) or Pool()

    def pool_before(self, number: int, pool: str, pool_of: PoolOf) -> Pool:
        """Return what a pool held before an entry of this number; folded anew each time."""
        view = _View(pool_of)
        view.read(self._notes[: bisect_left(self._numbers, number)])
        return view.pools.get(pool) or Pool()

    def pools(self, pool_of: PoolOf) -> Iterator[tuple[str, Pool]]:
        """Yield every pool that was ever told anything, in the order of its name."""
        yield from sorted(self._view(pool_of).pools.items(), key=lambda named: named[0])

    def told_since(self, number: int) -> Iterator[tuple[str, Pairs]]:
        """Yield the sites that were told what was new to them after an entry, and what."""
        for note in self._notes[bisect_right(self._numbers, number) :]:
            if isinstance(note, _Note):
                yield note.site, note.facts

    def news_by_entry(self) -> dict[int, Pairs]:
        """Return what was new to somebody, by the number of the entry."""
        notes = zip(self._numbers, self._notes, strict=True)
        return {number: note.facts for number, note in notes if isinstance(note, _Note)}

    def _forget(self, number: int, sites: tuple[str, ...]) -> None:
        for site in sites:
            self._told.pop(site, None)
        self._note(number, frozenset(sites))

    def _learn(self, number: int, note: "_Note") -> None:
        self._told.setdefault(note.site, {}).update((name, number) for name, _ in note.facts)
        for name, value in note.facts:
            before = self._latest.get(name)
            if before is None or before.value != value:
                self._latest[name] = _Latest(value, number)
        self._note(number, note)

    def _note(self, number: int, note: "_Note | _Gone") -> None:
        self._notes.append(note)
        self._numbers.append(number)

    def _is_news(self, site: str, name: str, value: str) -> bool:
        told, latest = self._told.get(site, {}).get(name), self._latest.get(name)
        if told is None or latest is None or latest.value != value:
            return True
        return told < latest.since

    def _view(self, pool_of: PoolOf) -> "_View":
        view = self._views.get(pool_of, lambda: _View(pool_of))
        view.read(self._notes)
        return view


class _Note(NamedTuple):
    """Facts that a site was told."""

    at: datetime
    site: str
    facts: Pairs


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

    def read(self, notes: list[_Note | _Gone]) -> None:
        """Read the notes that are new."""
        for note in notes[self._read :]:
            if isinstance(note, _Note):
                self.pools.setdefault(self._pool_of(note.site), Pool()).tell(*note)
            else:
                for name in self.pools.keys() & {self._pool_of(site) for site in note}:
                    self.pools[name].forget(note)
        self._read = len(notes)

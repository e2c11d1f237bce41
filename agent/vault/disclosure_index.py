"""The entries of the ledger, and an index of who was disclosed what by them."""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from math import isfinite
from operator import attrgetter
from types import MappingProxyType
from typing import Annotated, NamedTuple

import msgspec
from msgspec import Meta, Struct

from agent.decision.request import Holdings, Knowledge
from agent.errors import UsageError
from agent.model.lookup import Recent
from agent.model.model import Model, person_codes
from agent.vault.connection import damaged
from policy import hosts

MOST_SITES = 48  # in one entry, which has room for this many of the longest
VIEWS = 4  # groupings kept ready: the policy's, and the one before it was edited
NOTHING: Mapping[str, int] = MappingProxyType({})
PoolOf = Callable[[str], str]
Pairs = tuple[tuple[str, str], ...]
site_of = lru_cache(maxsize=4096)(hosts.site_of)


class _Entry(Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", kw_only=True):
    """What all entries have; as JSON this is what is sealed (FORMAT.md)."""

    at: Annotated[datetime, Meta(tz=True)]
    host: str

    def _check(self, *rules: tuple[object, str]) -> None:
        if not self.host or self.at.utcoffset() is None:
            raise ValueError("an entry has no host, or its time has no zone")
        if problem := next((problem for holds, problem in rules if not holds), None):
            raise ValueError(problem)


class Disclosure(_Entry, frozen=True, tag="disclosed", kw_only=True):
    """What one request carried; appended before its answer leaves.

    ``at``: with a time zone; ``host``: canonical, as policy.hosts.host_of gives it; ``asked``: the
    names that the recipient could use, None where it did not say; ``disclosed``: (name, value)
    pairs in the order chosen, "unspecified" included; ``persons``: those of them that are
    attributes of the person, and so knowledge; ``model``, ``digest``: of the model that decided;
    ``people_left``: who agree with all that the recipient's pool holds from now on.
    Raises ValueError if one of these does not hold.
    """

    query: str
    asked: tuple[str, ...] | None
    disclosed: Pairs
    persons: tuple[str, ...]
    model: str
    digest: str
    utility_bits: float
    people_left: int

    def __post_init__(self) -> None:
        names, persons = {name for name, _ in self.disclosed}, {*self.persons}
        self._check(
            (all(name and value for name, value in self.disclosed), "a name or value is empty"),
            (len(names) == len(self.disclosed), "a name is disclosed twice"),
            (len(persons) == len(self.persons), "a person attribute is named twice"),
            (persons <= names, "a person attribute is not disclosed"),
            (isfinite(self.utility_bits), "the utility is not finite"),
            (self.people_left >= 0, "the number of people left is negative"),
        )

    @property
    def facts(self) -> Pairs:
        """The pairs that are knowledge: those of person attributes."""
        persons = set(self.persons)
        return tuple(pair for pair in self.disclosed if pair[0] in persons)

    def __repr__(self) -> str:
        return f"Disclosure(at={self.at.isoformat()}, {len(self.disclosed)} attributes)"


class Forgetting(_Entry, frozen=True, tag="forgotten", kw_only=True):
    """The user's statement that a recipient, and whoever it pooled with, can no longer link.

    ``host``: whom the user named, or one of them; ``sites``: the registered sites that forget
    (policy.hosts.site_of), ascending. What they were told until then is forgotten, whoever pools
    with whom later. Raises ValueError where the time has no zone, there is no host, or the sites
    are none, too many or not in order.
    """

    sites: tuple[str, ...]

    def __post_init__(self) -> None:
        self._check(
            (0 < len(self.sites) <= MOST_SITES and "" not in self.sites, "no sites, or too many"),
            (self.sites == tuple(sorted({*self.sites})), "the sites are not in order"),
        )

    def __repr__(self) -> str:
        return f"Forgetting(at={self.at.isoformat()}, {len(self.sites)} sites)"


Record = Disclosure | Forgetting
_DECODER = msgspec.json.Decoder(Record)


class Numbered(NamedTuple):
    """An entry in its place; numbers run from 1 without gaps."""

    number: int
    record: Record


def encode(record: Record) -> bytes:
    """Return an entry as JSON."""
    if (record.at.utcoffset() or timedelta()) % timedelta(minutes=1):  # RFC 3339 has no seconds
        record = msgspec.structs.replace(record, at=record.at.astimezone(UTC))
    return msgspec.json.encode(record)


def decode(payload: bytes) -> Record:
    """Return the entry in a payload; DamagedVaultError if it is not one."""
    try:
        record: Record = _DECODER.decode(payload)
    except (msgspec.MsgspecError, ValueError, RecursionError):  # which may quote what they read
        raise damaged("an entry of its ledger cannot be read") from None
    return record


class Note(NamedTuple):
    """What an entry changes: a site learnt facts at a time, or, without a time, sites forgot."""

    number: int
    at: datetime | None
    sites: tuple[str, ...]
    facts: Pairs

    def __repr__(self) -> str:
        return "Note(…)"


_NUMBER = attrgetter("number")


class DisclosureIndex:
    """What was disclosed that may be new to some pool, whatever the policy's groups are.

    A fact is no news where its site was told the same before and was not stated to forget since,
    and no host at all was told another value of the attribute since: then whatever pool the site
    is in holds it already. Hosts of one site are always in one pool.
    """

    def __init__(self) -> None:
        """Know of no entry."""
        self._notes: list[Note] = []
        self._told: dict[str, dict[str, int]] = {}  # by site and attribute: its last note
        self._latest: dict[str, tuple[str, int]] = {}  # the value told last, and since which entry
        self._views: Recent[PoolOf, _View] = Recent(VIEWS)

    def news(self, record: Record) -> Pairs:
        """Return the facts in an entry that may be new to some pool; none where it forgets."""
        if isinstance(record, Forgetting):
            return ()
        told = self._told.get(site_of(record.host), {})

        def known(name: str, value: str) -> bool:
            latest, since = self._latest.get(name, (None, 0))
            return name in told and latest == value and told[name] >= since

        return tuple(pair for pair in record.facts if not known(*pair))

    def add(self, number: int, record: Record, news: Pairs) -> None:
        """Take an entry, the next in the ledger; ``news``: what is in it now."""
        if isinstance(record, Forgetting):
            self.load([Note(number, None, record.sites, ())])
        elif news:
            self.load([Note(number, record.at, (site_of(record.host),), news)])

    def export(self, after: int, last: int) -> list[Note]:
        """Return the notes of the entries after a number, up to the last, for `load`."""
        begin, end = (bisect_right(self._notes, each, key=_NUMBER) for each in (after, last))
        return self._notes[begin:end]

    def load(self, notes: Iterable[Note]) -> None:
        """Take the notes of the entries that follow."""
        for note in notes:
            if note.at is None:
                for site in note.sites:
                    self._told.pop(site, None)
            for name, value in note.facts:
                self._told.setdefault(note.sites[0], {})[name] = note.number
                if self._latest.get(name, (None, 0))[0] != value:
                    self._latest[name] = value, note.number
            self._notes.append(note)

    def pool(self, pool: str, pool_of: PoolOf) -> Holdings[str]:
        """Return what a pool holds; ``pool_of``: the pool of a host, the same for its whole site.

        Pass the same function again: its result is cached.
        """
        return self._view(pool_of).pools.get(pool) or Holdings()

    def pool_before(self, number: int, pool: str, pool_of: PoolOf) -> Holdings[str]:
        """Return what a pool held before an entry of this number; folded anew each time."""
        view = _View(pool_of)
        view.read(self._notes[: bisect_left(self._notes, number, key=_NUMBER)])
        return view.pools.get(pool) or Holdings()

    def pools(self, pool_of: PoolOf) -> Iterator[tuple[str, Holdings[str]]]:
        """Yield every pool that was ever told anything, in the order of its name."""
        yield from sorted(self._view(pool_of).pools.items(), key=lambda named: named[0])

    def holders(
        self, values: Mapping[str, str | None], pool_of: PoolOf
    ) -> Mapping[str, tuple[str, ...]]:
        """Return by attribute the pools that hold another value than this; none where all agree.

        ``values``: as the profile has them from now on, None for what is not set any more, which a
        pool goes on to hold. Any other new value it will be told like one that it knows already,
        without being asked about: what is decided cannot depend on a value that was not disclosed,
        nor on its change (DESIGN.md 2.6).
        """
        found: dict[str, list[str]] = {}
        for pool, holdings in self.pools(pool_of):
            for name in holdings.held.keys() & values.keys():
                if holdings.held[name].value != values[name]:
                    found.setdefault(name, []).append(pool)
        return {name: tuple(found[name]) for name in sorted(found)}

    def news_after(self, number: int) -> Iterator[tuple[int, str, Pairs]]:
        """Yield what was news after an entry: the number of its entry, the site, and the facts."""
        for note in self._notes[bisect_right(self._notes, number, key=_NUMBER) :]:
            if note.at is not None:
                yield note.number, note.sites[0], note.facts

    def _view(self, pool_of: PoolOf) -> "_View":
        view = self._views.get(pool_of, lambda: _View(pool_of))
        view.read(self._notes)
        return view


class _View:
    """The pools under one grouping, as far as the notes were read."""

    def __init__(self, pool_of: PoolOf) -> None:
        self.pools: dict[str, Holdings[str]] = {}
        self._pool_of = pool_of
        self._read = 0

    def read(self, notes: list[Note]) -> None:
        """Read the notes that are new."""
        for note in notes[self._read :]:
            pools = {self._pool_of(site) for site in note.sites}
            if note.at is None:
                for name in self.pools.keys() & pools:
                    self.pools[name].forget(note.sites)
            else:
                for name in pools:
                    holdings = self.pools.setdefault(name, Holdings())
                    holdings.tell(note.at, note.sites[0], note.facts)
        self._read = len(notes)


def knowledge_in(
    found: Holdings[str], model: Model, now: datetime, queries: Mapping[str, int] = NOTHING
) -> Knowledge:
    """Return what a pool holds, in the codes of a model.

    ``queries``: the latest of the pool, and how often each came (`Timeline.queries`). What is no
    person attribute of the model is left out of ``codes``, and counts in ``recent`` all the same;
    a query that it does not know is left out. UsageError where the pool holds a value that is
    absent from the model.
    """
    attributes, codes = person_codes(model), []
    for name, fact in sorted(found.held.items()):
        code = attributes[name].get(fact.value) if name in attributes else None
        if code is not None:
            codes.append((name, code))
        elif name in attributes:
            hint = (
                "use a model that has it, or mark it as forgotten with `reticent requests forget`"
            )
            what = f"the recipient holds a value of {name} that is absent from the model"
            raise UsageError(what, hint)
    times = Counter[int]()
    for text, count in queries.items():
        query = model.match(text)
        times.update({} if query is None else {query: count})
    return Knowledge(tuple(codes), found.recent(now), tuple(sorted(times.items())))

"""What recipients were asked, and when, entry by entry."""

from array import array
from bisect import bisect_left, bisect_right
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta, timezone
from typing import NamedTuple

from msgspec import Struct

from agent.decision.request import LATEST
from agent.model.lookup import Recent
from agent.vault.disclosure_index import EPOCH, VIEWS, Forgetting, PoolOf, Record, site_of

FORGOT = -1  # in place of a query
MICROSECOND = timedelta(microseconds=1)


class HeardPart(Struct, frozen=True, forbid_unknown_fields=True):
    """Columns of numbers, in which a site and a query is a position in ``names``."""

    names: list[str]
    numbers: list[int]
    sites: list[int]
    queries: list[int]

    def __repr__(self) -> str:
        return "HeardPart(…)"


class Heard:
    """The queries of a ledger's entries, by site; what a site forgot it did not hear.

    They stand in columns of numbers, for there is one for each entry, for good; a text is kept
    once.
    """

    def __init__(self) -> None:
        """Know of no entry."""
        self._numbers, self._sites, self._queries = array("q"), array("l"), array("l")
        self._places: dict[str, int] = {}  # of a site or a text in ``_names``
        self._names: list[str] = []
        self._latest: dict[str, deque[str]] = {}  # by site
        self._views: Recent[PoolOf, _View] = Recent(VIEWS)

    def add(self, number: int, record: Record) -> None:
        """Take an entry, the next in the ledger."""
        if isinstance(record, Forgetting):
            for site in record.sites:
                if site in self._latest:
                    self._latest[site].clear()
                    self._note(number, site, FORGOT)
            return
        site, place = site_of(record.host), self._place(record.query)
        self._latest.setdefault(site, deque(maxlen=LATEST)).append(self._names[place])
        self._note(number, site, place)

    def by(self, pool: str, pool_of: PoolOf) -> Mapping[str, int]:
        """Return the latest queries of a pool's sites and how often each came; see `LATEST`.

        ``pool_of``: the pool of a host, the same for its whole site. The same function should be
        given again: what was found for it is at hand.
        """
        view = self._views.get(pool_of, lambda: _View(pool_of))
        return Counter(
            text for site in view.sites(pool, self._latest) for text in self._latest[site]
        )

    def before(self, number: int, pool: str, pool_of: PoolOf) -> Mapping[str, int]:
        """Return the same as it was before an entry of this number; folded anew each time."""
        latest: dict[int, deque[int]] = {}
        for at in range(bisect_left(self._numbers, number)):
            site, query = self._sites[at], self._queries[at]
            if query == FORGOT:
                latest.pop(site, None)
            elif pool_of(self._names[site]) == pool:
                latest.setdefault(site, deque(maxlen=LATEST)).append(query)
        return Counter(self._names[query] for queries in latest.values() for query in queries)

    def by_entry(self) -> dict[int, str]:
        """Return the query of each entry that has one, by its number."""
        queries = zip(self._numbers, self._queries, strict=True)
        return {number: self._names[query] for number, query in queries if query != FORGOT}

    def written(self, after: int, last: int) -> HeardPart:
        """Return what came with the entries after a number, up to the last, for `take`."""
        begin, end = (bisect_right(self._numbers, each) for each in (after, last))
        sites, queries = self._sites[begin:end], self._queries[begin:end]
        used = sorted({*sites, *queries} - {FORGOT})
        places = {place: at for at, place in enumerate(used)} | {FORGOT: FORGOT}
        return HeardPart(
            names=[self._names[place] for place in used],
            numbers=self._numbers[begin:end].tolist(),
            sites=[places[site] for site in sites],
            queries=[places[query] for query in queries],
        )

    def take(self, part: HeardPart) -> None:
        """Take what came with the entries that follow, as it was written."""
        places = [self._place(name) for name in part.names]
        self._numbers.extend(part.numbers)
        for site, query in zip(part.sites, part.queries, strict=True):
            name = part.names[site]
            self._sites.append(places[site])
            self._queries.append(FORGOT if query == FORGOT else places[query])
            if query == FORGOT:
                self._latest[name].clear()
                continue
            latest = self._latest.get(name)
            if latest is None:
                latest = self._latest[name] = deque(maxlen=LATEST)
            latest.append(part.names[query])

    def _note(self, number: int, site: str, query: int) -> None:
        self._numbers.append(number)
        self._sites.append(self._place(site))
        self._queries.append(query)

    def _place(self, name: str) -> int:
        found = self._places.setdefault(name, len(self._names))
        if found == len(self._names):
            self._names.append(name)
        return found


class _View:
    """The sites of each pool under one grouping, as far as they were read."""

    def __init__(self, pool_of: PoolOf) -> None:
        self._pool_of = pool_of
        self._sites: dict[str, list[str]] = {}
        self._read = 0

    def sites(self, pool: str, sites: Mapping[str, object]) -> list[str]:
        """Return those of ``sites``, which only grow, that are in a pool."""
        for site in [*sites][self._read :] if len(sites) > self._read else ():
            self._sites.setdefault(self._pool_of(site), []).append(site)
        self._read = len(sites)
        return self._sites.get(pool, [])


class Step(NamedTuple):
    """One entry, about one site; one that forgets stands here for each of its sites.

    ``people_left``: who agreed with all that the site's pool held from then on, None where it was
    stated to forget.
    """

    number: int
    at: datetime
    site: str
    people_left: int | None


class StoryPart(Struct, frozen=True, forbid_unknown_fields=True):
    """Columns of numbers, in which a place is a position in ``names``."""

    names: list[str]
    numbers: list[int]
    times: list[int]
    zones: list[int]
    left: list[int]
    places: list[int]

    def __repr__(self) -> str:
        return "StoryPart(…)"


class Story:
    """The steps of a ledger, in memory, in their order; never with a name or a value.

    They stand in columns of numbers, for there is one for each entry, for good.
    """

    def __init__(self) -> None:
        """Know of no entry."""
        self._numbers = array("q")
        self._times = array("q")  # microseconds since EPOCH
        self._zones = array("l")  # seconds east of Greenwich
        self._left = array("q")  # people, FORGOT where it was stated to forget
        self._places = array("l")  # of the site
        self._sites: dict[str, int] = {}

    @property
    def steps(self) -> Iterator[Step]:
        """Yield all steps there are now."""
        sites = [*self._sites]
        columns = (self._numbers, self._times, self._zones, self._left, self._places)
        for number, time, zone, left, place in zip(*columns, strict=True):
            at = (EPOCH + time * MICROSECOND).astimezone(timezone(timedelta(seconds=zone)))
            yield Step(number, at, sites[place], None if left == FORGOT else left)

    def add(self, number: int, record: Record) -> None:
        """Take an entry, the next in the ledger."""
        for step in _steps(number, record):
            zone = step.at.utcoffset() or timedelta()
            self._numbers.append(step.number)
            self._times.append((step.at - EPOCH) // MICROSECOND)
            self._zones.append(int(zone.total_seconds()))
            self._left.append(FORGOT if step.people_left is None else step.people_left)
            self._places.append(self._sites.setdefault(step.site, len(self._sites)))

    def written(self, after: int, last: int) -> StoryPart:
        """Return the steps of the entries after a number, up to the last, for `take`."""
        begin, end = (bisect_right(self._numbers, each) for each in (after, last))
        names, places = [*self._sites], self._places[begin:end]
        used = sorted({*places})
        own = {place: at for at, place in enumerate(used)}
        return StoryPart(
            names=[names[place] for place in used],
            numbers=self._numbers[begin:end].tolist(),
            times=self._times[begin:end].tolist(),
            zones=self._zones[begin:end].tolist(),
            left=self._left[begin:end].tolist(),
            places=[own[place] for place in places],
        )

    def take(self, part: StoryPart) -> None:
        """Take the steps of the entries that follow, as they were written."""
        own = [self._sites.setdefault(name, len(self._sites)) for name in part.names]
        self._numbers.extend(part.numbers)
        self._times.extend(part.times)
        self._zones.extend(part.zones)
        self._left.extend(part.left)
        self._places.extend(own[place] for place in part.places)


def _steps(number: int, record: Record) -> Iterator[Step]:
    if isinstance(record, Forgetting):
        for site in record.sites:
            yield Step(number, record.at, site, None)
    else:
        yield Step(number, record.at, site_of(record.host), record.people_left)

"""What recipients were asked, when, and how many people were left: entry by entry."""

from array import array
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta, timezone
from functools import partial
from typing import NamedTuple

from msgspec import Struct

from agent.decision.request import EPOCH, LATEST
from agent.model.lookup import Recent
from agent.vault.disclosure_index import VIEWS, Forgetting, PoolOf, Record, site_of

FORGOT = -1  # in place of a number of people, and of a query
UNASKED = -2  # in place of a query where a site forgets that was never asked anything
MICROSECOND = timedelta(microseconds=1)


class Step(NamedTuple):
    """One entry, about one site; one that forgets stands here for each of its sites.

    ``people_left``: who agreed with all that the site's pool held from then on; it and ``query``
    are None where the site was stated to forget.
    """

    number: int
    at: datetime
    site: str
    people_left: int | None
    query: str | None


class QueriesPart(Struct, frozen=True, forbid_unknown_fields=True):
    """Columns of numbers, in which a site and a query is a position in ``names``."""

    names: list[str]
    numbers: list[int]
    sites: list[int]
    queries: list[int]

    def __repr__(self) -> str:
        return "QueriesPart(…)"


class StepsPart(Struct, frozen=True, forbid_unknown_fields=True):
    """Columns of numbers, in which a place is a position in ``names``."""

    names: list[str]
    numbers: list[int]
    times: list[int]
    zones: list[int]
    left: list[int]
    places: list[int]

    def __repr__(self) -> str:
        return "StepsPart(…)"


class Timeline:
    """The steps of a ledger, in memory, in their order; never with an attribute.

    They stand in columns of numbers, for there is one for each entry, for good; a text is kept
    once.
    """

    def __init__(self) -> None:
        """Know of no entry."""
        self._numbers = array("q")
        self._times = array("q")  # microseconds since EPOCH
        self._zones = array("i")  # seconds east of Greenwich
        self._left = array("q")  # people, or FORGOT
        self._sites = array("i")  # places in ``_names``
        self._queries = array("i")  # likewise, or FORGOT or UNASKED
        self._names: list[str] = []
        self._places: dict[str, int] = {}
        self._latest: dict[str, deque[int]] = {}  # queries by site; what it forgot is gone
        self._views: Recent[PoolOf, _View] = Recent(VIEWS)

    @property
    def steps(self) -> Iterator[Step]:
        """Yield all steps there are now."""
        columns = self._numbers, self._times, self._zones, self._left, self._sites, self._queries
        for number, time, zone, left, site, query in zip(*columns, strict=True):
            at = (EPOCH + time * MICROSECOND).astimezone(timezone(timedelta(seconds=zone)))
            people_left, text = (None, None) if left == FORGOT else (left, self._names[query])
            yield Step(number, at, self._names[site], people_left, text)

    def add(self, number: int, record: Record) -> None:
        """Take an entry, the next in the ledger."""
        zone = int((record.at.utcoffset() or timedelta()).total_seconds())
        row = partial(self._row, number, (record.at - EPOCH) // MICROSECOND, zone)
        if isinstance(record, Forgetting):
            for site in record.sites:
                row(FORGOT, site, FORGOT if site in self._latest else UNASKED)
        else:
            query = self._place(record.query)
            row(record.people_left, site_of(record.host), query)

    def queries(self, pool: str, pool_of: PoolOf) -> Mapping[str, int]:
        """Return the latest queries of a pool's sites and how often each came; see `LATEST`.

        ``pool_of``: the pool of a host, the same for its whole site. Pass the same function
        again: its result is cached.
        """
        view = self._views.get(pool_of, _View)
        for site in [*self._latest][view.read :] if len(self._latest) > view.read else ():
            view.sites[pool_of(site)].append(site)
        view.read = len(self._latest)
        sites = view.sites.get(pool, ())
        return Counter(self._names[query] for site in sites for query in self._latest[site])

    def queries_before(self, number: int, pool: str, pool_of: PoolOf) -> Mapping[str, int]:
        """Return the same as it was before an entry of this number; folded anew each time."""
        latest: dict[int, deque[int]] = {}
        for at in range(bisect_left(self._numbers, number)):
            site, query = self._sites[at], self._queries[at]
            if query < 0:
                latest.pop(site, None)
            elif pool_of(self._names[site]) == pool:
                latest.setdefault(site, deque(maxlen=LATEST)).append(query)
        return Counter(self._names[query] for queries in latest.values() for query in queries)

    def export(self, after: int, last: int) -> tuple[QueriesPart, StepsPart]:
        """Return the steps of the entries after a number, up to the last, for `load`."""
        begin, end = (bisect_right(self._numbers, each) for each in (after, last))
        sites = self._sites[begin:end]
        asked = [at for at in range(begin, end) if self._queries[at] != UNASKED]
        used = {self._sites[at] for at in asked} | {self._queries[at] for at in asked}
        names = {place: at for at, place in enumerate(sorted(used - {FORGOT}))}
        own = {place: at for at, place in enumerate(sorted({*sites}))}
        queries = QueriesPart(
            names=[self._names[place] for place in names],
            numbers=[self._numbers[at] for at in asked],
            sites=[names[self._sites[at]] for at in asked],
            queries=[names.get(self._queries[at], FORGOT) for at in asked],
        )
        steps = StepsPart(
            names=[self._names[place] for place in own],
            numbers=self._numbers[begin:end].tolist(),
            times=self._times[begin:end].tolist(),
            zones=self._zones[begin:end].tolist(),
            left=self._left[begin:end].tolist(),
            places=[own[site] for site in sites],
        )
        return queries, steps

    def load(self, asked: QueriesPart, steps: StepsPart) -> None:
        """Take the steps of the entries that follow, as they were written."""
        places = [self._place(name) for name in asked.names]
        queries = {
            (number, asked.names[site]): query if query == FORGOT else places[query]
            for number, site, query in zip(asked.numbers, asked.sites, asked.queries, strict=True)
        }
        columns = steps.numbers, steps.times, steps.zones, steps.left, steps.places
        for number, time, zone, left, place in zip(*columns, strict=True):
            site = steps.names[place]
            self._row(number, time, zone, left, site, queries.get((number, site), UNASKED))

    def _row(self, number: int, time: int, zone: int, left: int, site: str, query: int) -> None:
        self._numbers.append(number)
        self._times.append(time)
        self._zones.append(zone)
        self._left.append(left)
        self._sites.append(self._place(site))
        self._queries.append(query)
        if query >= 0:
            self._latest.setdefault(site, deque(maxlen=LATEST)).append(query)
        elif query == FORGOT:
            self._latest[site].clear()

    def _place(self, name: str) -> int:
        place = self._places.setdefault(name, len(self._names))
        if place == len(self._names):
            self._names.append(name)
        return place


class _View:
    """The sites of each pool under one grouping, as far as they were ``read``."""

    def __init__(self) -> None:
        self.sites: defaultdict[str, list[str]] = defaultdict(list)
        self.read = 0

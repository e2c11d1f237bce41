"""Who was told something and when, entry by entry: what an overview of the ledger needs of it."""

from array import array
from bisect import bisect_right
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from typing import NamedTuple

from msgspec import Struct

from agent.vault.entry import Forgetting, Record
from agent.vault.facts import EPOCH, site_of

FORGOT = -1  # in place of a number of people
MICROSECOND = timedelta(microseconds=1)


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

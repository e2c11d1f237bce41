"""The second survey: how sensitive 1,450 adults found 33 kinds of information (adults_2020)."""

import csv
import gzip
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from io import StringIO
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from agent.errors import UsageError

SOURCE = "adults_2020"
MOST = 4  # very sensitive; 1 is not at all
_MEND = "get the file anew from where this version of Reticent came from"
# The items that speak of an attribute of Table 1; the highest level among them counts, person by
# person. SOURCES.md says why these, and why none for the others.
MAPPED: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "DAGE": ("birthdate",),
        "DMTL": ("relationship",),
        "AQRY": ("search",),
        "ACLK": ("website",),
        **dict.fromkeys(("AZIP", "ACTY", "ACRY"), ("location",)),
        "THEA": ("health",),
        "TSOC": ("religion", "politics"),
        "TSHP": ("purchases",),
        **dict.fromkeys(("TART", "TNWS"), ("media",)),
    }
)


@dataclass(frozen=True, slots=True, eq=False)
class Ratings:
    """``levels``: uint8 (people, items), 1 to MOST, read-only; ``items`` names the columns."""

    items: tuple[str, ...]
    levels: NDArray[np.uint8]

    def of(self, items: Sequence[str]) -> NDArray[np.uint8]:
        """Return for each person the highest level among some items; UsageError for another."""
        for item in items:
            if item not in self.items:
                raise UsageError.unknown("item", item, self.items)
        places = [self.items.index(item) for item in items]
        highest: NDArray[np.uint8] = self.levels[:, places].max(axis=1)
        return highest

    def share(self, items: Sequence[str], level: int) -> float:
        """Return the share of people who rate the highest of some items at a level or below."""
        return float(np.mean(self.of(items) <= level))


@cache
def adults() -> Ratings:
    """Return the ratings that come with Reticent."""
    path = files("agent.lab.questions") / SOURCE / "responses.csv.gz"
    return ratings_in(path.read_bytes())


def ratings_in(data: bytes) -> Ratings:
    """Return the ratings in a csv.gz: a header of items, a row per person.

    UsageError if it is no such file, or where a row or a level is none.
    """
    try:
        text = gzip.decompress(data).decode()
        header, *rows = csv.reader(StringIO(text), strict=True)
        levels = np.array([[int(level) for level in row] for row in rows], dtype=np.intp)
    except (OSError, EOFError, zlib.error, csv.Error, ValueError, OverflowError) as error:
        raise UsageError("this is no table of ratings", _MEND, SOURCE) from error
    if levels.shape != (len(rows), len(header)) or not rows or len({*header}) < len(header):
        raise UsageError("the table of ratings has no rows, or odd ones", _MEND, SOURCE)
    if levels.min() < 1 or levels.max() > MOST:
        raise UsageError(f"a rating is not from 1 to {MOST}", _MEND, SOURCE)
    small = levels.astype(np.uint8)
    small.setflags(write=False)
    return Ratings(tuple(header), small)

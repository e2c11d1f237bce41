"""The second survey: its ratings, and which of its items speaks of which attribute of Table 1."""

from __future__ import annotations

import csv
import gzip
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from io import StringIO
from types import MappingProxyType
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agent.errors import UsageError

SOURCE = "adults_2020"
MOST = 4  # very sensitive; 1 is not at all
_MEND = "get the file anew from where this version of Reticent came from"
_WHERE = "computed from where one was: 'details about your physical location over a period of time'"
_NOT_OF_AN_ITEM = (
    *("TBUS", "TCMP", "TGMS", "THOM", "TKID", "TREC"),
    *("TREF", "TREG", "TSCI", "TCIN", "TSPT", "TWLD"),
)
_NO_ITEM = "no item is about it"
_ONE_OF_MANY = (
    "all that fits is 'the websites you have visited', of which this is one bit of eighteen; as "
    "sensitivities add up, the whole history would be charged eighteen times"
)
UNMAPPED: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("DGDR", "DOCC", "DREG", "DCHD", "AWHR", "AWDY", "ATLV"), _NO_ITEM),
        "AFRQ": "how often one searches says nothing of what: 'searches you have made' is far more",
        "TADT": "what comes nearest, sexual orientation, does not follow from such a visit",
        **dict.fromkeys(_NOT_OF_AN_ITEM, _ONE_OF_MANY),
    }
)


class Summary(NamedTuple):
    """Figures of one item as they were published; ``sd`` with n - 1."""

    mean: float
    sd: float
    share_very: float
    n: int


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
    return ratings_in(_data("responses.csv.gz"))


@cache
def published() -> Mapping[str, Summary]:
    """Return by item what the source says of its ratings, as it came."""
    rows = csv.DictReader(StringIO(_data("summary.csv").decode()))
    return MappingProxyType(
        {
            row["item"]: Summary(
                float(row["mean"]), float(row["sd"]), float(row["share_very"]), int(row["n"])
            )
            for row in rows
        }
    )


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


def _data(name: str) -> bytes:
    return (files("agent.lab.questions") / SOURCE / name).read_bytes()


class Mapped(NamedTuple):
    """Items for an attribute: the highest level among them counts, person by person."""

    items: tuple[str, ...]
    relation: Literal["finer", "hint"]
    reason: str


MAPPED: Mapping[str, Mapped] = MappingProxyType(
    {
        "DAGE": Mapped(("birthdate",), "finer", "an age group follows from 'your birth date'"),
        "DMTL": Mapped(
            ("relationship",), "finer", "'your relationship history' ends in the marital status"
        ),
        "AQRY": Mapped(("search",), "finer", "computed from 'searches you have made'"),
        "ACLK": Mapped(("website",), "finer", "computed from 'the websites you have visited'"),
        "AZIP": Mapped(("location",), "finer", _WHERE),
        "ACTY": Mapped(("location",), "finer", _WHERE),
        "ACRY": Mapped(("location",), "finer", _WHERE),
        "THEA": Mapped(
            ("health",), "hint", "of 'the state of your health and the medications you take'"
        ),
        "TSOC": Mapped(
            ("religion", "politics"),
            "hint",
            "the directory's Society holds religion and politics; it is as sensitive as either",
        ),
        "TSHP": Mapped(
            ("purchases",), "hint", "of 'your basic purchasing habits', stores among them"
        ),
        "TART": Mapped(
            ("media",), "hint", "of 'your tastes in music, movies, books', which are its Arts"
        ),
        "TNWS": Mapped(("media",), "hint", "of 'your tastes in ... websites, magazines'"),
    }
)

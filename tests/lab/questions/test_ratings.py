"""The second survey: what was copied is what its source published, and damage is seen."""

import csv
import gzip
from importlib.resources import files
from io import StringIO

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import UsageError
from agent.lab.questions.ratings import MAPPED, MOST, SOURCE, adults, ratings_in

GOOD = b"a,b\n1,4\n2,2\n"


def test_the_summary_is_recomputed_from_the_responses() -> None:
    """All four figures of all 33 items, to the digits that they were published with."""
    ratings = adults()
    text = (files("agent.lab.questions") / SOURCE / "summary.csv").read_text()
    stated = {row["item"]: row for row in csv.DictReader(StringIO(text))}
    assert {*stated} == {*ratings.items}
    for item, row in stated.items():
        levels = ratings.of([item])
        found = (levels.mean(), levels.std(ddof=1), np.mean(levels == MOST), len(levels))
        figures = [float(row[name]) for name in ("mean", "sd", "share_very", "n")]
        assert figures == pytest.approx(found, abs=0.5e-3 + 1e-9)


@pytest.mark.parametrize(
    "table",
    [
        b"",
        b"a,b\n",
        b"a,a\n1,2\n",
        b"a,b\n1,2\n3\n",
        b"a,b\n1,2,3\n",
        b"a,b\n1,x\n",
        b"a,b\n0,1\n",
        b"a,b\n1,5\n",
        b"a,b\n1,\xff\n",
        b"a,b\n1,99999999999999999999\n",
    ],
)
def test_a_damaged_table_is_refused(table: bytes) -> None:
    """Without rows, with odd ones, or with what is no level."""
    with pytest.raises(UsageError, match="rating"):
        ratings_in(gzip.compress(table))


def test_a_damaged_file_is_refused() -> None:
    """Not packed, cut off anywhere, or with a byte changed in what is packed."""
    whole = gzip.compress(GOOD)
    assert ratings_in(whole).levels.tolist() == [[1, 4], [2, 2]]
    for data in (GOOD, *(whole[:end] for end in range(len(whole)))):
        with pytest.raises(UsageError, match="rating"):
            ratings_in(data)
    with pytest.raises(UsageError, match="rating"):
        ratings_in(whole[:-8] + bytes(8))


@given(st.lists(st.lists(st.integers(1, MOST), min_size=3, max_size=3), min_size=1, max_size=9))
def test_several_items_count_by_the_highest(rows: list[list[int]]) -> None:
    """Person by person; and a share is of those who rate no higher."""
    lines = ["a,b,c", *[",".join(map(str, row)) for row in rows]]
    ratings = ratings_in(gzip.compress("\n".join(lines).encode()))
    assert ratings.of(["a", "c"]).tolist() == [max(row[0], row[2]) for row in rows]
    shares = [ratings.share(["a", "c"], level) for level in range(1, MOST + 1)]
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert ratings.share(["a"], MOST - 1) == np.mean([row[0] < MOST for row in rows])


def test_an_item_that_nobody_rated() -> None:
    """The nearest is named, and every item that is mapped is one."""
    with pytest.raises(UsageError, match="'helth'"):
        adults().of(["helth"])
    assert {item for items in MAPPED.values() for item in items} <= {*adults().items}


def test_nobody_can_change_the_ratings() -> None:
    """All who ask share them."""
    assert not adults().levels.flags.writeable

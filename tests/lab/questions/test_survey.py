"""The two surveys: what was copied is what was published, and damage is seen; made answers."""

import csv
import gzip
from importlib.resources import files
from io import StringIO
from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.decision.calibration import aligned
from agent.errors import UsageError
from agent.lab.paper.survey import (
    LOCATIONS,
    MAPPED,
    MOST,
    SOURCE,
    adults,
    made_answers,
    ratings_in,
)

GOOD = b"a,b\n1,4\n2,2\n"


@given(st.lists(st.floats(0.25, 3), min_size=1, max_size=6), st.floats(0.5, 40), st.integers(0, 99))
def test_made_answers_give_back_their_trade_off_but_for_the_steps_offered(
    wanted: list[float], trade_off: float, seed: int
) -> None:
    """Steps are an octave wide at most, so a tick is off by √2; the rest is for chance."""
    costs = {thing: bits / trade_off for thing, bits in zip(LOCATIONS, wanted, strict=False)}
    answers = made_answers(costs, 101, seed, trade_off)
    assert answers == made_answers(costs, 101, seed, trade_off)
    found = aligned(answers, costs).fit
    if found is not None:
        assert 1 / 1.6 < found.trade_off / trade_off < 1.6


def test_made_answers_are_less_sensitive_where_less_is_told() -> None:
    """Each of them, for each person."""
    costs = dict(zip(LOCATIONS, (0.001, 0.05, 0.1, 0.2, 0.4, 1.0), strict=True))
    for each in made_answers(costs, 50, 1):
        levels = [each.sensitivity[thing] for thing in LOCATIONS]
        assert levels == sorted(levels)
    with pytest.raises(UsageError, match="lambda cannot be inf"):
        made_answers(costs, 1, 1, inf)


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


HEADS = (b"", b"a,b\n", b"a,a\n1,2\n", b"a,b\n1,2\n3\n", b"a,b\n1,2,3\n")
LEVELS = (b"1,x", b"0,1", b"1,5", b"1,\xff", b"1,99999999999999999999")


@pytest.mark.parametrize("table", [*HEADS, *(b"a,b\n" + each + b"\n" for each in LEVELS)])
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

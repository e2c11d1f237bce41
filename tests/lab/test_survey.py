"""The two surveys: what was copied is what was published, and damage is seen; made answers."""

import csv
import gzip
from dataclasses import replace
from importlib.resources import files
from io import StringIO
from itertools import pairwise
from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.build.log_schema import BY_LABEL, TABLE_1
from agent.errors import UsageError
from agent.lab.paper.orders import calibrated
from agent.lab.paper.survey import (
    MAPPED,
    MOST,
    OUTCOMES,
    PRICES,
    SOURCE,
    WOULD_SHARE,
    adults,
    default_sensitivities,
    made_answers,
    median_bits,
    prices,
    rated_prices,
    ratings_in,
    stated_prices,
    with_default_sensitivities,
    within_outcomes,
)
from tests.decision.made import made_model

LOCATIONS = ("region", "country", "state", "city", "zip code", "address")
GOOD = b"a,b\n1,4\n2,2\n"


@given(st.lists(st.floats(0.25, 3), min_size=1, max_size=6), st.floats(0.5, 40), st.integers(0, 99))
def test_made_answers_give_back_their_trade_off_but_for_the_steps_offered(
    wanted: list[float], trade_off: float, seed: int
) -> None:
    """Steps are an octave wide at most, so a tick is off by √2; the rest is for chance."""
    costs = {thing: bits / trade_off for thing, bits in zip(LOCATIONS, wanted, strict=False)}
    answers = made_answers(costs, 101, seed, trade_off)
    assert (answers == made_answers(costs, 101, seed, trade_off)).all()
    _, found = calibrated(costs, answers)
    if found is not None:
        assert 1 / 1.6 < found / trade_off < 1.6


def test_made_answers_are_less_sensitive_where_less_is_told() -> None:
    """Each of them, for each person."""
    costs = dict(zip(LOCATIONS, (0.001, 0.05, 0.1, 0.2, 0.4, 1.0), strict=True))
    assert (np.diff(made_answers(costs, 50, 1)) >= 0).all()
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


TABLES = (b"", b"a,b\n", b"a,a\n1,2\n", b"a,b\n1,2\n3\n", b"a,b\n1,2,3\n")
LEVELS = (b"1,x", b"0,1", b"1,5", b"1,\xff", b"1,99999999999999999999")


def test_damage_is_refused() -> None:
    """No rows, odd ones, what is no level; not packed, cut off anywhere, or a byte changed."""
    whole = gzip.compress(GOOD)
    assert ratings_in(whole).levels.tolist() == [[1, 4], [2, 2]]
    tables = (*TABLES, *(b"a,b\n" + each + b"\n" for each in LEVELS))
    cut = (whole[:end] for end in range(len(whole)))
    for data in (GOOD, whole[:-8] + bytes(8), *map(gzip.compress, tables), *cut):
        with pytest.raises(UsageError, match="rating"):
            ratings_in(data)


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


NAMES = [each.name for each in TABLE_1]
BITS = st.integers(1, 500).map(lambda each: each / 100)  # so far apart that a line has a slope
KNOWN = st.lists(
    st.tuples(BITS, st.floats(0, 1)), min_size=1, max_size=5, unique_by=lambda x: x[0]
).map(lambda pairs: list(zip(*map(sorted, zip(*pairs, strict=True)), strict=True)))


@given(KNOWN, st.floats(0, 1))
def test_half_of_the_people_share_for_the_price(
    known: list[tuple[float, float]], more: float
) -> None:
    """By the straight lines between what is known; who is more willing has no higher price."""
    bits = median_bits(known)
    assert (bits is None) == (known[-1][1] < 0.5)
    if bits is not None:
        lines = np.array([(0.0, 0.0), *known]).T
        assert np.interp(bits, *lines) == pytest.approx(0.5)
        assert bits <= next(each for each, share in known if share >= 0.5)
        willing = median_bits([(each, share + more * (1 - share)) for each, share in known])
        assert willing is not None
        assert willing <= bits + 1e-9


def test_the_stated_prices_have_the_order_of_the_stated_shares() -> None:
    """And more than half share each for one bit (6.1), so none costs more."""
    labels = sorted(WOULD_SHARE, key=lambda each: -WOULD_SHARE[each])
    bits = [stated_prices()[each] for each in labels]
    assert all(low < high for low, high in pairwise(bits))
    assert min(WOULD_SHARE.values()) > 1 / 2  # 6.1: "for all attributes probed"
    assert max(bits) <= 1


def test_what_is_mapped_or_stated_has_a_price() -> None:
    """And nothing is mapped that is absent from Table 1, or from the items that were rated."""
    assert {*MAPPED} <= {*BY_LABEL}
    assert {item for items in MAPPED.values() for item in items} <= {*adults().items}
    assert {*rated_prices()} == {*MAPPED}
    assert {*prices()} == {*MAPPED, *stated_prices()}


def test_the_rated_prices_lie_in_the_step_that_the_median_person_ticks() -> None:
    """The median of 7.2 is that step's upper end."""
    ends = (0.0, *PRICES)
    for label, price in rated_prices().items():
        level = int(np.median(adults().of(MAPPED[label])))
        assert ends[level - 1] <= price <= ends[level]


def test_defaults_are_of_the_names_asked_for_alone() -> None:
    """What has no source has none, and what is no attribute of Table 1 neither."""
    found = default_sensitivities([*NAMES, "int_python"])
    scaled = {label: price * within_outcomes() for label, price in prices().items()}
    assert found == {BY_LABEL[label].name: price for label, price in scaled.items()}
    assert default_sensitivities(["gender", "int_python"]) == {"gender": found["gender"]}
    assert default_sensitivities(["topic_sports", "working_hours"]) == {}


def test_within_the_outcomes_no_set_costs_more_than_the_paper_says() -> None:
    """And one of the bounds is met: it is the largest such scale."""
    scale = within_outcomes()
    bits = {label: price * scale for label, price in prices().items()}
    slack = [each.cost - sum(bits.get(label, 0) for label in each.labels) for each in OUTCOMES]
    (hours,) = (each for each in OUTCOMES if "AWHR" in each.labels)
    slack.append(hours.cost - max(bits.values()))
    assert min(slack) == pytest.approx(0)


def test_a_model_that_states_them() -> None:
    """Attributes of Table 1 get theirs, others keep what they have, and the digest is gone."""
    model = replace(made_model(2), digest="0" * 64)
    first, *others = model.attributes
    own = [replace(each, name=f"own_{place}") for place, each in enumerate(others)]
    model = replace(model, attributes=(replace(first, name="gender"), *own))
    found = with_default_sensitivities(model)
    priced = replace(model.attributes[0], sensitivity=default_sensitivities(["gender"])["gender"])
    assert found.attributes == (priced, *own)
    assert found.digest == ""
    assert found.options["sensitivity_scale"] == within_outcomes()
    assert "adults_2020" in str(found.options["sensitivities"])

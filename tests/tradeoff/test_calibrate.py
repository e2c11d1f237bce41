"""The calibration of the paper's 7.2: its laws, and a fit by another way."""

from random import Random
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from agent.tradeoff.calibrate import LEVELS, NEVER, UNANSWERED, fit, wanted_bits

Floats = NDArray[np.float64]

FACTORS = st.one_of(st.sampled_from([1.25, 1.5, 2.0, 4.0, NEVER]), st.floats(1, 100))
COSTS = st.floats(1e-3, 1)
SCALES = st.floats(0.01, 100)


class Said(NamedTuple):
    """What some people said: levels (people, things), improvements (people, LEVELS)."""

    levels: NDArray[np.intp]
    improvements: Floats


@st.composite
def said(draw: st.DrawFn, least: int = UNANSWERED) -> Said:
    """Draw answers of up to five people about up to four things."""
    people, things = draw(st.integers(1, 5)), draw(st.integers(1, 4))
    levels = arrays(np.intp, (people, things), elements=st.integers(least, LEVELS))
    return Said(draw(levels), draw(arrays(np.float64, (people, LEVELS), elements=FACTORS)))


@st.composite
def curves(draw: st.DrawFn) -> tuple[Floats, Floats]:
    """Draw costs, and bits wanted for them, of which some may be never or not answered."""
    bits = st.one_of(st.floats(0, 10), st.sampled_from([NEVER, float("nan")]))
    pairs = draw(st.lists(st.tuples(COSTS, bits), min_size=1, max_size=8))
    costs, wanted = np.array(pairs).T
    return costs, wanted


@given(said())
def test_a_factor_is_its_logarithm_and_several_people_count_by_their_median(said: Said) -> None:
    """Person by person, as the two mappings are defined."""
    for thing, found in enumerate(wanted_bits(*said)):
        bits = sorted(
            np.log2(factors[level - 1])
            for factors, level in zip(said.improvements, said.levels[:, thing], strict=True)
            if level != UNANSWERED
        )
        if not bits:
            assert np.isnan(found)
            continue
        low, high = bits[(len(bits) - 1) // 2], bits[len(bits) // 2]
        assert found == pytest.approx((low + high) / 2)


def test_the_improvements_of_the_survey() -> None:
    """25 %, 50 %, 100 %, four times, never (6.3); doubling is one bit (7.2)."""
    levels, factors = np.array([[1, 2, 3, 4, 5]]), np.array([[1.25, 1.5, 2, 4, NEVER]])
    assert wanted_bits(levels, factors) == pytest.approx([0.32193, 0.58496, 1, 2, NEVER], abs=1e-5)


@given(said(), st.permutations(range(1, LEVELS + 1)))
def test_the_scale_is_a_currency_only(said: Said, labels: list[int]) -> None:
    """Other labels for the levels, in both questions, change nothing (7.2)."""
    renamed = np.array([UNANSWERED, *labels])[said.levels]
    improvements = np.empty_like(said.improvements)
    improvements[:, np.array(labels) - 1] = said.improvements
    assert np.array_equal(wanted_bits(renamed, improvements), wanted_bits(*said), equal_nan=True)


@given(said(least=1))
def test_what_is_more_sensitive_is_never_worth_less(said: Said) -> None:
    """Where nobody wants less for a higher level, and everybody rates one thing higher."""
    improvements = np.sort(said.improvements, axis=1)
    higher = np.minimum(said.levels + 1, LEVELS)
    assert (wanted_bits(higher, improvements) >= wanted_bits(said.levels, improvements)).all()


@given(said(), st.randoms(use_true_random=False), st.integers(1, 3))
def test_the_order_of_people_and_their_doubles_do_not_count(
    said: Said, random: Random, times: int
) -> None:
    """A median is of the answers, whoever gave them."""
    order = list(range(len(said.levels))) * times
    random.shuffle(order)
    found = wanted_bits(said.levels[order], said.improvements[order])
    assert np.array_equal(found, wanted_bits(*said), equal_nan=True)


@given(st.lists(COSTS, min_size=1, max_size=8), st.floats(0, 50), st.integers(0, 3))
def test_answers_without_noise_give_back_their_trade_off(
    costs: list[float], trade_off: float, never: int
) -> None:
    """However many more things are never shared."""
    all_costs = np.array([*costs, *[1.0] * never])
    found = fit(all_costs, np.array([*(trade_off * np.array(costs)), *[NEVER] * never]))
    assert found is not None
    assert found.trade_off == pytest.approx(trade_off)
    assert found.error == pytest.approx(0, abs=1e-9)
    assert found.used.tolist() == [True] * len(costs) + [False] * never
    assert np.isnan(found.residuals[len(costs) :]).all()


@given(curves())
def test_it_is_the_least_squares_of_numpy(curve: tuple[Floats, Floats]) -> None:
    """Of the pairs with a price, through the origin; the residuals as well."""
    costs, bits = curve
    used = np.isfinite(bits)
    assume(used.any())
    found = fit(costs, bits)
    assert found is not None
    (expected,), *_ = np.linalg.lstsq(costs[used][:, None], bits[used])
    assert found.trade_off == pytest.approx(expected, abs=1e-9)
    assert found.residuals[used] == pytest.approx(bits[used] - expected * costs[used], abs=1e-9)
    assert found.error == pytest.approx(np.sqrt(np.mean(found.residuals[used] ** 2)))


@given(curves(), SCALES, SCALES)
def test_it_scales_with_what_is_measured(
    curve: tuple[Floats, Floats], dearer: float, costlier: float
) -> None:
    """λ is bits per identifiability: it grows with the one and falls with the other."""
    costs, bits = curve
    found, scaled = fit(costs, bits), fit(costs * costlier, bits * dearer)
    assert (found is None) == (scaled is None)
    if found is not None and scaled is not None:
        assert scaled.trade_off == pytest.approx(found.trade_off * dearer / costlier)


@pytest.mark.parametrize(
    ("costs", "bits"),
    [([], []), ([0.0], [1.0]), ([1.0, 0.5], [NEVER, float("nan")]), ([0.0, 1.0], [1.0, NEVER])],
    ids=["nothing", "no cost", "no price", "neither"],
)
def test_without_a_price_for_a_cost_there_is_no_line(costs: list[float], bits: list[float]) -> None:
    """Any λ would do, so none is named."""
    assert fit(np.array(costs), np.array(bits)) is None


def test_what_comes_back_cannot_be_changed() -> None:
    """Arrays inside a value are read-only."""
    found = fit(np.array([1.0]), np.array([2.0]))
    assert found is not None
    assert not found.used.flags.writeable
    assert not found.residuals.flags.writeable

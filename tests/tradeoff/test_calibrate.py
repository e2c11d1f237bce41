"""The calibration of the paper's 7.2: its laws, and a fit by another way."""

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from agent.tradeoff.study import LEVELS, NEVER, UNANSWERED, fit, wanted_bits

Floats = NDArray[np.float64]

FACTORS = st.one_of(st.sampled_from([1.25, 1.5, 2.0, 4.0, NEVER]), st.floats(1, 100))
COSTS = st.floats(1e-3, 1)


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


@given(curves())
def test_it_is_the_least_squares_of_numpy(curve: tuple[Floats, Floats]) -> None:
    """Of the pairs with a price and of no other, through the origin; the residuals as well."""
    costs, bits = curve
    used = np.isfinite(bits)
    assume(used.any())
    found = fit(costs, bits)
    assert found is not None
    assert np.array_equal(found.used, used)
    assert np.isnan(found.residuals[~used]).all()
    (expected,), *_ = np.linalg.lstsq(costs[used][:, None], bits[used])
    assert found.trade_off == pytest.approx(expected, abs=1e-9)
    assert found.residuals[used] == pytest.approx(bits[used] - expected * costs[used], abs=1e-9)
    assert found.error == pytest.approx(np.sqrt(np.mean(found.residuals[used] ** 2)))


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

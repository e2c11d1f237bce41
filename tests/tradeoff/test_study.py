"""Violations are counted as they are defined, and a calibration is that of the paper's 7.2."""

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from agent.tradeoff.objective import DisclosureObjective
from agent.tradeoff.study import (
    LEVELS,
    NEVER,
    TOLERANCE,
    UNANSWERED,
    Pair,
    Violations,
    fit,
    random_pairs,
    submodularity,
    supermodularity,
    wanted_bits,
)
from agent.tradeoff.tables import singleton
from tests.tradeoff.worlds import Tabulated, all_pairs, objectives, submodular


def size(mask: int) -> int:
    """Return how many attributes a set has."""
    return mask.bit_count()


@given(submodular())
def test_submodular_functions_have_no_violation(function: Tabulated) -> None:
    """And their negatives are supermodular."""
    pairs = all_pairs(function.everything)
    nothing = Violations(len(pairs), 0, 0.0, 0.0)
    assert submodularity(function.value, pairs) == nothing
    assert supermodularity(lambda mask: -function.value(mask), pairs) == nothing


def test_the_square_of_the_size_is_supermodular_only() -> None:
    """Each attribute adds 2|B - A| more to B than to A."""
    pairs = all_pairs(0b111)
    found = submodularity(lambda mask: size(mask) ** 2.0, pairs)
    assert found.pairs == found.violating == len(pairs) == 15
    assert found.share == 1.0
    assert found.largest == 4.0
    assert found.mean == pytest.approx((12 * 2 + 3 * 4) / 15)
    assert supermodularity(lambda mask: size(mask) ** 2.0, pairs).violating == 0


@pytest.mark.parametrize(("growth", "violating"), [(TOLERANCE / 2, 0), (TOLERANCE * 2, 1)])
def test_rounding_is_no_violation(growth: float, violating: int) -> None:
    """What is below the tolerance is not counted, what is above is."""
    found = submodularity(lambda mask: growth * (mask == 0b11), [Pair(0b00, 0b01, 1)])
    assert (found.pairs, found.violating) == (1, violating)


@given(objectives(), st.integers(0, 6), st.integers(0, 2**32 - 1))
def test_random_pairs_are_pairs_of_feasible_sets(
    objective: DisclosureObjective, largest: int, seed: int
) -> None:
    """Only what a search may meet: A in B, V outside, all of B and V feasible, in the cap."""
    pairs = random_pairs(objective, 30, largest, np.random.default_rng(seed))
    assert len(pairs) <= 30
    for smaller, larger, attribute in pairs:
        reached = larger | singleton(attribute)
        assert smaller & ~larger == 0
        assert smaller != larger
        assert not larger >> attribute & 1
        assert reached & ~objective.candidates == 0
        assert objective.feasible(larger)
        assert objective.feasible(reached)
        assert size(reached) <= largest
    assert pairs == random_pairs(objective, 30, largest, np.random.default_rng(seed))


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

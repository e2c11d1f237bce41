"""The checker that measures how often sub- and supermodularity are violated (paper 3)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.tradeoff.objective import DisclosureObjective
from agent.tradeoff.study import (
    TOLERANCE,
    Pair,
    Violations,
    random_pairs,
    submodularity,
    supermodularity,
)
from agent.tradeoff.tables import singleton
from tests.tradeoff.doubles import Tabulated, submodular, tabulate
from tests.tradeoff.worlds import all_pairs, objectives


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


def test_no_pairs_no_violations() -> None:
    """A share of nothing is 0, and there is nothing to divide by."""
    assert submodularity(size, []) == Violations(0, 0, 0.0, 0.0)
    assert submodularity(size, []).share == 0.0


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


def test_random_pairs_reach_every_pair() -> None:
    """With few attributes many chains leave nothing out, and every chain gives a pair."""
    function = tabulate(4, size)
    pairs = random_pairs(function, 2000, 4, np.random.default_rng(0))
    assert len(pairs) == 2000
    assert set(pairs) == set(all_pairs(function.everything))


def test_short_chains_give_no_pair() -> None:
    """A single attribute has no A in B beside it."""
    assert random_pairs(tabulate(1, size), 10, 4, np.random.default_rng(0)) == []
    assert random_pairs(tabulate(4, size), 10, 1, np.random.default_rng(0)) == []

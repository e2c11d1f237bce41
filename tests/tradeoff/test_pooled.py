"""A query's utility pooled with that of all, and what pairs tell of larger sets."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from agent.tradeoff.plan import Pairwise
from agent.tradeoff.sets import members, pairs, singleton, subsets
from agent.tradeoff.utility import pooled
from tests.tradeoff.doubles import Tabulated, submodular
from tests.tradeoff.worlds import World, worlds

Floats = NDArray[np.float64]
ROUNDING = 1e-9
BITS = st.integers(-8, 8).map(lambda number: number / 4) | st.floats(-4, 4)


@st.composite
def figures(draw: st.DrawFn) -> tuple[Floats, Floats]:
    """Draw U of single attributes, and of pairs."""
    count = draw(st.integers(1, 5))
    singles = draw(arrays(np.float64, count, elements=BITS))
    both = draw(arrays(np.float64, count * (count - 1) // 2, elements=BITS))
    return singles, both


def told(function: Tabulated) -> Pairwise:
    """Return what the singles and pairs of a table tell."""
    count = function.everything.bit_count()
    singles = np.array([function.value(singleton(each)) for each in range(count)])
    return Pairwise(singles, np.array([function.value(pair) for pair in pairs(count)]))


@given(figures())
def test_singles_and_pairs_are_what_they_were(given_: tuple[Floats, Floats]) -> None:
    """And nothing is 0."""
    singles, both = given_
    count, utility = len(singles), Pairwise(singles, both)
    assert utility.value(0) == 0.0
    assert [utility.value(singleton(each)) for each in range(count)] == singles.tolist()
    found = [utility.value(pair) for pair in pairs(count)]
    assert found == pytest.approx(both.tolist(), abs=ROUNDING)


@given(figures())
def test_a_set_is_worth_the_same_however_it_is_reached(given_: tuple[Floats, Floats]) -> None:
    """All at once or by one more; and bounds are above every subset."""
    utility, count = Pairwise(*given_), len(given_[0])
    for mask in range(1 << count):
        rest = [*members(((1 << count) - 1) & ~mask)]
        one_more = [utility.value(mask | singleton(each)) for each in rest]
        assert utility.extensions(mask, rest) == one_more  # to the last bit
        most = max(utility.value(each) for each in subsets(mask))
        assert most - ROUNDING <= utility.ceiling(mask) <= utility.limit + ROUNDING


@given(submodular(most=6))
def test_of_a_submodular_utility_it_is_an_upper_bound(function: Tabulated) -> None:
    """An attribute adds to many no more than it adds to one of them."""
    utility = told(function)
    for mask in range(len(function.utilities)):
        assert function.value(mask) <= utility.value(mask) + ROUNDING


@given(worlds(), st.floats(0, 1))
def test_two_utilities_are_mixed_set_by_set(world: World, share: float) -> None:
    """Values, gains and bounds alike; all of one is that one."""
    own, usual = world.utility(), world.utility("plugin", 20.0)
    mean = pooled(own, usual, share)
    assert mean.limit == pytest.approx((1 - share) * own.limit + share * usual.limit)
    for mask in range(world.everything + 1):
        mixed = (1 - share) * own.value(mask) + share * usual.value(mask)
        assert mean.value(mask) == pytest.approx(mixed, abs=ROUNDING)
        most = max(mean.value(each) for each in subsets(mask))
        assert most <= mean.ceiling(mask) + ROUNDING
        mean.focus(mask)
        rest = [*members(world.everything & ~mask)]
        one_more = [mean.value(mask | singleton(each)) for each in rest]
        assert mean.extensions(mask, rest) == pytest.approx(one_more, abs=ROUNDING)
        mean.forget()
    assert pooled(own, usual, 0.0).value(world.everything) == own.value(world.everything)

"""The plug-in utility against its definition, and Theorem 3.1."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.tradeoff.check import submodularity
from agent.tradeoff.sets import members, singleton, subsets
from agent.tradeoff.tables import Population, QueryRows
from agent.tradeoff.utility import PlugIn, Utility, query_utility
from tests.tradeoff import naive
from tests.tradeoff.worlds import SHRINKAGES, World, all_pairs, rich_worlds, worlds


@given(worlds(), st.just(0.0) | SHRINKAGES | st.floats(0, 1e3))
def test_it_is_the_sum_over_groups(world: World, shrinkage: float) -> None:
    """Every set, with and without smoothing."""
    utility = world.utility("plugin", shrinkage)
    for mask in subsets(world.everything):
        expected = naive.plugin(world.rows, mask, shrinkage)
        assert utility.value(mask) == pytest.approx(expected, abs=1e-9)


@given(rich_worlds(), st.just(0.0) | SHRINKAGES)
def test_it_is_the_sum_over_groups_of_larger_tables(world: World, shrinkage: float) -> None:
    """As above, where intents depend on attributes."""
    utility = world.utility("plugin", shrinkage)
    for mask in (world.everything, world.everything >> 1):
        expected = naive.plugin(world.rows, mask, shrinkage)
        assert utility.value(mask) == pytest.approx(expected, abs=1e-9)


@given(rich_worlds(), st.just(0.0) | SHRINKAGES)
def test_it_is_the_mean_of_what_its_rows_lose(world: World, shrinkage: float) -> None:
    """So that a sample of rows estimates it, whichever rows these are."""
    utility = PlugIn.of(world.rows, world.cards, shrinkage)
    rows = np.arange(len(world.rows.user))
    for mask in (0, 1, world.everything):
        removed = utility.removed(mask, rows)
        assert removed.mean() == pytest.approx(utility.value(mask), abs=1e-12)
        assert utility.removed(mask, rows[::-2]).tolist() == removed[::-2].tolist()


@given(rich_worlds())
def test_without_smoothing_it_never_falls(world: World) -> None:
    """Information does not hurt, on any table; and it knows that of itself."""
    utility = world.utility("plugin", 0.0)
    assert utility.monotone
    check_monotone(utility, world.everything)


def test_with_smoothing_it_may_fall() -> None:
    """A group of one is pulled to the prior, and says less than it did in a larger one."""
    rows = QueryRows(
        user=np.arange(4),
        intent=np.array([0, 0, 1, 1]),
        person=np.array([[0, 0], [0, 1], [1, 2], [1, 3]], np.uint8),
        request=np.zeros((4, 0), np.uint8),
        intents=2,
    )
    utility = query_utility(rows, (2, 4), "plugin", 5.0)
    assert not utility.monotone
    assert utility.value(0b10) < utility.value(0b01)
    assert utility.value(0b11) < utility.value(0b01)


@st.composite
def conditionally_independent(draw: st.DrawFn) -> World:
    """Draw rows whose empirical distribution is exactly P(x) times the product of P(v_i|x).

    For each intent x, attribute i takes the values of one short list, equally often; the rows
    of x are all combinations of places in these lists, as often as x is likely.
    """
    attributes, places = draw(st.integers(2, 3)), draw(st.integers(2, 3))
    frequencies = draw(st.lists(st.integers(1, 3), min_size=2, max_size=3))
    lists = st.lists(st.integers(0, 2), min_size=places, max_size=places)
    told, intents = [], []
    for intent, times in enumerate(frequencies):
        values = [draw(lists) for _ in range(attributes)]
        combinations = list(product(*values)) * times
        told += combinations
        intents += [intent] * len(combinations)
    codes = np.array(told, np.uint8)
    rows = QueryRows(
        user=np.arange(len(codes)),
        intent=np.array(intents),
        person=codes,
        request=np.zeros((len(codes), 0), np.uint8),
        intents=len(frequencies),
    )
    return World((3,) * attributes, attributes, rows, Population(codes))


@given(conditionally_independent())
def test_under_conditional_independence_it_is_submodular(world: World) -> None:
    """Thm 3.1: what an attribute adds to a set, it adds at the most to a larger one."""
    utility = world.utility("plugin", 0.0)
    found = submodularity(utility.value, all_pairs(world.everything))
    assert found.pairs > 0
    assert found.violating == 0
    check_monotone(utility, world.everything)


def test_without_conditional_independence_it_need_not_be() -> None:
    """Either of two attributes says nothing of their difference; both say all."""
    rows = QueryRows(
        user=np.arange(4),
        intent=np.array([0, 1, 1, 0]),
        person=np.array([[0, 0], [0, 1], [1, 0], [1, 1]], np.uint8),
        request=np.zeros((4, 0), np.uint8),
        intents=2,
    )
    utility = query_utility(rows, (2, 2), "plugin", 0.0)
    assert [utility.value(mask) for mask in range(4)] == pytest.approx([0, 0, 0, 1])
    found = submodularity(utility.value, all_pairs(0b11))
    assert found.share == 1.0
    assert found.largest == pytest.approx(1.0)


@pytest.mark.parametrize("shrinkage", [-1.0, float("nan")])
def test_a_shrinkage_is_not_negative(shrinkage: float) -> None:
    """It is a number of rows."""
    none = np.zeros((1, 0), np.uint8)
    rows = QueryRows(np.zeros(1, np.intp), np.zeros(1, np.intp), none, none, 1)
    with pytest.raises(ValueError, match="not negative"):
        query_utility(rows, (), "plugin", shrinkage)


def check_monotone(utility: Utility, everything: int) -> None:
    """Check that no attribute takes anything away."""
    for mask in subsets(everything):
        for each in members(everything & ~mask):
            assert utility.value(mask | singleton(each)) >= utility.value(mask) - 1e-9

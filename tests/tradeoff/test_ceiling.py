"""What no subset's utility exceeds: a bound that needs no submodularity (DESIGN.md 2.5)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.tradeoff.sets import subsets
from agent.tradeoff.tables import Population, QueryRows
from agent.tradeoff.utility import Estimator, Utility, query_utility
from tests.tradeoff.worlds import ESTIMATORS, SHRINKAGES, World, rich_worlds, worlds

ROUNDING = 1e-8  # bits
ANY_SHRINKAGE = SHRINKAGES | st.floats(0.01, 1e3)


def check_ceiling(utility: Utility, everything: int) -> None:
    """Check every pair of a set and a subset of it, and the limit."""
    for mask in subsets(everything):
        ceiling = utility.ceiling(mask)
        assert ceiling <= utility.limit + ROUNDING
        for subset in subsets(mask):
            assert utility.value(subset) <= ceiling + ROUNDING


@given(worlds(), st.sampled_from(ESTIMATORS), ANY_SHRINKAGE)
def test_no_subset_is_above_the_ceiling(
    world: World, estimator: Estimator, shrinkage: float
) -> None:
    """Small tables, in which users with many rows weigh most."""
    check_ceiling(world.utility(estimator, shrinkage), world.everything)


@given(rich_worlds(), st.sampled_from(ESTIMATORS), ANY_SHRINKAGE)
def test_no_subset_of_larger_tables_is_above_the_ceiling(
    world: World, estimator: Estimator, shrinkage: float
) -> None:
    """Tables in which attributes tell much."""
    check_ceiling(world.utility(estimator, shrinkage), world.everything)


@given(rich_worlds())
def test_without_smoothing_the_ceiling_is_the_value(world: World) -> None:
    """The plug-in utility never falls then, so that the set itself is the best subset."""
    utility = world.utility("plugin", 0.0)
    for mask in subsets(world.everything):
        assert utility.ceiling(mask) == pytest.approx(utility.value(mask), abs=1e-9)


@st.composite
def camps(draw: st.DrawFn) -> World:
    """Draw users with many rows each, most of them for one intent, in groups of a few.

    Here leaving a user out helps most: the sum over intents of what different users are told
    exceeds 1, the case for which the ceiling has its excess term.
    """
    users = draw(st.integers(2, 5))
    rows = draw(st.lists(st.integers(1, 12), min_size=users, max_size=users))
    intents = draw(st.lists(st.integers(0, 2), min_size=users, max_size=users))
    strays = draw(st.lists(st.tuples(st.integers(0, users - 1), st.integers(0, 2)), max_size=4))
    user = np.r_[np.repeat(np.arange(users), rows), [who for who, _ in strays]].astype(np.intp)
    intent = np.r_[np.repeat(intents, rows), [what for _, what in strays]].astype(np.intp)
    codes = st.lists(st.integers(0, 1), min_size=users, max_size=users)
    person = np.array([draw(codes), draw(codes)], np.uint8).T
    request = np.array([draw(st.integers(0, 1)) for _ in user], np.uint8)[:, np.newaxis]
    numbered = np.unique(intent, return_inverse=True)[1]
    query = QueryRows(user, numbered, person, request, int(numbered.max()) + 1)
    return World((2, 2, 2), 2, query, Population(person, None, (np.ones((users, 2), np.uint8),)))


@given(camps(), ANY_SHRINKAGE)
def test_users_with_many_rows_stay_below_the_ceiling(world: World, shrinkage: float) -> None:
    """The adversary of the argument."""
    check_ceiling(world.utility("louo", shrinkage), world.everything)


def test_smoothing_can_tell_more_than_the_counts() -> None:
    """A hundred small groups, evenly divided, are pulled to a prior that is sure of itself.

    Their empirical entropy is no bound then: the ceiling must not count on it.
    """
    small = np.repeat(np.arange(100), 3)
    code = np.r_[small, np.full(2700, 100)].astype(np.uint8)
    intent = np.r_[np.tile([0, 1, 2], 100), np.zeros(2700)].astype(np.intp)
    none = np.zeros((3000, 0), np.uint8)
    rows = QueryRows(np.arange(3000), intent, code[:, np.newaxis], none, 3)
    smooth = query_utility(rows, (101,), "plugin", 5.0)
    counted = query_utility(rows, (101,), "plugin", 0.0)
    entropy = counted.limit - counted.value(1)
    assert smooth.value(1) > smooth.limit - entropy
    assert smooth.value(1) <= smooth.ceiling(1)

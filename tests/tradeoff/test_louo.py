"""The leave-one-user-out utility against its definition, and what must not change it."""

from dataclasses import replace
from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.tradeoff.sets import subsets
from agent.tradeoff.tables import QueryRows
from agent.tradeoff.utility import Estimator, MeanUtility, query_utility
from tests.tradeoff import naive
from tests.tradeoff.worlds import ESTIMATORS, SHRINKAGES, World, rich_worlds, worlds


@given(worlds(), SHRINKAGES | st.floats(1e-3, 1e3))
def test_it_is_the_loop_over_rows(world: World, shrinkage: float) -> None:
    """Every set; several rows per user, repeated pairs, intents that occur once, requests."""
    utility = world.utility("louo", shrinkage)
    for mask in subsets(world.everything):
        expected = naive.louo(world.rows, mask, shrinkage)
        assert utility.value(mask) == pytest.approx(expected, abs=1e-8)


@given(rich_worlds(), SHRINKAGES)
def test_it_is_the_loop_over_rows_of_larger_tables(world: World, shrinkage: float) -> None:
    """As above, where groups hold several users and intents depend on attributes."""
    utility = world.utility("louo", shrinkage)
    for mask in (world.everything, world.everything >> 1, world.everything & 0b10101):
        expected = naive.louo(world.rows, mask, shrinkage)
        assert utility.value(mask) == pytest.approx(expected, abs=1e-8)


@given(worlds(), SHRINKAGES)
def test_a_value_that_nobody_else_has_earns_nothing(world: World, shrinkage: float) -> None:
    """Not a small number: nothing, for every set that holds such an attribute."""
    rows = world.rows
    names = np.arange(len(rows.person), dtype=np.uint8)[:, np.newaxis]
    own = replace(rows, person=np.concatenate([names, rows.person], axis=1))
    utility = query_utility(own, (len(names), *world.cards), "louo", shrinkage)
    for mask in subsets(world.everything):
        assert utility.value(mask << 1 | 1) == 0.0


@given(worlds(), st.sampled_from(ESTIMATORS), SHRINKAGES)
def test_nothing_shared_earns_nothing(world: World, estimator: Estimator, shrinkage: float) -> None:
    """U of the empty set is 0 by definition."""
    utility = world.utility(estimator, shrinkage)
    utility.focus(world.everything)
    assert utility.value(0) == 0.0
    assert MeanUtility([utility, utility], np.array([1.0, 2.0])).value(0) == 0.0


def test_one_user_with_thousands_of_rows_is_no_trap() -> None:
    """Left out of the others' group, which is just as large, they once left 0 to divide by."""
    mine, others, beta = 5000, 4995, 5.0
    rows = QueryRows(
        user=np.r_[np.zeros(mine, np.intp), 1 + np.arange(others)],
        intent=np.r_[np.zeros(mine, np.intp), np.arange(others) % 2],
        person=np.r_[0, np.ones(others)].astype(np.uint8)[:, np.newaxis],
        request=np.zeros((mine + others, 0), np.uint8),
        intents=2,
    )
    total = 0.0
    for here, everywhere in ((2498, 7498), (2497, 2497)):
        prior = (everywhere - 1 + 0.5) / (mine + others - 1 + 1)
        told = (here - 1 + beta * prior) / (others - 1 + beta)
        total += here * log2(told / prior)
    value = query_utility(rows, (2,), "louo", beta).value(1)
    assert value == pytest.approx(total / (mine + others), abs=1e-9)


def test_an_attribute_may_have_256_values() -> None:
    """Beside one with a single value, 256 did not fit into the byte they were counted with."""
    generator = np.random.default_rng(0)
    codes = generator.integers(0, 256, 1500)
    rows = QueryRows(
        user=np.arange(3000) % 1500,
        intent=np.arange(3000) % 2,
        person=np.stack([np.zeros(1500), codes], axis=1).astype(np.uint8),
        request=np.zeros((3000, 0), np.uint8),
        intents=2,
    )
    utility = query_utility(rows, (1, 256), "louo", 5.0)
    assert utility.extensions(0, [0, 1]) == [utility.value(1), utility.value(2)]


@given(worlds(), st.sampled_from(ESTIMATORS), st.lists(st.integers(1, 9), min_size=2, max_size=2))
def test_the_mean_over_queries_is_a_weighted_mean(
    world: World, estimator: Estimator, weights: list[int]
) -> None:
    """The a-priori case: values, limits and ceilings alike."""
    parts = [world.utility(estimator, beta) for beta in (5.0, 20.0)]
    mean = MeanUtility(parts, np.array(weights, np.float64))
    shares = [weight / sum(weights) for weight in weights]
    for mask in subsets(world.everything):
        for function, each in ((mean.value, "value"), (mean.ceiling, "ceiling")):
            expected = sum(w * getattr(p, each)(mask) for w, p in zip(shares, parts, strict=True))
            assert function(mask) == pytest.approx(expected, abs=1e-12)
    assert mean.limit == pytest.approx(sum(w * p.limit for w, p in zip(shares, parts, strict=True)))


@pytest.mark.parametrize("shrinkage", [0.0, -1.0, float("nan")])
def test_it_needs_a_prior(shrinkage: float) -> None:
    """Without one, a row whose group holds nobody else has no score."""
    none = np.zeros((1, 0), np.uint8)
    rows = QueryRows(np.zeros(1, np.intp), np.zeros(1, np.intp), none, none, 1)
    with pytest.raises(ValueError, match="above 0"):
        query_utility(rows, (), "louo", shrinkage)

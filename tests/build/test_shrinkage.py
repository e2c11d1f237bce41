"""Beta is the one at which greedy search finds the largest F, and a few rows have their price."""

import numpy as np
import pytest
from hypothesis import given, settings

from agent.build.observe import Observations
from agent.build.shrinkage import SHRINKAGES, fit
from agent.tradeoff.anonymity_set import AnonymitySet
from agent.tradeoff.search import maximise
from agent.tradeoff.tables import Population, QueryRows
from tests.build.naive import price_of
from tests.build.worlds import CARDS, learnable
from tests.tradeoff import naive


def objective(rows: QueryRows, population: Population, beta: float, mask: int) -> float:
    """Return F at a trade-off of 1 from the definitions."""
    cost = [naive.identifiability(population, each, (), "maxprob", 1) for each in (mask, 0)]
    price = sum(price_of(rows, each, beta) for each in range(len(CARDS)) if mask >> each & 1)
    return naive.louo(rows, mask, beta) - price - (cost[0] - cost[1])


@settings(max_examples=40)
@given(seen=learnable())
def test_no_other_beta_reaches_more(seen: Observations) -> None:
    """Each beta is searched alone; what its search found is what the definition says."""
    rows, population = seen.queries[0].rows, seen.population
    reached = []
    for beta in SHRINKAGES:
        alone = maximise(
            fit(rows, AnonymitySet(population, CARDS), "louo", beta).objective, "greedy"
        )
        expected = objective(rows, population, beta, alone.mask)
        assert alone.value == pytest.approx(expected, abs=1e-6)
        reached.append(alone.value)
    chosen = fit(rows, AnonymitySet(population, CARDS), "louo", None).shrinkage
    assert chosen == SHRINKAGES[len(reached) - 1 - int(np.argmax(reached[::-1]))]


def test_the_largest_beta_wins_where_nothing_is_worth_disclosing() -> None:
    """All of them reach 0: a tie goes to the one that believes the least."""
    rows = QueryRows(
        user=np.arange(4),
        intent=np.array([0, 1, 0, 1]),
        person=np.zeros((4, 1), np.uint8),
        request=np.zeros((4, 0), np.uint8),
        intents=2,
    )
    crowd = AnonymitySet(Population(rows.person), (2,))
    assert fit(rows, crowd, "louo", None).shrinkage == max(SHRINKAGES)


def test_a_given_beta_is_kept() -> None:
    """Also 0, with the plug-in estimator."""
    rows = QueryRows(
        user=np.arange(2),
        intent=np.array([0, 1]),
        person=np.array([[0], [1]], np.uint8),
        request=np.zeros((2, 0), np.uint8),
        intents=2,
    )
    fitted = fit(rows, AnonymitySet(Population(rows.person), (2,)), "plugin", 0.0)
    assert fitted.shrinkage == 0.0
    assert fitted.utility.value(1) == pytest.approx(1.0)

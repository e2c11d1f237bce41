"""Beta, the weight of the prior, for each query (DESIGN.md 2.1)."""

from typing import NamedTuple

from agent.tradeoff.anonymity_set import AnonymitySet
from agent.tradeoff.objective import DisclosureObjective, Settings
from agent.tradeoff.search import maximise
from agent.tradeoff.tables import QueryRows
from agent.tradeoff.utility import Estimator, Utility, query_utility

SHRINKAGES = (5.0, 10.0, 20.0, 50.0, 100.0, 200.0)
TRADE_OFF = 1.0  # lambda at which beta is chosen, and a model validated


class Fitted(NamedTuple):
    """A query at the ``shrinkage`` beta chosen for it, in rows.

    ``objective``: F for a recipient that knows nothing, at TRADE_OFF with ``maxprob`` and
    everything else at its default; it remembers what it has evaluated.
    """

    shrinkage: float
    utility: Utility
    objective: DisclosureObjective


def fit(
    rows: QueryRows, crowd: AnonymitySet, estimator: Estimator, shrinkage: float | None
) -> Fitted:
    """Return a query at a given shrinkage, in rows, or for None at the best of SHRINKAGES.

    The best has the largest F that greedy search finds; of equals, it is the smallest.
    ``crowd``: all people. Source: DESIGN.md 2.1.
    """
    if shrinkage is not None:
        return _fitted(shrinkage, query_utility(rows, crowd.cards, estimator, shrinkage), crowd)
    first = query_utility(rows, crowd.cards, estimator, SHRINKAGES[0])
    fitted = [_fitted(each, first.at(each), crowd) for each in SHRINKAGES]
    best = max(fitted, key=lambda each: maximise(each.objective, "greedy").value)
    first.forget()
    return best


def _fitted(shrinkage: float, utility: Utility, crowd: AnonymitySet) -> Fitted:
    count = len(crowd.cards)
    settings = Settings(
        candidates=(1 << count) - 1, sensitivity=(0.0,) * count, trade_off=TRADE_OFF
    )
    return Fitted(shrinkage, utility, DisclosureObjective(utility, crowd, settings))

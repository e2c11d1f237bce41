"""Beta, the weight of the prior, and prices of attributes for each query (DESIGN.md 2.1).

The best of many sets looks better than it is, the more so the fewer rows there are. So every
attribute has a price, in bits, that it has to bring on top of what it costs: as if LUCKY of the
rows, and FEW more, had each scored one standard deviation too high. Luck with attributes that tell
nothing falls as 1/rows, and so does the price. A small beta trusts small groups and pays more:
prices differ by beta, and the choice of beta counts them. Promises came true for people held out
at prices of 14, 18, 22, 24 and 27 lucky rows where there were 100, 200, 500, 1,000 and 3,000, much
the same on the developer survey, the time use survey and a synthetic log, and with 5 attributes as
with 42.
"""

from itertools import chain
from typing import NamedTuple

import numpy as np

from agent.tradeoff.anonymity_set import AnonymitySet
from agent.tradeoff.objective import DisclosureObjective, Settings
from agent.tradeoff.search import maximise
from agent.tradeoff.tables import Floats, QueryRows, singleton
from agent.tradeoff.utility import (
    MOST_PRICE,
    Estimator,
    LeaveOneUserOut,
    Priced,
    QueryUtility,
    query_utility,
)

SHRINKAGES = (5.0, 10.0, 20.0, 50.0, 100.0, 200.0)
LUCKY, FEW = 25.0, 75.0  # rows
TRADE_OFF = 1.0  # lambda at which beta is chosen, and a model validated


class Fitted(NamedTuple):
    """A query at the ``shrinkage`` beta chosen for it, in rows.

    ``utility``: before prices; ``prices``: of the attributes, bits, None for ``plugin``;
    ``deviation``: the largest that scores have by an attribute, bits, 0 for ``plugin``;
    ``objective``: F, prices included, for a recipient that knows nothing, at TRADE_OFF with
    ``maxprob`` and everything else at its default; it remembers what it has evaluated.
    """

    shrinkage: float
    utility: QueryUtility
    prices: Floats | None
    deviation: float
    objective: DisclosureObjective

    def row(self, count: int, *, paired: bool) -> dict[str, object]:
        """Return all that a model keeps; ``count``: of attributes; ``paired``: with all pairs."""
        extended = (
            self.utility.extensions(singleton(each), range(each + 1, count))
            for each in range(count if paired else 0)
        )
        row = {
            "beta": self.shrinkage,
            "limit": self.utility.limit,
            "deviation": self.deviation,
            "singles": self.utility.extensions(0, range(count)),
            "pairs": [*chain.from_iterable(extended)],
            "prices": self.prices,
        }
        if paired:
            self.utility.forget()
        return row


def fit(
    rows: QueryRows, crowd: AnonymitySet, estimator: Estimator, shrinkage: float | None
) -> Fitted:
    """Return a query at a given shrinkage, in rows, or for None at the best of SHRINKAGES.

    The best has the largest F that greedy search finds; of equals, it is the largest.
    ``crowd``: all people. Source: DESIGN.md 2.1.
    """
    if shrinkage is not None:
        utility = query_utility(rows, crowd.cards, estimator, shrinkage)
        return _fitted(shrinkage, utility, len(rows.user), crowd)
    first = query_utility(rows, crowd.cards, estimator, SHRINKAGES[0])
    fitted = [_fitted(each, first.at(each), len(rows.user), crowd) for each in SHRINKAGES]
    best = max(reversed(fitted), key=lambda each: maximise(each.objective, "greedy").value)
    first.forget()
    return best


def _fitted(shrinkage: float, utility: QueryUtility, rows: int, crowd: AnonymitySet) -> Fitted:
    prices, deviation = None, 0.0
    if isinstance(utility, LeaveOneUserOut):
        deviations = utility.deviations()
        prices = np.minimum(LUCKY / (rows + FEW) * deviations, MOST_PRICE)
        deviation = float(deviations.max())
    count = len(crowd.cards)
    settings = Settings(
        candidates=(1 << count) - 1, sensitivity=(0.0,) * count, trade_off=TRADE_OFF
    )
    corrected = utility if prices is None else Priced(utility, prices)
    objective = DisclosureObjective(corrected, crowd, settings)
    return Fitted(shrinkage, utility, prices, deviation, objective)

"""What a recipient is to hold for all that it is asked, and what one query uses of it. Pure.

The plan follows from the model, the terms, what the recipient holds and what it was asked so far,
and so it is simulatable (DESIGN.md 2.6). It is for what was asked, and not for what only may be:
that can be told when it is asked for, and what was told cannot be taken back.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from agent.decision.settings import Case
from agent.model.model import Model
from agent.tradeoff.objective import Objective
from agent.tradeoff.portfolio import Demand, Portfolio, plan
from agent.tradeoff.uses import Scope, Uses
from agent.tradeoff.utility import HELPS_NOTHING

QUERIES = 24  # are planned for at the most; a model keeps the utilities of 32 at hand
PRIOR = 30.0  # so many requests the model's own shares of the queries count for
LEAST = 0.001  # bits that an attribute adds to an answer, and to the plan; less is noise


class Plan(NamedTuple):
    """A portfolio, the queries that it is for, and by what it was priced.

    ``shares``: of all requests that are expected, by query, an index of the model; the largest
    first, as ``portfolio.uses`` are.
    """

    portfolio: Portfolio
    shares: dict[int, float]
    prices: Objective

    def serves(self, attribute: int) -> tuple[int, ...]:
        """Return the queries that use an attribute, those asked most first."""
        uses = zip(self.shares, self.portfolio.uses, strict=True)
        return tuple(query for query, use in uses if use >> attribute & 1)


def planned(case: Case, query: int, model: Model, fixed: int) -> Plan:
    """Return the plan for the recipient of a request.

    ``fixed``: what always leaves, a mask. The limits hold for the whole of it, but the cap on one
    answer, which its parts keep.
    """
    shares = _shares(case, query, model)
    settings, persons = case.settings, case.crowd.persons
    prices = Objective(HELPS_NOTHING, case.crowd, replace(settings, most=None))
    usable = case.free & persons
    scope = Scope(case.crowd.known & usable, usable, fixed, settings.most, LEAST)
    demands = [Demand(uses_of(each, model), share) for each, share in shares.items()]
    found = plan(demands, prices, scope)
    return Plan(found, shares, prices)


def uses_of(query: int, model: Model) -> Uses:
    """Return what a query makes of sets of attributes, as far as it was computed."""
    return model.remember(
        (Uses, query),
        lambda: Uses(
            lambda: model.utility(query), len(model.attributes), model.computed_utilities(query)
        ),
    )


def _shares(case: Case, query: int, model: Model) -> dict[int, float]:
    """Return the queries to plan for with their shares of all requests, the largest share first.

    They are this one and those that the recipient was asked. What else may be asked has its share
    of the whole and no say: telling can wait until then, and cannot be taken back. Of too many,
    those with small shares are left out.
    """
    asked = np.bincount([query], minlength=len(model.queries)).astype(np.float64)
    for each, times in case.heard:
        asked[each] += times
    usual = model.tables.query_weights.astype(np.float64)
    shares = (asked + PRIOR * usual / usual.sum()) / (asked.sum() + PRIOR)
    others = [each for each in np.flatnonzero(asked).tolist() if each != query]
    others.sort(key=lambda each: (-shares[each], each))
    chosen = sorted([query, *others[: QUERIES - 1]], key=lambda each: (-shares[each], each))
    return {each: float(shares[each]) for each in chosen}

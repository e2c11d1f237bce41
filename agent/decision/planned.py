"""What a recipient is to hold for all that it will be asked, and what one query uses of it. Pure.

The plan follows from the model, the terms, what the recipient holds and what it was asked so far,
and so it is simulatable (DESIGN.md 2.6).
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from agent.decision.settings import Case
from agent.model.model import Model
from agent.tradeoff.objective import Objective
from agent.tradeoff.portfolio import Demand, Portfolio, Scope, Uses, plan
from agent.tradeoff.utility import HELPS_NOTHING

QUERIES = 24  # are planned for at the most; a model keeps the utilities of 32 at hand
PRIOR = 10.0  # so many requests the model's own shares of the queries count for


class Plan(NamedTuple):
    """A portfolio, the queries that it is for, and by what it was priced.

    ``portfolio.uses`` are those of ``queries``, which are indexes of the model.
    """

    portfolio: Portfolio
    queries: tuple[int, ...]
    prices: Objective

    def serves(self, attribute: int) -> tuple[int, ...]:
        """Return the queries that use an attribute, those asked most first."""
        uses = zip(self.queries, self.portfolio.uses, strict=True)
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
    scope = Scope(case.crowd.known & usable, usable, fixed, settings.most)
    demands = [Demand(uses_of(each, model), share) for each, share in shares]
    found = plan(demands, prices, scope)
    return Plan(found, tuple(each for each, _ in shares), prices)


def uses_of(query: int, model: Model) -> Uses:
    """Return what a query makes of sets of attributes, as far as it was computed."""
    return model.remember(
        (Uses, query),
        lambda: Uses(
            lambda: model.utility(query), len(model.attributes), model.computed_utilities(query)
        ),
    )


def _shares(case: Case, query: int, model: Model) -> list[tuple[int, float]]:
    """Return the queries to plan for with their shares of the requests, the largest share first.

    They are this one, those that the recipient was asked, and the model's own, which stand for
    all that may be asked. Where there are too many, those with small shares are left out.
    """
    asked = np.bincount([query], minlength=len(model.queries)).astype(np.float64)
    for each, times in case.heard:
        asked[each] += times
    usual = model.tables.query_weights.astype(np.float64)
    likely = asked + PRIOR * usual / usual.sum()
    order = [
        query,
        *(each for each in np.argsort(-likely, kind="stable").tolist() if each != query),
    ]
    chosen = sorted(order[:QUERIES], key=lambda each: (-likely[each], each))
    weights = asked[chosen] / asked[chosen].sum() * asked.sum()
    weights += PRIOR * usual[chosen] / usual[chosen].sum()
    return [*zip(chosen, (weights / weights.sum()).tolist(), strict=True)]

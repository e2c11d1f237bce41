"""What a recipient is to hold for all that it is asked, and what one query uses of it. Pure.

The plan follows from the model, the terms, what the recipient holds and what it was asked so far,
and so it is simulatable (DESIGN.md 2.6). It is for what was asked, and less for what only may be:
that can be told when it is asked for, and what was told cannot be taken back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from agent.decision.settings import Case
from agent.model.model import Model
from agent.tradeoff.local_search import ROUNDING
from agent.tradeoff.objective import DisclosureObjective
from agent.tradeoff.plan import (
    Demand,
    Pairwise,
    Portfolio,
    QueryPlanner,
    Scope,
    mixed,
    plan,
)
from agent.tradeoff.utility import HELPS_NOTHING, pooled

FEWEST = 3  # queries, whose mean says nothing of another one
QUERIES = 24  # are planned for at the most; a model keeps the utilities of 32 at hand
PRIOR = 30.0  # so many requests the model's own shares of the queries count for
REST = 0.3  # of what the rest gains counts: most of it can be told when it is asked for
OWN_ROWS = 300.0  # with so many rows a query counts as much as the mean of many queries
LEAST = 0.001  # bits that an attribute adds to an answer, and to the plan; less is noise


class Plan(NamedTuple):
    """A portfolio, the queries that it is for, and by what it was priced.

    ``shares``: of all requests that are expected, by query, an index of the model; the largest
    first, as ``portfolio.uses`` are, whose last is what the mean of all queries uses.
    """

    portfolio: Portfolio
    shares: dict[int, float]
    prices: DisclosureObjective

    def serves(self, attribute: int) -> tuple[int, ...]:
        """Return the queries that use an attribute, those asked most first."""
        uses = zip(self.shares, self.portfolio.uses[:-1], strict=True)
        return tuple(query for query, use in uses if use >> attribute & 1)

    def answered(self, query: int, mask: int) -> Plan:
        """Return the plan in which a query uses what it is answered with."""
        uses = [*self.portfolio.uses]
        uses[[*self.shares].index(query)] = mask
        return self._replace(portfolio=replace(self.portfolio, uses=tuple(uses)))


def planned(case: Case, query: int, model: Model, fixed: int) -> Plan:
    """Return the plan for the recipient of a request.

    ``fixed``: what always leaves, a mask. The limits hold for the whole of it, but the cap on one
    answer, which its parts keep.
    """
    shares = _shares(case, query, model)
    settings, persons = case.settings, case.crowd.persons
    prices = DisclosureObjective(HELPS_NOTHING, case.crowd, replace(settings, most=None))
    usable = case.free & persons
    scope = Scope(case.crowd.known & usable, usable, fixed, settings.most, LEAST)
    demands = [Demand(pooled_uses(each, model), share) for each, share in shares.items()]
    demands.append(_rest(1 - sum(shares.values()), model))
    found = plan(demands, prices, scope)
    return Plan(found, shares, prices)


def uses_of(query: int, model: Model) -> QueryPlanner:
    """Return what a query makes of sets of attributes, as far as it was computed."""
    return model.remember(
        (QueryPlanner, query),
        lambda: QueryPlanner(
            lambda: model.utility(query), len(model.attributes), model.computed_utilities(query)
        ),
    )


def pooled_uses(query: int, model: Model) -> QueryPlanner:
    """Return the same, pooled with the mean of all queries: few rows are mostly noise.

    As in the James-Stein estimator (Efron and Morris 1975), by the share of noise and by
    (Q - 3) / (Q - 1), for Q queries: not at all where there are three or fewer. On the developer
    survey and on a synthetic log as much of U is noise as is true of the query at 50 to 150 rows,
    for sets of one to four attributes. A plan takes the best of many sets, and so OWN_ROWS is two
    to three times that. Without pairs too little is known of the mean, and nothing is pooled.
    """
    queries, rows = len(model.queries), model.queries[query].rows
    mean = _mean(model)
    if mean is None:
        return uses_of(query, model)
    share = (queries - FEWEST) / (queries - 1) * OWN_ROWS / (rows + OWN_ROWS)

    def made() -> QueryPlanner:
        stored = model.tables.singles.utilities_of(query)
        return QueryPlanner(
            lambda: pooled(model.utility(query), mean.utility, share),
            len(model.attributes),
            {mask: mixed(bits, mean.computed[mask], share) for mask, bits in stored.items()},
        )

    return model.remember((pooled, query), made)


def _rest(share: float, model: Model) -> Demand:
    """Return what else may be asked, with what counts of its share; it is the mean of all."""
    mean = _mean(model)
    if mean is None or share < ROUNDING:
        return Demand(QueryPlanner(lambda: HELPS_NOTHING, len(model.attributes), {}), 0.0)
    return Demand(mean.uses, REST * share)


class _Mean(NamedTuple):
    """The mean query: U of one and of two by mask, of more as those tell it, and its uses."""

    computed: Mapping[int, float]
    utility: Pairwise
    uses: QueryPlanner


def _mean(model: Model) -> _Mean | None:
    """Return the mean query of a model, by weight; None where it says too little of another.

    That is where there are three queries or fewer, and where no pairs tell of larger sets.
    """

    def made() -> _Mean | None:
        singles = model.tables.singles.mean_of(model.tables.query_weights)
        if singles.pair_utilities is None or len(model.queries) <= FEWEST:
            return None
        utility = Pairwise(singles.utilities[0], singles.pair_utilities[0])
        count, computed = len(model.attributes), singles.utilities_of(0)
        return _Mean(computed, utility, QueryPlanner(lambda: utility, count, computed))

    return model.remember(_Mean, made)


def _shares(case: Case, query: int, model: Model) -> dict[int, float]:
    """Return the queries to plan for with their shares of all requests, the largest share first.

    They are this one and those that the recipient was asked. What else may be asked has the rest of
    the whole. Of too many, those with small shares are left out, and count with the rest.
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

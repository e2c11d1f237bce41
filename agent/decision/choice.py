"""Which set is chosen: anew for each query, once for all of them, or as part of a plan.

A plan is what a recipient is to hold in the end. It follows from the model, the terms, what the
recipient holds and what it was asked so far, and so it is simulatable (DESIGN.md 2.6). It is for
what was asked, and less for what only may be: that can be sent when it is asked for, and what was
sent cannot be taken back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from agent.decision.context import Context, context_of
from agent.decision.request import Knowledge, Request
from agent.decision.terms import Terms
from agent.errors import UsageError
from agent.model.model import Model
from agent.tradeoff.bounds import Contraction, forced
from agent.tradeoff.local_search import ROUNDING, SetFunction
from agent.tradeoff.objective import DisclosureObjective
from agent.tradeoff.plan import Demand, Pairwise, Portfolio, QueryPlanner, Scope, mixed, plan
from agent.tradeoff.search import EXHAUSTIVE, Result, maximise
from agent.tradeoff.sets import members, singleton, union
from agent.tradeoff.utility import HELPS_NOTHING, pooled
from policy.settings import Mode

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


def planned(case: Context, query: int, model: Model, fixed: int) -> Plan:
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


def _shares(case: Context, query: int, model: Model) -> dict[int, float]:
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


class Choice(NamedTuple):
    """The chosen set and its attributes in order, the objective, and the search's result.

    ``standing``: the set was chosen for all queries, before anything was known; ``pending``: what
    is worth adding and waits for the user, in the order chosen; ``plan``: of which the set is a
    part, if it is.
    """

    mask: int
    order: tuple[int, ...]
    objective: DisclosureObjective
    result: Result
    standing: bool = False
    pending: tuple[int, ...] = ()
    plan: Plan | None = None

    @property
    def mode(self) -> Mode:
        """How it was chosen, which need not be what the terms say."""
        if self.plan is not None:
            return "planned"
        return "standing" if self.standing else "dynamic"


def choice_of(
    case: Context, request: Request, query: int | None, terms: Terms, model: Model
) -> Choice:
    """Return the best set for the query that was meant, or what terms say in place of it.

    Nothing is planned for a recipient that forgets: what it is told serves one request only.
    """
    if query is None or terms.mode == "standing":
        return choose_standing(case, request, terms, model)
    if terms.plans:
        return choose_planned(case, query, terms, model)
    return choose(case, query, terms, model)


def choose(case: Context, query: int, terms: Terms, model: Model) -> Choice:
    """Return the best set for this query (paper 9.5.2)."""
    choice = _best(objective_of(case, query, terms, model), case, terms)
    return choice._replace(pending=_waiting(choice, case, terms))


def objective_of(
    case: Context, query: int | None, terms: Terms, model: Model
) -> DisclosureObjective:
    """Return by what a set is chosen for a query; None: for the mean of all."""
    if query is not None and terms.plans:
        return DisclosureObjective(pooled_uses(query, model), case.crowd, case.settings)
    if query is not None:
        utility, computed = uses_of(query, model), model.computed_utilities(query)
        return DisclosureObjective(utility, case.crowd, case.settings, computed)
    nobodys = replace(case.settings, own=None)  # what is remembered outlives the request
    shared = model.remember(
        (DisclosureObjective, "standing"),
        lambda: DisclosureObjective(model.mean_utility(), model.crowd(), nobodys),
    )
    return shared.given(case.crowd, case.settings)


def choose_standing(case: Context, request: Request, terms: Terms, model: Model) -> Choice:
    """Return the a-priori optimum over the model's queries (paper 9.5.1).

    It is the same set for every request, whatever the recipient holds by now; where it would
    break a limit today, only what the recipient holds already is sent again, and what always
    leaves, as far as limits allow. What is proven of it was proven for a recipient that knows
    nothing, and is not claimed for another.
    """
    everyone = replace(terms, limits=replace(terms.limits, protect="everyone"))
    key = (choose_standing, request.asked, everyone)
    found = model.remember(key, lambda: _standing(request, everyone, model))
    objective = objective_of(case, None, terms, model)
    base, _ = forced(objective, case.forced)
    mask = base | found.mask
    if not objective.feasible(mask):
        mask = base
        for each in members(found.mask & case.crowd.known & ~base):
            mask |= singleton(each) if objective.feasible(mask | singleton(each)) else 0
    rest = tuple(each for each in found.order if mask & ~base & singleton(each))
    order = (*members(base), *rest)
    result = found.result
    if case.crowd.known or mask != found.mask:
        result = replace(result, proof="none", bound=None)
    choice = Choice(mask, order, objective, result, standing=True)
    return choice._replace(pending=_waiting(choice, case, terms))


def choose_planned(case: Context, query: int, terms: Terms, model: Model) -> Choice:
    """Return the best part, for this query, of what the recipient is to hold in the end.

    Attributes of the request are no lasting knowledge: they are chosen beside that, at what they
    cost now.
    """
    uses, objective = pooled_uses(query, model), objective_of(case, query, terms, model)
    base, _ = forced(objective, case.forced)
    plan = planned(case, query, model, base)
    order = uses.best(base, plan.portfolio.mask & case.free, objective.feasible, LEAST)
    mask = base | union(order)
    order += _requested(objective, mask, case.free & ~case.crowd.persons, terms)
    mask |= union(order)
    evaluations = plan.portfolio.evaluations
    result = Result(
        mask, (*members(base), *order), objective.value(mask), evaluations, 0, "none", None
    )
    choice = Choice(mask, result.order, objective, result, plan=plan.answered(query, mask))
    return choice._replace(pending=_waiting_for_plan(choice, case, query, terms, model))


def _requested(
    objective: DisclosureObjective, mask: int, options: int, terms: Terms
) -> tuple[int, ...]:
    """Return which of the attributes of the request are worth adding to a set."""
    return _search(Contraction(objective, mask, options), terms).order if options else ()


def _waiting_for_plan(
    choice: Choice, case: Context, query: int, terms: Terms, model: Model
) -> tuple[int, ...]:
    """Return what waits for the user, would be in the plan with a yes, and helps this query."""
    if not case.asked:
        return ()
    base, objective = union(case.forced) & choice.mask, choice.objective
    wider = planned(replace(case, free=case.free | case.asked), query, model, base)
    options = wider.portfolio.mask & case.asked
    order = pooled_uses(query, model).best(choice.mask, options, objective.feasible, LEAST)
    with_them = choice.mask | union(order)
    more = _requested(objective, with_them, case.asked & ~case.crowd.persons, terms)
    return (*order, *more)


def _standing(request: Request, terms: Terms, model: Model) -> Choice:
    case = context_of(request, terms, Knowledge(), model)
    return _best(objective_of(case, None, terms, model), case, terms)


def _best(objective: DisclosureObjective, case: Context, terms: Terms) -> Choice:
    """Return the best set that has what always leaves, as far as limits allow, and asks nobody."""
    base, _ = forced(objective, case.forced)
    if not base and case.free == objective.candidates:
        result = _search(objective, terms)
        return Choice(result.mask, result.order, objective, result)
    result = _search(Contraction(objective, base, case.free), terms)
    level, mask = objective.value(base), base | result.mask
    result = replace(
        result,
        mask=mask,
        order=(*members(base), *result.order),
        value=objective.value(mask),
        bound=None if result.bound is None else result.bound + level,
    )
    return Choice(mask, result.order, objective, result)


def _waiting(choice: Choice, case: Context, terms: Terms) -> tuple[int, ...]:
    """Return what waits for the user and is worth adding to what leaves without asking."""
    if not case.asked:
        return ()
    return _search(Contraction(choice.objective, choice.mask, case.asked), terms).order


def _search(function: SetFunction, terms: Terms) -> Result:
    count = function.candidates.bit_count()
    if terms.algorithm == "exhaustive" and count > EXHAUSTIVE:
        what = f"exhaustive search takes at most {EXHAUSTIVE} candidates, and there are {count}"
        raise UsageError(what, "allow fewer attributes, or use the algorithm 'exact'")
    return maximise(function, terms.algorithm, terms.epsilon)

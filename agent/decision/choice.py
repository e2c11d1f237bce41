"""Which set is chosen: anew for each query, once for all of them, or as part of a plan."""

from dataclasses import replace
from typing import NamedTuple

from agent.decision.planned import LEAST, Plan, planned, pooled_uses, uses_of
from agent.decision.request import Knowledge, Request
from agent.decision.settings import Case, case_of
from agent.decision.terms import Terms
from agent.errors import UsageError
from agent.model.model import Model
from agent.tradeoff.bounds import Contraction, forced
from agent.tradeoff.local_search import SetFunction
from agent.tradeoff.objective import DisclosureObjective
from agent.tradeoff.search import EXHAUSTIVE, Result, maximise
from agent.tradeoff.sets import members, singleton, union
from policy.settings import Mode


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
    case: Case, request: Request, query: int | None, terms: Terms, model: Model
) -> Choice:
    """Return the best set for the query that was meant, or what terms say in place of it.

    Nothing is planned for a recipient that forgets: what it is told serves one request only.
    """
    if query is None or terms.mode == "standing":
        return choose_standing(case, request, terms, model)
    if terms.plans:
        return choose_planned(case, query, terms, model)
    return choose(case, query, terms, model)


def choose(case: Case, query: int, terms: Terms, model: Model) -> Choice:
    """Return the best set for this query (paper 9.5.2)."""
    choice = _best(objective_of(case, query, terms, model), case, terms)
    return choice._replace(pending=_waiting(choice, case, terms))


def objective_of(case: Case, query: int | None, terms: Terms, model: Model) -> DisclosureObjective:
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


def choose_standing(case: Case, request: Request, terms: Terms, model: Model) -> Choice:
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


def choose_planned(case: Case, query: int, terms: Terms, model: Model) -> Choice:
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
    choice: Choice, case: Case, query: int, terms: Terms, model: Model
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
    case = case_of(request, terms, Knowledge(), model)
    return _best(objective_of(case, None, terms, model), case, terms)


def _best(objective: DisclosureObjective, case: Case, terms: Terms) -> Choice:
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


def _waiting(choice: Choice, case: Case, terms: Terms) -> tuple[int, ...]:
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

"""Which set is chosen: anew for each query, or once for all of them."""

from dataclasses import replace
from typing import NamedTuple

from agent.decision.request import Knowledge, Request
from agent.decision.settings import Case, case_of
from agent.decision.terms import Terms
from agent.errors import UsageError
from agent.model.model import Model
from agent.tradeoff.exact import EXHAUSTIVE
from agent.tradeoff.objective import Objective
from agent.tradeoff.search import Result, search


class Choice(NamedTuple):
    """The chosen set and its attributes in order, the objective, and the search's result.

    ``standing``: the set was chosen for all queries, before anything was known.
    """

    mask: int
    order: tuple[int, ...]
    objective: Objective
    result: Result
    standing: bool = False


def choose(case: Case, query: int, terms: Terms, model: Model) -> Choice:
    """Return the best set for this query (paper 9.5.2)."""
    utility, computed = model.utility(query), model.computed_utilities(query)
    objective = Objective(utility, case.crowd, case.settings, computed)
    result = _search(objective, terms)
    return Choice(result.mask, result.order, objective, result)


def choose_standing(case: Case, request: Request, terms: Terms, model: Model) -> Choice:
    """Return the a-priori optimum over the model's queries (paper 9.5.1).

    It is the same set for every request, whatever the recipient holds by now; where it would
    break a limit today, only what the recipient holds already is sent again. What is proven of
    it was proven for a recipient that knows nothing, and is not claimed for another.
    """
    key = (choose_standing, request.asked, terms)
    found = model.remember(key, lambda: _standing(request, terms, model))
    objective = found.objective.given(case.crowd, case.settings)
    mask = found.mask
    if not objective.feasible(mask):
        mask &= case.crowd.known
    order = tuple(each for each in found.order if mask >> each & 1)
    result = found.result
    if case.crowd.known or mask != found.mask:
        result = replace(result, proof="none", bound=None)
    return Choice(mask, order, objective, result, standing=True)


def _standing(request: Request, terms: Terms, model: Model) -> Choice:
    case = case_of(request, terms, Knowledge(), model)
    objective = Objective(model.mean_utility(), case.crowd, case.settings)
    result = _search(objective, terms)
    return Choice(result.mask, result.order, objective, result)


def _search(objective: Objective, terms: Terms) -> Result:
    count = objective.candidates.bit_count()
    if terms.algorithm == "exhaustive" and count > EXHAUSTIVE:
        what = f"exhaustive search takes at most {EXHAUSTIVE} candidates, and there are {count}"
        raise UsageError(what, "allow fewer attributes, or use the algorithm 'exact'")
    return search(objective, terms.algorithm, terms.epsilon)

"""How the set is chosen: for each query, once for all of them, or as part of a plan.

A plan is what a recipient is to hold in the end. It follows from the model, the terms, what the
recipient holds and what it was asked so far, and so it is simulatable (DESIGN.md 2.6). It is for
what was asked, and less for what only may be: that can be sent when it is asked for, and what was
sent cannot be taken back.
"""

from dataclasses import replace
from functools import cache as once
from functools import partial
from itertools import chain
from typing import NamedTuple

import numpy as np

from agent.decision.cache import Cache
from agent.decision.context import Prepared, prepare, roughly
from agent.decision.knowledge import Knowledge
from agent.model.model import Model
from agent.model.reading import NOTHING, Interpretation
from agent.tradeoff.local_search import SetFunction
from agent.tradeoff.objective import DisclosureObjective, forced
from agent.tradeoff.plan import Pairwise, Portfolio, QueryPlanner, Scope, plan
from agent.tradeoff.search import Result, maximise
from agent.tradeoff.tables import members, union, weighted
from agent.tradeoff.utility import HELPS_NOTHING, Mixture
from policy.settings import Mode

FEWEST = 3  # queries, whose mean says nothing of another one
QUERIES = 24  # the most to plan for; a cache keeps the utilities of 32
PRIOR = 30.0  # requests that the model's own shares of the queries count as
REST = 0.3  # of what the rest gains counts: most of it can be sent once it is asked for
OWN_ROWS = 50.0  # rows with which a query counts as much as the mean of many queries
AT_HAND = 2.0  # requests that this one counts as: one that was asked, and the one that is answered
FEW_ROWS = 5_000  # of a query, which are soon counted
FEW_PEOPLE = 150_000  # of a population, likewise
LEAST = 0.001  # bits that an attribute adds to an answer, and to the plan; less is noise


class Plan(NamedTuple):
    """A portfolio, the queries that it serves, and the objective that priced it.

    ``shares``: of all requests that are expected, by query, an index of the model, in the order of
    ``portfolio.uses``; what the mean of all queries uses is the last of those, if there is a mean.
    """

    portfolio: Portfolio
    shares: dict[int, float]
    prices: DisclosureObjective


class SelectedSet(NamedTuple):
    """The result of a search for the best set, and the objective that it searched.

    ``mode``: how it was chosen, which need not be what the terms say; ``pending``: attributes worth
    adding that wait for the user, in the order chosen; ``plan``: of which the set is a part, if it
    is.
    """

    result: Result
    objective: DisclosureObjective
    mode: Mode = "dynamic"
    pending: tuple[int, ...] = ()
    plan: Plan | None = None


def choice_of(prepared: Prepared) -> SelectedSet:
    """Choose the best set for what the query means (paper 9.5.2), or what the terms ask for.

    Nothing is planned for a recipient that forgets: what it is sent serves one request only.
    """
    terms, query = prepared.context.terms, prepared.reading.query
    if query is not None and terms.mode == "planned" and terms.memory == "remembers":
        return _planned(prepared, query)
    if query is None or terms.mode == "standing":
        choice = _standing(prepared)
    else:
        choice = _best(objective_of(prepared, prepared.reading), prepared)
    if prepared.waiting:
        mask = choice.result.mask
        order = _search(choice.objective, prepared, mask, prepared.waiting).order
        choice = choice._replace(pending=order[mask.bit_count() :])
    return choice


def objective_of(prepared: Prepared, reading: Interpretation | None) -> DisclosureObjective:
    """The objective that chooses the set for a reading; None: for the mean of all."""
    uses = utility_of(reading, prepared.context.model, prepared.context.cache)
    return DisclosureObjective(uses, prepared.anonymity_set, prepared.settings)


def _standing(prepared: Prepared) -> SelectedSet:
    """The a-priori optimum over the model's queries (paper 9.5.1).

    It is the same set for every request, whatever the recipient holds by now; where it would
    break a limit today, only what the recipient holds already is sent again, and what always
    leaves, as far as limits allow. What is proven of it was proven for a recipient that knows
    nothing, and is not claimed for another.
    """
    context, disclosed = prepared.context, prepared.anonymity_set.disclosed

    def beforehand() -> Result:
        unknown = replace(context, knowledge=Knowledge(), reading=NOTHING, stopped=False)
        nobody = prepare(unknown)
        return _best(objective_of(nobody, None), nobody).result

    key = choice_of, context.request.asked, context.terms
    result = context.cache.get(context.model, key, beforehand)
    objective = objective_of(prepared, None)
    base = forced(objective, members(prepared.forced))
    mask = base | result.mask
    if context.stopped or not objective.feasible(mask):
        mask = base
        for each in members(result.mask & disclosed & ~base):
            mask |= 1 << each if objective.feasible(mask | 1 << each) else 0
    if disclosed or mask != result.mask:
        result = replace(result, proof="none", bound=None)
    rest = (each for each in result.order if mask & ~base & 1 << each)
    result = replace(result, mask=mask, order=(*members(base), *rest))
    return SelectedSet(result, objective, "standing")


def _planned(prepared: Prepared, query: int) -> SelectedSet:
    """The best part, for a reading, of what the recipient is to hold in the end.

    Attributes of the request are not lasting knowledge: they are chosen in addition, at what they
    cost now. What waits for the user would be in the plan with a yes, and helps this request.
    ``query``: the surest of the reading, whose use of the plan is the answer.
    """
    uses = utility_of(prepared.reading, prepared.context.model, prepared.context.cache)
    objective = DisclosureObjective(uses, prepared.anonymity_set, prepared.settings)

    def best(mask: int, plan: Plan, options: int) -> tuple[int, ...]:
        order = uses.best(mask, plan.portfolio.mask & options, objective.feasible, LEAST)
        requested = options & ~prepared.anonymity_set.persons
        if not requested:
            return order
        base = mask | union(order)
        more = _search(objective, prepared, base, requested).order
        return (*order, *more[base.bit_count() :])

    base = forced(objective, members(prepared.forced)) if prepared.forced else 0
    plan = planned(prepared, base)
    order = (*members(base), *best(base, plan, prepared.free))
    mask = union(order)
    pending: tuple[int, ...] = ()
    if prepared.waiting:
        wider = planned(replace(prepared, free=prepared.free | prepared.waiting), base)
        pending = best(mask, wider, prepared.waiting)
    used = [*plan.portfolio.uses]
    used[[*plan.shares].index(query)] = mask
    answered = plan._replace(portfolio=replace(plan.portfolio, uses=tuple(used)))
    evaluations = plan.portfolio.evaluations
    result = Result(mask, order, objective.value(mask), evaluations)
    return SelectedSet(result, objective, "planned", pending, answered)


def planned(prepared: Prepared, fixed: int) -> Plan:
    """The plan for the recipient of a request.

    ``fixed``: what always leaves, a mask. The limits hold for the whole of it, but the cap on one
    answer, which its parts keep. What else may be asked is the mean of all queries, and counts with
    REST of its share. A plan also grows from the a-priori optimum (paper 9.5.1), as singles and
    pairs tell it.
    """
    model, cache = prepared.context.model, prepared.context.cache
    settings, anonymity_set = prepared.settings, prepared.anonymity_set
    usable = prepared.free & anonymity_set.persons
    demands = replace(settings, candidates=usable)

    def beforehand(mean: QueryPlanner) -> int:
        everyone = DisclosureObjective(mean, cache.anonymity_set(model), demands)
        return maximise(everyone, restarts=0).mask

    shares, mean, starts = _shares(prepared), _mean(model, cache), list[int]()
    queries, weights = [uses_of(each, model, cache) for each in shares], [*shares.values()]
    if mean is not None:
        queries.append(mean)
        weights.append(REST * max(0.0, 1 - sum(weights)))
        starts.append(cache.get(model, (maximise, demands), partial(beforehand, mean)))
    prices = DisclosureObjective(HELPS_NOTHING, anonymity_set, replace(settings, most=None))
    scope = Scope(anonymity_set.disclosed & usable, usable, fixed, settings.most, LEAST)
    return Plan(plan(queries, weights, prices, scope, starts), shares, prices)


def _shares(prepared: Prepared) -> dict[int, float]:
    """The queries to plan for, in ascending order, with their shares of all requests.

    These are the queries that this text may mean, by their probabilities, and those of earlier
    requests. This request counts twice: like those before it, it says what may come again, and it
    is sure to be made. Everything else shares the rest of the whole; of too many queries, those
    with small shares belong to that rest.
    """
    model = prepared.context.model
    read = {each.query: each.probability for each in prepared.reading.candidates}
    counts = np.zeros(len(model.queries))
    now = ((each, AT_HAND * probability) for each, probability in read.items())
    for each, times in chain(now, roughly(prepared.context.knowledge.queries)):
        counts[each] += times
    usual = model.tables.query_weights.astype(np.float64)
    shares = (counts + PRIOR * usual / usual.sum()) / (counts.sum() + PRIOR)
    others = [each for each in np.flatnonzero(counts).tolist() if each not in read]
    others.sort(key=lambda each: (-shares[each], each))
    chosen = sorted([*read, *others[: QUERIES - len(read)]])
    return {each: float(shares[each]) for each in chosen}


def utility_of(reading: Interpretation | None, model: Model, cache: Cache) -> QueryPlanner:
    """The utility of what a text means: sum of pi_q U_q over its candidates (DESIGN.md 2.9).

    Without a reading that of the mean query. In whatever order the candidates come, they are added
    in that of the model.
    """
    count = len(model.attributes)
    if reading is None:
        return cache.get(
            model, utility_of, lambda: QueryPlanner(lambda: cache.mean_utility(model), count)
        )
    if reading.certain is not None:
        return uses_of(reading.certain, model, cache)
    parts = sorted(reading.candidates, key=lambda each: each.query)

    def compute() -> QueryPlanner:
        each_query = [uses_of(each.query, model, cache) for each in parts]
        weights = [each.probability for each in parts]
        stored = weighted([each.stored for each in each_query], weights)
        return QueryPlanner(once(lambda: Mixture(each_query, weights)), count, stored)

    return cache.get(model, (Mixture, *parts), compute)


def uses_of(query: int, model: Model, cache: Cache) -> QueryPlanner:
    """The utility of sets of attributes for a query, drawn towards the mean of all queries.

    Few rows are mostly noise. As in the James-Stein estimator (Efron and Morris 1975), by the share
    of noise and by (Q - 3) / (Q - 1), for Q queries: not at all where there are three or fewer. On
    the developer survey and on a synthetic log as much of U is noise as is true of the query at 50
    to 150 rows, for sets of one to four attributes; with OWN_ROWS what is promised is what people
    held out get on these, on the time use survey and on samples of all three. What the best of many
    sets owes to luck its prices say: the query's own part has them, the mean has none. Without
    pairs too little is known of the mean, and nothing is pooled.
    """
    mean, count = _mean(model, cache), len(model.attributes)
    queries, rows = len(model.queries), model.queries[query].rows

    def compute() -> QueryPlanner:
        stored, near = model.tables.singles.utilities_of(query), model.tables.near
        at_hand = {} if near is None else near.utilities_of(query)
        limit = model.queries[query].prior_entropy_bits
        if mean is None:
            at_hand |= stored
            return QueryPlanner(lambda: cache.utility(model, query), count, at_hand, limit)
        share = (queries - FEWEST) / (queries - 1) * OWN_ROWS / (rows + OWN_ROWS)
        weights, of_mean = [1 - share, share], mean.utility()
        at_hand |= weighted([stored, mean.stored], weights)
        return QueryPlanner(
            lambda: Mixture((cache.utility(model, query), of_mean), weights),
            count,
            at_hand,
            (1 - share) * limit + share * of_mean.limit,
        )

    return cache.get(model, (QueryPlanner, query), compute)


def _mean(model: Model, cache: Cache) -> QueryPlanner | None:
    """The mean query of a model, by weight, as singles and pairs tell it.

    None where it says too little of another query: there are three or fewer, or no pairs.
    """

    def compute() -> QueryPlanner | None:
        singles = model.tables.singles.mean_of(model.tables.query_weights)
        if singles.pair_utilities is None or len(model.queries) <= FEWEST:
            return None
        stored = singles.utilities_of(0)
        utility = Pairwise(stored)
        return QueryPlanner(lambda: utility, len(model.attributes), stored)

    return cache.get(model, Pairwise, compute)


def _best(objective: DisclosureObjective, prepared: Prepared) -> SelectedSet:
    """The best set that has what always leaves, as far as limits allow, and asks nobody."""
    base = forced(objective, members(prepared.forced))
    return SelectedSet(_search(objective, prepared, base, prepared.free), objective)


def _search(function: SetFunction, prepared: Prepared, base: int, more: int) -> Result:
    """Search as the terms say; where there is much to count, what is not at hand only once."""
    terms, model = prepared.context.terms, prepared.context.model
    rows = (model.queries[each.query].rows for each in prepared.reading.candidates)
    patient = max(rows, default=0) <= FEW_ROWS and model.population.rows <= FEW_PEOPLE
    between = base, base | more
    return maximise(function, terms.algorithm, patient=patient, between=between)

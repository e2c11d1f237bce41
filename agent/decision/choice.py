"""How the set is chosen: for each query, once for all of them, or as part of a plan.

A plan is what a recipient is to hold in the end. It follows from the model, the terms, what the
recipient holds and what it was asked so far, and so it is simulatable (DESIGN.md 2.6). It counts
requests: the one at hand, those that are expected to come back, and those that are still to come.
"""

from dataclasses import replace
from functools import cache as once
from functools import partial
from typing import NamedTuple

import numpy as np

from agent.decision.cache import Cache
from agent.decision.context import Prepared, prepare
from agent.decision.knowledge import Knowledge, roughly
from agent.decision.own_facts import EMPTY, Filled
from agent.model.model import Model
from agent.model.reading import NOTHING, Interpretation
from agent.tradeoff.local_search import ROUNDING, SetFunction
from agent.tradeoff.objective import DisclosureObjective, forced
from agent.tradeoff.plan import Pairwise, Portfolio, QueryPlanner, Scope, plan
from agent.tradeoff.search import Result, maximise
from agent.tradeoff.tables import flagged, matrix_of, members, rows_of, union, weighted
from agent.tradeoff.utility import HELPS_NOTHING, Mixture
from policy.settings import Mode, Reranking

FEWEST = 3  # queries, whose mean says nothing of another one
QUERIES = 24  # the most to plan for; a cache keeps the utilities of 32
AGAIN, OFTEN = 0.5, 8.0  # of the requests before, that are expected again; and the most that count
OWN_ROWS = 50.0  # rows with which a query counts as much as the mean of many queries
# Of its bits, what is sent still adds beside ten results that are re-ranked here: 0.08 for one
# question and 0.35 for all (`reticent lab attack --rerank`, LAB.md).
STILL_ADDS = 1 / 3
LEAST = 0.02  # bits by which an attribute of a plan helps an answer that tells it


class Plan(NamedTuple):
    """A portfolio, the queries that it serves, and the objective that priced it.

    ``queries``: indexes of the model, in the order of ``portfolio.uses``: that of the request at
    hand, None where none is known, then those asked before; what the mean of all queries uses is
    the last of those, if there is a mean. ``numbers``: how many requests are expected, by query,
    and of the mean.
    """

    portfolio: Portfolio
    queries: tuple[int | None, ...]
    numbers: tuple[float, ...]
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
    terms = prepared.context.terms
    if prepared.informed and terms.mode == "planned" and terms.memory == "remembers":
        return _planned(prepared)
    if not prepared.informed or terms.mode == "standing":
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
    model, cache, terms = prepared.context.model, prepared.context.cache, prepared.context.terms
    uses = utility_of(reading, model, cache, prepared.filled, results=terms.results)
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
        nobody = prepare(replace(context, knowledge=Knowledge(), reading=NOTHING, stopped=False))
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


def _planned(prepared: Prepared) -> SelectedSet:
    """The best part, for a reading, of what the recipient is to hold in the end.

    Attributes of the request are not lasting knowledge: they are chosen in addition, at what they
    cost now. What waits for the user would be in the plan with a yes, and helps this request.
    """
    context, what, results = prepared.context, prepared.reading, prepared.context.terms.results
    uses = utility_of(what, context.model, context.cache, prepared.filled, results=results)
    objective = DisclosureObjective(uses, prepared.anonymity_set, prepared.settings)

    def best(mask: int, plan: Plan, options: int) -> tuple[int, ...]:
        held = prepared.anonymity_set.disclosed
        order = uses.best(mask, plan.portfolio.mask & options, objective.feasible, held)
        if not (requested := options & ~prepared.anonymity_set.persons):
            return order
        base = mask | union(order)
        more = _search(objective, prepared, base, requested).order
        return (*order, *more[base.bit_count() :])

    base = forced(objective, members(prepared.forced)) if prepared.forced else 0
    plan = planned(prepared, base)
    order = (*members(base), *best(base, plan, prepared.free))
    mask = union(order)
    pending: tuple[int, ...] = ()
    more, level = uses.beside(mask, prepared.waiting), uses.value(mask) + ROUNDING
    helps = any(more[each] > level for each in members(prepared.waiting))
    if helps or prepared.waiting & ~prepared.anonymity_set.persons:
        wider = planned(replace(prepared, free=prepared.free | prepared.waiting), base)
        pending = best(mask, wider, prepared.waiting)
    used = mask, *plan.portfolio.uses[1:]
    answered = plan._replace(portfolio=replace(plan.portfolio, uses=used))
    result = Result(mask, order, objective.value(mask), plan.portfolio.evaluations)
    return SelectedSet(result, objective, "planned", pending, answered)


def planned(prepared: Prepared, fixed: int) -> Plan:
    """The plan for the recipient of a request.

    ``fixed``: what always leaves, a mask. The limits hold for the whole of it, but the cap on one
    answer, which its parts keep. The request at hand counts once, and what else may be asked as
    many times as the terms expect, as the mean of all queries: without a mean query by query. All
    as singles and pairs tell it, so that no rows are counted before the answer is chosen. A plan
    also grows from the a-priori optimum (paper 9.5.1); for topics, only what helps the request at
    hand or one before is in it, and it grows from what is held alone.
    """
    model, cache, terms = prepared.context.model, prepared.context.cache, prepared.context.terms
    anonymity_set, usable = prepared.anonymity_set, prepared.free | prepared.later
    settings = replace(prepared.settings, candidates=prepared.settings.candidates | usable)
    usable &= anonymity_set.persons
    budget, weekly = terms.limits.violations, terms.limits.new_facts_per_week  # whatever is spent
    demands = replace(settings, candidates=usable, max_violations=budget, most_new=weekly)

    mean, mix, starts = _mean(model, cache), _mix(model, cache), list[int]()
    filled, results = prepared.filled, terms.results
    if results == "both":
        mean, mix = (each and _part(each, model, cache) for each in (mean, mix))
    present = utility_of(prepared.reading, model, cache, filled, filtered=True, results=results)
    again = _again(prepared, terms.horizon if mean is None else 0)
    certain = prepared.reading.certain
    same = 0.0 if certain is None else again.pop(certain, 0.0)
    later = partial(utility_of, filtered=True, later=True, results=results)
    expected = map(Interpretation.exact, again)
    queries = [present, *(later(each, model, cache, filled) for each in expected)]
    judged = len(cache.judgements(model).bits) > 0
    if judged:  # what helps none of these is in no answer, and there are many kinds
        usable &= flagged(np.any([each.beside(0, usable) > 0 for each in queries], axis=0))
    queries = queries if mean is None else [each.by_pairs for each in queries]
    numbers = [1.0 + same, *again.values()]
    if mean is not None and mix is not None:
        queries.append(mix)
        numbers.append(terms.horizon)
        if not judged:
            everyone = DisclosureObjective(mean, cache.anonymity_set(model), demands)
            best = partial(maximise, everyone, again=False)
            starts.append(cache.get(model, (maximise, demands, results), best).mask)
    prices = DisclosureObjective(HELPS_NOTHING, anonymity_set, replace(settings, most=None))
    scope = Scope(anonymity_set.disclosed & usable, fixed, settings.most)
    portfolio = plan(queries, numbers, prices, scope, usable, starts)
    at_hand = next((each.query for each in prepared.reading.accepted), None)
    return Plan(portfolio, (at_hand, *again), tuple(numbers), prices)


def _again(prepared: Prepared, horizon: int) -> dict[int, float]:
    """How often each query is expected, by query, those of large numbers first.

    Half as often as it was asked, of which the first times count; and ``horizon`` requests more, in
    the model's own mix. Of too many queries those of small numbers are left out.
    """
    model, numbers = prepared.context.model, dict[int, float]()
    if horizon:
        weights = model.tables.query_weights.astype(float)
        usual = enumerate((horizon * weights / weights.sum()).tolist())
        numbers = {each: number for each, number in usual if number}
    for each, times in roughly(prepared.context.knowledge.queries):
        numbers[each] = numbers.get(each, 0.0) + AGAIN * min(times, OFTEN)
    return dict(sorted(numbers.items(), key=lambda pair: (-pair[1], pair[0]))[:QUERIES])


def utility_of(
    reading: Interpretation | None,
    model: Model,
    cache: Cache,
    filled: Filled = EMPTY,
    *,
    filtered: bool = False,
    later: bool = False,
    results: Reranking = "send",
) -> QueryPlanner:
    """The utility of what a text means: sum of pi_q U_q over its candidates (DESIGN.md 2.9).

    Without a reading that of the mean query. In whatever order the candidates come, they are added
    in that of the model. ``filled``: the facts in own words that take part; ``filtered``: of what
    was judged only what may be sent with it counts; ``later``: as of `Filled.coverage`;
    ``results``: as of `Terms`.
    """
    if results == "both":
        whole = utility_of(reading, model, cache, filled, filtered=filtered, later=later)
        return _part(whole, model, cache)
    count = len(model.attributes)
    if reading is None:
        mean = partial(cache.mean_utility, model)
        return cache.get(model, utility_of, lambda: QueryPlanner(mean, count))
    judged, parts = cache.judgements(model), sorted(reading.accepted, key=lambda each: each.query)
    if not parts or parts[-1].query < len(judged.bits):  # topics alone, or only facts in own words
        shares = {each.query: each.probability for each in parts}
        helping = filled.parts([*shares], judged, later=True) if later else filled.carried
        some = filled if helping.any() else EMPTY
        helpful = judged.helpful(reading) if filtered else None
        coverage = once(lambda: some.coverage(shares, judged, helpful, later=later))
        key = utility_of, filtered, some, later and bool(some.facts), *parts
        planner = partial(QueryPlanner, coverage, count, least=LEAST, quick=True)
        planner = partial(planner, whole=lambda mask: coverage().rows([mask])[mask])
        return cache.get(model, key, planner)
    rows = _uses_of_rows(reading, model, cache)
    if later or not filled.carries:
        return rows
    alone = filled.coverage({}, judged, None, later=False)  # beside what people chose
    more = alone.rows([*rows.stored])
    stored = {mask: row + more[mask] for mask, row in rows.stored.items()}
    both = once(lambda: Mixture((rows, alone), (1.0, 1.0)))
    planner = partial(QueryPlanner, both, count, stored, least=LEAST)
    return cache.get(model, (Mixture, filled, *parts), planner)


def _part(uses: QueryPlanner, model: Model, cache: Cache) -> QueryPlanner:
    """What sets still bring where results are re-ranked here as well."""

    def compute() -> QueryPlanner:
        utility = once(lambda: Mixture((uses,), (STILL_ADDS,)))
        of = len(model.attributes), weighted([uses.stored], [STILL_ADDS])
        return QueryPlanner(utility, *of, least=uses.least, quick=uses.quick)

    return cache.get(model, (_part, uses), compute)


def _uses_of_rows(reading: Interpretation, model: Model, cache: Cache) -> QueryPlanner:
    """The utility of what a text means, by the rows of queries."""
    if reading.certain is not None:
        return uses_of(reading.certain, model, cache)
    parts = sorted(reading.candidates, key=lambda each: each.query)

    def compute() -> QueryPlanner:
        each_query = [uses_of(each.query, model, cache) for each in parts]
        weights = [each.probability for each in parts]
        stored = weighted([each.stored for each in each_query], weights)
        utility = once(lambda: Mixture(each_query, weights))
        return QueryPlanner(utility, len(model.attributes), stored, least=LEAST)

    return cache.get(model, (Mixture, *parts), compute)


def uses_of(query: int, model: Model, cache: Cache) -> QueryPlanner:
    """The utility of sets of attributes for a query, drawn towards the mean of all queries.

    Few rows are mostly noise. As in the James-Stein estimator (Efron and Morris 1975), by the share
    of noise and by (Q - 3) / (Q - 1), for Q queries: not at all where there are three or fewer. On
    the developer survey and on a synthetic log as much of U is noise as is true of the query at 50
    to 150 rows, for sets of one to four attributes; with OWN_ROWS what is promised is what people
    held out get on these, on the time use survey and on samples of all three. What the best of many
    sets owes to luck its prices say: the query's own part has them, the mean has none. Without
    pairs too little is known of the mean, and nothing is pooled; nor is what was judged of a topic.
    """
    if query < len(cache.judgements(model).bits):
        return utility_of(Interpretation.exact(query), model, cache)
    count = len(model.attributes)
    if model.members:
        member, own = model.owners[query]
        alone = uses_of(own, member.model, cache)
        whole = partial(alone.embedded, member.places, count, member.unit)
        return cache.get(model, (QueryPlanner, query), whole)
    mean = _mean(model, cache)

    def compute() -> QueryPlanner:
        stored, near = model.tables.singles.utilities_of(query), model.tables.near
        at_hand = {} if near is None else near.utilities_of(query)
        limit = model.queries[query].prior_entropy_bits
        if mean is None:
            at_hand |= stored
            return QueryPlanner(lambda: cache.utility(model, query), count, at_hand, limit, LEAST)
        queries, rows = len(model.queries), model.queries[query].rows
        share = (queries - FEWEST) / (queries - 1) * OWN_ROWS / (rows + OWN_ROWS)
        weights, of_mean = [1 - share, share], mean.utility()
        limit = (1 - share) * limit + share * of_mean.limit
        at_hand |= weighted([stored, mean.stored], weights)

        def both() -> Mixture:
            return Mixture((cache.utility(model, query), of_mean), weights)

        return QueryPlanner(both, count, at_hand, limit, LEAST)

    return cache.get(model, (QueryPlanner, query), compute)


def _mean(model: Model, cache: Cache) -> QueryPlanner | None:
    """The mean query of a model, by weight, as singles and pairs tell it.

    None where it says too little of another query: there are three or fewer, or no pairs. Of topics
    there is one, by what requests for them may carry.
    """

    def compute() -> QueryPlanner | None:
        judged = cache.judgements(model)
        if len(judged.bits):
            coverage = once(lambda: judged.mean(filtered=True))
            count, whole = len(model.attributes), lambda mask: coverage().rows([mask])[mask]
            return QueryPlanner(coverage, count, quick=True, whole=whole)
        singles = model.tables.singles
        if singles.pair_utilities is None or len(model.queries) <= FEWEST:
            return None
        share = model.tables.query_weights / model.tables.query_weights.sum()
        # Before prices: of all rows together, luck is little.
        stored = rows_of(share @ singles.utilities, share @ singles.pair_utilities)
        utility = Pairwise(np.array([*stored.values()][1:]))
        return QueryPlanner(lambda: utility, len(model.attributes), stored)

    return cache.get(model, Pairwise, compute)


def _mix(model: Model, cache: Cache) -> QueryPlanner | None:
    """What the answers to the model's own mix of queries use of a set, as singles and pairs tell.

    None where `_mean` has none.
    """
    count = len(model.attributes)

    def compute() -> QueryPlanner | None:
        mean = _mean(model, cache)
        if mean is None or not mean.stored:
            return mean
        queries = (uses_of(each, model, cache).stored for each in range(len(model.queries)))
        both = np.array([matrix_of(each, count) for each in queries])
        single = np.diagonal(both, axis1=1, axis2=2)
        single = np.where(single >= LEAST, single, 0.0)
        better = np.maximum(single[:, :, None], single[:, None, :])
        used = np.where((better > 0) & (both - better >= LEAST), both, better)
        weights = model.tables.query_weights
        matrix = np.tensordot(weights / weights.sum(), used, axes=1)
        stored = {0: np.diagonal(matrix), **{1 << at: row for at, row in enumerate(matrix)}}
        utility = Pairwise(matrix)
        return QueryPlanner(lambda: utility, count, stored, quick=True)

    return cache.get(model, _mix, compute)


def _best(objective: DisclosureObjective, prepared: Prepared) -> SelectedSet:
    """The best set that has what always leaves, as far as limits allow, and asks nobody."""
    base = forced(objective, members(prepared.forced))
    return SelectedSet(_search(objective, prepared, base, prepared.free), objective)


def _search(function: SetFunction, prepared: Prepared, base: int, more: int) -> Result:
    """Search as the terms say."""
    return maximise(function, prepared.context.terms.algorithm, between=(base, base | more))

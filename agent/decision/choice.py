"""How the set is chosen: for each query, once for all of them, or as part of a plan.

A plan is what a recipient is to hold in the end. It follows from the model, the terms, what the
recipient holds and what it was asked so far, and so it is simulatable (DESIGN.md 2.6). It is for
what was asked, and less for what only may be: that can be sent when it is asked for, and what was
sent cannot be taken back.
"""

from dataclasses import replace
from functools import cache as once
from itertools import chain
from typing import NamedTuple

import numpy as np

from agent.decision.cache import Cache
from agent.decision.context import Context, Prepared, prepare
from agent.decision.knowledge import Knowledge
from agent.model.model import Model
from agent.model.reading import NOTHING, Interpretation
from agent.tradeoff.local_search import SetFunction
from agent.tradeoff.objective import DisclosureObjective, forced
from agent.tradeoff.plan import Pairwise, Portfolio, Queries, QueryPlanner, Scope, plan
from agent.tradeoff.search import Result, maximise
from agent.tradeoff.tables import Rows, members, singleton, union, weighted
from agent.tradeoff.utility import HELPS_NOTHING, MeanUtility, Mixture
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
    ``portfolio.uses``, whose last is what the mean of all queries uses.
    """

    portfolio: Portfolio
    shares: dict[int, float]
    prices: DisclosureObjective

    def serves(self, attribute: int) -> tuple[int, ...]:
        """Return the queries that use an attribute, those asked most first."""
        uses = zip(self.shares, self.portfolio.uses[:-1], strict=True)
        some = (query for query, use in uses if use >> attribute & 1)
        return tuple(sorted(some, key=lambda query: (-self.shares[query], query)))


class SelectedSet(NamedTuple):
    """The chosen set and its attributes in order, the objective, and the search's result.

    ``mode``: how it was chosen, which need not be what the terms say; ``pending``: what is worth
    adding and waits for the user, in the order chosen; ``plan``: of which the set is a part, if it
    is.
    """

    mask: int
    order: tuple[int, ...]
    objective: DisclosureObjective
    result: Result
    mode: Mode = "dynamic"
    pending: tuple[int, ...] = ()
    plan: Plan | None = None


def choice_of(prepared: Prepared) -> SelectedSet:
    """Return the best set for what the query means (paper 9.5.2), or what the terms ask for.

    Nothing is planned for a recipient that forgets: what it is sent serves one request only.
    """
    if prepared.reading.query is None or prepared.terms.mode == "standing":
        return _standing(prepared)
    if prepared.terms.plans:
        return _planned(prepared, prepared.reading.query)
    choice = _best(objective_of(prepared, prepared.reading), prepared)
    return choice._replace(pending=_waiting(choice, prepared))


def objective_of(prepared: Prepared, reading: Interpretation | None) -> DisclosureObjective:
    """Return the objective that chooses the set for a reading; None: for the mean of all."""
    model, anonymity_set, settings = prepared.model, prepared.anonymity_set, prepared.settings
    cache = prepared.cache
    if reading is not None:
        uses = mixed(reading, model, cache)
        return DisclosureObjective(uses, anonymity_set, settings)
    nobodys = replace(settings, own=None)  # what is cached outlives the request
    shared = cache.get(
        model,
        (DisclosureObjective, "standing"),
        lambda: DisclosureObjective(cache.mean_utility(model), cache.anonymity_set(model), nobodys),
    )
    return shared.given(anonymity_set, settings)


def _standing(prepared: Prepared) -> SelectedSet:
    """Return the a-priori optimum over the model's queries (paper 9.5.1).

    It is the same set for every request, whatever the recipient holds by now; where it would
    break a limit today, only what the recipient holds already is sent again, and what always
    leaves, as far as limits allow. What is proven of it was proven for a recipient that knows
    nothing, and is not claimed for another.
    """
    terms, anonymity_set, asked = prepared.terms, prepared.anonymity_set, prepared.request.asked
    everyone = replace(terms, limits=replace(terms.limits, protect="everyone"))

    def beforehand() -> SelectedSet:
        nobody = prepare(
            Context(
                prepared.request,
                everyone,
                Knowledge(),
                prepared.model,
                reading=NOTHING,
                cache=prepared.cache,
            )
        )
        return _best(objective_of(nobody, None), nobody)

    found = prepared.cache.get(prepared.model, (choice_of, asked, everyone), beforehand)
    objective = objective_of(prepared, None)
    base = forced(objective, prepared.forced)
    mask = base | found.mask
    if not objective.feasible(mask):
        mask = base
        for each in members(found.mask & anonymity_set.known & ~base):
            mask |= singleton(each) if objective.feasible(mask | singleton(each)) else 0
    rest = tuple(each for each in found.order if mask & ~base & singleton(each))
    result = found.result
    if anonymity_set.known or mask != found.mask:
        result = replace(result, proof="none", bound=None)
    choice = SelectedSet(mask, (*members(base), *rest), objective, result, "standing")
    return choice._replace(pending=_waiting(choice, prepared))


def _planned(prepared: Prepared, query: int) -> SelectedSet:
    """Return the best part, for a reading, of what the recipient is to hold in the end.

    Attributes of the request are not lasting knowledge: they are chosen in addition, at what they
    cost now. What waits for the user would be in the plan with a yes, and helps this request.
    ``query``: the surest of the reading, whose use of the plan is the answer.
    """
    uses = mixed(prepared.reading, prepared.model, prepared.cache)
    objective = objective_of(prepared, prepared.reading)

    def best(mask: int, plan: Plan, options: int) -> tuple[int, ...]:
        order = uses.best(mask, plan.portfolio.mask & options, objective.feasible, LEAST)
        requested = options & ~prepared.anonymity_set.persons
        if not requested:
            return order
        base = mask | union(order)
        more = _search(objective, prepared, base, requested).order
        return (*order, *more[base.bit_count() :])

    base = forced(objective, prepared.forced)
    plan = planned(prepared, base)
    order = best(base, plan, prepared.free)
    mask = base | union(order)
    pending: tuple[int, ...] = ()
    if prepared.asked:
        wider = planned(replace(prepared, free=prepared.free | prepared.asked), base)
        pending = best(mask, wider, prepared.asked)
    used = [*plan.portfolio.uses]
    used[[*plan.shares].index(query)] = mask
    answered = plan._replace(portfolio=replace(plan.portfolio, uses=tuple(used)))
    order = (*members(base), *order)
    evaluations = plan.portfolio.evaluations
    result = Result(objective.value(mask), evaluations, mask=mask, order=order)
    return SelectedSet(mask, order, objective, result, "planned", pending, answered)


def planned(prepared: Prepared, fixed: int) -> Plan:
    """Return the plan for the recipient of a request.

    ``fixed``: what always leaves, a mask. The limits hold for the whole of it, but the cap on one
    answer, which its parts keep. What else may be asked is the mean of all queries, and counts with
    REST of its share.
    """
    model, anonymity_set, settings = prepared.model, prepared.anonymity_set, prepared.settings
    cache = prepared.cache
    shares, mean = _shares(prepared), _mean(model, cache)
    rest = 0.0 if mean is None else REST * max(0.0, 1 - sum(shares.values()))

    def compute() -> Queries:
        nothing = QueryPlanner(lambda: HELPS_NOTHING, len(model.attributes))
        return Queries(
            [
                *(uses_of(each, model, cache) for each in shares),
                nothing if mean is None else mean.uses,
            ]
        )

    queries = cache.get(model, (Queries, *shares), compute)
    prices = DisclosureObjective(HELPS_NOTHING, anonymity_set, replace(settings, most=None))
    usable = prepared.free & anonymity_set.persons
    scope = Scope(anonymity_set.known & usable, usable, fixed, settings.most, LEAST)
    starts = [] if mean is None else [_usual(prepared, usable, mean)]
    found = plan(queries, [*shares.values(), rest], prices, scope, starts)
    return Plan(found, shares, prices)


def _usual(prepared: Prepared, usable: int, mean: "_Mean") -> int:
    """Return the set that is best for every request alike to nobody in particular, a mask.

    It is the a-priori optimum (paper 9.5.1) as singles and pairs tell it.
    """
    model = prepared.model
    demands = replace(prepared.settings, candidates=usable, own=None)

    def compute() -> int:
        people = prepared.cache.anonymity_set(model)
        objective = DisclosureObjective(mean.uses, people, demands)
        return maximise(objective, restarts=0).mask

    return prepared.cache.get(model, (_usual, demands), compute)


def mixed(reading: Interpretation, model: Model, cache: Cache) -> QueryPlanner:
    """Return the utility of what a text means: sum of pi_q U_q over its candidates (DESIGN.md 2.9).

    What is certain has the query's own. In whatever order the candidates come, they are added in
    that of the model.
    """
    if reading.certain is not None:
        return uses_of(reading.certain, model, cache)
    parts = sorted(reading.candidates, key=lambda each: each.query)

    def compute() -> QueryPlanner:
        each_query = [uses_of(each.query, model, cache) for each in parts]
        weights = [each.probability for each in parts]
        stored = weighted([each.stored for each in each_query], weights)
        mixture = once(lambda: Mixture(each_query, weights))
        return QueryPlanner(mixture, len(model.attributes), stored)

    return cache.get(model, (mixed, *parts), compute)


def uses_of(query: int, model: Model, cache: Cache) -> QueryPlanner:
    """Return what a query makes of sets of attributes, drawn towards the mean of all queries.

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
        weights = [1 - share, share]
        at_hand |= weighted([stored, mean.stored], weights)
        return QueryPlanner(
            lambda: MeanUtility((cache.utility(model, query), mean.utility), np.array(weights)),
            count,
            at_hand,
            (1 - share) * limit + share * mean.utility.limit,
            monotone=False,
        )

    return cache.get(model, (QueryPlanner, query), compute)


class _Mean(NamedTuple):
    """The mean query: U of one and of two, of more as those tell it, and its uses."""

    stored: Rows
    utility: Pairwise
    uses: QueryPlanner


def _mean(model: Model, cache: Cache) -> _Mean | None:
    """Return the mean query of a model, by weight; None where it says too little of another.

    That is where there are three queries or fewer, and where no pairs tell of larger sets.
    """

    def compute() -> _Mean | None:
        singles = model.tables.singles.mean_of(model.tables.query_weights)
        if singles.pair_utilities is None or len(model.queries) <= FEWEST:
            return None
        utility = Pairwise(singles.utilities[0], singles.pair_utilities[0])
        count, stored = len(model.attributes), singles.utilities_of(0)
        return _Mean(stored, utility, QueryPlanner(lambda: utility, count, stored))

    return cache.get(model, _Mean, compute)


def _shares(prepared: Prepared) -> dict[int, float]:
    """Return the queries to plan for, in ascending order, with their shares of all requests.

    They are those that this text may mean, by their probabilities, and those that the recipient was
    asked. This request counts twice: it tells what may be asked again, as those before it do, and
    it is sure to be made. What else may be asked has the rest of the whole. Of too many, those with
    small shares are left out, and count with the rest.
    """
    model, wanted = prepared.model, dict[int, float]()
    for candidate in prepared.reading.candidates:
        wanted[candidate.query] = candidate.probability
    asked = np.zeros(len(model.queries))
    now = ((each, AT_HAND * probability) for each, probability in wanted.items())
    for each, times in chain(now, prepared.history):
        asked[each] += times
    usual = model.tables.query_weights.astype(np.float64)
    shares = (asked + PRIOR * usual / usual.sum()) / (asked.sum() + PRIOR)
    others = [each for each in np.flatnonzero(asked).tolist() if each not in wanted]
    others.sort(key=lambda each: (-shares[each], each))
    chosen = sorted([*wanted, *others[: QUERIES - len(wanted)]])
    return {each: float(shares[each]) for each in chosen}


def _best(objective: DisclosureObjective, prepared: Prepared) -> SelectedSet:
    """Return the best set that has what always leaves, as far as limits allow, and asks nobody."""
    result = _search(objective, prepared, forced(objective, prepared.forced), prepared.free)
    return SelectedSet(result.mask, result.order, objective, result)


def _waiting(choice: SelectedSet, prepared: Prepared) -> tuple[int, ...]:
    """Return what waits for the user and is worth adding to what leaves without asking."""
    if not prepared.asked:
        return ()
    result = _search(choice.objective, prepared, choice.mask, prepared.asked)
    return result.order[choice.mask.bit_count() :]


def _search(function: SetFunction, prepared: Prepared, base: int, more: int) -> Result:
    """Search as the terms say; where there is much to count, what is not at hand only once."""
    terms, queries = prepared.terms, prepared.model.queries
    people = prepared.model.population.rows
    few = all(queries[each.query].rows <= FEW_ROWS for each in prepared.reading.candidates)
    patient = few and people <= FEW_PEOPLE
    between = base, base | more
    return maximise(function, terms.algorithm, terms.epsilon, patient=patient, between=between)

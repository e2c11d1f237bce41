"""Which attributes a service should ask for at all (paper 9.3, 9.5.1).

Nobody's values are needed, and no recipient's knowledge: it follows from a model and lambda.
"""

from collections.abc import Sequence

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

from agent.decision.cache import Cache
from agent.decision.choice import LEAST, choice_of, objective_of, uses_of
from agent.decision.context import Context, Prepared, prepare
from agent.decision.request import Knowledge
from agent.decision.terms import Terms
from agent.decision.values import Request
from agent.model.model import Model
from agent.model.reading import NOTHING
from agent.tradeoff.objective import DisclosureObjective
from agent.tradeoff.plan import Portfolio, Queries, Scope, plan
from agent.tradeoff.search import greedy_order
from agent.tradeoff.tables import members, singleton, union
from agent.tradeoff.utility import HELPS_NOTHING


class Level(Struct, frozen=True):
    """The figures of disclosing ``names``, in the order chosen.

    ``utility_bits``: of the request, or of the average one; ``identifiability``: the chance that
    one guess finds somebody who disclosed them all; ``people_left``: how many people are expected
    to agree with somebody in all of them.
    """

    names: tuple[str, ...]
    utility_bits: float
    identifiability: float
    people_left: float


class Addition(Struct, frozen=True):
    """An attribute, and what asking for it adds to asking for the others that are recommended.

    ``asked``: whether it is recommended; ``gain_bits``: on the average request, of the queries that
    it helps; ``queries``: these, the most frequent first; ``identifiability_added``: as in Level;
    None where there are too many combinations of values to compute it.
    """

    name: str
    asked: bool
    gain_bits: float
    queries: tuple[str, ...]
    identifiability_added: float | None


class Design(Struct, frozen=True):
    """The attributes that a service should ask for, by the model ``model``.

    ``plan``: what is best where each request uses what helps its query; ``standing``: where every
    request carries the same; ``asked``: both, used by query; ``everything``: likewise, at no cost.
    By query, the utilities are less what they owe to luck; for the mean of all that is little.
    ``attributes``: all of the model, those that add most first; ``curve``: from nothing, one
    attribute more at a time, each the best for the mean query, all carried by every request.
    """

    model: str
    digest: str
    trade_off: float = field(name="lambda")
    asked: Level
    plan: tuple[str, ...]
    standing: Level
    everything: Level
    attributes: tuple[Addition, ...]
    curve: tuple[Level, ...]


def recommended(model: Model, trade_off: float) -> tuple[str, ...]:
    """Return what a service should ask for, in the order of the model."""
    prepared = _prepared(model, trade_off)
    asked, _ = _asked(prepared)
    return prepared.names(members(asked.mask))


def design_of(model: Model, trade_off: float) -> Design:
    """Return what a service should ask for, and why; UsageError for a lambda that cannot be."""
    prepared, weights = _prepared(model, trade_off), _weights(model)
    (found, planned), standing, cache = _asked(prepared), choice_of(prepared), prepared.cache
    free = tuple((each.name, 0.0) for each in model.attributes)
    unpriced = _prepared(model, 0.0, free, cache)
    most, _ = _asked(unpriced, [found.mask])
    objective, crowd = objective_of(prepared, None), prepared.crowd

    def level_of(order: Sequence[int], utility: float) -> Level:
        mask = union(order)
        risk, left = crowd.identifiability(mask, "maxprob", 1), crowd.people_left(mask)
        return Level(prepared.names(order), utility, risk, left)

    def of_plan(portfolio: Portfolio) -> Level:
        pairs = enumerate(portfolio.uses)
        bits = np.array([uses_of(at, model, cache).value(use) for at, use in pairs])
        return level_of([*members(portfolio.mask)], float(weights @ bits))

    by_weight = np.argsort(-weights, kind="stable")
    gains = np.zeros((len(weights), len(model.attributes)))
    for at, (row, use) in enumerate(zip(gains, found.uses, strict=True)):
        uses = uses_of(at, model, cache)
        level, beside = uses.value(use), uses.beside(use, prepared.free & ~use)
        for each in members(prepared.free):
            inside = use & singleton(each)
            row[each] = level - uses.value(use ^ inside) if inside else beside[each] - level
    gains[gains <= LEAST] = 0.0

    def risk_added(attribute: int) -> float | None:
        own = singleton(attribute)
        if not objective.feasible(found.mask | own):
            return None
        with_it = crowd.identifiability(found.mask | own, "maxprob", 1)
        return with_it - crowd.identifiability(found.mask & ~own, "maxprob", 1)

    attributes = [
        Addition(
            each.name,
            bool(found.mask & singleton(at)),
            float(weights @ gains[:, at]),
            tuple(model.queries[query].text for query in by_weight if gains[query, at] > 0),
            risk_added(at),
        )
        for at, each in enumerate(model.attributes)
    ]
    order, _ = greedy_order(objective)
    steps = [order[:count] for count in range(len(order) + 1)]
    return Design(
        model=model.id,
        digest=model.digest,
        trade_off=trade_off,
        asked=of_plan(found),
        plan=prepared.names(planned.order),
        standing=level_of(standing.order, objective.utility(standing.mask)),
        everything=of_plan(most),
        attributes=tuple(sorted(attributes, key=lambda each: -each.gain_bits)),
        curve=tuple(level_of(each, objective.utility(union(each))) for each in steps),
    )


def _prepared(
    model: Model,
    trade_off: float,
    sensitivity: tuple[tuple[str, float], ...] = (),
    cache: Cache | None = None,
) -> Prepared:
    terms = Terms(mode="standing", trade_off=trade_off, sensitivity=sensitivity)
    request, cache = Request(""), cache or Cache()
    return prepare(Context(request, terms, Knowledge(), model, reading=NOTHING, cache=cache))


def _weights(model: Model) -> NDArray[np.float64]:
    """The share of each query in all requests."""
    shares: NDArray[np.float64] = model.tables.query_weights / model.tables.query_weights.sum()
    return shares


def _asked(prepared: Prepared, starts: Sequence[int] = ()) -> tuple[Portfolio, Portfolio]:
    """Return what to ask for with what each query uses of it, and the plan that it holds.

    Planned is for a recipient that knows nothing. What changes with every request is priced like
    the rest: as if one request told all of the plan. ``starts``: sets to grow a plan from, too.
    """
    model, standing = prepared.model, choice_of(prepared).mask
    queries = Queries([uses_of(at, model, prepared.cache) for at in range(len(model.queries))])
    weights = _weights(model).tolist()
    prices = DisclosureObjective(HELPS_NOTHING, prepared.crowd, prepared.settings)
    scope = Scope(0, prepared.free, least=LEAST)
    planned = plan(queries, weights, prices, scope, [standing, *starts])
    both = planned.mask | standing
    held = both if prices.feasible(both) else planned.mask
    return plan(queries, weights, prices, scope._replace(held=held, free=0)), planned

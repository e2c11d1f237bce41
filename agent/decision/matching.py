"""Facts that the deciding model lacks: how many of those who look alike share them, by others.

Statistical matching: given the facts that two models share, those that only one of them has are
taken to be independent of the rest (DESIGN.md 2.8). Pure.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache as once
from math import prod
from types import MappingProxyType

import numpy as np

from agent.decision.cache import Cache
from agent.decision.request import TOLD_ANYWAY, Holdings, Knowledge
from agent.model.concepts import Concepts, Meaning
from agent.model.model import ANY_PEOPLE, Model

NO_QUERIES: Mapping[str, float] = MappingProxyType({})
MOST = 6  # models of which every order is tried
Codes = frozenset[tuple[int, int]]


def weight_of(codes: Codes, model: Model, cache: Cache) -> float:
    """Return how many people of a model agree with (attribute, code) pairs."""

    def found() -> float:
        population = model.population
        agree = population.agreeing(population.possible_codes(codes))
        weights = population.weights
        return float(np.count_nonzero(agree) if weights is None else weights[agree].sum())

    return cache.get(model, (weight_of, codes), found)


def share_of(
    facts: Iterable[Meaning], model: Model, concepts: Concepts, cache: Cache | None = None
) -> float:
    """Return rho: of the people who agree in a model, the share who agree with the other facts too.

    ``facts``: all that is held; 1 where the model has all of them, 0 where a fact fits nobody, or
    no model that is installed. Each other model counts the facts not counted yet, among its people
    who agree with those that are; of all orders the one counts that leaves fewest. Beyond `MOST`
    models it is a bound from below: each counts all that it has, among all its people.
    Source: DESIGN.md 2.8.
    """
    cache = cache or Cache()
    held = {each for each in facts if each.concept not in TOLD_ANYWAY}
    counted = frozenset(each for each in held if concepts.code(each, model) is not None)
    others = []
    for each in concepts.models:
        told = frozenset(fact for fact in held if concepts.code(fact, each) is not None)
        if each.id != model.id and not told <= counted:
            others.append((each, told))
    if held - counted.union(*(told for _, told in others)):
        return 0.0
    if len(others) > MOST:
        return prod(
            _among(told, frozenset(), each, model, concepts, cache) for each, told in others
        )

    @once
    def least(rest: frozenset[int]) -> float:
        """Return the smallest product of these models, when all the others have counted."""
        before = counted.union(*(told for at, (_, told) in enumerate(others) if at not in rest))
        products = []
        for place in rest:
            other, told = others[place]
            share = _among(told - before, told & before, other, model, concepts, cache)
            products.append(share * least(rest - {place}))
        return min(products, default=1.0)

    return least(frozenset(range(len(others))))


def _among(
    new: Collection[Meaning],
    shared: Collection[Meaning],
    other: Model,
    model: Model,
    concepts: Concepts,
    cache: Cache,
) -> float:
    """Return the share of another model's people with the new facts, among those who share."""
    if not new:
        return 1.0
    base, whole = (_codes(each, other, concepts) for each in (shared, {*shared, *new}))
    among, agree = weight_of(base, other, cache), weight_of(whole, other, cache)
    same = other.stands_for == model.stands_for != ANY_PEOPLE
    smaller = 1.0 if same else other.people / model.people
    return min(1.0, smaller) * agree / among if agree else 0.0


def _codes(facts: Iterable[Meaning], model: Model, concepts: Concepts) -> Codes:
    found = (concepts.code(each, model) for each in facts)
    return frozenset((model.index(pair[0]), pair[1]) for pair in found if pair is not None)


def unmatched(facts: Iterable[Meaning], models: Concepts) -> Sequence[Meaning]:
    """Return the facts that no installed model can tell: they make the share 0."""
    return [
        each
        for each in facts
        if each.concept not in TOLD_ANYWAY
        and all(models.code(each, model) is None for model in models.models)
    ]


def knowledge_in(
    found: Holdings[str],
    model: Model,
    now: datetime,
    queries: Mapping[str, float] = NO_QUERIES,
    concepts: Concepts | None = None,
    cache: Cache | None = None,
) -> Knowledge:
    """Return what a pool holds, in the codes of a model, and how few share the rest of it.

    ``queries``: beside those that it counts itself, the latest of the pool, and how often each
    came, as `DisclosureIndex.queries` has them; one that the model does not know is left out.
    ``concepts``: the models that are installed, by default this one alone. A fact that the model
    cannot tell counts in ``share``.
    """
    concepts = Concepts((model,)) if concepts is None else concepts
    cache = cache or Cache()
    facts = [Meaning(concept, fact.value) for concept, fact in found.held.items()]
    coded = [concepts.code(fact, model) for fact in facts]
    codes = [code for code in coded if code is not None]
    times = defaultdict[int, float](float, found.times)
    for text, count in queries.items():
        query = cache.match(model, text)
        if query is not None and count:
            times[query] += count
    share = share_of(facts, model, concepts, cache) if None in coded else 1.0
    history = tuple(sorted(times.items()))
    return Knowledge(tuple(sorted(codes)), found.recent(now), history, share)

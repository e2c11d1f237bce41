"""People with whole profiles, drawn as a model counts people: columns of a row, kinds by shares."""

from collections.abc import Sequence
from graphlib import TopologicalSorter

import numpy as np

from agent.errors import UsageError
from agent.lab.attack.simulation import Floats, HeldOutRequest, Person
from agent.model.model import Model


def drawn_people(
    model: Model, asked: Floats, people: int, requests: int, seed: int
) -> tuple[Person, ...]:
    """Draw so many people of a model that has kinds, with so many requests each.

    ``asked``: float64, shape (Q,), how often each query is asked, of sum 1. Who is drawn, and what
    they ask first, does not depend on how many there are. UsageError as `whole_profile`.
    """
    population, drawn = model.population, list[Person]()
    weights = np.ones(population.rows) if population.weights is None else population.weights
    upto, queries = np.cumsum(weights, dtype=np.float64), np.cumsum(asked)
    for number in range(people):
        random = np.random.default_rng((seed, number))
        row = int(np.searchsorted(upto, random.random() * upto[-1], side="right"))
        codes = whole_profile(model, population.codes[row].tolist(), random)
        draws = [random.random() * queries[-1] for _ in range(requests)]
        places = np.searchsorted(queries, draws, side="right").tolist()
        drawn.append(Person(row, codes, tuple(HeldOutRequest(each, 0, ()) for each in places)))
    return tuple(drawn)


def whole_profile(
    model: Model, columns: Sequence[int], random: np.random.Generator
) -> tuple[int, ...]:
    """The codes of somebody with these columns, one for each person attribute.

    What no column holds is drawn given what it depends on. Of a kind of which a person may hold
    several, each value is held or not by its own share, and of those held as many are set, in any
    order, as there are places; 0, "unspecified", is in the others. Where a kind depends on one of
    which a person holds several, the fact that makes a value the likeliest counts. UsageError for a
    model without kinds.
    """
    shares = model.population.shares
    if shares is None:
        raise UsageError(f"the model {model.id} has no kinds of facts", "name one that has them")
    kinds, held = shares.kinds, dict[int | None, list[int]]()
    before = {
        at: [other for other in (each.parent, each.holders) if other is not None]
        for at, each in enumerate(kinds)
    }
    for at in TopologicalSorter(before).static_order():
        kind, named = kinds[at], model.kinds[at]
        of_parent = [columns[kind.column]] if kind.column is not None else held.get(kind.parent, [])
        given = kind.shares[None] if kind.given is None else kind.given[of_parent or [0]]
        chances, held[at] = given.max(axis=0), []
        if kind.holders is not None and not held[kind.holders]:
            continue
        if not kind.several:
            held[at] = [1 + int(random.choice(len(chances), p=chances / chances.sum()))]
            continue
        for each in random.permutation(np.flatnonzero(random.random(len(chances)) < chances)):
            value, others = named.values[each], [named.values[code - 1] for code in held[at]]
            out = any(value in named.excludes.get(other, ()) for other in others)
            if not out and not {*named.excludes.get(value, ())} & {*others}:
                held[at].append(1 + int(each))
    left = {at: iter(codes) for at, codes in held.items()}
    return (*columns, *(next(left[at], 0) for at in shares.attributes))

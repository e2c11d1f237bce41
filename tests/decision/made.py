"""Small models whose figures are all true: what is stored of single attributes is computed."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from agent.decision.choice import FEWEST
from agent.model.attributes import Attribute, Scope
from agent.model.model import Model, Query
from agent.model.tables import COST_METRICS, Singles, gather
from agent.tradeoff.anonymity_set import AnonymitySet
from agent.tradeoff.tables import Kinds, Population, QueryRows, pairs
from agent.tradeoff.utility import query_utility

SHRINKAGE = 5.0
CARDS = (3, 4, 2, 3, 2)  # the last is a request attribute
PERSONS = 4
TOPICS = ("python", "restaurants", "weather", "trains", "films")
NAMES = ("age", "region", "gender", "job", "hours")
WORDED = frozenset({"age", "gender", "hours"})  # whose last value has a word for a search


OTHER_NAMES = {name: f"other_{number}" for number, name in enumerate(NAMES)}


def elsewhere(model: Model) -> Model:
    """Return a model that knows the same facts by other names."""
    named = (
        replace(each, name=OTHER_NAMES[each.name], concept=each.name) for each in model.attributes
    )
    return replace(model, id="elsewhere", attributes=tuple(named))


def made_model(seed: int, people: int = 40, queries: int = 2, rare: float = 1.0) -> Model:
    """Return a model of random people whose intents depend on two of their attributes.

    ``rare``: how much rarer the last value of each attribute of a person is than the others. With
    more than three queries it has the utilities of pairs too.
    """
    rng = np.random.default_rng(seed)
    columns = [_column(rng, card, people, rare) for card in CARDS[:PERSONS]]
    codes = np.stack(columns, axis=1)
    rows = [_rows(rng, codes) for _ in range(queries)]
    counts = rng.integers(1, 9, (people, 2), dtype=np.uint8)
    population = Population(codes, requests=(Kinds.of(counts),))
    return Model(
        id=f"made-{seed}",
        source="random numbers",
        licence="none",
        estimator="louo",
        attributes=tuple(map(_attribute, NAMES, CARDS)),
        queries=tuple(_query(number, each) for number, each in enumerate(rows)),
        tables=gather(population, rows, np.ones(queries), _singles(population, rows)),
    )


def _column(rng: np.random.Generator, card: int, people: int, rare: float) -> NDArray[np.uint8]:
    codes = rng.integers(0, card, people, dtype=np.uint8)
    if rare == 1.0:
        return codes
    last = codes == card - 1
    return np.where(last & (rng.random(people) >= rare), codes - 1, codes).astype(np.uint8)


def _rows(rng: np.random.Generator, codes: NDArray[np.uint8]) -> QueryRows:
    """Give each person one to three rows, most of them wanting what their kind of person wants."""
    user = np.repeat(np.arange(len(codes)), rng.integers(1, 4, len(codes)))
    leaning = (codes[user, 0] + 2 * codes[user, 2]) % 4
    intent = np.where(rng.random(len(user)) < 0.7, leaning, rng.integers(0, 4, len(user)))
    request = rng.integers(0, 2, (len(user), 1)).astype(np.uint8)
    return QueryRows(user, intent.astype(np.intp), codes, request, 4)


def _attribute(name: str, card: int) -> Attribute:
    scope: Scope = "person" if name in NAMES[:PERSONS] else "request"
    values = ("unspecified", *(f"{name}{code}" for code in range(1, card)))
    words = {values[-1]: f"the {name}"} if name in WORDED else {}
    return Attribute(name=name, title=name.title(), scope=scope, values=values, words=words)


def _query(number: int, rows: QueryRows) -> Query:
    return Query(
        text=f"{TOPICS[number]} today",
        intents=("a", "b", "c", "d"),
        shrinkage=SHRINKAGE,
        rows=len(rows.user),
        users=len(rows.person),
        prior_entropy_bits=query_utility(rows, CARDS, "louo", SHRINKAGE).limit,
    )


def _singles(population: Population, rows: list[QueryRows]) -> Singles:
    everyone = AnonymitySet(population, CARDS)
    utilities = [query_utility(each, CARDS, "louo", SHRINKAGE) for each in rows]

    def gained(sets: list[int]) -> NDArray[np.float64]:
        return np.array([[each.value(mask) for mask in sets] for each in utilities])

    def priced(sets: list[int]) -> NDArray[np.float64]:
        return np.array(
            [[everyone.identifiability(mask, m, 1) for mask in sets] for m in COST_METRICS]
        )

    single = [1 << attribute for attribute in range(len(CARDS))]
    if len(rows) <= FEWEST:
        return Singles(gained(single), priced(single))
    both = pairs(len(CARDS))
    return Singles(gained(single), priced(single), gained(both), priced(both))

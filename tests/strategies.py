"""Generators of values for Hypothesis, by the room that owns the value."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from agent.errors import normalise
from agent.model.attributes import UNSPECIFIED, Attribute, Query, Scope
from agent.model.model import Figure, Model
from agent.model.tables import gather
from agent.tradeoff.agreement import pair_people
from agent.tradeoff.tables import Kinds, Population, QueryRows
from agent.tradeoff.utility import Singles

TEXTS = st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=12)
FIGURES: st.SearchStrategy[Figure] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**53), 2**53),
    st.floats(allow_nan=False, allow_infinity=False),
    TEXTS,
    st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=3).map(tuple),
)
FINITE = st.floats(-1e6, 1e6)
WEIGHTS = st.floats(1e-9, 1e9)
PRICES = st.floats(0, 64)
PEOPLE = st.floats(1, 1e9)


@st.composite
def attribute_lists(draw: st.DrawFn) -> tuple[Attribute, ...]:
    """Draw one to three person attributes, then up to two request attributes."""
    scopes: list[Scope] = ["person"] * draw(st.integers(1, 3))
    scopes += ["request"] * draw(st.integers(0, 2))
    values = st.lists(TEXTS.filter(lambda text: text != UNSPECIFIED), max_size=3, unique=True)
    names = [f"a{place}" for place in range(len(scopes))]
    concepts = draw(st.lists(TEXTS, min_size=len(names), max_size=len(names), unique=True))
    lists = [(UNSPECIFIED, *draw(values)) for _ in names]
    return tuple(
        Attribute(
            name=name,
            title=draw(TEXTS),
            scope=scope,
            values=lists[place],
            concept=concepts[place],
            value_concepts=(UNSPECIFIED, *(draw(_concept(each)) for each in lists[place][1:])),
            refines=draw(st.sampled_from([None, *names[:place]])),
            sensitivity=draw(st.floats(0, 10)),
        )
        for place, (name, scope) in enumerate(zip(names, scopes, strict=True))
    )


def _concept(value: str) -> st.SearchStrategy[str | None]:
    """Draw what a value is called across models: no two values the same."""
    return st.sampled_from([value, f"{value} \u2026 elsewhere", None])


@st.composite
def models(draw: st.DrawFn) -> Model:
    """Draw a small model that fits the format, with one to three queries."""
    attributes = draw(attribute_lists())
    texts = draw(st.lists(TEXTS.filter(normalise), min_size=1, max_size=3, unique_by=normalise))
    population = draw(populations(attributes))
    rows = [draw(query_rows(attributes, population)) for _ in texts]
    each = (len(texts),)
    singles = Singles(
        utilities=draw(arrays(np.float64, (*each, len(attributes)), elements=FINITE)),
        costs=draw(arrays(np.float64, (3, len(attributes)), elements=FINITE)),
        prices=draw(st.none() | arrays(np.float64, (*each, len(attributes)), elements=PRICES)),
    )
    weights = draw(arrays(np.float64, each, elements=WEIGHTS))
    figures = st.dictionaries(TEXTS, FIGURES, max_size=3)
    return Model(
        id=draw(TEXTS),
        source=draw(TEXTS),
        licence=draw(TEXTS),
        stands_for=draw(TEXTS),
        estimator=draw(st.sampled_from(["louo", "plugin"])),
        attributes=attributes,
        queries=tuple(draw(_query(text, part)) for text, part in zip(texts, rows, strict=True)),
        tables=gather(population, rows, weights, singles),
        options=draw(figures),
        validation=draw(figures),
    )


@st.composite
def query_rows(
    draw: st.DrawFn, attributes: tuple[Attribute, ...], population: Population | None = None
) -> QueryRows:
    """Draw the rows of a query: one to four users, of a population, with one to three rows each."""
    person, request = _cards(attributes)
    sizes = draw(st.lists(st.integers(1, 3), min_size=1, max_size=4))
    user = np.repeat(np.arange(len(sizes)), sizes)
    intents = draw(st.integers(1, 4))
    people = codes(len(sizes), person)
    if population is not None:
        places = st.lists(st.integers(0, population.rows - 1), min_size=1, max_size=4)
        people = places.map(lambda found: population.codes[np.resize(found, len(sizes))])
    return QueryRows(
        user=user,
        intent=draw(arrays(np.intp, len(user), elements=st.integers(0, intents - 1))),
        person=draw(people),
        request=draw(codes(len(user), request)),
        intents=intents,
    )


@st.composite
def populations(draw: st.DrawFn, attributes: tuple[Attribute, ...]) -> Population:
    """Draw one to five people, with or without weights."""
    person, request = _cards(attributes)
    people = draw(st.integers(1, 5))
    counts = st.integers(0, 70_000)
    tables = [arrays(np.uint32, (people, card), elements=counts) for card in request]
    population = Population(
        codes=draw(codes(people, person)),
        weights=draw(st.none() | arrays(np.float64, people, elements=PEOPLE)),
        requests=tuple(Kinds.of(draw(table.filter(np.any))) for table in tables),
    )
    if population.weights is None or draw(st.booleans()):
        return population
    return replace(population, pairs=pair_people(population, person))


@st.composite
def codes(draw: st.DrawFn, length: int, cards: Sequence[int]) -> NDArray[np.uint8]:
    """Draw attribute codes, shape (length, attributes), each below its attribute's count."""
    columns = [draw(arrays(np.uint8, length, elements=st.integers(0, card - 1))) for card in cards]
    return np.stack(columns, axis=1) if columns else np.zeros((length, 0), np.uint8)


@st.composite
def _query(draw: st.DrawFn, text: str, rows: QueryRows) -> Query:
    intents = st.lists(TEXTS, min_size=rows.intents, max_size=rows.intents, unique=True)
    return Query(
        text=text,
        intents=tuple(draw(intents)),
        shrinkage=draw(st.floats(1e-6, 1e9)),
        rows=len(rows.user),
        users=len(rows.person),
        prior_entropy_bits=draw(FINITE),
        title=draw(TEXTS),
        predicted_bits=draw(st.none() | FINITE),
        heldout_bits=draw(st.none() | FINITE),
    )


def _cards(attributes: tuple[Attribute, ...]) -> tuple[list[int], list[int]]:
    """Return how many values the person and the request attributes have."""
    person = [len(each.values) for each in attributes if each.scope == "person"]
    return person, [len(each.values) for each in attributes if each.scope == "request"]

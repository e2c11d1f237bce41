"""How time grows with what a model holds: people, events, attributes and queries."""

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from agent.build.build import model_from
from agent.build.canonical import Events, arranged, observed
from agent.build.observe import Observations, user_hashes
from agent.build.options import BuildOptions
from agent.build.precomputed import precomputed
from agent.decision.context import Context
from agent.decision.decide import decide as decide_context
from agent.decision.knowledge import Knowledge
from agent.decision.terms import Terms
from agent.decision.values import Request
from agent.model.attributes import Attribute
from agent.model.file import encode, read
from agent.model.model import Model, Query
from agent.model.tables import Singles, gather
from tests.bench import timed
from tests.bench.building import KINDS, SEED, intents, values

TIMES = 3  # of which the shortest counts: the machine has other work
INTENTS = 40
CARDS = (2, 3, 4, 5, 6, 7, 8)  # values of the attributes, by turns
OPTIONS = BuildOptions(users=Path("users"), events=Path("events"))  # nothing is read
QUICK = replace(OPTIONS, validation=False, shrinkage=20.0)


class Extent(NamedTuple):
    """How large a model is; ``rows``: of each query."""

    people: int = 20_000
    attributes: int = 42
    rows: int = 3_000
    queries: int = 1


def figures() -> Iterator[str]:
    """Yield a line for each thing that grows: times by size, and the exponent."""
    for name, unit, measure, sizes in (
        (
            "a decision, the model just opened; people (bar: 30)",
            "ms",
            lambda size: _cold(Extent(people=size)),
            (20_000, 200_000, 1_000_000),
        ),
        (
            "a decision, the model just opened; events of its query (bar: 10)",
            "ms",
            lambda size: _cold(Extent(rows=size)),
            (20_000, 200_000, 2_000_000),
        ),
        (
            "building; attributes (bar: 15)",
            "s",
            lambda size: _built(Extent(attributes=size, rows=20_000, queries=4)),
            (24, 84, 168),
        ),
        ("opening a model; queries (bar: 60)", "ms", _opened, (100, 500, 2_500)),
    ):
        times = [measure(size) for size in sizes]
        slope = np.polyfit(np.log(sizes), np.log(times), 1)[0]
        by_size = "; ".join(
            f"{size:,}: {found:.3g}" for size, found in zip(sizes, times, strict=True)
        )
        yield f"{name}, {unit}, by size: {by_size}; exponent {slope:.2f}"


def observations(extent: Extent) -> Observations:
    """Invent people and events, always the same for an extent."""
    rng = np.random.default_rng(SEED)
    kind = rng.integers(KINDS, size=extent.people)
    cards = [CARDS[place % len(CARDS)] for place in range(extent.attributes)]
    codes = np.stack([values(rng, kind, card) for card in cards], axis=1).astype(np.uint8)
    people = arranged(codes, [], None)
    names, nothing = tuple(map(str, range(INTENTS))), np.zeros((extent.rows, 0), np.uint8)
    ids = tuple(map(str, np.argsort(people.place)))
    kept = []
    for query in range(extent.queries):
        users = np.sort(rng.integers(extent.people, size=extent.rows))
        wanted = intents(rng, np.full(extent.rows, query), kind[users], INTENTS)
        events = Events(users, wanted, nothing)
        kept.append(observed(f"query {query}", names, events, people).kept(user_hashes(ids)))
    attributes = tuple(
        Attribute(f"p{at}", f"p{at}", "person", ("unspecified", *map("v{}".format, range(1, card))))
        for at, card in enumerate(cards)
    )
    return Observations(attributes, people.population, tuple(kept), {}, ids)


def _cold(extent: Extent) -> float:
    """Time the first decision by a model that was just opened, in milliseconds."""
    model = model_from(observations(extent), QUICK, lambda _what, _share: None)
    model = replace(model, tables=replace(model.tables, near=precomputed(model)))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "growth.safetensors"
        path.write_bytes(encode(model))
        models = [read(path) for _ in range(TIMES)]
    request = Request(model.queries[0].text)
    contexts = [Context(request, Terms(), Knowledge(), each) for each in models]
    return min(timed(partial(decide_context, each, brief=True)) for each in contexts)


def _built(extent: Extent) -> float:
    """Time all that follows the reading of the tables, validation included, in seconds."""
    return timed(partial(model_from, observations(extent), OPTIONS, lambda _, __: None)) / 1e3


def _opened(queries: int) -> float:
    """Time opening a model with arbitrary figures, in milliseconds."""
    rng, some = np.random.default_rng(SEED), observations(Extent(rows=20_000, queries=20))
    count, each = len(some.cards), some.queries * (queries // 20)
    pairs = count * (count - 1) // 2
    shapes = ((queries, count), (3, count), (queries, pairs), (3, pairs), (queries, count))
    tables = gather(
        some.population,
        [query.rows for query in each],
        np.ones(queries),
        Singles(*map(rng.random, shapes)),
    )
    names = (
        Query(f"query {at}", seen.intents, 20.0, len(seen.rows.user), len(seen.rows.person), 1.0)
        for at, seen in enumerate(each)
    )
    model = Model(
        id="growth",
        source="",
        licence="",
        estimator="louo",
        attributes=some.attributes,
        queries=tuple(names),
        tables=tables,
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "growth.safetensors"
        path.write_bytes(encode(model))
        return min(timed(partial(read, path)) for _ in range(TIMES))

"""Building a model of two million events; and how time grows with what a model holds."""

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
from numpy.typing import NDArray

from agent.build.build import build_model, model_from
from agent.build.canonical import Events, arranged, observed
from agent.build.observe import Observations, user_hashes
from agent.build.options import BuildOptions
from agent.build.precomputed import precomputed
from agent.decision.context import Context, Terms
from agent.decision.decide import decide as decide_context
from agent.decision.knowledge import Knowledge
from agent.decision.values import Request
from agent.model.attributes import Attribute, Query
from agent.model.file import encode, read
from agent.model.model import Model
from agent.model.tables import gather
from agent.tradeoff.utility import Singles
from tests.bench import timed

Indexes = NDArray[np.intp]

SEED = 20100101
KINDS = 12  # of people; attributes and intents both depend on the kind
LOYALTY = 0.3  # probability that an attribute, or an intent, is the one typical of the kind


EVENTS, USERS, ATTRIBUTES, QUERIES, INTENTS = 2_000_000, 66_000, 42, 25, 40  # as the survey's


def write_tables(folder: Path) -> tuple[Path, Path]:
    """Write users.csv and events.csv, the same each time, and return their paths."""
    rng = np.random.default_rng(SEED)
    kind = rng.integers(KINDS, size=USERS)
    user = text("u", np.arange(USERS))
    users = {"user": user}
    for place in range(ATTRIBUTES):
        users[f"p{place}"] = text("v", values(rng, kind, 2 + place % 7))
    sender = rng.integers(USERS, size=EVENTS)
    query = heavy_tailed(rng, QUERIES, EVENTS)
    events = {
        "user": user[sender],
        "query": text("query ", query),
        "intent": text("https://example.org/", intents(rng, query, kind[sender], INTENTS)),
    }
    return _write(folder / "users.csv", users), _write(folder / "events.csv", events)


def values(rng: np.random.Generator, kind: Indexes, card: int) -> Indexes:
    """Draw a value for each item: the one typical of its kind, or any."""
    typical = rng.integers(card, size=KINDS)[kind]
    return np.where(rng.random(len(kind)) < LOYALTY, typical, rng.integers(card, size=len(kind)))


def intents(rng: np.random.Generator, query: Indexes, kind: Indexes, count: int) -> Indexes:
    """Draw an intent for each event: one typical of query and kind, or one of a long tail."""
    typical = (query * 31 + kind * 7) % count
    return np.where(rng.random(len(query)) < LOYALTY, typical, heavy_tailed(rng, count, len(query)))


def heavy_tailed(rng: np.random.Generator, count: int, size: int) -> Indexes:
    """Draw numbers below ``count``; the i-th has the weight 1/(i + 5) (Zipf and Mandelbrot)."""
    weights = 1 / (np.arange(1, count + 1) + 5)
    return np.searchsorted(np.cumsum(weights / weights.sum())[:-1], rng.random(size))


def text(prefix: str, numbers: Indexes) -> NDArray[np.str_]:
    """Put a prefix before each number."""
    return np.array([f"{prefix}{number}" for number in range(int(numbers.max()) + 1)])[numbers]


def _write(path: Path, columns: dict[str, NDArray[np.str_]]) -> Path:
    pc.write_csv(pa.table(columns), path)
    return path


def figures() -> Iterator[str]:
    """Yield the lines of this benchmark; the model is built in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        users, events = write_tables(Path(folder))
        command = [sys.executable, "-m", "tests.bench.building", str(users), str(events)]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    figure = json.loads(printed)
    yield (
        f"building a model from {EVENTS:,} events ({USERS:,} users, {ATTRIBUTES} attributes, "
        f"{QUERIES} queries): {figure['seconds']:.1f} s, {figure['mebibytes']:.0f} MiB "
        "(bars: 20 s and 2048 MiB)"
    )
    yield from growing()


def measured(users: Path, events: Path) -> dict[str, float]:
    """Measure the seconds and the peak MiB of this process for building a model."""
    start = time.perf_counter()
    build_model(BuildOptions(users=users, events=events), lambda _what, _share: None)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"seconds": seconds, "mebibytes": peak}


TIMES = 3  # of which the shortest counts: the machine has other work
CARDS = (2, 3, 4, 5, 6, 7, 8)  # values of the attributes, by turns
OPTIONS = BuildOptions(users=Path("users"), events=Path("events"))  # nothing is read
QUICK = replace(OPTIONS, validation=False, shrinkage=20.0)


class Extent(NamedTuple):
    """How large a model is; ``rows``: of each query."""

    people: int = 20_000
    attributes: int = 42
    rows: int = 3_000
    queries: int = 1


def growing() -> Iterator[str]:
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
        kept.append(observed(f"query {query}", names, events, people).capped(user_hashes(ids)))
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
    rows, singles = [query.rows for query in each], Singles(*map(rng.random, shapes))
    tables = gather(some.population, rows, np.ones(queries), singles)
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


if __name__ == "__main__":
    print(json.dumps(measured(*map(Path, sys.argv[1:]))))

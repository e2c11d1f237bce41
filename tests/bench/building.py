"""Building a model of two million events; and how time grows with what a model holds."""

import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
from numpy.typing import NDArray

from agent.build.build import build_model, model_from
from agent.build.observe import observe
from agent.build.options import BuildOptions
from agent.build.tables import open_tables
from agent.decision.context import Context, Terms
from agent.decision.decide import decide as decide_context
from agent.decision.knowledge import Knowledge
from agent.decision.values import Request
from agent.model.file import encode, read
from tests.bench import timed

Indexes = NDArray[np.intp]

SEED = 20100101
KINDS = 12  # of people; attributes and intents both depend on the kind
LOYALTY = 0.3  # probability that an attribute, or an intent, is the one typical of the kind
INTENTS = 40
CARDS = (2, 3, 4, 5, 6, 7, 8)  # values of the attributes, by turns
TIMES = 3  # of which the shortest counts: the machine has other work


class Extent(NamedTuple):
    """How large tables are; ``rows``: of each query."""

    people: int = 20_000
    attributes: int = 42
    rows: int = 3_000
    queries: int = 1


SURVEY = Extent(people=66_000, rows=80_000, queries=25)  # as so2017


def tables(folder: Path, extent: Extent) -> BuildOptions:
    """Write two tables, the same each time; they are the options of a build of them."""
    rng = np.random.default_rng(SEED)
    kind = rng.integers(KINDS, size=extent.people)
    user = text("u", np.arange(extent.people))
    users = {"user": user}
    for place in range(extent.attributes):
        users[f"p{place}"] = text("v", values(rng, kind, CARDS[place % len(CARDS)]))
    query = np.repeat(np.arange(extent.queries), extent.rows)
    sender = rng.integers(extent.people, size=len(query))
    wanted = intents(rng, query, kind[sender], INTENTS)
    events = {"user": user[sender], "query": text("q", query), "intent": text("i", wanted)}
    paths = folder / "users.csv", folder / "events.csv"
    for path, columns in zip(paths, (users, events), strict=True):
        pc.write_csv(pa.table(columns), path)
    return BuildOptions(users=paths[0], events=paths[1])


def values(rng: np.random.Generator, kind: Indexes, card: int) -> Indexes:
    """Draw a value for each item: the one typical of its kind, or any."""
    typical = rng.integers(card, size=KINDS)[kind]
    return np.where(rng.random(len(kind)) < LOYALTY, typical, rng.integers(card, size=len(kind)))


def intents(rng: np.random.Generator, query: Indexes, kind: Indexes, count: int) -> Indexes:
    """Draw an intent for each event: one typical of query and kind, or one of a long tail.

    Of the tail, the i-th has the weight 1/(i + 5) (Zipf and Mandelbrot).
    """
    typical, weights = (query * 31 + kind * 7) % count, 1 / (np.arange(1, count + 1) + 5)
    tail = np.searchsorted(np.cumsum(weights / weights.sum())[:-1], rng.random(len(query)))
    return np.where(rng.random(len(query)) < LOYALTY, typical, tail)


def text(prefix: str, numbers: Indexes) -> NDArray[np.str_]:
    """Put a prefix before each number."""
    return np.array([f"{prefix}{number}" for number in range(int(numbers.max()) + 1)])[numbers]


def figures() -> Iterator[str]:
    """Yield the lines of this benchmark; the model of many events is built as a user does it."""
    with tempfile.TemporaryDirectory() as folder:
        options = tables(Path(folder), SURVEY)
        command = [Path(sys.executable).with_name("reticent"), "model", "build"]
        command += ["--users", options.users, "--events", options.events]
        command += ["--out", Path(folder) / "survey.safetensors"]
        seconds = timed(partial(subprocess.run, command, check=True, capture_output=True)) / 1e3
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    yield (
        f"building a model from {SURVEY.rows * SURVEY.queries:,} events ({SURVEY.people:,} users, "
        f"{SURVEY.attributes} attributes, {SURVEY.queries} queries): {seconds:.1f} s, at most "
        f"{peak:.0f} MiB (bars: 20 s and 2048 MiB)"
    )
    for name, unit, measure, sizes in (
        ("a first decision; people (bar: 30)", "ms", _cold("people"), (20_000, 200_000, 1_000_000)),
        ("a first decision; rows (bar: 10)", "ms", _cold("rows"), (20_000, 200_000, 2_000_000)),
        ("building; attributes (bar: 15)", "s", _built, (24, 84, 168)),
    ):
        times = [measure(size) for size in sizes]
        slope = np.polyfit(np.log(sizes), np.log(times), 1)[0]
        by_size = "; ".join(
            f"{size:,}: {found:.3g}" for size, found in zip(sizes, times, strict=True)
        )
        yield f"{name}, {unit}, by size: {by_size}; exponent {slope:.2f}"


@contextmanager
def _file(extent: Extent) -> Iterator[Path]:
    """Yield the file of a model of invented tables."""
    with tempfile.TemporaryDirectory() as folder:
        options = replace(
            tables(Path(folder), extent), validation=False, shrinkage=20.0, min_users=1
        )
        model = build_model(options, lambda _what, _share: None)
        path = Path(folder) / "growth.safetensors"
        path.write_bytes(encode(model))
        yield path


def _cold(what: str) -> Callable[[int], float]:
    """Time the first decision by a model that was just opened, in milliseconds, by its extent."""

    def measure(size: int) -> float:
        with _file(Extent()._replace(**{what: size})) as path:
            models = [read(path) for _ in range(TIMES)]
        request = Request(models[0].queries[0].text)
        contexts = [Context(request, Terms(), Knowledge(), each) for each in models]
        return min(timed(partial(decide_context, each, brief=True)) for each in contexts)

    return measure


def _built(attributes: int) -> float:
    """Time all that follows the reading of the tables, validation included, in seconds."""
    with tempfile.TemporaryDirectory() as folder:
        options = tables(Path(folder), Extent(attributes=attributes, rows=20_000, queries=4))
        source = open_tables(Path(folder) / "users.csv", Path(folder) / "events.csv")
        seen = observe(source, options)
    return timed(partial(model_from, seen, options, lambda _what, _share: None)) / 1e3

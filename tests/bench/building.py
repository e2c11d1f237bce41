"""Building a model of two million events; and how decisions grow with what a model holds."""

import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
from numpy.typing import NDArray

from agent.build.build import build_model
from agent.build.options import BuildOptions, Description
from agent.decision.decide import decide
from agent.model.file import encode, read
from tests.bench import apart, row, timed
from tests.bench.decisions import requests

Indexes = NDArray[np.intp]

SEED, KINDS, INTENTS = 20100101, 12, 40  # kinds of people
LOYALTY = 0.3  # probability that an attribute, or an intent, is the one typical of the kind
CARDS = (2, 3, 4, 5, 6, 7, 8)  # values of the attributes, by turns


class Extent(NamedTuple):
    """How large tables are; ``rows``: of each query."""

    people: int
    attributes: int
    rows: int
    queries: int


SURVEY = Extent(people=66_000, attributes=42, rows=80_000, queries=25)  # as so2017
SMALL = Extent(people=20_000, attributes=30, rows=2_000, queries=25)
GROWING = {
    "people": [SMALL._replace(people=each) for each in (10_000, 100_000, 1_000_000)],
    "queries": [SMALL._replace(queries=each) for each in (25, 150, 600)],
    "attributes": [SMALL._replace(attributes=each) for each in (30, 60, 120)],
}
COUNT = 101  # decisions


def tables(folder: Path, extent: Extent) -> BuildOptions:
    """Write two tables, the same each time; they are the options of a build of them.

    Attributes and intents both depend on the kind of person. Of other intents, the i-th has the
    weight 1/(i + 5) (Zipf and Mandelbrot).
    """
    rng, tail = np.random.default_rng(SEED), 1 / np.arange(6, INTENTS + 6)
    kind = rng.integers(KINDS, size=extent.people)

    def mixed(typical: Indexes, others: Indexes) -> Indexes:
        return np.where(rng.random(len(typical)) < LOYALTY, typical, others)

    users = {"user": np.arange(extent.people), "weight": rng.integers(1, 99, extent.people)}
    for place, card in enumerate(islice(cycle(CARDS), extent.attributes)):
        others = rng.integers(card, size=extent.people)
        users[f"p{place}"] = mixed(rng.integers(card, size=KINDS)[kind], others)
    query = np.repeat(np.arange(extent.queries), extent.rows)
    sender = rng.integers(extent.people, size=len(query))
    others = rng.choice(INTENTS, len(query), p=tail / tail.sum())
    intent = mixed((query * 31 + kind[sender] * 7) % INTENTS, others)
    pc.write_csv(pa.table(users), folder / "users.csv")
    events = {"user": sender, "query": query, "intent": intent}
    pc.write_csv(pa.table(events), folder / "events.csv")
    return BuildOptions(users=folder / "users.csv", events=folder / "events.csv")


def building() -> Iterator[str]:
    """Yield how long a build of many events takes, by the command, as a user runs it."""
    with tempfile.TemporaryDirectory() as folder:
        options = tables(Path(folder), SURVEY)
        command = [Path(sys.executable).with_name("reticent"), "model", "build"]
        command += ["--users", options.users, "--events", options.events]
        command += ["--without", "weight", "--out", Path(folder) / "survey.safetensors"]
        seconds = timed(partial(subprocess.run, command, check=True, capture_output=True))[0] / 1e3
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    what = f"building a model from {SURVEY.rows * SURVEY.queries:,} events"
    yield row(what, (20, 2048), (seconds, peak), "s, MiB")


def growth() -> Iterator[str]:
    """Yield how a fresh decision, by a process of its own, grows with what a model holds."""
    for what, extents in GROWING.items():
        sizes, found = [getattr(each, what) for each in extents], [*map(_grown, extents)]
        for size, (*both, seconds) in zip(sizes, found, strict=True):
            whole, more = f"a fresh decision, {size:,} {what}", f"built in {seconds:.1f} s"
            yield row(whole, (10, 150), both, "ms, MiB more", more)
        slopes = np.polyfit(np.log(sizes), np.log(np.array(found)[:, :2]), 1)[0]
        yield f"by {what}, exponents of time and memory: {slopes[0]:.2f} and {slopes[1]:.2f}"
    seconds = _grown(SMALL._replace(attributes=120, queries=600))[2]
    yield row("building 120 attributes by 600 queries", (60,), (seconds,), "s")


def _grown(extent: Extent) -> tuple[float, float, float]:
    """Time decisions by a model of an extent, p50 in ms; the MiB they need; and s to build it."""
    with tempfile.TemporaryDirectory() as folder:
        options = replace(tables(Path(folder), extent), validation=False, shrinkage=20.0)
        options = replace(options, description=Description(weights="weight"))
        path, quiet = Path(folder) / "growth.safetensors", lambda _what, _share: None
        seconds = timed(lambda: path.write_bytes(encode(build_model(options, quiet))))[1] / 1e3
        return *apart(partial(_decided, path)), seconds


def _decided(path: Path) -> tuple[float, float]:
    """Time decisions of this process by a model, p50 in ms, and measure the MiB that it takes."""
    statm = Path("/proc/self/statm")  # pages: the second is what is resident
    before = statm.read_text(encoding="utf-8").split()[1]
    times = [timed(partial(decide, each, brief=True))[1] for each in requests(read(path), COUNT)]
    pages = int(statm.read_text(encoding="utf-8").split()[1]) - int(before)
    return float(np.median(times[1:])), pages * resource.getpagesize() / 2**20

"""Building a model from two million events: how long it takes, and how much memory."""

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
from numpy.typing import NDArray

from agent.build.build import build_model
from agent.build.options import BuildOptions

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
    """Yield the line of this benchmark; the model is built in a process of its own."""
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


def measured(users: Path, events: Path) -> dict[str, float]:
    """Measure the seconds and the peak MiB of this process for building a model."""
    start = time.perf_counter()
    build_model(BuildOptions(users=users, events=events), lambda _what, _share: None)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"seconds": seconds, "mebibytes": peak}


if __name__ == "__main__":
    print(json.dumps(measured(*map(Path, sys.argv[1:]))))

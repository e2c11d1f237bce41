"""Synthetic tables to build a model from: heavy-tailed, and with something to learn."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
from numpy.typing import NDArray

Indexes = NDArray[np.intp]

SEED = 20100101
KINDS = 12  # of people; attributes and intents both depend on the kind
LOYALTY = 0.3  # probability that an attribute, or an intent, is the one typical of the kind


@dataclass(frozen=True, slots=True)
class Shape:
    """How large the tables are; by default like the survey's, with 2 million events."""

    events: int = 2_000_000
    users: int = 66_000
    persons: int = 42
    requests: int = 0
    queries: int = 25
    intents: int = 40


def write_tables(folder: Path, shape: Shape) -> tuple[Path, Path]:
    """Write users.csv and events.csv, always the same for a shape, and return their paths."""
    rng = np.random.default_rng(SEED)
    kind = rng.integers(KINDS, size=shape.users)
    user = text("u", np.arange(shape.users))
    users = {"user": user}
    for place in range(shape.persons):
        users[f"p{place}"] = text("v", values(rng, kind, 2 + place % 7))
    sender = rng.integers(shape.users, size=shape.events)
    query = heavy_tailed(rng, shape.queries, shape.events)
    intent = intents(rng, query, kind[sender], shape.intents)
    events = {
        "user": user[sender],
        "query": text("query ", query),
        "intent": text("https://example.org/", intent),
    }
    for place in range(shape.requests):
        events[f"r{place}"] = text("v", values(rng, intent % KINDS, 2 + 2 * place))
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
    """Return texts made of a prefix and a number."""
    return np.array([f"{prefix}{number}" for number in range(int(numbers.max()) + 1)])[numbers]


def _write(path: Path, columns: dict[str, NDArray[np.str_]]) -> Path:
    pc.write_csv(pa.table(columns), path)
    return path

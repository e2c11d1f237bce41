"""Building a model from 100 million events, and from parts of these: what grows with them.

An hour and 5 GB of disk, so it runs only where it is named: ``make bench PARTS=big``.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from agent.build.build import build_model
from agent.build.options import BuildOptions
from agent.build.stages import stages_beside
from agent.model.file import write
from tests.bench.growth import Line, Point
from tests.bench.tables import KINDS, SEED, Shape, heavy_tailed, intents, text, values

BIG = Shape(events=100_000_000, users=5_000_000, persons=20, requests=2, queries=200_000)
PARTS = (64, 16, 4, 1)  # of which the tables are one
KEPT = 500  # queries
PASS = 2_000_000  # rows written at a time, a file each


def figures() -> Iterator[str]:
    """Yield the lines of this benchmark; each model is built in a process of its own."""
    found: dict[str, list[Point]] = defaultdict(list)
    for part in PARTS:
        with tempfile.TemporaryDirectory() as folder:
            shape = Shape(
                BIG.events // part, BIG.users // part, 20, 2, BIG.queries // part, BIG.intents
            )
            write_folders(Path(folder), shape)
            command = [sys.executable, "-m", "tests.bench.big", folder]
            printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            measured = json.loads(printed)
            yield f"{shape.events:,} events, {shape.users:,} users, {shape.queries:,} queries:"
            yield f"  {json.dumps(measured)}"
            for name, amount in measured.items():
                found[name].append(Point(shape.events, amount))
    for name, points in found.items():
        what, _, unit = name.partition(", ")
        yield str(Line(what, unit, points))


def write_folders(folder: Path, shape: Shape) -> None:
    """Write users and events, two folders of parquet, in passes; the same for a shape."""
    rng = np.random.default_rng(SEED)
    kind = rng.integers(KINDS, size=shape.users)
    codes = [values(rng, kind, 2 + place % 7).astype(np.uint8) for place in range(shape.persons)]
    for start in range(0, shape.users, PASS):
        some = np.arange(start, min(start + PASS, shape.users))
        columns = {
            f"p{place}": text("v", each[some].astype(np.intp)) for place, each in enumerate(codes)
        }
        _write(folder / "users", start, {"user": _ids(some), **columns})
    for start in range(0, shape.events, PASS):
        sender = rng.integers(shape.users, size=min(PASS, shape.events - start))
        query = heavy_tailed(rng, shape.queries, len(sender))
        intent = intents(rng, query, kind[sender], shape.intents)
        columns = {
            f"r{place}": text("v", values(rng, intent % KINDS, 2 + 2 * place))
            for place in range(shape.requests)
        }
        told = {"query": text("query ", query), "intent": text("https://example.org/", intent)}
        _write(folder / "events", start, {"user": _ids(sender)} | told | columns)


def _ids(numbers: np.ndarray) -> pa.Array:
    return pc.binary_join_element_wise("u", pc.cast(pa.array(numbers), pa.string()), "")


def _write(folder: Path, start: int, columns: dict[str, Any]) -> None:
    folder.mkdir(exist_ok=True)
    pq.write_table(pa.table(columns), folder / f"{start:012}.parquet")


def measured(folder: Path) -> dict[str, float]:
    """Build a model in this process; return seconds by stage, and the most MiB in use."""
    out, found = folder / "model.safetensors", dict[str, float]()
    options = BuildOptions(
        users=folder / "users", events=folder / "events", most_queries=KEPT, min_users=30
    )
    last, clocks = "reading", (time.perf_counter, time.process_time)
    since = [clock() for clock in clocks]

    def note(what: str, _share: float) -> None:
        nonlocal last, since
        now = [clock() for clock in clocks]
        for unit, before, after in zip(("s", "s of processors"), since, now, strict=True):
            name = f"{last}, {unit}"
            found[name] = round(found.get(name, 0.0) + after - before, 1)
        last, since = what, now

    with stages_beside(out, options, resume=False) as stages:
        model = build_model(options, note, stages)
        note("writing", 0.0)
        write(model, out)
        note("", 1.0)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return found | {"most in memory, MiB": round(peak), "the file, MiB": out.stat().st_size >> 20}


if __name__ == "__main__":
    print(json.dumps(measured(Path(sys.argv[1]))))

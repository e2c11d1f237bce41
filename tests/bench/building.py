"""Building a model from two million events: how long it takes, and how much memory."""

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from agent.build.build import build_model
from agent.build.options import BuildOptions
from tests.bench.tables import Shape, write_tables


def figures() -> Iterator[str]:
    """Yield the lines of this benchmark; the model is built in a process of its own."""
    shape = Shape()
    with tempfile.TemporaryDirectory() as folder:
        users, events = write_tables(Path(folder), shape)
        command = [sys.executable, "-m", "tests.bench.building", str(users), str(events)]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    figure = json.loads(printed)
    yield (
        f"building a model from {shape.events:,} events ({shape.users:,} users, {shape.persons} + "
        f"{shape.requests} attributes, {shape.queries} queries): {figure['seconds']:.1f} s, "
        f"{figure['mebibytes']:.0f} MiB (bars: 20 s and 2048 MiB)"
    )


def measured(users: Path, events: Path) -> dict[str, float]:
    """Return seconds and the most MiB in use, of this process, for building a model."""
    start = time.perf_counter()
    build_model(BuildOptions(users=users, events=events), lambda _what, _share: None)
    seconds = time.perf_counter() - start
    return {
        "seconds": seconds,
        "mebibytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


if __name__ == "__main__":
    print(json.dumps(measured(*map(Path, sys.argv[1:]))))

"""How long things take, and how well they are done: `make bench` prints it part by part."""

import time
from collections.abc import Callable

import numpy as np

PARTS = ("decisions", "sockets", "proxy", "sets", "reading", "relevance", "building")


def timed(run: Callable[[], object]) -> float:
    """Time a call, in milliseconds."""
    start = time.perf_counter()
    run()
    return (time.perf_counter() - start) * 1e3


def at(times: list[float], percentile: float) -> str:
    """Format a percentile of some times, in three digits."""
    return f"{np.percentile(times, percentile):.3g}"

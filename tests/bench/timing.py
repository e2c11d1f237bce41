"""How long calls take, and how to print it."""

import time
from collections.abc import Callable

import numpy as np


def timed(run: Callable[[], object]) -> float:
    """Return how long a call takes, in milliseconds."""
    start = time.perf_counter()
    run()
    return (time.perf_counter() - start) * 1e3


def at(times: list[float], percentile: float) -> str:
    """Return a percentile of some times, in three digits."""
    return f"{np.percentile(times, percentile):.3g}"

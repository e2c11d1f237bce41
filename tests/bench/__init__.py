"""How long things take, and how well they are done: `make bench` prints it part by part."""

import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")
Timing = tuple[float, float, Any]
PARTS = {"decisions": "decisions", "building": "decisions", "growth": "decisions", "sets": "sets"}
PARTS |= {"peers": "sets", "sockets": "sockets", "proxy": "sockets", "reading": "reading"}
PARTS |= {"relevance": "reading"}


def timed(run: Callable[[], object]) -> Timing:
    """Time a call by the clock, and by the processor, in milliseconds; the third is its result."""
    start, used = time.perf_counter(), time.process_time()
    result = run()
    return (time.perf_counter() - start) * 1e3, (time.process_time() - used) * 1e3, result


def at(figures: Sequence[float], *percentiles: float) -> str:
    """Format figures, or percentiles of them, in three digits."""
    some = np.percentile(figures, percentiles) if percentiles else figures
    return " / ".join(f"{each:.3g}" for each in some)


def row(what: str, bars: Sequence[float], found: Sequence[float], unit: str, more: str = "") -> str:
    """A row of the table of DESIGN.md 6; of what has no unit, a bar is the least that meets it."""
    met = all(one <= bar if unit else one >= bar for one, bar in zip(found, bars, strict=False))
    sign, verdict = "≤" if unit else "≥", "met" if met else "missed"
    return f"| {what} | {sign} {at(bars)} {unit} | {at(found)} | {verdict} | {more} |"


def timing(what: str, bars: Sequence[float], times: Iterable[Timing], touched: int = 0) -> str:
    """A row of p50 and p99 of the processor, which count as other work runs, and of the clock.

    ``touched``: bytes of memory, of which a copy tells what the machine can do.
    """
    clock, processor, _ = zip(*times, strict=True)
    more = f"clock {at(clock, 50, 99)}, {len(clock)} times"
    if touched:
        some = np.ones(touched, np.uint8)
        copying = np.median([timed(some.copy)[1] for _ in range(99)])
        more += f"; {np.median(processor) / copying:.1f} times copying {touched / 1e6:.1f} MB"
    return row(what, bars, np.percentile(processor, (50, 99)).tolist(), "ms", more)


def apart(run: Callable[[], T]) -> T:
    """The result of a function in a process of its own."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(run).result()

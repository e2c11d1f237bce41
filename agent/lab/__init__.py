"""Studies: reproduce the paper, attack the agent, draw the figures (the extra `lab`)."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

# Told what is being done, and which share of it is done, 0 to 1.
Progress = Callable[[str, float], None]
ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def spawned(processes: int, begin: Callable[[], None] | None = None) -> ProcessPoolExecutor:
    """Return so many new processes of one thread each: one with threads cannot be forked.

    ``begin``: what each does first. Ctrl-C ends them at once: whoever waits for them says so.
    """
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    os.environ.update(dict.fromkeys(ONE_THREAD, "1"))
    context = get_context("spawn")
    return ProcessPoolExecutor(processes, context, initializer=_begin, initargs=(begin,))


def _begin(begin: Callable[[], None] | None) -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if begin is not None:
        begin()

"""Studies: reproduce the paper, attack the agent, draw the figures (the extra `lab`)."""

from __future__ import annotations

import os
import signal
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

# Called with what is being done, and the share of it that is done, 0 to 1.
Progress = Callable[[str, float], None]
# What the studies say of their figures, to be formatted.
TEXTS: Mapping[str, Any] = tomllib.loads((files("agent.lab") / "texts.toml").read_text("utf-8"))
STEPS = (50, 100)  # requests after which an adversary guesses
ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True, slots=True)
class StudyOptions:
    """How many people send how many requests each.

    ``seed``: of all that is drawn; ``processes``: that run at once.
    """

    people: int = 300
    requests: int = 100
    seed: int = 1
    processes: int = 2

    @property
    def steps(self) -> tuple[int, ...]:
        """After how many requests an adversary guesses: after the last of them too."""
        return (*(each for each in STEPS if each < self.requests), self.requests)


def spawned(processes: int, begin: Callable[[], None]) -> ProcessPoolExecutor:
    """Start so many new processes of one thread each: one with threads cannot be forked.

    ``begin``: what each does first. Ctrl-C ends them at once: whoever waits for them says so.
    """
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    os.environ.update(dict.fromkeys(ONE_THREAD, "1"))
    context = get_context("spawn")
    return ProcessPoolExecutor(processes, context, initializer=_begin, initargs=(begin,))


def _begin(begin: Callable[[], None]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    begin()

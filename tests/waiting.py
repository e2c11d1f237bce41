"""Waiting for something, and never for ever."""

import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer
from typing import Any

PATIENCE = 60.0  # seconds, for what takes a fraction of one
LOOK = 0.01  # seconds between two looks


def until(holds: Callable[[], Any], what: str = "it", patience: float = PATIENCE) -> Any:  # noqa: ANN401
    end = time.monotonic() + patience
    while not (found := holds()):
        assert time.monotonic() < end, f"{what} does not come to hold"
        time.sleep(LOOK)
    return found


@contextmanager
def bounded(end: Callable[[], object], patience: float = PATIENCE) -> Iterator[None]:
    """Do what might wait for ever: what it waits for is then ended, from a thread, by ``end``."""
    timer = Timer(patience, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


@contextmanager
def living(process: subprocess.Popen[Any], patience: float = PATIENCE) -> Iterator[None]:
    """Kill a process at the end, or when it has lived too long: then whoever reads it goes on."""
    with bounded(process.kill, patience):
        try:
            yield
        finally:
            process.kill()

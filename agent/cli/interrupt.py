"""Ctrl-C: noted when it comes, since what runs below us may lose it or rename it.

DuckDB makes a RuntimeError of an exception that a signal raised, and a destructor swallows it.
"""

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, current_thread, main_thread
from time import monotonic
from types import FrameType
from typing import Self

import click

from agent.errors import BuildError, install_hint

came = Event()  # set once Ctrl-C has come, even if nobody was told


class Interrupted(BaseException):
    """Somebody pressed Ctrl-C; unlike KeyboardInterrupt, it passes through click."""


@contextmanager
def handled_by(handler: Callable[[int, FrameType | None], object] | int) -> Iterator[None]:
    """Handle Ctrl-C so for a while; leave it alone where it is ignored, as under nohup."""
    before = signal.getsignal(signal.SIGINT)
    if before in (None, signal.SIG_IGN) or current_thread() is not main_thread():
        yield
        return
    signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def listening() -> Iterator[None]:
    """Note every Ctrl-C from here on, and raise Interrupted where it meets Python."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        came.set()
        raise Interrupted

    came.clear()
    with handled_by(interrupt):
        yield


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Raise Interrupted if Ctrl-C has come; from here to the end, it does nothing."""
    with handled_by(signal.SIG_IGN):
        check()
        yield


def check() -> None:
    """Raise Interrupted if Ctrl-C has come, even if nobody was told."""
    if came.is_set():
        raise Interrupted


class Progress:
    """Called with what is being done and which share of its time has passed, 0 to 1.

    ``left``: how many seconds it then has left at its pace so far, 0 where it has just begun; it
    begins anew when its first share comes once more.
    """

    def __enter__(self) -> Self:
        self._begun, self.left = dict[str, tuple[float, float]](), 0.0
        return self

    def __call__(self, what: str, share: float) -> None:
        """Draw the line anew, with the time left; Interrupted if Ctrl-C has come unnoticed."""
        check()
        now = monotonic()
        since, first = self._begun.get(what, (now, share))
        if share <= first:
            self._begun[what] = now, share
        self.left = (now - since) * (1 - share) / (share - first) if share > first else 0.0
        if sys.stderr.isatty():
            time = f", {self.left:,.0f} s left" if self.left else ""
            click.echo(f"\r\x1b[K{what} {share:.0%}{time}", nl=False, err=True)

    def __exit__(self, *_error: object) -> None:
        """Leave an empty line, whatever happened."""
        if sys.stderr.isatty():
            click.echo("\r\x1b[K", nl=False, err=True)


@contextmanager
def extra(name: str, work: str) -> Iterator[None]:
    """Let imports happen inside; BuildError, naming the extra, if something is not installed.

    ``work``: what needs it, as in "drawing figures". Ctrl-C takes effect at the end only, since
    some libraries abort the process during import.
    """
    try:
        with handled_by(lambda _number, _frame: came.set()):
            yield
        check()
    except ModuleNotFoundError as error:
        what = f"{work} needs {error.name}, which is not installed"
        raise BuildError(what, install_hint(name)) from error

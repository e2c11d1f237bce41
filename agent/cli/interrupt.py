"""Ctrl-C: noted when it comes, since what runs below us may lose it or rename it.

DuckDB makes a RuntimeError of an exception that a signal raised, and a destructor swallows it.
"""

import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from math import ceil
from pathlib import Path
from threading import Event, current_thread, main_thread
from time import monotonic
from types import FrameType
from typing import TYPE_CHECKING, Self

import click

from agent.errors import BuildError, install_hint

if TYPE_CHECKING:
    from agent.build.options import BuildOptions
    from agent.model.model import Model

CELLS, LETTERS = 14, 30  # of 80 columns
SOON = 10.0  # seconds that a stage takes before anything is said about the rest
WIDTH = LETTERS + CELLS + len(" [] 100%, about 999 min left in all")
# How many times as long as a stage all later ones take: of 25 to 100 million events (LAB.md).
AFTER = {"counting": 2.0, "choosing the shrinkage": 1.4, "validating": 0.0}
_came = Event()
Handler = Callable[[int, FrameType | None], object] | signal.Handlers


class Interrupted(BaseException):
    """Somebody pressed Ctrl-C; unlike KeyboardInterrupt, it passes through click."""


@contextmanager
def listening() -> Iterator[None]:
    """Note every Ctrl-C from here on, and raise Interrupted where it meets Python."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        _came.set()
        raise Interrupted

    _came.clear()
    with _handled_by(interrupt):
        yield


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Raise Interrupted if Ctrl-C has come; from here to the end, it does nothing."""
    with _handled_by(signal.SIG_IGN):
        check()
        yield


@contextmanager
def postponed() -> Iterator[None]:
    """Raise Interrupted at the end only: some libraries abort the process during import."""
    with _handled_by(lambda _number, _frame: _came.set()):
        yield
    check()


@contextmanager
def left_to_others() -> Iterator[None]:
    """Leave Ctrl-C to a program that we wait for; it begins with the system's own handler."""
    with _handled_by(lambda _number, _frame: None):
        yield


def came() -> bool:
    """Whether Ctrl-C has come, even if nobody was told."""
    return _came.is_set()


def check() -> None:
    """Raise Interrupted if Ctrl-C has come, even if nobody was told."""
    if came():
        raise Interrupted


@contextmanager
def _handled_by(handler: Handler) -> Iterator[None]:
    """Handle the signal so for a while; leave it alone where it is ignored, as under nohup."""
    before = signal.getsignal(signal.SIGINT)
    if before in (None, signal.SIG_IGN) or current_thread() is not main_thread():
        yield
        return
    signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class Progress:
    """Called with what is being done and which share of it is done, 0 to 1.

    After a while it says how long this will take, if the rest goes on at the same pace.
    ``after``: by the name of a stage, how many times as long as it all later ones usually take
    together; where it is given, what is said is how long everything takes, and only of these.
    """

    def __init__(
        self, clock: Callable[[], float] = monotonic, after: Mapping[str, float] | None = None
    ) -> None:
        self._shown, self._clock, self._after = sys.stderr.isatty(), clock, after
        self._began = ("", 0.0, 0.0)

    def __enter__(self) -> Self:
        return self

    def __call__(self, what: str, share: float) -> None:
        """Draw the line anew; Interrupted if Ctrl-C has come unnoticed."""
        check()
        if self._shown:
            full = round(CELLS * share)
            bar = "#" * full + "." * (CELLS - full)
            line, now = f"{what:<{LETTERS}.{LETTERS}} [{bar}] {share:4.0%}", self._clock()
            if what != self._began[0]:
                self._began = what, share, now
            _, first, since = self._began
            later = 0.0 if self._after is None else self._after.get(what)
            if now - since >= SOON and first < share < 1 and later is not None:
                minutes = (now - since) / (share - first) * (1 - share + later) / 60
                line = f"{line}, about {min(ceil(minutes), 999)} min left"
                line = line if self._after is None else f"{line} in all"
            click.echo(f"\r{line:<{WIDTH}}", nl=False, err=True)

    def __exit__(self, *_error: object) -> None:
        """Leave an empty line, whatever happened."""
        if self._shown:
            click.echo(f"\r{' ' * WIDTH}\r", nl=False, err=True)


@contextmanager
def extra(name: str, work: str) -> Iterator[None]:
    """Let imports happen inside; BuildError, naming the extra, if something is not installed.

    ``work``: what needs it, as in "drawing figures".
    """
    try:
        with postponed():
            yield
    except ModuleNotFoundError as error:
        what = f"{work} needs {error.name}, which is not installed"
        raise BuildError(what, install_hint(name)) from error


def build_beside(
    out: Path, options: "BuildOptions", change: Callable[["Model"], "Model"], *, resume: bool
) -> "Model":
    """Build a model with its stages beside it, and write what ``change`` makes of it.

    ``resume``: as `stages_beside`.
    """
    with extra("build", "building a model"):
        from agent.build.build import build_model
        from agent.build.stages import stages_beside
        from agent.model.file import write
    with (
        stages_beside(out, options, resume=resume) as stages,
        Progress(after=AFTER) as progress,
    ):
        if resume and not stages.found:
            click.echo("Nothing is left of an earlier build, so this one begins anew.", err=True)
        model = change(build_model(options, progress, stages))
        with uninterrupted():
            return write(model, out)

"""The outer half of the daemon in a process of its own, with nothing real behind it.

Run as `python -m tests.worlds.processes INSIDE`: what the doors lead to is one of the functions
below, each with something to try it by.
"""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agent.daemon.run import run
from agent.errors import ReticentError
from agent.paths import Paths, paths
from agent.wire.base import Done
from agent.wire.decide import Answer
from agent.wire.routes import ROUTES
from tests import waiting
from tests.house.tree import ROOT
from tests.vault.doubles import state
from tests.worlds.doors import FakeAgent, FakeApi, Said, asked


def awaited(path: Path, text: str = "") -> None:
    """Wait until a file is there, with a text in it."""
    waiting.until(lambda: path.exists() and text in path.read_text(), f"{text!r} in {path}")


@contextmanager
def begun(
    home: Paths, inside: str = "fake_inside", before: tuple[str, ...] = ()
) -> Iterator[subprocess.Popen[str]]:
    """Begin a daemon in a process of its own, and kill it at the end; it need not be ready."""
    program = (sys.executable, "-m", "tests.worlds.processes", inside)
    environment = {**os.environ, "RETICENT_HOME": str(home.config.parent)}
    with (
        subprocess.Popen(
            [*before, *program], stderr=subprocess.PIPE, text=True, cwd=ROOT, env=environment
        ) as process,
        waiting.living(process),
    ):
        yield process


def until(process: subprocess.Popen[str], mark: str) -> str:
    """Return what a daemon says up to the first line with a mark in it."""
    assert process.stderr is not None
    said = ""
    for line in process.stderr:
        said += line
        if mark in line:
            return said
    raise AssertionError(said)


@contextmanager
def running(home: Paths, inside: str = "fake_inside") -> Iterator[subprocess.Popen[str]]:
    """Run a daemon, and make sure that it ends when it is told to, if it has not ended yet."""
    with begun(home, inside) as process:
        until(process, "ready")
        yield process
        process.terminate()
        ended(process)


def ended(process: subprocess.Popen[str]) -> str:
    """Wait until a daemon has ended of itself; return what it said last."""
    assert process.stderr is not None
    said = process.stderr.read()
    assert process.wait(waiting.PATIENCE) == 0, said
    return said


def ask(at: Path, method: str = "GET", path: str = "/v1/status", body: object = None) -> Said:
    """Ask a daemon at a socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as opened:
        opened.settimeout(waiting.PATIENCE)
        opened.connect(str(at))
        return asked(opened, method, path, body)


def fake_inside(_paths: Paths) -> Any:  # noqa: ANN401  (it stands for `Api`, as all below)
    """Return calls that are answered with Done."""
    return FakeApi()


class Noting(FakeApi):
    """Calls that write down when they are closed, and when they read their files again."""

    def __init__(self, paths: Paths) -> None:
        super().__init__()
        self.agent = NotingAgent(paths)
        self.paths = paths

    def refresh(self) -> None:
        """Note it."""
        note(self.paths, "reloaded")


class NotingAgent(FakeAgent):
    """An agent that writes down when it is locked."""

    def __init__(self, paths: Paths) -> None:
        super().__init__()
        self.paths = paths

    def lock(self) -> None:
        """Note it."""
        note(self.paths, "locked")


def note(paths: Paths, what: str) -> None:
    """Write down that something was done."""
    with (paths.data / "noted").open("a") as noted:
        noted.write(f"{what}\n")


def undumped_inside(paths: Paths) -> Any:  # noqa: ANN401
    """Return such calls, and write down whether there may be a core file."""
    note(paths, state())
    return Noting(paths)


def writing_inside(paths: Paths) -> Any:  # noqa: ANN401
    """Return calls that are told to end in the middle of a decision."""
    calls = Noting(paths)

    def decide(*_: object, **_named: object) -> Answer:
        note(paths, "begun")
        signal.raise_signal(signal.SIGTERM)
        note(paths, "written")
        return Answer(code="answered")

    calls.instead["decide"] = decide
    return calls


def slow_inside(paths: Paths) -> Any:  # noqa: ANN401
    """Return calls of which one takes until a file is there."""
    calls = Noting(paths)

    async def unlock(*_: object) -> Done:
        note(paths, "begun")
        await asyncio.to_thread(awaited, paths.data / "go")
        return Done()

    calls.instead["unlock"] = unlock
    return calls


def failing_inside(paths: Paths) -> Any:  # noqa: ANN401
    """Return calls that meet a defect where nobody calls."""

    def fail() -> None:
        _ = 1 // 0

    api: Any = Noting(paths)
    api.agent.look_at_all = fail
    return api


def loud_inside(_paths: Paths) -> Any:  # noqa: ANN401
    """Return calls of which each fails, and quotes what was asked."""
    calls = FakeApi()

    def fails(*arguments: object, **named: object) -> object:
        raise RuntimeError(f"married, {arguments}, {named}")

    calls.instead = {route.name: fails for route in ROUTES}
    return calls


def ending_inside(_paths: Paths) -> Any:  # noqa: ANN401
    """Return calls; a signal comes meanwhile."""
    signal.raise_signal(signal.SIGTERM)
    return FakeApi()


def killing_inside(_paths: Paths) -> Any:  # noqa: ANN401
    """Return none: the process is killed meanwhile."""
    os.kill(os.getpid(), signal.SIGKILL)
    return FakeApi()


if __name__ == "__main__":
    try:
        run(paths(), build=globals()[sys.argv[1]])
    except ReticentError as error:
        sys.exit(f"{error} / {error.hint}")

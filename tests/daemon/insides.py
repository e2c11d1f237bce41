"""What the doors of a daemon in a process of its own lead to, each with something to try it by."""

import asyncio
import os
import signal
from pathlib import Path
from time import sleep
from typing import Any

from agent.paths import Paths
from agent.wire.base import Done
from agent.wire.decide import Answer
from agent.wire.routes import ROUTES
from tests.daemon.fakes import FakeAgent, FakeCalls
from tests.vault.dumps import state


def fake_inside(_paths: Paths) -> Any:  # noqa: ANN401  (it stands for `Calls`, as all below)
    """Return calls that are answered with Done."""
    return FakeCalls()


class NotingAgent(FakeAgent):
    """An agent that writes down when it is locked."""

    def __init__(self, paths: Paths) -> None:
        super().__init__()
        self.paths = paths

    def lock(self) -> None:
        """Note it."""
        note(self.paths, "locked")


class Noting(FakeCalls):
    """Calls that write down when they are closed, and when they read their files again."""

    def __init__(self, paths: Paths) -> None:
        super().__init__()
        self.agent = NotingAgent(paths)
        self.paths = paths

    def refresh(self) -> None:
        """Note it."""
        note(self.paths, "reloaded")


noting_inside = Noting


def undumped_inside(paths: Paths) -> Any:  # noqa: ANN401
    """Write down whether there may be a core file."""
    note(paths, state())
    return FakeCalls()


def note(paths: Paths, what: str) -> None:
    """Write down that something was done."""
    with (paths.data / "noted").open("a") as noted:
        noted.write(f"{what}\n")


def writing_inside(paths: Paths) -> Any:  # noqa: ANN401
    """Return calls that are told to end in the middle of a decision."""
    calls = Noting(paths)

    def decide(*_: object, **_named: object) -> Answer:
        note(paths, "begun")
        os.kill(os.getpid(), signal.SIGTERM)
        note(paths, "written")
        return Answer(code="answered")

    calls.instead["decide"] = decide
    return calls


def until(path: Path) -> None:
    """Wait for a file."""
    while not path.exists():
        sleep(0.01)


def slow_inside(paths: Paths) -> Any:  # noqa: ANN401
    """Return calls of which one takes until a file is there."""
    calls = Noting(paths)

    async def unlock(*_: object) -> Done:
        note(paths, "begun")
        await asyncio.to_thread(until, paths.data / "go")
        return Done()

    calls.instead["unlock"] = unlock
    return calls


def failing_inside(paths: Paths) -> Any:  # noqa: ANN401
    """Return calls that meet a defect where nobody calls."""

    class Failing(Noting):
        async def look(self) -> None:
            """Fail."""
            _ = 1 // 0

    return Failing(paths)


def loud_inside(_paths: Paths) -> Any:  # noqa: ANN401
    """Return calls of which each fails, and quotes what was asked."""
    calls = FakeCalls()

    def fails(*arguments: object, **named: object) -> object:
        raise RuntimeError(f"married, {arguments}, {named}")

    calls.instead = {route.name: fails for route in ROUTES}
    return calls


def ending_inside(_paths: Paths) -> Any:  # noqa: ANN401
    """Return calls; a signal comes meanwhile."""
    os.kill(os.getpid(), signal.SIGTERM)
    return FakeCalls()


def killing_inside(_paths: Paths) -> Any:  # noqa: ANN401
    """Return none: the process is killed meanwhile."""
    os.kill(os.getpid(), signal.SIGKILL)
    return FakeCalls()

"""What the doors of a daemon in a process of its own lead to, each with something to try it by."""

import os
import signal
from dataclasses import replace

from agent.daemon.events import Bus
from agent.daemon.services import Services
from agent.paths import Paths
from agent.wire.decide import Answer
from agent.wire.routes import ROUTES
from tests.daemon.fakes import FakeCalls
from tests.vault.dumps import state


def fake_inside(_paths: Paths, _bus: Bus) -> Services:
    """Return an inside that answers each call with Done."""

    def nothing() -> None:
        """Do nothing."""

    async def soon() -> None:
        """Do nothing."""

    return Services(FakeCalls(), lambda: True, lambda: 15.0, nothing, nothing, soon, soon, nothing)


def noting_inside(paths: Paths, bus: Bus) -> Services:
    """Return an inside that writes down when it is closed, and when it reads its files again."""
    return replace(
        fake_inside(paths, bus),
        lock=lambda: note(paths, "locked"),
        reload=lambda: note(paths, "reloaded"),
    )


def undumped_inside(paths: Paths, bus: Bus) -> Services:
    """Return an inside that writes down whether there may be a core file."""
    note(paths, state())
    return fake_inside(paths, bus)


def note(paths: Paths, what: str) -> None:
    """Write down that something was done."""
    with (paths.data / "noted").open("a") as noted:
        noted.write(f"{what}\n")


def writing_inside(paths: Paths, bus: Bus) -> Services:
    """Return an inside that is told to end in the middle of a decision."""
    inside = noting_inside(paths, bus)
    assert isinstance(inside.calls, FakeCalls)

    def decide(*_: object, **_named: object) -> Answer:
        note(paths, "begun")
        os.kill(os.getpid(), signal.SIGTERM)
        note(paths, "written")
        return Answer(code="answered")

    inside.calls.instead["decide"] = decide
    return inside


def failing_inside(paths: Paths, bus: Bus) -> Services:
    """Return an inside that meets a defect where nobody calls."""

    async def fails() -> None:
        _ = 1 // 0

    return replace(noting_inside(paths, bus), look=fails)


def loud_inside(paths: Paths, bus: Bus) -> Services:
    """Return an inside of which each call fails, and quotes what was asked."""
    inside = fake_inside(paths, bus)
    assert isinstance(inside.calls, FakeCalls)

    def fails(*arguments: object, **named: object) -> object:
        raise RuntimeError(f"married, {arguments}, {named}")

    inside.calls.instead = {route.name: fails for route in ROUTES}
    return inside


def ending_inside(paths: Paths, bus: Bus) -> Services:
    """Return an inside; a signal comes meanwhile."""
    os.kill(os.getpid(), signal.SIGTERM)
    return fake_inside(paths, bus)


def killing_inside(paths: Paths, bus: Bus) -> Services:
    """Return none: the process is killed meanwhile."""
    os.kill(os.getpid(), signal.SIGKILL)
    return fake_inside(paths, bus)

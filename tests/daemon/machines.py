"""A machine of the test: an empty home below which all that is installed lies."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from agent.daemon.artifacts import Machine, Manager
from agent.paths import paths
from tests.daemon.doubles import MONDAY
from tests.wire.fake import short_folder


def machine_at(home: Path, manager: Manager = "systemd", /, **more: str) -> Machine:
    """Return a machine with a home of its own; ``more``: of its environment."""
    environment = {"HOME": str(home), "PATH": "", "RETICENT_HOME": str(home / "r"), **more}
    environment = {name: value for name, value in environment.items() if value or name == "PATH"}
    return Machine(paths(environment), environment, MONDAY, manager, "/usr/bin/python3")


def started_by(machine: Machine, interpreter: str) -> Machine:
    """Return the same machine with another Python."""
    return replace(machine, interpreter=interpreter)


@contextmanager
def new_machine() -> Iterator[Machine]:
    """Yield a machine on which nothing is installed, and no browser is."""
    with short_folder() as home, pytest.MonkeyPatch.context() as patch:
        patch.setattr("agent.daemon.browsers.SYSTEM_WIDE", home / "system")
        yield machine_at(home)

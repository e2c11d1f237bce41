"""What a check finds, and what it may look at."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from agent.daemon.service.units import Manager
from agent.paths import Paths

State = Literal["ok", "warn", "bad"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at: ``what`` was found, and the ``fix`` unless it is as it should.

    bad: something does not work, or is not safe; warn: it works less well than it could.
    """

    name: str
    state: State
    what: str
    fix: str = ""


@dataclass(frozen=True, slots=True)
class Machine:
    """What is looked at: the user's folders and environment, and the time and zone they are in."""

    paths: Paths
    environment: Mapping[str, str]
    now: datetime
    manager: Manager
    interpreter: str


def ok(name: str, what: str) -> Finding:
    """Return that something is as it should be."""
    return Finding(name, "ok", what)


def warn(name: str, what: str, fix: str) -> Finding:
    """Return that something could be better."""
    return Finding(name, "warn", what, fix)


def bad(name: str, what: str, fix: str) -> Finding:
    """Return that something does not work, or is not safe."""
    return Finding(name, "bad", what, fix)

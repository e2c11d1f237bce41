"""What can be connected to Reticent on a machine, and the artifacts of each."""

import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from agent.daemon import browsers, service
from agent.daemon.artifacts import Artifact, ArtifactState, Machine, Manager
from agent.daemon.mcp_hosts import HOST_PROGRAMS, entry, recipient_of
from agent.errors import UsageError
from agent.paths import paths

SYSTEM = "system"
WORST: tuple[ArtifactState, ...] = ("foreign", "elsewhere", "outdated", "installed", "absent")
PRESENT = {"installed", "outdated"}  # states of what is of this installation


@dataclass(frozen=True, slots=True)
class Installation:
    """A program that is connected by artifacts of its own, and by some that it shares."""

    name: str
    title: str
    kind: Literal["system", "browser", "assistant"]
    artifacts: tuple[Artifact, ...]
    shared: tuple[Artifact, ...] = ()
    recipient: str = ""  # of an assistant: who gets the facts

    @property
    def state(self) -> ArtifactState:
        """The worst state of its own artifacts; outdated where some of them are absent."""
        states = {each.state() for each in self.artifacts}
        if "absent" in states and states & PRESENT:
            return "outdated"
        return next(each for each in WORST if each in states)


def usual_manager() -> Manager:
    """Return the manager of services that this system has."""
    return "launchd" if sys.platform == "darwin" else "systemd"


def this_machine() -> Machine:
    """Return the machine and the user that run this process, at this time."""
    now = datetime.now().astimezone()
    return Machine(paths(), os.environ, now, usual_manager(), sys.executable)


def system_service(machine: Machine) -> Iterator[Installation]:
    """Yield the service that starts the daemon; UsageError where its files cannot be written."""
    yield Installation(SYSTEM, "The system", "system", service.units(machine))


def browser_installations(machine: Machine) -> Iterator[Installation]:
    """Yield each browser; UsageError where the path of our socket is too long."""
    shared = (
        browsers.launcher(machine.paths, machine.interpreter),
        browsers.extension(machine.paths),
    )
    for each in browsers.BROWSERS:
        own = (browsers.manifest(each, machine),)
        yield Installation(each.name, each.title, "browser", own, shared)


def assistant_installations(
    machine: Machine, recipient: str | None = None
) -> Iterator[Installation]:
    """Yield each program with an assistant in it; ``recipient``: by default as it is now."""
    for each in HOST_PROGRAMS:
        own = entry(each, machine, recipient)
        whom = recipient_of(json.loads(own.text))
        yield Installation(each.name, each.title, "assistant", (own,), recipient=whom)


def installations(machine: Machine) -> list[Installation]:
    """Return all that can be connected, but for a kind whose files cannot be written."""
    found: list[Installation] = []
    for kind in (system_service, browser_installations, assistant_installations):
        with suppress(UsageError):
            found += kind(machine)
    return found


def write(chosen: Iterable[Installation]) -> list[Artifact]:
    """Write all artifacts; return them. UsageError before anything is written if one is foreign."""
    needed = {part.path: part for each in chosen for part in (*each.shared, *each.artifacts)}
    for part in needed.values():
        part.check()
    for part in needed.values():
        part.write()
    return [*needed.values()]


def remove(chosen: Sequence[Installation], every: Iterable[Installation]) -> list[Artifact]:
    """Remove the artifacts of this installation, and what no other program shares any more.

    ``every``: all that may share them. Returns what was removed; UsageError where one cannot be.
    """
    removed = [part for each in chosen for part in each.artifacts if part.remove()]
    used = {part.path for each in every if each.state in PRESENT for part in each.shared}
    shared = {part.path: part for each in chosen for part in each.shared}
    return removed + [part for path, part in shared.items() if path not in used and part.remove()]

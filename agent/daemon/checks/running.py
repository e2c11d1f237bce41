"""The daemon and its service: does it run, does it answer, is it this version's."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from agent import __version__
from agent.daemon.checks.finding import Finding, Machine, bad, ok, warn
from agent.daemon.checks.places import listens
from agent.daemon.service.installed import look, reachable
from agent.daemon.service.units import files
from agent.daemon.status import AHEAD, MISFIT, MODEL, NO_POLICY, POLICY
from agent.errors import ReticentError, UsageError
from agent.vault.slots import ALTERED
from agent.vault.vault_files import MISSING, UNWRITTEN
from agent.wire.client import Client
from agent.wire.state import Status

SECONDS = 5.0  # of silence
START = "`reticent service install`, or `reticent daemon` in a terminal of its own"
AGAIN = "stop the daemon, and start it again"
FIXES = {
    MISSING: "nothing: it knows from now on",
    UNWRITTEN: "make room, and the folder of the state writable",
    ALTERED: "`reticent key list`, and remove what you do not know with `reticent key remove`",
}
_PROGRAM = re.compile(r'^ExecStart="((?:[^"\\]|\\.)*)"', re.MULTILINE)


def _asked(here: Machine) -> Status | ReticentError | None:
    """Return how the daemon says it is; None where none runs, the error where it does not say."""
    if not listens(here.paths.control):
        return None
    try:
        with Client(here.paths.control, SECONDS) as client:
            found: Status = client.call("status")
    except ReticentError as error:
        return error
    return found


def daemon(here: Machine) -> Iterator[Finding]:
    """Yield whether requests are answered."""
    found = _asked(here)
    if found is None:
        yield warn("daemon", "it does not run, so nothing is attached to any request", START)
        return
    if isinstance(found, ReticentError):
        yield bad("daemon", str(found), found.hint)
        return
    if found.version != __version__:
        yield bad("daemon", f"version {found.version} runs, and this is {__version__}", AGAIN)
    if not listens(here.paths.query):
        yield bad("daemon", "it does not listen at the socket for queries", AGAIN)
    if found.vault and found.locked:
        what = "it runs, and the vault is locked: nothing is attached to any request"
        yield warn("daemon", what, "reticent unlock")
    else:
        yield ok("daemon", f"process {found.process}, version {found.version}")
    for note in found.notes:
        if not note.startswith((NO_POLICY, POLICY, MODEL)):
            yield warn("daemon", note, _fix(note))


def service(here: Machine) -> Iterator[Finding]:
    """Yield whether the system starts the daemon, and with a Python that is still there."""
    try:
        units = files(here.manager, here.interpreter, here.environment)
    except UsageError as error:
        yield warn("service", str(error), error.hint)
        return
    found = look(units)
    again = "reticent service install"
    if not found.present:
        yield ok("service", "not installed: the daemon runs while somebody runs it")
        return
    for program in _programs(found.present):
        if not os.access(program, os.X_OK):
            yield bad("service", f"it starts {program}, which is not there any more", again)
            return
    if not found.whole:
        what = f"{found.differing[0]} is not as this reticent would write it"
        yield warn("service", what, again)
    elif not reachable(here.manager):
        fix = "use it in a session of the desktop or a login, not in a container or by su"
        yield warn("service", f"installed, but {here.manager} does not answer here", fix)
    else:
        yield ok("service", "installed")


def _fix(note: str) -> str:
    """Return what to do about something that only a running daemon knows."""
    values = "`reticent profile set` has the values that there are, `unset` forgets one"
    begun = {MISFIT: values, AHEAD: "set the clock, or if it is right: reticent reset-clock"}
    known = next((fix for start, fix in begun.items() if note.startswith(start)), None)
    return FIXES.get(note, known or "mend that, and run this again")


def _programs(paths: tuple[Path, ...]) -> Iterator[str]:
    """Yield the program that each unit starts."""
    for path in paths:
        if path.suffix != ".service":
            continue
        for written in _PROGRAM.findall(path.read_text(encoding="utf-8", errors="replace")):
            yield written.replace('\\"', '"').replace("\\\\", "\\").replace("%%", "%")

"""The way to the daemon of this machine."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from agent.errors import DaemonError, ReticentError, UsageError
from agent.paths import RUNTIME, paths
from agent.wire.policy import AttributeStatus
from agent.wire.routes import SEE
from agent.words.titles import NONE, Titles

if TYPE_CHECKING:
    from agent.wire.client import Client

COPYING = 600.0  # seconds, for what copies the whole vault
LONGEST = 20  # digits of a process id, and more


@contextmanager
def door(timeout: float | None = None, *, attended: bool = True) -> Iterator["Client"]:
    """Yield a client of the daemon that runs here; ``timeout``: seconds of silence, or the usual.

    ``attended``: whether somebody is there, so that the vault stays open for a while.
    DaemonError, which names its process for one that listens elsewhere, and the way to begin where
    there is no vault.
    """
    from agent.wire.client import ABSENT, TIMEOUT, Client  # many commands end without it

    at = paths()
    try:
        with Client(at.control, timeout or TIMEOUT, attended=attended) as client:
            yield client
    except UsageError as error:
        if error.hint != SEE:
            raise
        raise UsageError(error.what, "see what the command takes, with --help") from None
    except DaemonError as error:
        if error.what != ABSENT:
            raise
        process = running(at.daemon_lock)
        if process is None:
            first = "" if at.vault.exists() else "make a vault with `reticent init`, then "
            raise DaemonError(ABSENT, f"{first}{error.hint}") from None
        what = f"the daemon runs as process {process}, but does not listen at {at.control}"
        hint = f"set {RUNTIME} as where it was started; or `kill {process}`, and start it again"
        raise DaemonError(what, hint) from None


def running(lock: Path) -> int | None:
    """Return the process of the daemon that wrote its id into its lock, None if it has ended.

    To try the lock would be to take it, and a daemon that begins just then would find it taken.
    """
    try:
        with lock.open("rb") as file:
            process = int(file.read(LONGEST))
        os.kill(process, 0)  # of another user's: no daemon of ours
        if process <= 0:
            return None
        words = Path(f"/proc/{process}/cmdline")  # of Linux alone
        ours = not words.exists() or b"daemon" in words.read_bytes().split(b"\0")
    except (OSError, ValueError, OverflowError):
        return None
    return process if ours else None  # the id may be another program's since the daemon ended


def titles_of(client: "Client") -> Titles:
    """Return the titles of attributes by name; none where the model in use cannot be read."""
    try:
        found: list[AttributeStatus] = client.call("attributes")
    except ReticentError:
        return NONE
    named = {f"{each.model}.{each.name}": each.title for each in found}
    return named | {each.name: each.title for each in found}

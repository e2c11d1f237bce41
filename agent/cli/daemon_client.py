"""The way to the daemon of this machine."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from agent.errors import AbsentError, DaemonError, ReticentError, UsageError, reason
from agent.paths import paths
from agent.wire.routes import SEE
from agent.words import titles

if TYPE_CHECKING:
    from msgspec import Struct

    from agent.wire.client import Client

COPYING = 600.0  # seconds, for what copies the whole vault


@contextmanager
def door(timeout: float | None = None, *, attended: bool = True) -> Iterator["Client"]:
    """Yield a client of the daemon that runs here; ``timeout``: seconds of silence, or the usual.

    ``attended``: whether its calls keep the vault open. AbsentError, with the way to begin where
    there is no vault.
    """
    from agent.wire.client import TIMEOUT, Client  # many commands end without it

    at = paths()
    try:
        with Client(at.control, timeout or TIMEOUT, attended=attended) as client:
            yield client
    except UsageError as error:
        if error.hint != SEE:
            raise
        raise UsageError(error.what, "see what the command takes, with --help") from None
    except AbsentError as error:
        first = "" if at.vault.exists() else "make a vault with `reticent init`, then "
        raise AbsentError(error.what, f"{first}{error.hint}") from None


def call(name: str, body: "Struct | None" = None, /) -> Any:  # noqa: ANN401  (of the route)
    """Make one call of the daemon, as by `door`, and return its answer."""
    with door() as client:
        return client.call(name, body)


def notify(route: str) -> Any:  # noqa: ANN401  (of the route)
    """Have the daemon look at what has changed, by a request without a body; None where it is away.

    Returns its answer.
    """
    with suppress(ReticentError):
        return call(route)
    return None


def start() -> None:
    """Start a daemon that outlives this program; DaemonError where that cannot be."""
    import subprocess

    try:
        subprocess.Popen(
            [sys.executable, "-P", "-m", "agent.cli", "daemon"],  # -P: not from where it runs
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        what = f"cannot start the daemon: {reason(error)}"
        raise DaemonError(what, "start it with `reticent daemon`") from None


def titles_of(client: "Client") -> titles.Titles:
    """Look up the titles of attributes by name; none where the model in use cannot be read."""
    try:
        return titles.titles_of(client.call("attributes"))
    except ReticentError:
        return titles.NONE

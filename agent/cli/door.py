"""The way to the daemon of this machine."""

from agent.paths import paths
from agent.wire.client import TIMEOUT, Client

COPYING = 600.0  # seconds, for what copies the whole vault


def door(timeout: float = TIMEOUT) -> Client:
    """Return a client of the daemon that runs here; ``timeout``: seconds of silence."""
    return Client(paths().control, timeout)

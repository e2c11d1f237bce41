"""The way to the daemon of this machine, and what it says as one object."""

import json

import msgspec

from agent.paths import paths
from agent.wire.client import TIMEOUT, Client

COPYING = 600.0  # seconds, for what copies the whole vault


def door(timeout: float = TIMEOUT) -> Client:
    """Return a client of the daemon that runs here; ``timeout``: seconds of silence."""
    return Client(paths().control, timeout)


def record(message: object) -> str:
    """Return a message, or plain types that hold some, as one JSON object of ASCII."""
    return json.dumps(msgspec.to_builtins(message), indent=2, allow_nan=False)

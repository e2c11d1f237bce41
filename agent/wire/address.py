"""Where a Unix socket may lie: the system keeps its path in a small fixed space."""

import os
from pathlib import Path

from agent.errors import UsageError
from agent.paths import HOME

LONGEST = 100  # bytes; a system that we know takes 103 at least


def check_address(path: Path) -> str:
    """Return the path of a socket as the system takes it; UsageError if it is too long."""
    length = len(os.fsencode(path))
    if length <= LONGEST:
        return str(path)
    what = f"the path of the socket has {length} bytes, and at most {LONGEST} are possible"
    raise UsageError(what, f"set {HOME} to a shorter path", str(path))

"""The token of who may ask on 127.0.0.1: made once, and for its owner alone."""

import secrets
from pathlib import Path

from agent.errors import DaemonError
from agent.files import OTHERS, create_private, read_bytes

TOKEN = "listen.token"  # noqa: S105  (the name of its file)
_LONGEST = 200  # bytes
_SHORTEST = 32


def token_of(path: Path) -> str:
    """Return the token in a file, made if it is missing.

    Raises DaemonError for one that others can read or that holds too little, UsageError where
    the file cannot be read or made.
    """
    if not path.exists():
        create_private(secrets.token_urlsafe(_SHORTEST).encode() + b"\n", path)
    text = read_bytes(path, _LONGEST).strip()
    if path.stat().st_mode & OTHERS:
        raise DaemonError("others can read this token", "remove it: another is made", str(path))
    if len(text) < _SHORTEST or not text.isascii():
        raise DaemonError("this is no token", "remove it: another is made", str(path))
    return text.decode("ascii")

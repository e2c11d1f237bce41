"""Folders of which only their owner sees the inside."""

import os
import stat
from pathlib import Path

from agent.errors import UsageError, reason

PRIVATE = 0o700
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def private_folder(path: Path) -> Path:
    """Return a folder that is ours and 0700, made with all that is missing above it.

    One that others could only read is closed to them. Raises UsageError if it belongs to another
    user or others can write to it: what lies in it is then not to be trusted; or if it is no
    folder or cannot be made.
    """
    try:
        _make(path)
        status = path.stat()
        _check(path, status)
        if stat.S_IMODE(status.st_mode) != PRIVATE:
            path.chmod(PRIVATE)
    except OSError as error:
        hint = "choose a folder that can be made, by RETICENT_HOME or the XDG variables"
        raise UsageError(reason(error), hint, str(path)) from error
    return path


def _make(path: Path) -> None:
    """Make a folder and those above it, each 0700 from the moment it exists."""
    try:
        path.mkdir(PRIVATE, exist_ok=True)
    except FileNotFoundError:
        _make(path.parent)
        path.mkdir(PRIVATE, exist_ok=True)


def _check(path: Path, status: os.stat_result) -> None:
    """Raise UsageError if somebody else may have put things into the folder."""
    if status.st_uid != os.geteuid():
        what = f"this folder belongs to another user (number {status.st_uid})"
        raise UsageError(what, "move it away, or choose another by RETICENT_HOME", str(path))
    if status.st_mode & _OTHERS_WRITE:
        hint = "look at what lies in it, then run: chmod 700 on it"
        raise UsageError("others can write to this folder", hint, str(path))

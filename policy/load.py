"""Policy files on disk: the one place of this room that reads and writes."""

import os
import stat
from codecs import BOM_UTF8
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from agent.errors import UsageError, reason
from policy.read import LARGEST, read
from policy.rules import Layer, Policy, Rule

Check = Callable[[Path, os.stat_result], None]


class Opened(NamedTuple):
    """The text of a policy file, with the status of the very file that it was read from."""

    text: str
    status: os.stat_result
    mark: bytes  # of the encoding, before the text


def load(path: Path, check: Check | None = None) -> Policy:
    """Return the policy in a file; UsageError as `opened`, PolicyError if it is wrong."""
    return read(opened(path, check).text, str(path), preset)


def text_of(path: Path) -> str:
    """Return the text of a policy file; UsageError as `opened`."""
    return opened(path).text


def opened(path: Path, check: Check | None = None) -> Opened:
    """Read a policy file; UsageError if it is no regular file, cannot be read, or is not text.

    It waits for nobody and reads no more than a policy may have. ``check``: raises what speaks
    against the file that was opened, before it is read.
    """
    try:
        # Without O_NONBLOCK, opening a pipe waits for somebody to write to it.
        flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
        descriptor = os.open(path, flags)
        try:
            with open(descriptor, "rb", closefd=False) as file:
                status = os.fstat(descriptor)
                _check(path, status)
                if check is not None:
                    check(path, status)
                data = file.read(4 * LARGEST + 1)
        finally:
            os.close(descriptor)
        mark = BOM_UTF8 if data.startswith(BOM_UTF8) else b""
        return Opened(data.removeprefix(mark).decode(), status, mark)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {reason(error)}", "name a policy file") from None
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        hint = "save the file as UTF-8"
        raise UsageError(f"{path} is not UTF-8 text, line {line}", hint) from None


def _check(path: Path, status: os.stat_result) -> None:
    """Raise UsageError if what was opened is not to be read as a policy."""
    if not stat.S_ISREG(status.st_mode):
        what = f"{path} cannot be read: it is not a regular file"
        raise UsageError(what, "name a policy file")


@cache
def preset(name: str) -> tuple[Rule, ...]:
    """Return the rules of a shipped preset."""
    rules = read(preset_text(name), f"preset {name}", None).rules
    return tuple(rule for rule in rules if rule.layer is Layer.PRESET)


def preset_text(name: str) -> str:
    """Return a shipped preset as it is written."""
    return files("policy").joinpath("presets", f"{name}.toml").read_text(encoding="utf-8")

"""Everything in this room that touches the disk."""

from __future__ import annotations

import os
import secrets
import stat
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from agent.errors import BuildError, ModelError, UsageError, nearest
from agent.model.encoding import decode, encode

if TYPE_CHECKING:
    from agent.model.model import Model

MAX_BYTES = 2**30
PRIVATE, PUBLIC = 0o600, 0o666  # of a new file, less the umask


def read(path: Path) -> Model:
    """Return the model in a file, its arrays read-only; the file is read once, whole.

    Raises UsageError if there is no such file or it may not be read; DamagedModelError or
    VersionError if it must not be used.
    """
    data = read_bytes(path, MAX_BYTES)
    try:
        return decode(data)
    except ModelError as error:
        raise type(error)(error.what, error.hint, str(path)) from error


def write(model: Model, path: Path) -> Model:
    """Write a model to a file, whole or not at all, and return it as it will be read.

    Only its owner can read it: it holds the rows of single people.
    Raises BuildError if the model does not fit the format, UsageError if it cannot be written.
    """
    try:
        data = encode(model)
        written = decode(data)
    except (ModelError, ValueError) as error:
        what = error.what if isinstance(error, ModelError) else str(error)
        raise BuildError(what, "mend the tables or the options that it was built from") from error
    replace_bytes(data, path, PRIVATE)
    return written


def read_bytes(path: Path, limit: int) -> bytes:
    """Return the content of a regular file of at most ``limit`` bytes; UsageError otherwise."""
    try:
        # Without O_NONBLOCK, opening a pipe waits for somebody to write to it.
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise UsageError("this is not a file", "name a file", str(path))
            if status.st_size > limit:
                what = f"the file has {status.st_size} bytes, and {limit} are the most it may have"
                raise UsageError(what, "check that it is the file that was meant", str(path))
            return file.read(limit)
    except OSError as error:
        raise _unreadable(path, error) from error


def replace_bytes(data: bytes, path: Path, mode: int = PUBLIC) -> None:
    """Put a file in place whole, over what is there; if it fails (UsageError), leave nothing."""
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        _create(data, beside, mode)
        with ExitStack() as on_failure:
            on_failure.callback(beside.unlink)
            beside.replace(path)
            on_failure.pop_all()
        settle(path.parent)
    except OSError as error:
        raise _unwritable(path, error) from error


def create_private(data: bytes, path: Path) -> None:
    """Write a file that only its owner can read; UsageError if there is one already."""
    try:
        _create(data, path, PRIVATE)
        settle(path.parent)
    except OSError as error:
        raise _unwritable(path, error) from error


def _create(data: bytes, path: Path, mode: int) -> None:
    """Write a new file and wait until it is on the disk; what fails leaves no file."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with ExitStack() as on_failure:
        on_failure.callback(path.unlink)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        on_failure.pop_all()


def settle(folder: Path) -> None:
    """Wait until the names in a folder are on the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _unreadable(path: Path, error: OSError) -> UsageError:
    """Return the error for a file that cannot be read, naming the nearest if there is none."""
    if not isinstance(error, FileNotFoundError):
        return UsageError(_reason(error), "name a file that can be read", str(path))
    folder = path.parent
    near = nearest(path.name, [each.name for each in folder.iterdir()] if folder.is_dir() else [])
    hint = "check the path" if near is None else f"did you mean {str(folder / near)!r}?"
    return UsageError("there is no such file", hint, str(path))


def _unwritable(path: Path, error: OSError) -> UsageError:
    """Return the error for a file that cannot be written."""
    if isinstance(error, FileExistsError):
        return UsageError("there is such a file already", "choose another name", str(path))
    hint = "choose a folder that exists, can be written to and has space"
    return UsageError(_reason(error), hint, str(path))


def _reason(error: OSError) -> str:
    """Return what the system says, as one sentence."""
    return (error.strerror or str(error)).lower()

"""Files: read with a bound, written whole or not at all; and those that are for us alone."""

import errno
import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from agent.errors import UsageError, nearest, reason

PRIVATE, PUBLIC = 0o600, 0o666  # of a new file, less the umask
PRIVATE_FOLDER = 0o700
NO_LINKS = {errno.EPERM, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP}  # link(2)
OTHERS = stat.S_IRWXG | stat.S_IRWXO
OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


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
    try:
        with beside(data, path, mode) as new:
            new.replace(path)
        settle(path.parent)
    except OSError as error:
        raise _unwritable(path, error) from error


def unfinished(path: Path) -> Path:
    """Return a name for a file that is to have another name once it is finished."""
    return path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")


def left_unfinished(path: Path) -> list[Path]:
    """Return what was to become a file, or lies beside that, by its name. Raises OSError."""
    name = re.compile(rf"\.+{re.escape(path.name)}\.[0-9a-f]{{8}}\.part.*", re.DOTALL)
    return sorted(each for each in path.parent.iterdir() if name.fullmatch(each.name))


def clear_unfinished(path: Path) -> None:
    """Remove what killed processes left unfinished; who calls knows that nobody makes it now."""
    with suppress(OSError):
        for each in left_unfinished(path):
            each.unlink(missing_ok=True)


def name_new(path: Path, to: Path) -> None:
    """Give a finished file its name, unless something has that: FileExistsError. Raises OSError.

    Where a file system has no links (FAT, some by FUSE), an empty file keeps the name meanwhile.
    """
    try:
        os.link(path, to)
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        _create(b"", to, PRIVATE)
        with ExitStack() as on_failure:
            on_failure.callback(to.unlink)
            path.replace(to)
            on_failure.pop_all()
    else:
        path.unlink()


@contextmanager
def beside(data: bytes, path: Path, mode: int = PRIVATE) -> Iterator[Path]:
    """Write a file beside another, onto the disk, to replace it; it goes unless it was moved.

    Raises OSError.
    """
    new = unfinished(path)
    _create(data, new, mode)
    try:
        yield new
    finally:
        new.unlink(missing_ok=True)


def create_private(data: bytes, path: Path) -> None:
    """Write a file that only its owner can read; UsageError if there is one already."""
    try:
        _create(data, path, PRIVATE)
        settle(path.parent)
    except OSError as error:
        raise _unwritable(path, error) from error


def settle(folder: Path) -> None:
    """Wait until the names in a folder are on the disk. Raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


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
        if stat.S_IMODE(status.st_mode) != PRIVATE_FOLDER:
            path.chmod(PRIVATE_FOLDER)
    except OSError as error:
        hint = "choose a folder that can be made, by RETICENT_HOME or the XDG variables"
        raise UsageError(reason(error), hint, str(path)) from error
    return path


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


def _make(path: Path) -> None:
    """Make a folder and those above it, each 0700 from the moment it exists."""
    try:
        path.mkdir(PRIVATE_FOLDER, exist_ok=True)
    except FileNotFoundError:
        _make(path.parent)
        path.mkdir(PRIVATE_FOLDER, exist_ok=True)


def _check(path: Path, status: os.stat_result) -> None:
    """Raise UsageError if somebody else may have put things into the folder."""
    if status.st_uid != os.geteuid():
        what = f"this folder belongs to another user (number {status.st_uid})"
        raise UsageError(what, "move it away, or choose another by RETICENT_HOME", str(path))
    if status.st_mode & OTHERS_WRITE:
        hint = "look at what lies in it, then run: chmod 700 on it"
        raise UsageError("others can write to this folder", hint, str(path))


def _unreadable(path: Path, error: OSError) -> UsageError:
    """Return the error for a file that cannot be read, naming the nearest if there is none."""
    if not isinstance(error, FileNotFoundError):
        return UsageError(reason(error), "name a file that can be read", str(path))
    folder = path.parent
    near = nearest(path.name, [each.name for each in folder.iterdir()] if folder.is_dir() else [])
    hint = "check the path" if near is None else f"did you mean {str(folder / near)!r}?"
    return UsageError("there is no such file", hint, str(path))


def _unwritable(path: Path, error: OSError) -> UsageError:
    """Return the error for a file that cannot be written."""
    if isinstance(error, FileExistsError):
        return UsageError("there is such a file already", "choose another name", str(path))
    hint = "choose a folder that exists, can be written to and has space"
    return UsageError(reason(error), hint, str(path))

"""A connection to the file of a vault, and its troubles in our sentences."""

import fcntl
import os
import shutil
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO

from agent.errors import UsageError, VaultError
from agent.files import PRIVATE, create_private, name_new, settle, unfinished
from agent.files import beside as part_beside
from agent.vault.leftovers import JOURNAL, LOG
from agent.vault.sealed.trouble import busy, damaged, refused, trouble

MAX_VALUE_BYTES = 2**21  # the largest payload is half of that
READERS = 510, 0x40000002  # bytes that whoever reads a database locks, from there on (SQLite)

# Files that a database is open on in this process, by device and inode.
open_here: set[tuple[int, ...]] = set()


def make_private(path: Path) -> None:
    """Make an empty file that only its owner can read; VaultError if there is one."""
    try:
        create_private(b"", path)
    except UsageError as error:
        raise VaultError(error.what, error.hint, error.where) from error


def connect(path: Path) -> sqlite3.Connection:
    """Return a connection to a file that exists."""
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=rw",
        uri=True,
        timeout=0,
        isolation_level=None,
        check_same_thread=False,  # a vault may be unlocked beside the loop that then uses it
    )
    connection.text_factory = bytes
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)
    return connection


def check_file(path: Path) -> os.stat_result:
    """Return which file this is; VaultError if there is none."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise VaultError("this is not a file", "name the file of a vault", str(path))
    except FileNotFoundError as error:
        raise VaultError("there is no vault", "make one with `reticent init`", str(path)) from error
    except OSError as error:
        raise refused(error, path) from error
    return status


def close_to_others(path: Path) -> None:
    """Let only its owner read a file. Raises VaultError."""
    try:
        if stat.S_IMODE(path.stat().st_mode) != PRIVATE:
            path.chmod(PRIVATE)
    except OSError as error:
        raise refused(error, path) from error


@contextmanager
def still(path: Path, beside: Path | None = None) -> Iterator[Path]:
    """Yield a copy of a vault and its log, to look at: of the vault itself nothing changes.

    It is taken while nobody can write. ``beside``: what it is an unfinished part of; else it lies
    where the system has what is temporary. Raises BusyVaultError where somebody has the vault open,
    VaultError where there is none or it cannot be read.
    """
    found = check_file(path)
    # To open and close it here would give up the locks on it.
    if (found.st_dev, found.st_ino) in open_here:
        raise busy(path)
    prefix, parent = (
        ("reticent-", None) if beside is None else (unfinished(beside).name, beside.parent)
    )
    try:
        folder = TemporaryDirectory(prefix=prefix, dir=parent, ignore_cleanup_errors=True)
    except OSError as error:
        raise refused(error, Path(error.filename or path)) from error
    with folder as name:
        to = Path(name) / path.name
        copy_files(path, to)
        yield to


def copy_files(path: Path, to: Path) -> None:
    """Copy a database and what SQLite left beside it into files of the owner's only.

    Raises BusyVaultError where somebody has it open, VaultError where it cannot be copied.
    """
    real = Path(os.path.realpath(path))  # beside that SQLite keeps the log
    try:
        with path.open("rb") as file:
            _hold(file, path)
            for suffix in (LOG, JOURNAL):
                source, target = (each.with_name(each.name + suffix) for each in (real, to))
                if source.is_file():
                    make_private(target)
                    shutil.copyfile(source, target)
            make_private(to)
            with to.open("wb") as copy:
                shutil.copyfileobj(file, copy)
    except OSError as error:
        raise refused(error, path) from error


def _hold(file: BinaryIO, path: Path) -> None:
    """Hold others off from writing to a database until its file is closed; BusyVaultError."""
    try:
        fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB, *READERS)
    except (BlockingIOError, PermissionError) as error:
        raise busy(path) from error


@contextmanager
def whole_copy(to: Path) -> Iterator[sqlite3.Connection]:
    """Yield an empty database that becomes a file, on the disk, once it is filled.

    Raises VaultError if there is such a file or it cannot be written; then it leaves none.
    """
    if os.path.lexists(to):
        raise _exists(to)
    try:
        with part_beside(b"", to) as part, translated(to):
            with closing(connect(part)) as target:
                target.execute("PRAGMA synchronous=OFF")  # it is worth nothing before it is whole
                yield target
                target.execute("PRAGMA journal_mode=DELETE")
            settle(part)
            name_new(part, to)
        settle(to.parent)
    except FileExistsError as error:
        raise _exists(to) from error
    except OSError as error:
        raise refused(error, to) from error


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Raise what SQLite raises as a VaultError."""
    try:
        yield
    except sqlite3.Error as error:
        raise trouble(error, path) from error
    except UnicodeDecodeError as error:  # of a damaged name in what SQLite says
        raise damaged("it is no sound database", path) from error
    except MemoryError as error:
        raise damaged("it asks for more memory than there is", path) from error


def _exists(path: Path) -> VaultError:
    """Return the error where a file is in the way."""
    return VaultError("there is such a file already", "choose another name", str(path))

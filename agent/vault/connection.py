"""Connections to the file of a vault: its errors, copies of it, and a watch on its files."""

import fcntl
import os
import shutil
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import NamedTuple, TypeVar

from msgspec.json import Decoder

from agent.errors import (
    BusyVaultError,
    DamagedVaultError,
    ReplacedVaultError,
    UsageError,
    VaultError,
    reason,
)
from agent.files import create_private, unfinished
from agent.vault.seal import from_json
from agent.vault.vault_files import JOURNAL, LOG

RESTORE = "bring a backup back with `reticent vault restore FILE`"
_PRIMARY = 0xFF  # the kind of an error; the bits above tell details
_UNOPENED = (
    "the vault cannot be opened",
    "check that the file and its folder are yours and writable",
)
_SENTENCES = {
    sqlite3.SQLITE_FULL: (
        "the disk is full",
        "free some space and try again; nothing of this was written",
    ),
    sqlite3.SQLITE_READONLY: (
        "the vault cannot be written: it is read-only",
        "make the file, its folder and the disk writable",
    ),
    sqlite3.SQLITE_IOERR: (
        "the disk failed while the vault was in use",
        "check the disk and the space on it, then unlock again",
    ),
    **dict.fromkeys((sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH), _UNOPENED),
}
_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL}
_REFUSALS = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, *_BUSY}
MAX_VALUE_BYTES = 2**23  # the largest payload is half of that
Value = TypeVar("Value")
READERS = 510, 0x40000002  # bytes that whoever reads a database locks, from there on (SQLite)


def sqlite_error(error: sqlite3.Error, path: Path) -> VaultError:
    """Translate an error of SQLite."""
    code = _kind(error)
    if code in _BUSY:
        return busy(path)
    if code in _SENTENCES:
        return VaultError(*_SENTENCES[code], str(path))
    return damaged("it is not a valid database", path)


def busy(path: Path) -> BusyVaultError:
    """Return the error for a vault that another process has open."""
    hint = "stop the other one, for instance with `reticent lock`"
    return BusyVaultError("the vault is open in another process", hint, str(path))


def refuses(error: VaultError) -> bool:
    """Return whether SQLite refused to write: full, read-only, busy. Others may be partial."""
    return isinstance(error.__cause__, sqlite3.Error) and _kind(error.__cause__) in _REFUSALS


def damaged(what: str, path: Path | None = None) -> DamagedVaultError:
    """Return the error for a damaged vault."""
    place = None if path is None else str(path)
    return DamagedVaultError(f"the vault is damaged: {what}", RESTORE, place)


def decoded(payload: bytes | None, decoder: Decoder[Value], what: str) -> Value | None:
    """Return the value in a payload, None without a payload; DamagedVaultError where it is none.

    ``what``: the value in words.
    """
    found = None if payload is None else from_json(payload, decoder)
    if payload is not None and found is None:
        raise damaged(f"{what} cannot be read")
    return found


def _kind(error: sqlite3.Error) -> int:
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & _PRIMARY


class Stamp(NamedTuple):
    """Identifies a file and its state."""

    device: int
    inode: int
    size: int
    written_ns: int


class Watch:
    """The two files of an open database, as this process left them: two system calls a check."""

    def __init__(self, path: Path) -> None:
        """Remember the files as they are."""
        self.place = Path(os.path.realpath(path))
        self.log = self.place.with_name(self.place.name + LOG)
        self._names = str(path.absolute()), str(self.log)
        self.refresh()

    def stamps(self) -> tuple[Stamp | None, Stamp | None]:
        """Return the stamps of file and log now, None for a missing one."""
        file, log = map(stamp, self._names)
        return file, log

    def refresh(self) -> None:
        """Remember the files as they are, after this process wrote to either."""
        self.left = self.stamps()

    @property
    def intact(self) -> bool:
        """Whether both files are those that were left, unchanged."""
        return self.stamps() == self.left

    def check(self) -> None:
        """Raise ReplacedVaultError if a file has changed."""
        if not self.intact:
            hint = "run `reticent status`: it says where everything was set aside"
            raise ReplacedVaultError(self.difference(), hint, self._names[0])

    def committed(self) -> None:
        """Remember the log after a transaction, which appended to it or overwrote its frames.

        Raises ReplacedVaultError if anything else has changed.
        """
        _, log = self.stamps()
        if log is not None and same_file(log, self.left[1]) and log.size >= self.log_bytes:
            self.left = self.left[0], log
        self.check()

    def difference(self) -> str:
        """Return in words what happened to files that have changed."""
        file, _ = self.stamps()
        if file is None:
            what = "the vault was removed or moved away"
        elif not same_file(file, self.left[0]):
            what = "another file was put in the place of the vault"
        elif file != self.left[0]:
            what = "another program has written into the vault"
        else:
            what = "the log of the vault was removed, replaced or written to"
        return f"{what} while it was open"

    @property
    def identity(self) -> tuple[int, ...]:
        """Which file is open, by device and inode."""
        return () if self.left[0] is None else self.left[0][:2]

    @property
    def log_bytes(self) -> int:
        """How long the log was when it was left."""
        return 0 if self.left[1] is None else self.left[1].size

    @property
    def in_place(self) -> bool:
        """Whether the name still leads to the open file, whatever its content."""
        return same_file(stamp(str(self.place)), self.left[0])


def stamp(name: str) -> Stamp | None:
    """Return the stamp of the file of a name, None if there is none."""
    try:
        found = os.stat(name)  # noqa: PTH116  (twice as fast, and done four times a commit)
    except OSError:
        return None
    return Stamp(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


def same_file(one: Stamp | None, other: Stamp | None) -> bool:
    """Return whether two stamps belong to the same file, whatever its content."""
    return one is not None and other is not None and one[:2] == other[:2]


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
    """Return the status of a regular file; VaultError if there is none."""
    with translated(path):
        try:
            status = path.stat()
        except FileNotFoundError as error:
            hint = "make one with `reticent init`"
            raise VaultError("there is no vault", hint, str(path)) from error
    if not stat.S_ISREG(status.st_mode):
        raise VaultError("this is not a file", "name the file of a vault", str(path))
    return status


@contextmanager
def snapshot(path: Path, part_of: Path | None = None) -> Iterator[Path]:
    """Yield a copy of a vault and its log for inspection; the vault itself does not change.

    It is taken while nobody can write. ``part_of``: the file it is to become; otherwise
    it is a temporary file of the system. A VaultError about the copy names the vault instead.
    Raises BusyVaultError if the vault is open, VaultError if it is missing or cannot be read.
    """
    found = check_file(path)
    # To open and close it here would give up the locks on it.
    if (found.st_dev, found.st_ino) in open_here:
        raise busy(path)
    prefix = "reticent-" if part_of is None else unfinished(part_of).name
    parent = Path(gettempdir()) if part_of is None else part_of.parent
    with translated(parent):
        folder = TemporaryDirectory(prefix=prefix, dir=parent, ignore_cleanup_errors=True)
    with folder as name:
        to = Path(name) / path.name
        copy_files(path, to)
        try:
            yield to
        except VaultError as error:
            if error.where != str(to):
                raise
            raise type(error)(error.what, error.hint, str(path)) from error


def copy_files(path: Path, to: Path) -> None:
    """Copy a database and the log beside it into files that only the owner can read.

    Raises BusyVaultError if it is open, VaultError if it cannot be copied.
    """
    real = Path(os.path.realpath(path))  # beside that SQLite keeps the log
    with translated(path), path.open("rb") as file:
        try:  # until the file is closed
            fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB, *READERS)
        except (BlockingIOError, PermissionError) as error:
            raise busy(path) from error
        for suffix in (LOG, JOURNAL):
            source, target = (each.with_name(each.name + suffix) for each in (real, to))
            if source.is_file():
                make_private(target)
                shutil.copyfile(source, target)
        make_private(to)
        with to.open("wb") as copy:
            shutil.copyfileobj(file, copy)


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Translate errors of SQLite and the system into a VaultError that names a file."""
    try:
        yield
    except sqlite3.Error as error:
        raise sqlite_error(error, path) from error
    except UnicodeDecodeError as error:  # of a damaged name in what SQLite says
        raise damaged("it is not a valid database", path) from error
    except MemoryError as error:
        raise damaged("it needs more memory than there is", path) from error
    except FileExistsError as error:
        raise VaultError("the file already exists", "choose another name", str(path)) from error
    except OSError as error:
        hint = "check that the file and its folder are yours, writable and not full"
        raise VaultError(reason(error), hint, str(path)) from error

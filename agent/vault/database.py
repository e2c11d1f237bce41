"""The SQLite database of a vault: opened by one process, watched, written in transactions."""

from __future__ import annotations

import fcntl
import os
import shutil
import sqlite3
import stat
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager, nullcontext, suppress
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from threading import Lock
from typing import Any, Self, TypeVar

from msgspec.json import Decoder

from agent import errors
from agent.errors import DISK_FULL, BusyVaultError, DamagedVaultError, VaultError, VaultVersionError
from agent.files import EXISTS, PRIVATE, fsync, name_new, temporary_file
from agent.vault.seal import FORMAT, from_json
from agent.vault.vault_files import JOURNAL, LOG, Watch, free_names, same_file, stamps

APPLICATION_ID = 0x52544356
MAX_INTEGER = 2**63 - 1  # of SQLite
_SEALED = "generation INTEGER NOT NULL, sealed BLOB NOT NULL"
PAGE_BYTES = 4096  # of a new file; any size is read
LARGEST_LOG = 4 << 20  # bytes: then it is moved into the file
TABLES = (
    "CREATE TABLE meta(name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID",
    "CREATE TABLE slot(id INTEGER PRIMARY KEY, body BLOB NOT NULL, digest BLOB NOT NULL)",
    f"CREATE TABLE state(id INTEGER PRIMARY KEY, {_SEALED})",
    f"CREATE TABLE item(id BLOB PRIMARY KEY, {_SEALED}) WITHOUT ROWID",
    f"CREATE TABLE entry(number INTEGER PRIMARY KEY, site BLOB NOT NULL, {_SEALED})",
)
Statement = tuple[str, tuple[Any, ...]]
# A hostile file must not run code by its schema, nor make us read past its cells; what is deleted
# leaves no trace in the file.
_HARDENED = (
    "PRAGMA trusted_schema=OFF",
    "PRAGMA cell_size_check=ON",
    "PRAGMA secure_delete=ON",
    "PRAGMA fullfsync=ON",
    "PRAGMA checkpoint_fullfsync=ON",
    "PRAGMA locking_mode=EXCLUSIVE",
    "PRAGMA wal_autocheckpoint=0",  # else nobody could tell who has written into the file
)
RESTORE = "bring a backup back with `reticent vault restore FILE`"
_PRIMARY = 0xFF  # the kind of an error; the bits above tell details
_UNOPENED = (
    "the vault cannot be opened",
    "check that the file and its folder are yours and writable",
)
_SENTENCES = {
    sqlite3.SQLITE_FULL: DISK_FULL,
    sqlite3.SQLITE_READONLY: ("the vault is read-only", "make file, folder and disk writable"),
    sqlite3.SQLITE_IOERR: ("the disk failed", "check it and the space on it, then unlock again"),
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
    """The error for a vault that another process has open."""
    hint = "stop the other one, for instance with `reticent lock`"
    return BusyVaultError("the vault is open in another process", hint, str(path))


def refuses(error: VaultError) -> bool:
    """Whether SQLite refused to write: full, read-only, busy. Others may be partial."""
    return isinstance(error.__cause__, sqlite3.Error) and _kind(error.__cause__) in _REFUSALS


def damaged(what: str, path: Path | None = None) -> DamagedVaultError:
    """The error for a damaged vault."""
    place = None if path is None else str(path)
    return DamagedVaultError(f"the vault is damaged: {what}", RESTORE, place)


def decoded(payload: bytes | None, decoder: Decoder[Value], what: str) -> Value | None:
    """The value in a payload, None without a payload; DamagedVaultError where it is none.

    ``what``: the value in words.
    """
    value = None if payload is None else from_json(payload, decoder)
    if payload is not None and value is None:
        raise damaged(f"{what} cannot be read")
    return value


def _kind(error: sqlite3.Error) -> int:
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & _PRIMARY


# Files that a database is open on in this process, by device and inode.
open_here: set[tuple[int, ...]] = set()


def connect(path: Path) -> sqlite3.Connection:
    """A connection to a file that exists."""
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
    """The status of a regular file; VaultError if there is none."""
    with translated(path):
        try:
            status = path.stat()
        except FileNotFoundError as error:
            hint = "make one with `reticent init`"
            raise VaultError("there is no vault", hint, str(path)) from error
    if not stat.S_ISREG(status.st_mode):
        raise VaultError("this is not a file", "name the file of a vault", str(path))
    return status


def scratch() -> TemporaryDirectory[str]:
    """Make a folder that is removed at the end of its context; VaultError."""
    with translated(Path(gettempdir())):
        return TemporaryDirectory(prefix="reticent-", ignore_cleanup_errors=True)


@contextmanager
def snapshot(path: Path) -> Iterator[Path]:
    """Yield a temporary copy of a vault and its log to inspect; the vault itself does not change.

    It is taken while nobody can write. A VaultError about the copy names the vault instead.
    Raises BusyVaultError if the vault is open, VaultError if it is missing or cannot be read.
    """
    status = check_file(path)
    # To open and close it here would give up the locks on it.
    if (status.st_dev, status.st_ino) in open_here:
        raise busy(path)
    with scratch() as name:
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
                target.touch(PRIVATE, exist_ok=False)
                shutil.copyfile(source, target)
        to.touch(PRIVATE, exist_ok=False)
        with to.open("wb") as copy:
            shutil.copyfileobj(file, copy)


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """Yield a file to fill, 0600, which gets this name once it is on disk, and replaces nothing.

    Raises VaultError if there is one already or it cannot be written, and leaves none then.
    """
    with translated(path):
        if os.path.lexists(path):
            raise FileExistsError
        with temporary_file(b"", path) as part:
            yield part
            fsync(part)
            name_new(part, path)
        fsync(path.parent)


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
        raise VaultError(*EXISTS, str(path)) from error
    except OSError as error:
        hint = "check that the file and its folder are yours, writable and not full"
        raise VaultError(errors.reason(error), hint, str(path)) from error


class Database:
    """An open database that no other process can open.

    Nothing else in this process may open its file: closing any descriptor of a file gives up all
    locks that the process has on it (POSIX).
    ``path``: as messages name it; ``watch``: tells whether its files are still those that are open,
    unchanged.
    """

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        """Use a connection that keeps others out."""
        self._connection = connection
        self._durable: bool | None = None
        self._copying, self.watch = Lock(), Watch(path)
        self.path = path

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open a vault's database, and keep others out until it is closed.

        Permissions of a file that others could read are corrected.
        Raises BusyVaultError, DamagedVaultError, VaultVersionError, or VaultError if it is missing
        or cannot be opened.
        """
        status = check_file(path)
        with ExitStack() as on_failure, translated(path):
            if stat.S_IMODE(status.st_mode) != PRIVATE:
                path.chmod(PRIVATE)
            connection = connect(path)
            database = cls(connection, path)
            on_failure.push(database._close_unopened)
            for pragma in _HARDENED:
                connection.execute(pragma)
            # Before anything is read: the lock is kept when the transaction ends.
            connection.execute("BEGIN EXCLUSIVE")
            connection.execute("ROLLBACK")
            if not os.path.samestat(status, check_file(path)):  # the opened one has lost its name
                what = "another vault took the place of this one"
                raise BusyVaultError(what, "try again", str(path))
            database._check()
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("SELECT count(*) FROM meta")  # now there is a log
            database.watch.refresh()
            open_here.add(database.watch.identity)
            on_failure.pop_all()
        return database

    def rows(self, query: str, *values: bytes | int | str) -> list[tuple[Any, ...]]:
        """All rows of a query; texts are bytes. Raises VaultError."""
        with translated(self.path):
            return self._connection.execute(query, values).fetchall()

    def write(self, statements: Iterable[Statement], *, durable: bool) -> None:
        """Run statements in one transaction, all or nothing; they may come from a generator.

        The result survives the end of the process; ``durable``: also a power cut. Raises
        VaultError; ReplacedVaultError if the files were replaced: then the write does not count.
        """
        self.watch.check()
        with translated(self.path), ExitStack() as on_failure:
            execute = self._connection.execute
            if durable is not self._durable:
                execute(f"PRAGMA synchronous={'FULL' if durable else 'NORMAL'}")
                self._durable = durable
            execute("BEGIN IMMEDIATE")
            on_failure.callback(self._roll_back)
            for query, values in statements:
                execute(query, values)
            execute("COMMIT")
            on_failure.pop_all()
        if self.watch.check(committed=True) > LARGEST_LOG:
            with suppress(VaultError):  # the write succeeded; the next one tries again
                self.empty_log()

    def empty_log(self, *, shrink: bool = False) -> None:
        """Move the log into the file, and empty it. Raises VaultError.

        ``shrink``: give back the room of what was deleted.
        """
        self.watch.check()
        try:
            if shrink:
                self.rows("VACUUM")
            self.rows("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            self.watch.refresh(unless_replaced=True)

    def retire(self) -> None:
        """Move the log into the file before another file gets its name.

        From then on no log or journal is touched, not even by `close`: it may belong to the other
        file. Others are still kept out. Raises VaultError.
        """
        self.rows("PRAGMA journal_mode=TRUNCATE")  # with DELETE, `close` would delete by the name
        self.watch.refresh()

    def copy(self, to: Path) -> None:
        """Write a complete copy into one file, 0600, that appears when it is complete.

        In any thread: what is written meanwhile waits. Raises VaultError if the file exists or the
        copy fails, and leaves no file then.
        """
        with new_file(to) as part, closing(connect(part)) as target, self._copying:
            target.execute("PRAGMA synchronous=OFF")  # it is worthless until it is complete
            self._connection.backup(target)
            target.execute("PRAGMA journal_mode=DELETE")

    def close(self, *, leave: bool = False) -> None:
        """Move the log into the file, and let others open it, once no copy is being made.

        Files that were changed by others are not touched; ``leave``: no file is.
        """
        in_reach = self.watch.intact and not (leave and self.watch.log_bytes)
        reached = nullcontext() if in_reach else self._out_of_reach()
        with self._copying, translated(self.path), reached:
            self._connection.close()
        open_here.discard(self.watch.identity)

    def remove_log(self) -> None:
        """Remove the log of a file that is gone, after all of it was set aside and this was closed.

        SQLite would read it into whatever file has the name now.
        """
        if self.watch.log_bytes and stamps(str(self.watch.log)) == [self.watch.last[1]]:
            with suppress(OSError):
                self.watch.log.unlink()

    def _close_unopened(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        """Close a file that could not be opened; if another process has it, touch nothing."""
        if isinstance(error, BusyVaultError):
            self._connection.close()
        else:
            self.close(leave=True)

    @contextmanager
    def _out_of_reach(self) -> Iterator[None]:
        """Give the open file another name for a moment.

        On closing, SQLite moves the log into the file and deletes whatever has the name of the
        log, but not if the file has lost the name under which it was opened.
        """
        place = self.watch.place
        with ExitStack() as back:
            if same_file(stamps(str(place))[0], self.watch.last[0]):  # the name still leads to it
                with suppress(OSError):  # where a folder cannot be written to, nothing is deleted
                    elsewhere = place.rename(next(free_names(place)))
                    back.enter_context(suppress(OSError))  # something else has the name by now
                    back.callback(name_new, elsewhere, place)
            yield

    def _roll_back(self) -> None:
        """Undo an unfinished transaction."""
        with suppress(sqlite3.Error):
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        self.watch.refresh(unless_replaced=True)

    def _check(self) -> None:
        """Check application, version, tables and pages of the file."""
        [(application,)] = self.rows("PRAGMA application_id")
        if application != APPLICATION_ID:
            raise DamagedVaultError("this is not a vault", RESTORE, str(self.path))
        [(version,)] = self.rows("PRAGMA user_version")
        if version != FORMAT:
            age, hint = "newer", "install a newer reticent"
            if version < FORMAT:
                age, hint = "older", "`reticent vault restore` of reticent 0.2.0 brings it over"
            what = f"the vault is in format {version}, {age} than this version reads"
            raise VaultVersionError(what, hint, str(self.path))
        schema = self.rows("SELECT sql FROM sqlite_master LIMIT ?", len(TABLES) + 1)
        if {sql for (sql,) in schema} != {table.encode() for table in TABLES}:
            raise damaged("its tables are not those of a vault", self.path)
        if self.rows("PRAGMA quick_check(1)") != [(b"ok",)]:
            raise damaged("its pages are inconsistent", self.path)


def make_database(path: Path, vault_id: bytes, statements: Iterable[Statement]) -> None:
    """Make the file of a new vault with its first rows, 0600 from the moment it exists.

    Raises VaultError if the file exists or cannot be written, and leaves none then.
    """
    with ExitStack() as on_failure, translated(path):
        path.touch(PRIVATE, exist_ok=False)
        on_failure.callback(path.unlink)
        with closing(connect(path)) as connection:
            connection.execute(f"PRAGMA page_size={PAGE_BYTES}")
            connection.execute("PRAGMA synchronous=FULL")
            connection.execute("BEGIN EXCLUSIVE")
            connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version={FORMAT}")
            for table in TABLES:
                connection.execute(table)
            connection.execute("INSERT INTO meta VALUES ('vault', ?)", (vault_id,))
            for query, values in statements:
                connection.execute(query, values)
            connection.execute("COMMIT")
        on_failure.pop_all()

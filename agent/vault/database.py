"""The SQLite database of a vault: opened by one process, written in transactions."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import (
    AbstractContextManager,
    ExitStack,
    closing,
    contextmanager,
    nullcontext,
    suppress,
)
from os.path import samestat
from pathlib import Path
from threading import Lock
from typing import Any, Self

from agent.errors import BusyVaultError, DamagedVaultError, VaultError, VaultVersionError
from agent.files import name_new
from agent.vault.connection import (
    Watch,
    check_file,
    close_to_others,
    connect,
    damaged,
    make_private,
    open_here,
    refused,
    snapshot,
    translated,
    whole_copy,
)
from agent.vault.seal import FORMAT
from agent.vault.vault_files import free_names

APPLICATION_ID = 0x52544356
MAX_INTEGER = 2**63 - 1  # of SQLite
_SEALED = "generation INTEGER NOT NULL, sealed BLOB NOT NULL"
STEP, PAUSE = 256, 0.01  # pages that are copied at a time; seconds, where somebody writes
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


class Database:
    """An open database, this process's alone.

    Nobody in this process may open its file otherwise: closing any descriptor of a file gives up
    all locks that the process has on it (POSIX), and with them this one.
    ``path``: how messages name it.
    """

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        """Take a connection that holds others off."""
        self._connection = connection
        self._durable: bool | None = None
        self._copying = Lock()
        self._closing = False
        self._watch = Watch(path)
        self.path = path

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open a vault's database, and hold others off until it is closed.

        A file that others could read is closed to them.
        Raises BusyVaultError, DamagedVaultError, VaultVersionError, or VaultError if it is missing
        or cannot be opened.
        """
        found = check_file(path)
        close_to_others(path)
        with ExitStack() as on_failure, translated(path):
            connection = connect(path)
            database = cls(connection, path)
            on_failure.push(database._give_up)
            for pragma in _HARDENED:
                connection.execute(pragma)
            # Before anything is read: the lock is kept when the transaction ends.
            connection.execute("BEGIN EXCLUSIVE")
            connection.execute("ROLLBACK")
            if not samestat(found, check_file(path)):  # it was opened under a name it had before
                what = "another vault took the place of this one"
                raise BusyVaultError(what, "try again", str(path))
            database._check()
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("SELECT count(*) FROM meta")  # now there is a log
            database._begin()
            on_failure.pop_all()
        return database

    @property
    def intact(self) -> bool:
        """Whether its names still lead to the files that are open, as this left them."""
        return self._watch.intact

    @property
    def in_place(self) -> bool:
        """Whether its name still leads to the file that is open, whatever is in it."""
        return self._watch.is_ours(self._watch.place)

    def what_happened(self) -> str:
        """Return what happened to files that are not intact."""
        return self._watch.difference()

    def rows(self, query: str, *values: bytes | int | str) -> list[tuple[Any, ...]]:
        """Return all rows of a query; texts are bytes. Raises VaultError."""
        with translated(self.path):
            return self._connection.execute(query, values).fetchall()

    def write(self, statements: Iterable[Statement], *, durable: bool) -> None:
        """Run statements in one transaction, all or nothing; they may be generated on the way.

        It survives the end of the process; ``durable``: also a power cut. Raises VaultError;
        ReplacedVaultError where the files are others now: then nobody may rely on it.
        """
        self._watch.check()
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
        self._watch.committed()
        if self._watch.log_bytes > LARGEST_LOG:
            with suppress(VaultError):  # it is written all the same, and the next one tries again
                self.settle()

    def settle(self) -> None:
        """Move everything from the log beside the file into the file, and empty the log.

        Raises VaultError.
        """
        self._watch.check()
        try:
            self.rows("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            self._watch.settled()

    def retire(self) -> None:
        """Put everything into the one file, before something else gets its name.

        From then on, nothing with the names of a log or journal is touched, not even by `close`:
        that of another file may lie there. Others are held off all the same. Raises VaultError.
        """
        self.rows("PRAGMA journal_mode=TRUNCATE")  # with DELETE, `close` would delete by the name
        self._watch.retired()

    def copy(self, to: Path) -> None:
        """Write a whole copy, in one file of its owner's only, which is there once it is whole.

        In steps, and from any thread: a transaction that is written meanwhile is in it as a whole,
        or not at all. Raises VaultError and leaves none, also where this is closed meanwhile.
        """
        with whole_copy(to) as target, self._copying:
            self._go_on()
            # By this connection, since SQLite tells a copy of what the same one writes. A step that
            # finds another thread's transaction gets a busy error, and pauses.
            self._connection.backup(target, pages=STEP, progress=self._go_on, sleep=PAUSE)

    def close(self) -> None:
        """Put everything into the one file, and let others open it; a copy ends before.

        Files that are not as this left them stay as they are.
        """
        self._end(nullcontext() if self.intact else self._out_of_reach())

    def leave(self) -> None:
        """Let others open it, and leave the file and its log as they are."""
        merely = self.intact and not self._watch.log_bytes
        self._end(nullcontext() if merely else self._out_of_reach())

    def remove_log(self) -> None:
        """Remove the log of a file that is gone, once it is closed and all of it is elsewhere.

        SQLite would read it into whatever file has the name now.
        """
        if self._watch.log_is_ours():
            with suppress(OSError):
                self._watch.log.unlink()

    def _give_up(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        """Close what could not be opened; where another process has it, it is left to that."""
        if isinstance(error, BusyVaultError):
            self._connection.close()
        else:
            self.leave()

    def _end(self, meanwhile: AbstractContextManager[object]) -> None:
        """Close the connection, once no copy is made any more."""
        self._closing = True
        with self._copying, translated(self.path), meanwhile:
            self._connection.close()
        open_here.discard(self._watch.identity)
        self._watch.end()

    @contextmanager
    def _out_of_reach(self) -> Iterator[None]:
        """Give the open file another name for a moment.

        SQLite closes a database by moving the log into the file, and deletes whatever has the
        name of the log; not if the file has lost the name under which it was opened.
        """
        place = self._watch.place
        if not self.in_place:
            yield
            return
        with ExitStack() as back:
            with suppress(OSError):  # of a folder that cannot be written to, nothing is deleted
                elsewhere = place.rename(next(free_names(place)))
                back.enter_context(suppress(OSError))  # something else has the name by now
                back.callback(name_new, elsewhere, place)
            yield

    def _go_on(self, *_progress: int) -> None:
        """Raise VaultError where a copy must not go on."""
        if self._closing:
            what = "the vault was closed before all of it was copied"
            raise VaultError(what, "open it and try again", str(self.path))

    def _roll_back(self) -> None:
        """Undo an unfinished transaction; who wrote it looks at what is in the file."""
        with suppress(sqlite3.Error):
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        self._watch.rolled_back()

    def _begin(self) -> None:
        """Watch the files from now on. Raises VaultError."""
        [(page_bytes,)] = self.rows("PRAGMA page_size")
        try:
            self._watch.begin(page_bytes)
        except OSError as error:
            raise refused(error, self.path) from error
        open_here.add(self._watch.identity)

    def _check(self) -> None:
        """Hold the file to what every vault has: its application, version, tables, soundness."""
        [(application,)] = self.rows("PRAGMA application_id")
        if application != APPLICATION_ID:
            hint = "name the file of a vault, or make one with `reticent init`"
            raise DamagedVaultError("this is not a vault", hint, str(self.path))
        [(version,)] = self.rows("PRAGMA user_version")
        if version != FORMAT:
            newer = version > FORMAT
            age = "newer" if newer else "older"
            hint = "install a newer reticent" if newer else "open it with the version that made it"
            what = f"the vault is in format {version}, {age} than this version reads"
            raise VaultVersionError(what, hint, str(self.path))
        schema = self.rows("SELECT sql FROM sqlite_master LIMIT ?", len(TABLES) + 1)
        if {sql for (sql,) in schema} != {table.encode() for table in TABLES}:
            raise damaged("its tables are not those of a vault", self.path)
        if self.rows("PRAGMA quick_check(1)") != [(b"ok",)]:
            raise damaged("its pages are inconsistent", self.path)


def make_database(path: Path, statements: Iterable[Statement], page_bytes: int = 4096) -> None:
    """Make the file of a new vault with its first rows, 0600 from the moment it exists.

    Raises VaultError if there is such a file or it cannot be written; then it leaves none.
    """
    with ExitStack() as on_failure:
        make_private(path)
        on_failure.callback(path.unlink)
        with translated(path), closing(connect(path)) as connection:
            connection.execute(f"PRAGMA page_size={page_bytes}")
            connection.execute("PRAGMA synchronous=FULL")
            connection.execute("BEGIN EXCLUSIVE")
            connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version={FORMAT}")
            for query, values in (*((table, ()) for table in TABLES), *statements):
                connection.execute(query, values)
            connection.execute("COMMIT")
        on_failure.pop_all()


@contextmanager
def inspected(path: Path, check: Callable[[Path], None] = lambda _copy: None) -> Iterator[Database]:
    """Yield a copy of the database of a vault that nobody has open; of that nothing changes.

    ``check``: of the copy, before it is opened. Raises BusyVaultError, DamagedVaultError,
    VaultVersionError, or VaultError if it is missing.
    """
    with snapshot(path) as copy:
        try:
            check(copy)
            database = Database.open(copy)
        except VaultError as error:
            raise type(error)(error.what, error.hint, str(path)) from error
        database.path = path
        with closing(database):
            yield database

"""Whatever the disk or another process does, a vault is whole or refused."""

import os
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from unittest.mock import Mock

import pytest

from agent.errors import BusyVaultError, DamagedVaultError, VaultError, VaultVersionError
from agent.vault.database import Database, make_private, sqlite_error
from agent.vault.slots import key_slots
from agent.vault.store import Store
from tests.vault.worlds import altered, contents, made, second, store_of


def limited(store: Store, pages: int) -> None:
    """Leave room for so many more pages in the file."""
    [(count,)] = store.database.rows("PRAGMA page_count")
    store.database.rows(f"PRAGMA max_page_count={count + pages}")


@pytest.mark.parametrize(
    "write",
    [
        lambda store: store.append_entry("a", bytes(5000), durable=False),
        lambda store: store.append_entry("a", bytes(5000), durable=True),
        lambda store: store.put("a", bytes(5000)),
    ],
)
def test_a_full_disk_changes_nothing(tmp_path: Path, write: Callable[[Store], object]) -> None:
    """It is told; memory and file are as before, and go on together once there is room."""
    at, key, _ = made(tmp_path)
    with store_of(at, key) as store:
        store.put("a", b"1")
        store.append_entry("a", b"first", durable=True)
        before, state = contents(store), store.state
        limited(store, 1)
        for _ in range(2):
            with pytest.raises(VaultError, match="the disk is full"):
                write(store)
            assert (contents(store), store.state) == (before, state)
        limited(store, 1000)
        write(store)
        after = contents(store)
    assert after != before
    with store_of(at, key) as store:
        assert contents(store) == after


def test_an_error_that_leaves_doubt_ends_all_use(tmp_path: Path) -> None:
    """Where the file is not as it was, nothing is read or written until it is opened again."""
    at, key, _ = made(tmp_path)
    with store_of(at, key) as store:
        failing = ("UPDATE state SET generation = 9", ()), ("COMMIT", ()), ("SELECT no", ())
        with pytest.raises(DamagedVaultError):
            store.rewrite(failing, durable=False)
        for name in ("a", "b"):
            with pytest.raises(VaultError, match="opened again"):
                store.get(name)
            with pytest.raises(VaultError, match="opened again"):
                store.put(name, b"")


@pytest.mark.parametrize(
    ("code", "kind", "what", "goes_on"),
    [
        (sqlite3.SQLITE_FULL, VaultError, "the disk is full", True),
        (sqlite3.SQLITE_BUSY_RECOVERY, BusyVaultError, "open in another process", True),
        (sqlite3.SQLITE_READONLY_DIRECTORY, VaultError, "read-only", True),
        (sqlite3.SQLITE_IOERR_FSYNC, VaultError, "the disk failed", False),
        (sqlite3.SQLITE_CANTOPEN_ISDIR, VaultError, "cannot be opened", False),
        (sqlite3.SQLITE_CORRUPT_VTAB, DamagedVaultError, "not a valid database", False),
        (sqlite3.SQLITE_NOTADB, DamagedVaultError, "not a valid database", False),
        (sqlite3.SQLITE_ERROR, DamagedVaultError, "not a valid database", False),
    ],
)
def test_after_a_failure_of_the_disk_nothing_is_written(
    tmp_path: Path, code: int, kind: type[VaultError], what: str, goes_on: bool
) -> None:
    """Though the file looks as it was: what the disk refused once may be lost without a word.

    Each kind of error has its sentence, whatever its details.
    """
    failing = sqlite3.OperationalError("a failure at the end of a transaction")
    failing.sqlite_errorcode = code
    at, key, _ = made(tmp_path)
    with store_of(at, key) as store:
        error = sqlite_error(failing, at.vault)
        error.__cause__ = failing
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Database, "write", Mock(side_effect=error))
            with pytest.raises(kind, match=what) as caught:
                store.put("a", b"1")
        assert (type(caught.value), bool(caught.value.hint)) == (kind, True)
        if goes_on:
            store.put("a", b"2")
            assert store.get("a") == b"2"
        else:
            with pytest.raises(VaultError, match="opened again"):
                store.put("a", b"2")


def test_a_second_process_is_told_at_once(tmp_path: Path) -> None:
    """As long as the vault is open, also where nothing is written; and not after it."""
    at, key, _ = made(tmp_path)
    with store_of(at, key) as store:
        assert second(at) == "the vault is open in another process"
        store.append_entry("a", b"", durable=True)
        assert second(at) == "the vault is open in another process"
        for look in (Database.open, key_slots):
            with pytest.raises(BusyVaultError):
                look(at.vault)
    assert second(at) == ""


def test_every_cut_is_refused(tmp_path: Path) -> None:
    """At each page, and within one; and what was never a database."""
    at, _, _ = made(tmp_path)
    whole = at.vault.read_bytes()
    cut = [whole[:length] for length in range(0, len(whole), 256)]
    for data in (*cut, b"no database at all", b"SQLite format 3\0" + bytes(84)):
        at.vault.write_bytes(data)
        with pytest.raises(DamagedVaultError):
            Database.open(at.vault)


@pytest.mark.parametrize(
    ("version", "age"), [(3, "newer"), (1, "older"), (0, "older"), (-1, "older")]
)
def test_another_format_is_refused(tmp_path: Path, version: int, age: str) -> None:
    """It says which, and what to do."""
    at, _, _ = made(tmp_path)
    altered(at, f"PRAGMA user_version={version}")
    with pytest.raises(VaultVersionError, match=f"format {version}, {age}"):
        Database.open(at.vault)


def test_another_applications_database_is_no_vault(tmp_path: Path) -> None:
    """Whatever is in it, it is left alone."""
    path = tmp_path / "vault.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE mine(x)")
        connection.commit()
    before = path.read_bytes()
    with pytest.raises(DamagedVaultError, match="not a vault"):
        Database.open(path)
    assert path.read_bytes() == before


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    """Nothing, a folder, something below a file, and a pipe, which is not waited for."""
    with pytest.raises(VaultError, match="there is no vault"):
        Database.open(tmp_path / "none")
    with pytest.raises(VaultError, match="not a file"):
        Database.open(tmp_path)
    file = tmp_path / "file"
    file.write_bytes(b"")
    with pytest.raises(VaultError, match="not a directory"):
        Database.open(file / "vault.db")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(VaultError, match="not a file"):
        Database.open(tmp_path / "pipe")
    with pytest.raises(VaultError, match="the file already exists"):
        make_private(file)


def test_files_are_their_owners_from_the_beginning(tmp_path: Path) -> None:
    """Vault, log and witness; a vault that others could read is closed to them."""
    before = os.umask(0)
    try:
        at, key, _ = made(tmp_path)
        at.vault.chmod(0o644)
        with store_of(at, key) as store:
            store.put("a", b"1")
            files = [*at.vault.parent.iterdir(), *at.witness.parent.iterdir()]
            modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in files}
        folders = {stat.S_IMODE(path.parent.stat().st_mode) for path in (at.vault, at.witness)}
    finally:
        os.umask(before)
    assert modes == {"vault.db": 0o600, "vault.db-wal": 0o600, "witness.json": 0o600}
    assert folders == {0o700}

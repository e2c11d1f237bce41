"""Whatever the disk or another process does, a vault is whole or refused."""

import os
import random
import shutil
import sqlite3
import stat
import tempfile
import time
from collections.abc import Callable
from contextlib import closing, suppress
from functools import cache
from pathlib import Path
from threading import Thread
from unittest.mock import Mock

import pytest

from agent.errors import (
    BusyVaultError,
    DamagedVaultError,
    ReplacedVaultError,
    VaultError,
    VaultVersionError,
)
from agent.files import create_private, left_unfinished, private_folder
from agent.vault.backup import restore
from agent.vault.database import RESTORE, Database, make_database, sqlite_error
from agent.vault.slots import key_slots
from agent.vault.store import Store
from agent.vault.vault import Vault, unlock
from agent.vault.vault_files import Location, vaults_set_aside
from tests.vault import worlds
from tests.vault.histories import record_at


def limited(store: Store, pages: int) -> None:
    """Leave room for so many more pages in the file."""
    [(count,)] = store.database.rows("PRAGMA page_count")
    store.database.rows(f"PRAGMA max_page_count={count + pages}")


WRITES: tuple[Callable[[Store], object], ...] = (
    lambda store: store.append_entry("a", bytes(5000), durable=False),
    lambda store: store.append_entry("a", bytes(5000), durable=True),
    lambda store: store.put("a", bytes(5000)),
)


def test_a_full_disk_changes_nothing(tmp_path: Path) -> None:
    """It is told; memory and file are as before, and go on together once there is room."""
    at, key, _ = worlds.made(tmp_path)
    for write in WRITES:
        with worlds.store_of(at, key) as store:
            store.append_entry("a", b"first", durable=True)
            before, state = worlds.contents(store), store.state
            limited(store, 1)
            for _ in range(2):
                with pytest.raises(VaultError, match="the disk is full"):
                    write(store)
                assert (worlds.contents(store), store.state) == (before, state)
            limited(store, 1000)
            write(store)
            after = worlds.contents(store)
        assert after != before
        with worlds.store_of(at, key) as store:
            assert worlds.contents(store) == after


def test_an_error_that_leaves_doubt_ends_all_use(tmp_path: Path) -> None:
    """Where the file is not as it was, nothing is read or written until it is opened again."""
    at, key, _ = worlds.made(tmp_path)
    with worlds.store_of(at, key) as store:
        failing = ("UPDATE state SET generation = 9", ()), ("COMMIT", ()), ("SELECT no", ())
        with pytest.raises(DamagedVaultError):
            store.commit(None, failing, durable=False)
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
    at, key, _ = worlds.made(tmp_path)
    with worlds.store_of(at, key) as store:
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
    at, key, _ = worlds.made(tmp_path)
    with worlds.store_of(at, key) as store:
        assert worlds.second(at) == "the vault is open in another process"
        store.append_entry("a", b"", durable=True)
        assert worlds.second(at) == "the vault is open in another process"
        for look in (Database.open, key_slots):
            with pytest.raises(BusyVaultError):
                look(at.vault)
    assert worlds.second(at) == ""


def test_every_cut_is_refused(tmp_path: Path) -> None:
    """At each page, and within one; and what was never a database."""
    at, _, _ = worlds.made(tmp_path)
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
    at, _, _ = worlds.made(tmp_path)
    worlds.altered(at, f"PRAGMA user_version={version}")
    with pytest.raises(VaultVersionError, match=f"format {version}, {age}"):
        Database.open(at.vault)


def test_another_applications_database_is_no_vault(tmp_path: Path) -> None:
    """Nor is an empty file; whatever is in it, it is left alone. A backup is the way out."""
    path = tmp_path / "vault.db"
    path.touch()
    for statement in ("SELECT 1", "CREATE TABLE mine(x)"):
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(statement)
        before = path.read_bytes()
        with pytest.raises(DamagedVaultError, match="not a vault") as refused:
            Database.open(path)
        assert (path.read_bytes(), refused.value.hint) == (before, RESTORE)


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
        make_database(file, b"", ())


def test_files_are_their_owners_from_the_beginning(tmp_path: Path) -> None:
    """Vault, log and witness; a vault that others could read is closed to them."""
    before = os.umask(0)
    try:
        at, key, _ = worlds.made(tmp_path)
        at.vault.chmod(0o644)
        with worlds.store_of(at, key) as store:
            store.put("a", b"1")
            files = [*at.vault.parent.iterdir(), *at.witness.parent.iterdir()]
            modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in files}
        folders = {stat.S_IMODE(path.parent.stat().st_mode) for path in (at.vault, at.witness)}
    finally:
        os.umask(before)
    assert modes == {"vault.db": 0o600, "vault.db-wal": 0o600, "witness.json": 0o600}
    assert folders == {0o700}


Deed = Callable[[Location, Path], object]
LATEST_SECONDS = 0.03
VALUE = b"what the user set"


def _log_of(at: Location) -> Path:
    return at.vault.with_name("vault.db-wal")


def _moved_away(at: Location, _old: Path) -> None:
    at.vault.parent.rename(at.vault.parent.with_name("elsewhere"))


def _all_moved(at: Location, old: Path) -> None:
    _moved_away(at, old)
    at.witness.parent.rename(at.witness.parent.with_name("elsewhere too"))


ELSEWHERE: dict[str, Deed] = {
    # as file sync and editors do
    "replaced": lambda at, old: shutil.copyfile(old, at.vault.with_name("x")).replace(at.vault),
    "removed": lambda at, _old: at.vault.unlink(),
    "folder moved": _moved_away,
    "all folders moved": _all_moved,
    "folder removed": lambda at, _old: shutil.rmtree(at.vault.parent),
    "log removed": lambda at, _old: _log_of(at).unlink(),
    "log replaced": lambda at, old: shutil.copyfile(old, at.vault.with_name("x")).replace(
        _log_of(at)
    ),
}
IN_PLACE: dict[str, Deed] = {
    "overwritten": lambda at, old: shutil.copyfile(old, at.vault),  # as `cp` does
    "truncated": lambda at, _old: os.truncate(at.vault, 0),
    "cut": lambda at, _old: os.truncate(at.vault, 8192),
    "log truncated": lambda at, _old: os.truncate(_log_of(at), 0),
}


@cache
def prepared() -> dict[str, bytes]:
    """Return the files of a vault with an item and some entries, and of a backup before these."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with worlds.create(worlds.place(folder), worlds.PASSPHRASE, worlds.FAST)[0] as vault:
            vault.items.put("mark", VALUE)
            vault.backup(folder / "old.db")
            for number in range(1, 40):
                vault.ledger.append(record_at(number))
        files = (path for path in folder.rglob("*") if path.is_file())
        return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def begun(folder: Path) -> tuple[Location, Path]:
    """Put that vault and its backup into a folder."""
    for name, data in prepared().items():
        private_folder((folder / name).parent)
        create_private(data, folder / name)
    return worlds.place(folder), folder / "old.db"


def appended(vault: Vault, until: float) -> int:
    """Append until that fails or it is time; return the last number that was acknowledged."""
    acknowledged = vault.ledger.count
    try:
        while time.perf_counter() < until:
            acknowledged = vault.ledger.append(record_at(acknowledged + 1))
    except ReplacedVaultError:
        with pytest.raises(VaultError):
            vault.ledger.append(record_at(acknowledged + 1))
    return acknowledged


def survived(folder: Path, deed: Deed, seconds: float) -> None:
    """Do something to a vault that is written to, restore what is set aside, and check that."""
    at, old = begun(folder)
    vault = unlock(at, worlds.TYPED)

    def do() -> None:
        time.sleep(seconds)
        deed(at, old)

    meanwhile = Thread(target=do, daemon=True)
    meanwhile.start()
    acknowledged = appended(vault, time.perf_counter() + 2 * seconds)
    meanwhile.join(60)
    assert not meanwhile.is_alive()
    theirs = {path: path.read_bytes() for path in (at.vault, _log_of(at)) if path.exists()}
    ours = vault.intact or deed in IN_PLACE.values()
    if deed in IN_PLACE.values():
        with suppress(DamagedVaultError):  # said once: then there is nothing to set aside
            vault.close()
    vault.close()
    aside = vaults_set_aside(at)
    if not aside:
        assert deed in IN_PLACE.values()
        assert left_unfinished(at.vault) == []
        return
    for path, before in theirs.items():  # but for our own log, which would be read into another's
        assert ours or not path.exists() or path.read_bytes() == before
    restore(at, aside[-1], worlds.TYPED)
    assert vaults_set_aside(at) == []
    with unlock(at, worlds.TYPED) as vault:
        assert vault.ledger.count in (acknowledged, acknowledged + 1)  # written, and refused
        assert vault.items.get("mark") == VALUE
        expected = [record_at(number) for number in range(1, vault.ledger.count + 1)]
        assert [record for _, record in vault.ledger.read()] == expected


@pytest.mark.parametrize("times", [1, pytest.param(18, marks=pytest.mark.soak)])
@pytest.mark.parametrize("name", [*ELSEWHERE, *IN_PLACE])
def test_nothing_that_was_acknowledged_is_lost(tmp_path: Path, name: str, times: int) -> None:
    """Whatever is done to the file under load: what is set aside opens, and has every entry.

    Where the open file itself is overwritten, that is said, and nothing is acknowledged any more.
    """
    rng = random.Random(7)  # noqa: S311  (instants that can be drawn again)
    for number in range(times):
        (folder := tmp_path / str(number)).mkdir()
        survived(folder, (ELSEWHERE | IN_PLACE)[name], rng.uniform(0, LATEST_SECONDS))


def test_a_backup_that_was_restored_meanwhile_keeps_its_witness(tmp_path: Path) -> None:
    """It could not be unlocked otherwise."""
    at, old = begun(tmp_path)
    vault = unlock(at, worlds.TYPED)
    at.vault.rename(at.vault.with_name("moved"))
    _log_of(at).rename(at.vault.with_name("moved-wal"))
    restore(at, old, worlds.TYPED)
    vault.close()
    assert len(vaults_set_aside(at)) == 1
    unlock(at, worlds.TYPED).close()

"""Backups are whole, and restored whole or not at all."""

import errno
import os
import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from shutil import copyfile
from types import ModuleType

import pytest

from agent.errors import (
    BusyVaultError,
    DamagedVaultError,
    RolledBackError,
    VaultError,
    WrongSecretError,
)
from agent.vault import backup as backups
from agent.vault import database
from agent.vault import vault as vaults
from agent.vault.backup import restore
from agent.vault.seal import Key
from agent.vault.secrets import Secret
from agent.vault.vault import Vault, make_vault, unlock, unlock_with
from agent.vault.vault_files import Location
from tests.vault.histories import NOW, disclosed
from tests.vault.worlds import (
    FAST,
    PASSPHRASE,
    TOLD,
    TYPED,
    Rows,
    contents,
    count,
    made,
    names_beside,
    new,
    place,
    second,
    store_of,
    stream,
)


def test_a_backup_is_a_vault(tmp_path: Path, at: Location, vault: Vault) -> None:
    """In one file of its owner's, taken while the vault is in use; a copy that is used like one."""
    to = tmp_path / "backup.db"
    vault.backup(to)
    vault.ledger.append(TOLD)
    vault.close()
    assert stat.S_IMODE(to.stat().st_mode) == 0o600
    assert sorted(path.name for path in tmp_path.iterdir()) == ["backup.db", "data", "state"]
    assert count(at) == 2
    with unlock(Location(to, tmp_path / "own" / "witness.json"), TYPED) as copy:
        assert copy.ledger.count == 1


def test_a_restored_backup_is_the_vault(tmp_path: Path, at: Location, vault: Vault) -> None:
    """The replaced one stays beside it, each time under a new name; the backup is untouched."""
    to = tmp_path / "backup.db"
    vault.backup(to)
    vault.ledger.append(TOLD)
    vault.close()
    before = to.read_bytes()
    kept = restore(at, to, TYPED)
    assert count(at) == 1
    assert kept == at.vault.with_name("vault.db.replaced-1")
    with unlock(Location(kept, tmp_path / "own" / "witness.json"), TYPED) as replaced:
        assert replaced.ledger.count == 2
    restore(at, to, TYPED)
    assert names_beside(at) == ["vault.db", "vault.db.replaced-1", "vault.db.replaced-2"]
    assert to.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir() if "part" in path.name] == []


def test_a_backup_that_does_not_open_changes_nothing(
    tmp_path: Path, at: Location, vault: Vault
) -> None:
    """A wrong secret, a damaged or missing file, or a vault that is open."""
    to, spoiled = tmp_path / "backup.db", tmp_path / "spoiled.db"
    vault.backup(to)
    with pytest.raises(BusyVaultError):
        restore(at, to, TYPED)
    vault.close()
    spoiled.write_bytes(to.read_bytes()[:-4096])
    before = (at.vault.read_bytes(), at.witness.read_bytes())
    with pytest.raises(WrongSecretError):
        restore(at, to, Secret("passphrase", "another"))
    with pytest.raises(DamagedVaultError, match="not a vault, or one that is damaged") as caught:
        restore(at, spoiled, TYPED)
    assert caught.value.where == str(spoiled)
    assert "restore" not in caught.value.hint
    with pytest.raises(VaultError, match="no such file"):
        restore(at, tmp_path / "none", TYPED)
    with pytest.raises(VaultError, match="not a file"):
        restore(at, tmp_path, TYPED)
    assert (at.vault.read_bytes(), at.witness.read_bytes()) == before
    assert names_beside(at) == ["vault.db"]
    assert [path.name for path in at.witness.parent.iterdir()] == ["witness.json"]


@pytest.mark.parametrize("opens", [True, False])
def test_a_damaged_vault_is_replaced(
    tmp_path: Path, at: Location, vault: Vault, monkeypatch: pytest.MonkeyPatch, opens: bool
) -> None:
    """It is kept as it is, and so is its log, which SQLite would take for the restored file's."""
    vault.backup(tmp_path / "backup.db")
    vault.ledger.append(TOLD)
    log = at.vault.with_name("vault.db-wal")
    left = log.read_bytes()
    vault.close()
    at.vault.write_bytes(b"damaged")
    log.write_bytes(left)
    if not opens:
        monkeypatch.setattr(backups, "_opened", lambda _: None)
    restore(at, tmp_path / "backup.db", TYPED)
    assert count(at) == 1
    assert names_beside(at) == ["vault.db", "vault.db.replaced-1", "vault.db.replaced-1-wal"]
    kept = at.vault.with_name("vault.db.replaced-1")
    assert kept.read_bytes() == b"damaged"
    assert kept.with_name(f"{kept.name}-wal").read_bytes() == left


def test_an_old_copy_put_there_by_hand_can_be_vouched_for(
    tmp_path: Path, at: Location, vault: Vault
) -> None:
    """As the error says: by restoring the vault from itself."""
    vault.backup(tmp_path / "backup.db")
    vault.ledger.append(TOLD)
    vault.close()
    copyfile(tmp_path / "backup.db", at.vault)
    with pytest.raises(RolledBackError) as caught:
        unlock(at, TYPED)
    assert "reticent vault restore" in caught.value.hint
    restore(at, at.vault, TYPED)
    assert count(at) == 1


def test_what_a_crash_left_in_the_log_is_restored_too(
    tmp_path: Path, at: Location, vault: Vault
) -> None:
    """A copy of both files, as a snapshot of the disk has them."""
    copyfile(at.vault, tmp_path / "copy.db")
    copyfile(at.vault.with_name("vault.db-wal"), tmp_path / "copy.db-wal")
    vault.close()
    restore(at, tmp_path / "copy.db", TYPED)
    assert count(at) == 1


def copied(to: Path, key: Key) -> tuple[Rows, dict[str, bytes | None]]:
    """Return all that a copy holds, which is verified as a vault is."""
    with store_of(Location(to, to.with_name("own.json")), key) as store:
        return contents(store)


def test_another_thread_may_copy_while_this_one_writes(tmp_path: Path) -> None:
    """Each copy is the vault as it was after some transaction."""
    at, key, _ = made(tmp_path)
    copies = [tmp_path / f"{number}.db" for number in range(4)]
    with store_of(at, key) as store, ThreadPoolExecutor(1) as beside:
        for copy in copies:
            copying = beside.submit(store.database.copy, copy)
            for _ in range(25):
                store.append_entry("a.example", bytes(900), durable=False)
                store.put("n", bytes(3000))
            copying.result(60)
            assert stat.S_IMODE(copy.stat().st_mode) == 0o600
        whole, _ = contents(store)
    for copy in copies:
        entries, _ = copied(copy, key)
        assert entries == whole[: len(entries)]


def test_a_copy_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor does it replace what appears under its name meanwhile."""
    at, key, _ = made(tmp_path)
    folder = tmp_path / "usb"
    folder.mkdir()
    to = folder / "copy.db"
    with store_of(at, key) as store:
        before(monkeypatch, "fsync", lambda: to.write_bytes(b"theirs"), of=database)
        with pytest.raises(VaultError, match="the file already exists") as caught:
            store.database.copy(to)
        assert (caught.value.where, to.read_bytes()) == (str(to), b"theirs")
        with pytest.raises(VaultError, match="no such file or directory") as caught:
            store.database.copy(folder / "none" / "copy.db")
        assert caught.value.where == str(folder / "none" / "copy.db")
    assert [*folder.iterdir()] == [to]


def before(
    monkeypatch: pytest.MonkeyPatch,
    step: str,
    deed: Callable[[], object],
    *,
    after: bool = False,
    of: ModuleType = backups,
) -> None:
    """Let something happen right before, or after, a step of `restore`, or of another module."""
    real = getattr(of, step)

    def stepped(*given: object, **named: object) -> object:
        if not after:
            deed()
        found = real(*given, **named)
        if after:
            deed()
        return found

    monkeypatch.setattr(of, step, stepped)


@pytest.mark.parametrize("itself", [False, True])
def test_nobody_opens_the_vault_that_is_replaced(
    tmp_path: Path, at: Location, vault: Vault, monkeypatch: pytest.MonkeyPatch, itself: bool
) -> None:
    """From the first look at it on: what it told in between would be lost."""
    vault.backup(tmp_path / "backup.db")
    vault.close()
    said: list[str] = []
    for step in ("unlock", "install"):
        before(monkeypatch, step, lambda: said.append(second(at)))
    restore(at, at.vault if itself else tmp_path / "backup.db", TYPED)
    assert said == ["the vault is open in another process"] * 2
    assert second(at) == ""
    assert count(at) == 1


def test_whoever_opens_the_restored_vault_keeps_its_log(
    tmp_path: Path, at: Location, vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The end of the old one takes nothing with it that has the same name."""
    vault.backup(tmp_path / "backup.db")
    vault.close()
    live: list[Vault] = []

    def used() -> None:
        live.append(unlock(at, TYPED))
        live[0].ledger.append(disclosed(NOW, "b.example", region="uk"))

    before(monkeypatch, "install", used, after=True)
    restore(at, tmp_path / "backup.db", TYPED)
    for suffix in ("", "-wal"):
        copyfile(f"{at.vault}{suffix}", tmp_path / f"copy.db{suffix}")
    live[0].close()
    assert count(at) == 2
    with unlock(Location(tmp_path / "copy.db", tmp_path / "own.json"), TYPED) as copy:
        assert copy.ledger.count == 2


@pytest.mark.parametrize("of", [backups, vaults])
def test_a_vault_that_appears_meanwhile_stays_whole(
    tmp_path: Path, at: Location, monkeypatch: pytest.MonkeyPatch, of: ModuleType
) -> None:
    """In use by somebody: its log and its witness are theirs, whether one is restored or made."""
    with new(place(tmp_path / "other"))[0] as vault:
        vault.backup(tmp_path / "backup.db")
    live: list[Vault] = []

    def appear() -> None:
        key, _ = make_vault(at, PASSPHRASE, FAST, stream("other"))
        live.append(unlock_with(at, key))
        live[0].ledger.append(TOLD)

    before(monkeypatch, "install", appear, of=of)
    with pytest.raises(VaultError, match="a vault already"):
        new(at) if of is vaults else restore(at, tmp_path / "backup.db", TYPED)
    assert names_beside(at) == ["vault.db", "vault.db-wal"]
    live[0].close()
    assert count(at) == 1


@pytest.mark.parametrize("there", [True, False])
def test_a_backup_is_restored_where_files_have_one_name(
    at: Location, vault: Vault, monkeypatch: pytest.MonkeyPatch, there: bool
) -> None:
    """The vault that it replaces is kept all the same."""
    backup = at.vault.with_name("copy.db")
    vault.backup(backup)
    vault.close()
    if not there:
        at.vault.unlink()

    def refuse(*_given: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    kept = restore(at, backup, TYPED)
    assert (kept == at.vault.with_name("vault.db.replaced-1")) == there
    with unlock(at, TYPED) as found:
        assert (found.ledger.count, found.notes) == (1, ())
    if kept is not None:
        unlock(Location(kept, kept.with_name("own.json")), TYPED).close()

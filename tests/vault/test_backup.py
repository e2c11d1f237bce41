"""A backup is whole and opens with the same secrets; restoring it costs nothing that was there."""

import stat
from pathlib import Path
from shutil import copyfile

import pytest

from agent.errors import (
    BusyVaultError,
    DamagedVaultError,
    RolledBackError,
    VaultError,
    VaultVersionError,
    WrongSecretError,
)
from agent.vault import backup as backups
from agent.vault.backup import restore
from agent.vault.secrets import Secret
from agent.vault.vault import Vault, unlock
from agent.vault.vault_files import Location
from tests.vault.begun import TOLD, beside, count
from tests.vault.worlds import TYPED, altered, place


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


def test_a_backup_replaces_nothing(tmp_path: Path, vault: Vault) -> None:
    """An existing file stays; where there is no folder, nothing is left."""
    taken = tmp_path / "taken"
    taken.write_bytes(b"mine")
    with vault:
        with pytest.raises(VaultError, match="such a file already"):
            vault.backup(taken)
        with pytest.raises(VaultError, match="no such file or directory"):
            vault.backup(tmp_path / "none" / "backup.db")
    assert taken.read_bytes() == b"mine"


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
    assert beside(at) == ["vault.db", "vault.db.replaced-1", "vault.db.replaced-2"]
    assert to.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir() if "part" in path.name] == []


def test_a_backup_is_restored_where_there_is_no_vault(
    tmp_path: Path, at: Location, vault: Vault
) -> None:
    """On a new machine, without folders."""
    to = tmp_path / "backup.db"
    with vault:
        vault.backup(to)
    elsewhere = place(tmp_path / "elsewhere")
    elsewhere.vault.parent.parent.mkdir()
    assert restore(elsewhere, to, TYPED) is None
    assert count(elsewhere) == count(at) == 1
    assert beside(elsewhere) == ["vault.db"]


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
    with pytest.raises(DamagedVaultError, match="the backup is damaged") as caught:
        restore(at, spoiled, TYPED)
    assert caught.value.where == str(spoiled)
    assert "restore" not in caught.value.hint
    with pytest.raises(VaultError, match="no such file"):
        restore(at, tmp_path / "none", TYPED)
    with pytest.raises(VaultError, match="not a file"):
        restore(at, tmp_path, TYPED)
    assert (at.vault.read_bytes(), at.witness.read_bytes()) == before
    assert beside(at) == ["vault.db"]
    assert [path.name for path in at.witness.parent.iterdir()] == ["witness.json"]


def test_a_trouble_names_what_somebody_knows(
    tmp_path: Path, at: Location, vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The backup where it is of another format, the folder where the disk is full."""
    to = tmp_path / "backup.db"
    vault.backup(to)
    vault.close()

    def full(trial: Location, *_given: object) -> None:
        raise VaultError("the disk is full", "free some space", str(trial.vault))

    with monkeypatch.context() as patched:
        patched.setattr(backups, "unlock", full)
        with pytest.raises(VaultError, match="the disk is full") as caught:
            restore(at, to, TYPED)
    assert caught.value.where == str(at.vault.parent)
    altered(Location(to, at.witness), "PRAGMA user_version=9")
    with pytest.raises(VaultVersionError, match="the backup is in format 9") as caught:
        restore(at, to, TYPED)
    assert caught.value.where == str(to)


def spoil(at: Location, vault: Vault) -> None:
    """Leave a vault that does not open, and a log beside it that would fit."""
    log = at.vault.with_name("vault.db-wal")
    left = log.read_bytes()
    vault.close()
    at.vault.write_bytes(b"damaged")
    log.write_bytes(left)


def test_a_damaged_vault_is_replaced(tmp_path: Path, at: Location, vault: Vault) -> None:
    """It is kept as it is, and so is what SQLite still had in its log."""
    vault.backup(tmp_path / "backup.db")
    vault.ledger.append(TOLD)
    spoil(at, vault)
    log = at.vault.with_name("vault.db-wal").read_bytes()
    restore(at, tmp_path / "backup.db", TYPED)
    assert count(at) == 1
    assert beside(at) == ["vault.db", "vault.db.replaced-1", "vault.db.replaced-1-wal"]
    assert at.vault.with_name("vault.db.replaced-1").read_bytes() == b"damaged"
    assert at.vault.with_name("vault.db.replaced-1-wal").read_bytes() == log


def test_a_log_that_is_left_stays_with_the_vault_it_is_of(
    tmp_path: Path, at: Location, vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite would take it for that of the restored file."""
    vault.backup(tmp_path / "backup.db")
    vault.ledger.append(TOLD)
    spoil(at, vault)
    monkeypatch.setattr("agent.vault.backup._opened", lambda _: None)
    restore(at, tmp_path / "backup.db", TYPED)
    assert count(at) == 1
    assert beside(at) == ["vault.db", "vault.db.replaced-1", "vault.db.replaced-1-wal"]
    assert at.vault.with_name("vault.db.replaced-1").read_bytes() == b"damaged"


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

"""What is left of a vault that is gone is never taken for nothing."""

import errno
import os
from shutil import copyfile

import pytest

from agent.errors import VaultError, WrongSecretError
from agent.vault.backup import restore
from agent.vault.making import workshop
from agent.vault.secrets import Secret
from agent.vault.vault import Vault, make, unlock
from agent.vault.vault_files import Location, check_free, free_names, replaced
from tests.vault.worlds import FAST, PASSPHRASE, TYPED


def killed(at: Location, vault: Vault) -> None:
    """Leave a vault as the kill of its process does: with a log beside it."""
    kept = {suffix: at.vault.with_name(f"vault.db{suffix}") for suffix in ("", "-wal")}
    data = {path: path.read_bytes() for path in kept.values()}
    vault.close()
    for path, content in data.items():
        path.write_bytes(content)


def test_the_log_of_a_vault_that_was_moved_stays(at: Location, vault: Vault) -> None:
    """Its latest entries are nowhere else; moved as well, they are in it again."""
    killed(at, vault)
    old = Location(at.vault.with_name("old.db"), at.witness.with_name("old.json"))
    at.vault.replace(old.vault)
    at.witness.replace(old.witness)
    log = at.vault.with_name("vault.db-wal")
    for attempt in (lambda: make(at, PASSPHRASE, FAST), lambda: restore(at, old.vault, TYPED)):
        with pytest.raises(VaultError, match=r"latest entries .* in vault\.db-wal") as caught:
            attempt()
        assert caught.value.where == str(log)
        assert "vault.db went" in caught.value.hint
    log.replace(old.vault.with_name("old.db-wal"))
    make(at, PASSPHRASE, FAST)
    with unlock(old, TYPED) as found:
        assert found.ledger.count == 1


@pytest.mark.parametrize("suffix", ["-wal", "-journal", "-shm"])
def test_what_holds_nothing_is_in_nobodys_way(at: Location, suffix: str) -> None:
    """An empty log; and the index of one, whatever it holds."""
    at.vault.parent.mkdir(0o700)
    at.vault.with_name(f"vault.db{suffix}").write_bytes(b"x" * (suffix == "-shm"))
    make(at, PASSPHRASE, FAST)
    assert [path.name for path in at.vault.parent.iterdir()] == ["vault.db"]


def test_a_vault_that_vanished_is_missed(at: Location, vault: Vault) -> None:
    """Its witness knows of it; a backup can be restored, and nothing new takes its place."""
    backup = at.vault.with_name("copy.db")
    vault.backup(backup)
    vault.close()
    at.vault.unlink()
    before = at.witness.read_bytes()
    with pytest.raises(VaultError, match=r"a vault was here \(1 entry\)") as caught:
        make(at, PASSPHRASE, FAST)
    assert "`reticent vault restore FILE`" in caught.value.hint
    assert at.witness.read_bytes() == before
    assert restore(at, backup, TYPED) is None
    unlock(at, TYPED).close()


def test_a_replaced_vault_is_named(at: Location, vault: Vault) -> None:
    """The latest of them, though it comes before another in the order of letters."""
    vault.close()
    for number in (9, 10):
        copyfile(at.vault, at.vault.with_name(f"vault.db.replaced-{number}"))
    at.vault.unlink()
    at.witness.unlink()
    with pytest.raises(VaultError, match="a vault was here, and nothing") as caught:
        check_free(at)
    assert f"`reticent vault restore {at.vault}.replaced-10`" in caught.value.hint


def test_what_is_called_alike_is_no_vault_of_ours(at: Location) -> None:
    """Only a number follows."""
    assert replaced(at.vault) == []
    at.vault.parent.mkdir(0o700)
    for end in ("", "x", "1-wal", "-1", "2"):
        at.vault.with_name(f"vault.db.replaced-{end}").touch()
    assert [path.name for path in replaced(at.vault)] == ["vault.db.replaced-2"]
    names = free_names(at.vault)
    assert [next(names).name[-1] for _ in range(2)] == ["1", "3"]


def test_what_killed_ones_left_goes_once_the_vault_is_open(at: Location, vault: Vault) -> None:
    """Whole copies, which secrets of then open; but not what somebody makes just now."""
    vault.close()
    copies = [at.vault.with_name(f".vault.db.0a1b2c3d.part{end}") for end in ("", "-wal")]
    left = [*copies, at.witness.with_name(".witness.json.0a1b2c3d.part")]
    for path in left:
        copyfile(at.vault, path)
    with pytest.raises(WrongSecretError):
        unlock(at, Secret("passphrase", "another"))
    with workshop(Location(at.vault.with_name("other.db"), at.witness)):
        unlock(at, TYPED).close()
    assert all(path.exists() for path in left)
    unlock(at, TYPED).close()
    assert not any(path.exists() for path in left)


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

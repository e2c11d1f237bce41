"""A restoring that others come between: nobody loses what they were told is kept."""

from collections.abc import Callable
from pathlib import Path
from shutil import copyfile

import pytest

from agent.errors import BusyVaultError, VaultError
from agent.vault import backup as backups
from agent.vault.backup import restore
from agent.vault.making import make_vault
from agent.vault.vault import Vault, unlock, unlock_with
from agent.vault.vault_files import Location
from tests.vault.begun import TOLD, beside, count
from tests.vault.histories import NOW, disclosed
from tests.vault.worlds import FAST, PASSPHRASE, TYPED, second, stream


def before(
    monkeypatch: pytest.MonkeyPatch, step: str, deed: Callable[[], object], *, after: bool = False
) -> None:
    """Let something happen right before, or after, a step of `restore`."""
    real = getattr(backups, step)

    def stepped(*given: object, **named: object) -> object:
        if not after:
            deed()
        found = real(*given, **named)
        if after:
            deed()
        return found

    monkeypatch.setattr(backups, step, stepped)


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


def test_a_vault_that_appears_meanwhile_is_not_replaced(
    tmp_path: Path, at: Location, vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor is anything beside it: somebody has it open."""
    vault.backup(tmp_path / "backup.db")
    vault.close()
    at.vault.unlink()
    at.witness.unlink()
    live: list[Vault] = []

    def made() -> None:
        key, _ = make_vault(at, PASSPHRASE, FAST, stream("other"))
        live.append(unlock_with(at, key))
        live[0].ledger.append(TOLD)

    before(monkeypatch, "install", made)
    with pytest.raises(VaultError, match="a vault already"):
        restore(at, tmp_path / "backup.db", TYPED)
    assert beside(at) == ["vault.db", "vault.db-wal"]
    live[0].close()
    assert count(at) == 1


def test_two_do_not_restore_at_once(
    tmp_path: Path, at: Location, vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second is told so, and nothing is changed by it."""
    vault.backup(tmp_path / "backup.db")
    vault.close()

    def again() -> None:
        with pytest.raises(BusyVaultError, match="being made or restored"):
            restore(at, tmp_path / "backup.db", TYPED)

    before(monkeypatch, "install", again)
    restore(at, tmp_path / "backup.db", TYPED)
    assert count(at) == 1
    assert beside(at) == ["vault.db", "vault.db.replaced-1"]

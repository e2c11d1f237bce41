"""A vault is filled beside its place, and put there whole: nobody sees, or loses, anything else."""

from pathlib import Path

import pytest

from agent.errors import BusyVaultError, VaultError
from agent.vault import database
from agent.vault.backup import restore
from agent.vault.connection import connect
from agent.vault.database import Database
from agent.vault.making import make_vault, put, workshop
from agent.vault.vault import Vault, make, unlock, unlock_with
from agent.vault.vault_files import Location
from tests.vault.histories import NOW, disclosed
from tests.vault.worlds import FAST, PASSPHRASE, TYPED, stream

TOLD = disclosed(NOW, "www.a.example", region="uk")
LEFT = (".vault.db.0a1b2c3d.part", ".vault.db.0a1b2c3d.part-wal", ".vault.db.00000000.part.witness")
OTHERS = (".vault.db.swp", "vault.db.00000000.part", "notes")


def beside(at: Location) -> list[str]:
    """Return the names in the folder of the vault."""
    return sorted(path.name for path in at.vault.parent.iterdir())


def test_what_it_is_filled_with_is_in_it_from_the_beginning(at: Location) -> None:
    """There is no vault before all of it is there, and its witness knows all of it."""
    seen: list[bool] = []

    def fill(vault: Vault) -> None:
        vault.items.put("offers", b"some")
        vault.items.put("offers/b", b"b")
        vault.items.put("offers/a", b"a")
        vault.ledger.append(TOLD)
        seen.append(at.vault.exists())

    make(at, PASSPHRASE, FAST, stream(), fill)
    assert seen == [False]
    assert beside(at) == ["vault.db"]
    assert [path.name for path in at.witness.parent.iterdir()] == ["witness.json"]
    with unlock(at, TYPED) as vault:
        assert vault.items.get("offers") == b"some"
        assert vault.items.names("offers/") == ["offers/a", "offers/b"]
        assert vault.items.names("") == ["offers", "offers/a", "offers/b"]
        assert vault.items.names("other/") == []
        assert vault.ledger.count == 1
        assert vault.notes == ()


def test_a_vault_that_appears_meanwhile_stays_whole(at: Location) -> None:
    """In use by somebody: its log and its witness are theirs."""
    live: list[Vault] = []

    def fill(_vault: Vault) -> None:
        key, _ = make_vault(at, PASSPHRASE, FAST, stream("other"))
        live.append(unlock_with(at, key))
        live[0].ledger.append(TOLD)

    with pytest.raises(VaultError, match="a vault already"):
        make(at, PASSPHRASE, FAST, stream(), fill)
    assert beside(at) == ["vault.db", "vault.db-wal"]
    live[0].close()
    with unlock(at, TYPED) as vault:
        assert vault.ledger.count == 1
        assert vault.notes == ()


def test_one_makes_a_vault_at_a_time(tmp_path: Path, at: Location) -> None:
    """A second is told so, whether it makes or restores one; the first goes on."""

    def fill(_vault: Vault) -> None:
        with pytest.raises(BusyVaultError, match="being made or restored"):
            make(at, PASSPHRASE, FAST, stream("second"))
        with pytest.raises(BusyVaultError, match="being made or restored"):
            restore(at, tmp_path / "backup.db", TYPED)

    make(at, PASSPHRASE, FAST, stream(), fill)
    unlock(at, TYPED).close()


def test_what_fails_leaves_nothing(at: Location) -> None:
    """And can be done again."""

    def fill(vault: Vault) -> None:
        vault.ledger.append(TOLD)
        raise VaultError("the disk is full", "make room")

    with pytest.raises(VaultError, match="the disk is full"):
        make(at, PASSPHRASE, FAST, stream(), fill)
    assert beside(at) == []
    assert [*at.witness.parent.iterdir()] == []
    make(at, PASSPHRASE, FAST, stream())
    unlock(at, TYPED).close()


def test_what_a_killed_one_left_goes(at: Location) -> None:
    """But nothing that is only called alike."""
    at.vault.parent.mkdir(mode=0o700)
    for name in (*LEFT, *OTHERS):
        at.vault.with_name(name).write_bytes(b"")
    make(at, PASSPHRASE, FAST, stream())
    assert beside(at) == sorted([*OTHERS, "vault.db"])


def test_a_name_is_taken_once(at: Location) -> None:
    """Also where it is taken between the look and the link."""
    with workshop(at) as part:
        make_vault(part, PASSPHRASE, FAST, stream())
        at.vault.symlink_to("nowhere")
        with pytest.raises(VaultError, match="a vault already"):
            put(part, at)
        at.vault.unlink()
        put(part, at)
    unlock(at, TYPED).close()


def test_a_file_that_lost_its_name_is_not_opened(
    at: Location, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What would be written into it would be in no vault."""
    make(at, PASSPHRASE, FAST, stream())
    with workshop(at) as part:
        make_vault(part, PASSPHRASE, FAST, stream("second"))

        def exchanged(path: Path) -> object:
            found = connect(path)
            found.execute("PRAGMA schema_version")
            put(part, at, over=True)
            return found

        monkeypatch.setattr(database, "connect", exchanged)
        with pytest.raises(BusyVaultError, match="another vault"):
            Database.open(at.vault)
    monkeypatch.undo()
    unlock(at, TYPED).close()

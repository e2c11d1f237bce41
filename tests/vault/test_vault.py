"""A vault, from its making to its closing."""

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from agent.errors import BusyVaultError, DamagedVaultError, UsageError, VaultError, WrongSecretError
from agent.paths import HOME, paths
from agent.vault.secrets import Secret
from agent.vault.slots import key_slots
from agent.vault.vault import unlock, unlock_with
from agent.vault.vault_files import Location
from tests.vault.begun import TOLD, new
from tests.vault.histories import NOW, disclosed
from tests.vault.values import change, model_of
from tests.vault.worlds import FAST, TYPED, create, new_vault, store_of

MODEL = model_of({"region": ("unspecified", "uk", "france")}, name="one")


def test_what_was_told_is_there_after_unlocking(at: Location) -> None:
    """By passphrase and by recovery code, as often as one likes."""
    made, code = new(at)
    with made as vault:
        assert vault.notes == ()
        assert vault.ledger.append(TOLD) == 1
        vault.items.put("offers", b"some")
    for secret in (TYPED, Secret("recovery", code.lower())):
        with unlock(at, secret) as vault:
            assert [each.record for each in vault.ledger.read()] == [TOLD]
            assert vault.items.get("offers") == b"some"
            assert vault.notes == ()


def test_an_item_of_others_is_not_the_vaults_own(at: Location) -> None:
    """The profile is not among the items, whatever name one takes."""
    made, _ = new(at)
    with made as vault:
        vault.items.put("profile", b"not the profile")
        assert vault.profile.values() == {}
        vault.items.delete("profile")
        assert vault.items.get("profile") is None
    with unlock(at, TYPED) as vault:
        assert vault.profile.values() == {}


def test_a_closed_vault_is_one_file_and_synced(at: Location) -> None:
    """Nothing lies beside it, and the witness knows all of it; closing again is nothing."""
    vault, _ = new(at)
    vault.ledger.append(TOLD)
    vault.close()
    vault.close()
    assert [path.name for path in at.vault.parent.iterdir()] == ["vault.db"]
    assert [path.name for path in at.witness.parent.iterdir()] == ["witness.json"]
    with unlock(at, TYPED) as again:
        assert again.notes == ()


def test_a_vault_may_be_unlocked_beside_and_used_here(at: Location) -> None:
    """The daemon derives the key in a thread of its own."""
    new(at)[0].close()
    with ThreadPoolExecutor(1) as beside:
        vault = beside.submit(unlock, at, TYPED).result(60)
    with vault:
        assert vault.ledger.append(TOLD) == 1


def test_a_second_vault_is_not_made(at: Location) -> None:
    """Neither over an open nor over a closed one; what is there stays."""
    vault, _ = new(at)
    with pytest.raises(VaultError, match="a vault already"):
        new(at, "second")
    vault.close()
    with pytest.raises(VaultError, match="a vault already"):
        new(at, "second")
    with unlock(at, TYPED) as again:
        assert again.notes == ()
    assert [path.name for path in at.vault.parent.iterdir()] == ["vault.db"]


def test_a_vault_that_failed_to_be_made_leaves_nothing(
    at: Location, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing that would look like one, and nothing beside it."""

    def refused(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "link", refused)
        with pytest.raises(VaultError, match="no space left"):
            new(at)
    assert [*at.vault.parent.iterdir()] == []
    new(at)[0].close()


def test_no_passphrase_makes_no_vault(at: Location) -> None:
    """Not even a folder."""
    with pytest.raises(UsageError, match="empty"):
        create(at, "", FAST)
    assert not at.vault.parent.exists()


def test_a_folder_that_others_write_to_is_not_used(at: Location) -> None:
    """Neither to make a vault nor to open one."""
    at.vault.parent.mkdir()
    at.vault.parent.chmod(0o777)
    with pytest.raises(UsageError, match="other users can write"):
        new(at)
    at.vault.parent.chmod(0o700)
    new(at)[0].close()
    at.witness.parent.chmod(0o777)
    with pytest.raises(UsageError, match="other users can write"):
        unlock(at, TYPED)
    at.witness.parent.chmod(0o755)
    unlock(at, TYPED).close()
    assert stat.S_IMODE(at.witness.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    "secret", [Secret("passphrase", "no"), Secret("passphrase"), Secret("recovery", "no")]
)
def test_a_refused_unlock_leaves_the_vault_free(at: Location, secret: Secret) -> None:
    """Trying again is possible at once."""
    new(at)[0].close()
    before = at.vault.read_bytes()
    with pytest.raises((WrongSecretError, UsageError)):
        unlock(at, secret)
    assert at.vault.read_bytes() == before
    unlock(at, TYPED).close()


def test_there_is_one_user_of_a_vault(at: Location) -> None:
    """Also to list the keys."""
    vault, _ = new(at)
    for use in (lambda: unlock(at, TYPED), lambda: key_slots(at.vault)):
        with pytest.raises(BusyVaultError):
            use()
    vault.close()
    with pytest.raises(VaultError, match="there is no vault"):
        unlock(Location(at.vault.with_name("none"), at.witness), TYPED)


def test_an_entry_that_is_no_record_is_damage(at: Location) -> None:
    """The file is closed again, whoever refuses what is in it."""
    vault, _ = new(at)
    vault.close()
    with store_of(at, TYPED) as store:
        store.append_entry("a.example", b"not a record", durable=True)
    with pytest.raises(DamagedVaultError):
        unlock(at, TYPED)
    assert key_slots(at.vault)


def test_a_location_is_where_the_users_files_are(tmp_path: Path) -> None:
    """Vault and witness lie in different folders."""
    ours = paths({HOME: str(tmp_path)})
    at = Location.of(ours)
    assert (at.vault, at.witness) == (ours.vault, ours.witness)
    assert at.vault.parent != at.witness.parent


def test_values_stay_with_the_vault(tmp_path: Path) -> None:
    """They are revealed to a later process, and a copy of the file has none in the clear."""
    with new_vault(tmp_path) as (at, key):
        with unlock_with(at, key) as vault:
            change(vault.profile, {"region": "france"}, (), [MODEL])
            vault.ledger.append(disclosed(NOW, "books.example", region="france"))
        with unlock_with(at, key) as vault:
            assert vault.profile.reveal(["region"], MODEL) == {"region": "france"}
        data = at.vault.read_bytes()
        for private in (b"france", b"region", b"books", b"editor"):
            assert private not in data


def test_an_entry_that_is_too_large_did_not_happen(tmp_path: Path) -> None:
    """The recipient holds no more, and the ledger goes on."""
    with new_vault(tmp_path) as (at, key), unlock_with(at, key) as vault:
        with pytest.raises(UsageError):
            vault.ledger.append(disclosed(NOW, "a.example", region="x" * 2**17))
        assert [*vault.ledger.disclosures.pools(str)] == []
        assert vault.ledger.append(disclosed(NOW, "a.example", region="uk")) == 1

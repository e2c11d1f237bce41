"""A vault, from its making to its closing."""

import stat
from concurrent.futures import ThreadPoolExecutor

import pytest

from agent.errors import DamagedVaultError, UsageError, WrongSecretError
from agent.vault.secrets import Secret
from agent.vault.slots import key_slots
from agent.vault.vault import unlock
from agent.vault.vault_files import Location
from tests.vault.worlds import FAST, TOLD, TYPED, create, new, store_of


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
        assert vault.profile.facts == ()
        vault.items.delete("profile")
        assert vault.items.get("profile") is None
    with unlock(at, TYPED) as vault:
        assert vault.profile.facts == ()


def test_a_vault_may_be_unlocked_beside_and_used_here(at: Location) -> None:
    """The daemon derives the key in a thread of its own."""
    new(at)[0].close()
    with ThreadPoolExecutor(1) as beside:
        vault = beside.submit(unlock, at, TYPED).result(60)
    with vault:
        assert vault.ledger.append(TOLD) == 1


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


def test_an_entry_that_is_no_record_is_damage(at: Location) -> None:
    """The file is closed again, whoever refuses what is in it."""
    vault, _ = new(at)
    vault.close()
    with store_of(at, TYPED) as store:
        store.append_entry("a.example", b"not a record", durable=True)
    with pytest.raises(DamagedVaultError):
        unlock(at, TYPED)
    assert key_slots(at.vault)

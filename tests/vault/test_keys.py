"""The keys of a vault, as its user adds, removes and replaces them."""

import pytest

from agent.errors import VaultError, WrongSecretError
from agent.vault import vault as vaults
from agent.vault.backup import keys
from agent.vault.seal import FLOOR, Derivation
from agent.vault.secrets import Kind, Secret
from agent.vault.slots import SlotRow
from agent.vault.vault import Vault, create, unlock
from agent.vault.vault_files import Location
from tests.vault.histories import NOW, disclosed
from tests.vault.worlds import FAST, PASSPHRASE, TYPED, altered, stream

TOLD = disclosed(NOW, "www.a.example", region="uk")
AGAIN = disclosed(NOW, "www.a.example", region="uk", age="old")


def kinds(rows: list[SlotRow]) -> list[tuple[int, Kind | None, Derivation | None]]:
    """Return what can be said of slots without a key."""
    return [(row.id, row.kind, row.derivation) for row in rows]


def new(at: Location) -> tuple[Vault, str]:
    """Make a vault, fast."""
    return create(at, PASSPHRASE, FAST, stream())


def test_keys_are_added_and_removed(at: Location) -> None:
    """Each opens until it is removed, and is listed with and without the vault unlocked."""
    made, code = new(at)
    with made as vault:
        number = vault.add_passphrase("second", FAST)
        second_code = vault.add_recovery()
        listed = vault.keys()
        vault.remove_slot(1)
    assert kinds(listed) == [
        (1, "passphrase", FAST),
        (2, "recovery", None),
        (number, "passphrase", FAST),
        (4, "recovery", None),
    ]
    assert keys(at) == listed[1:]
    codes = [Secret("recovery", each) for each in (code, second_code)]
    for secret in (Secret("passphrase", "second"), *codes):
        unlock(at, secret).close()
    with pytest.raises(WrongSecretError):
        unlock(at, TYPED)
    with unlock(at, Secret("recovery", code)) as vault:
        for each in (2, 3):
            vault.remove_slot(each)
        with pytest.raises(VaultError, match="the last"):
            vault.remove_slot(4)
        assert kinds(vault.keys()) == [(4, "recovery", None)]


def test_a_vault_with_other_keys_has_no_notes(at: Location) -> None:
    """What the vault did itself to its slots is no alteration; what somebody else did is."""
    made, _ = new(at)
    with made as vault:
        vault.add_passphrase("second", FAST)
        vault.remove_slot(2)
        vault.rotate(PASSPHRASE)
    with unlock(at, TYPED) as vault:
        assert vault.notes == ()
    altered(at, "DELETE FROM slot WHERE id != 1", "INSERT INTO slot VALUES (7, x'00', x'00')")
    with unlock(at, TYPED) as vault:
        assert any("key list" in note for note in vault.notes)
        assert kinds(vault.keys()) == [(1, "passphrase", FAST), (7, None, None)]
        vault.remove_slot(7)
    with unlock(at, TYPED) as vault:
        assert vault.notes == ()


def test_rotation_keeps_the_passphrase_given_only(at: Location) -> None:
    """With the work of its slot; an old code opens nothing, a vault without one gets none."""
    made, code = new(at)
    with made as vault:
        vault.ledger.append(TOLD)
        vault.add_passphrase("second", FAST)
        renewed = vault.rotate(PASSPHRASE)
        vault.ledger.append(AGAIN)
        later = vault.add_passphrase("third", FAST)
    assert renewed is not None
    for secret in (Secret("passphrase", "second"), Secret("recovery", code)):
        with pytest.raises(WrongSecretError):
            unlock(at, secret)
    unlock(at, Secret("passphrase", "third")).close()
    with unlock(at, Secret("recovery", renewed)) as vault:
        assert [each.record for each in vault.ledger.read()] == [TOLD, AGAIN]
        vault.remove_slot(2)
        vault.remove_slot(later)
        assert vault.rotate(PASSPHRASE) is None
    with unlock(at, TYPED) as vault:
        assert kinds(vault.keys()) == [(1, "passphrase", FAST)]
        assert vault.ledger.count == 2


def test_the_work_is_calibrated_where_none_is_given(
    at: Location, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In `create` and in `add_passphrase`; nothing below the floor is ever made then."""
    monkeypatch.setattr(vaults, "calibrate", lambda _: FLOOR)
    vault, _ = create(at, PASSPHRASE)
    with vault:
        vault.add_passphrase("second")
        listed = vault.keys()
    assert [slot.derivation for slot in listed] == [FLOOR, None, FLOOR]

"""A slot opens with its secret, in its place, as it was made; and the last cannot go."""

import stat
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import DamagedVaultError, UsageError, VaultError, WrongSecretError
from agent.vault import seal
from agent.vault.seal import Derivation, Key, from_json
from agent.vault.secrets import Kind, Secret
from agent.vault.slots import (
    MAX_SLOTS,
    SLOT,
    SlotRow,
    data_key,
    free_id,
    key_slots,
    make_slot,
    slot_key,
    unwrap,
    without_slot,
)
from agent.vault.vault import unlock
from agent.vault.vault_files import Location
from tests.vault.worlds import (
    AGAIN,
    FAST,
    PASSPHRASE,
    TOLD,
    TYPED,
    altered,
    create,
    new,
    store_of,
    stream,
)

ID = b"v" * 16
KEY = Key(bytes(range(32)))
OWN = KEY, ID, stream("slots")
PASS = make_slot(1, TYPED, *OWN, FAST)[0]
RECOVERY, CODE = make_slot(2, Secret("recovery"), *OWN)
DAMAGED = SlotRow(3, b"", None)


@pytest.mark.parametrize(
    "secret",
    [
        Secret("passphrase", "another"),
        Secret("recovery", make_slot(2, Secret("recovery"), *OWN)[1]),
        Secret("keyring"),
    ],
)
def test_another_secret_opens_nothing(secret: Secret) -> None:
    """One sentence, without the secret."""
    with pytest.raises(WrongSecretError) as caught:
        data_key([PASS, RECOVERY], secret, ID)
    assert str(secret.text) not in caught.value.what + caught.value.hint


@given(st.sampled_from(["salt", "wrapped", "memory_kib", "iterations", "lanes"]), st.data())
def test_everything_in_a_slot_is_authenticated(name: str, data: st.DataObject) -> None:
    """With the slot's own key at hand, any other word in it still opens nothing."""
    slot = PASS.slot
    assert slot is not None
    by = slot_key(slot, PASSPHRASE.encode())
    value = getattr(slot, name)
    if isinstance(value, int):
        other: object = data.draw(st.integers(0, 2**32 - 1).filter(lambda drawn: drawn != value))
    else:
        place = data.draw(st.integers(0, len(value) - 1))
        digit = data.draw(st.sampled_from("0123456789abcdef").filter(lambda d: d != value[place]))
        other = value[:place] + digit + value[place + 1 :]
    changed = msgspec.structs.replace(slot, **{name: other})
    assert unwrap(slot, by, ID, 1) == KEY
    assert unwrap(changed, by, ID, 1) is None


def test_a_slot_opens_in_its_place_only() -> None:
    """Neither under another number nor in another vault."""
    assert PASS.slot is not None
    by = slot_key(PASS.slot, PASSPHRASE.encode())
    assert unwrap(PASS.slot, by, ID, 2) is None
    assert unwrap(PASS.slot, by, b"w" * 16, 1) is None


@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_any_body_is_a_slot_or_none(body: bytes) -> None:
    """What is read is what would be written."""
    slot = from_json(body, SLOT)
    assert slot is None or from_json(msgspec.json.encode(slot), SLOT) == slot


def test_the_last_that_opens_everywhere_cannot_go() -> None:
    """A damaged one and the keyring do not count."""
    assert without_slot([PASS, RECOVERY], 1) == [RECOVERY]
    assert without_slot([PASS, RECOVERY, DAMAGED], 3) == [PASS, RECOVERY]
    for rows in ([PASS], [PASS, DAMAGED]):
        with pytest.raises(VaultError, match="the last"):
            without_slot(rows, 1)
    with pytest.raises(VaultError, match="no key slot 9"):
        without_slot([PASS], 9)


def test_numbers_are_taken_where_they_are_free() -> None:
    """Up to eight slots."""
    rows = [replace(PASS, id=number) for number in range(1, MAX_SLOTS + 1)]
    assert free_id([PASS, DAMAGED]) == 2
    assert free_id(rows[:-1]) == MAX_SLOTS
    with pytest.raises(VaultError, match="8 key slots already"):
        free_id(rows)


def kinds(rows: list[SlotRow]) -> list[tuple[int, Kind | None, Derivation | None]]:
    """Return what can be said of slots without a key."""
    return [(row.id, row.kind, row.derivation) for row in rows]


def test_keys_are_added_and_removed(at: Location) -> None:
    """Each opens until it is removed, and is listed with and without the vault unlocked."""
    made, code = new(at)
    with made as vault:
        number, _ = vault.add_slot("passphrase", "second", FAST)
        _, second_code = vault.add_slot("recovery")
        listed = vault.keys()
        vault.remove_slot(1)
    assert kinds(listed) == [
        (1, "passphrase", FAST),
        (2, "recovery", None),
        (number, "passphrase", FAST),
        (4, "recovery", None),
    ]
    assert key_slots(at.vault) == listed[1:]
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
        vault.add_slot("passphrase", "second", FAST)
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
        vault.add_slot("passphrase", "second", FAST)
        renewed = vault.rotate(PASSPHRASE)
        vault.ledger.append(AGAIN)
        later, _ = vault.add_slot("passphrase", "third", FAST)
    assert renewed is not None
    for secret in (Secret("passphrase", "second"), Secret("recovery", code)):
        with pytest.raises(WrongSecretError):
            unlock(at, secret)
    unlock(at, Secret("passphrase", "third")).close()
    with unlock(at, Secret("recovery", renewed)) as vault:
        assert [record for _, record in vault.ledger.read()] == [TOLD, AGAIN]
        vault.remove_slot(2)
        vault.remove_slot(later)
        assert vault.rotate(PASSPHRASE) is None
    with unlock(at, TYPED) as vault:
        assert kinds(vault.keys()) == [(1, "passphrase", FAST)]
        assert vault.ledger.count == 2


def test_the_work_is_calibrated_where_none_is_given(
    at: Location, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In `create` and in `add_slot`."""
    chosen = Derivation(16, 1, 1)
    monkeypatch.setattr(seal, "calibrate", lambda _: chosen)
    vault, _ = create(at, PASSPHRASE)
    with vault:
        vault.add_slot("passphrase", "second")
        listed = vault.keys()
    assert [slot.derivation for slot in listed] == [chosen, None, chosen]


def test_what_was_told_is_there_after_unlocking(at: Location) -> None:
    """By passphrase and by recovery code, as often as one likes."""
    made, code = new(at)
    with made as vault:
        assert vault.notes == ()
        assert vault.ledger.append(TOLD) == 1
        vault.items.put("offers", b"some")
    for secret in (TYPED, Secret("recovery", code.lower())):
        with unlock(at, secret) as vault:
            assert [record for _, record in vault.ledger.read()] == [TOLD]
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

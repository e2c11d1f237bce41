"""What is sealed opens with its key and in its place only, and a passphrase takes its time."""

import os
import stat
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast
from unittest.mock import Mock, patch

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import RolledBackError, UsageError, VaultError, WrongSecretError
from agent.vault import seal, slots
from agent.vault.ledger import Disclosure, Record
from agent.vault.secrets import Kind, Secret
from agent.vault.vault import Vault, unlock, unlock_with
from agent.vault.vault_files import Location
from tests.vault import worlds
from tests.vault.histories import ADS, histories

KEY = seal.Key(bytes(range(32)))
FIELDS = st.lists(
    st.binary(max_size=6) | st.text(max_size=4) | st.integers(0, 2**64 - 1), max_size=4
)
SALT = bytes(16)
FASTEST = seal.Derivation(8, 1, 1)


def told(field: bytes | str | int) -> bytes:
    """Return what a field is, as bytes."""
    match field:
        case int():
            return field.to_bytes(8, "big")
        case str():
            return field.encode()
        case _:
            return field


@given(FIELDS, FIELDS)
def test_different_fields_are_different_frames(one: list[bytes], other: list[bytes]) -> None:
    """Wherever one field ends and the next begins, also where the bytes are the same in all."""
    same = [told(field) for field in one] == [told(field) for field in other]
    assert (seal.frame(*one) == seal.frame(*other)) == same


@given(st.text(min_size=1, max_size=20), st.binary(max_size=20))
def test_a_name_before_a_payload_comes_back(name: str, payload: bytes) -> None:
    """Also a payload that looks like a name."""
    assert seal.split_name(seal.prefix_name(name, payload)) == (name, payload)


@given(st.binary(max_size=100), st.binary(max_size=20))
def test_what_was_sealed_opens(payload: bytes, bound: bytes) -> None:
    """With the same key and context; 28 bytes are added."""
    sealed = seal.Sealer(KEY, os.urandom).seal(payload, bound)
    assert len(sealed) == len(payload) + seal.OVERHEAD
    assert seal.Sealer(seal.Key(KEY.data), bytes).open(sealed, bound) == payload


@given(st.binary(max_size=40), st.data())
def test_any_flipped_bit_is_noticed(payload: bytes, data: st.DataObject) -> None:
    """In nonce, payload, tag or context."""
    sealer = seal.Sealer(KEY, os.urandom)
    whole = sealer.seal(payload, b"place") + b"place"
    at = data.draw(st.integers(0, 8 * len(whole) - 1))
    flipped = bytearray(whole)
    flipped[at // 8] ^= 1 << at % 8
    with pytest.raises(seal.UnsealedError):
        sealer.open(bytes(flipped[:-5]), bytes(flipped[-5:]))


@given(st.binary(max_size=seal.OVERHEAD + 2))
def test_bytes_that_were_never_sealed_do_not_open(data: bytes) -> None:
    """However short."""
    with pytest.raises(seal.UnsealedError):
        seal.Sealer(KEY, os.urandom).open(data, b"")


def test_keys_of_one_vault_are_of_no_use_in_another() -> None:
    """Subkeys and look-ups differ with the vault id, tables and names."""
    one, other = seal.Seals(KEY, bytes(16), os.urandom), seal.Seals(KEY, b"1" * 16, os.urandom)
    assert len({one.lookup("a", "b"), one.lookup("ab", ""), other.lookup("a", "b")}) == 3
    with pytest.raises(seal.UnsealedError):
        other.open(one.seal(b"x", "entry", 1), "entry", 1)
    assert seal.context(bytes(16), "a", 1) == seal.context(bytes(16), "a") + seal.frame(1)


def calibrated(seconds: float, memory_kib: int = 2**40) -> seal.Derivation:
    """Calibrate on a machine that needs so many seconds for each KiB."""
    now = [0.0]

    def work(_passphrase: bytes, _salt: bytes, derivation: seal.Derivation) -> None:
        if derivation.memory_kib > memory_kib:
            raise VaultError("no memory", "none")
        now[0] += derivation.memory_kib * seconds

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(seal, "derive", work)
        return seal.calibrate(lambda: now[0])


@given(st.floats(1e-9, 1e-3))
def test_calibration_comes_near_the_target(seconds: float) -> None:
    """From below by less than half, from above by half, or at an end of the range."""
    chosen = calibrated(seconds)
    taken = chosen.memory_kib * seconds
    assert seal.FLOOR.memory_kib <= chosen.memory_kib <= seal.CALIBRATED_KIB
    assert (chosen.iterations, chosen.lanes) == (seal.FLOOR.iterations, seal.FLOOR.lanes)
    assert chosen == seal.FLOOR or taken <= 1.5 * seal.TARGET_SECONDS
    assert chosen.memory_kib == seal.CALIBRATED_KIB or taken >= seal.TARGET_SECONDS / 1.5


def test_calibration_stays_within_the_memory() -> None:
    """A small machine gets what it can compute; below the floor it is told so."""
    assert calibrated(0, 2**17).memory_kib == 2**17
    with pytest.raises(VaultError):
        calibrated(0, 2**15)


def test_unbearable_work_is_refused_before_it_is_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is ever passed on to Argon2id; memory that is not there is one sentence."""
    monkeypatch.setattr("agent.vault.seal.Argon2id", Mock(side_effect=AssertionError))
    for changes in (
        *({"memory_kib": each} for each in (seal.MAX_MEMORY_KIB + 1, 2**32 - 1, 0)),
        {"memory_kib": 8 * seal.FLOOR.lanes - 1},
        {"memory_kib": seal.MAX_MEMORY_KIB, "iterations": seal.MAX_WORK // seal.MAX_MEMORY_KIB + 1},
        {"memory_kib": seal.MAX_WORK // seal.MAX_ITERATIONS + 1, "iterations": seal.MAX_ITERATIONS},
        *({"iterations": each} for each in (seal.MAX_ITERATIONS + 1, 0)),
        *({"lanes": each} for each in (seal.MAX_LANES + 1, 0)),
    ):
        with pytest.raises(VaultError, match="more work or memory"):
            seal.derive(b"x", SALT, replace(seal.FLOOR, **changes))
    monkeypatch.setattr("agent.vault.seal.Argon2id", Mock(side_effect=MemoryError))
    with pytest.raises(VaultError, match="memory"):
        seal.derive(b"x", SALT, FASTEST)


ID = b"v" * 16
OWN = KEY, ID, worlds.stream("slots")
PASS = slots.make_slot(1, worlds.TYPED, *OWN, worlds.FAST)[0]
RECOVERY, _ = slots.make_slot(2, Secret("recovery"), *OWN)
DAMAGED = slots.SlotRow(3, b"", None)


def test_another_secret_opens_nothing() -> None:
    """One sentence, without the secret."""
    _, code = slots.make_slot(2, Secret("recovery"), *OWN)
    for secret in (Secret("passphrase", "another"), Secret("recovery", code), Secret("keyring")):
        with pytest.raises(WrongSecretError) as caught:
            slots.data_key([PASS, RECOVERY], secret, ID)
        assert str(secret.text) not in caught.value.what + caught.value.hint


@given(st.sampled_from(["salt", "wrapped", "memory_kib", "iterations", "lanes"]), st.data())
def test_everything_in_a_slot_is_authenticated(name: str, data: st.DataObject) -> None:
    """With the slot's own key at hand, any other word in it still opens nothing."""
    slot = PASS.slot
    assert slot is not None
    by = slots.slot_key(slot, worlds.PASSPHRASE.encode())
    value = getattr(slot, name)
    if isinstance(value, int):
        other: object = data.draw(st.integers(0, 2**32 - 1).filter(lambda drawn: drawn != value))
    else:
        place = data.draw(st.integers(0, len(value) - 1))
        digit = data.draw(st.sampled_from("0123456789abcdef").filter(lambda d: d != value[place]))
        other = value[:place] + digit + value[place + 1 :]
    changed = msgspec.structs.replace(slot, **{name: other})
    assert slots.unwrap(slot, by, ID, 1) == KEY
    assert slots.unwrap(changed, by, ID, 1) is None


def test_a_slot_opens_in_its_place_only() -> None:
    """Neither under another number nor in another vault."""
    assert PASS.slot is not None
    by = slots.slot_key(PASS.slot, worlds.PASSPHRASE.encode())
    assert slots.unwrap(PASS.slot, by, ID, 2) is None
    assert slots.unwrap(PASS.slot, by, b"w" * 16, 1) is None


@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_any_body_is_a_slot_or_none(body: bytes) -> None:
    """What is read is what would be written."""
    slot = seal.from_json(body, slots.SLOT)
    assert slot is None or seal.from_json(msgspec.json.encode(slot), slots.SLOT) == slot


def test_the_last_that_opens_everywhere_cannot_go() -> None:
    """A damaged one and the keyring do not count."""
    assert slots.without_slot([PASS, RECOVERY], 1) == [RECOVERY]
    assert slots.without_slot([PASS, RECOVERY, DAMAGED], 3) == [PASS, RECOVERY]
    for rows in ([PASS], [PASS, DAMAGED]):
        with pytest.raises(VaultError, match="the last"):
            slots.without_slot(rows, 1)
    with pytest.raises(VaultError, match="no key slot 9"):
        slots.without_slot([PASS], 9)


def test_numbers_are_taken_where_they_are_free() -> None:
    """Up to eight slots."""
    rows = [replace(PASS, id=number) for number in range(1, slots.MAX_SLOTS + 1)]
    assert slots.free_id([PASS, DAMAGED]) == 2
    assert slots.free_id(rows[:-1]) == slots.MAX_SLOTS
    with pytest.raises(VaultError, match="8 key slots already"):
        slots.free_id(rows)


def _kinds(rows: list[slots.SlotRow]) -> list[tuple[int, Kind | None, seal.Derivation | None]]:
    return [(row.id, row.kind, row.derivation) for row in rows]


def test_keys_are_added_and_removed(at: Location) -> None:
    """Each opens until it is removed, and is listed with and without the vault unlocked."""
    made, code = worlds.new(at)
    with made as vault:
        number, _ = vault.add_slot("passphrase", "second", worlds.FAST)
        _, second_code = vault.add_slot("recovery")
        listed = vault.keys()
        vault.remove_slot(1)
    assert _kinds(listed) == [
        (1, "passphrase", worlds.FAST),
        (2, "recovery", None),
        (number, "passphrase", worlds.FAST),
        (4, "recovery", None),
    ]
    assert slots.key_slots(at.vault) == listed[1:]
    codes = [Secret("recovery", each) for each in (code, second_code)]
    for secret in (Secret("passphrase", "second"), *codes):
        unlock(at, secret).close()
    with pytest.raises(WrongSecretError):
        unlock(at, worlds.TYPED)
    with unlock(at, Secret("recovery", code)) as vault:
        for each in (2, 3):
            vault.remove_slot(each)
        with pytest.raises(VaultError, match="the last"):
            vault.remove_slot(4)
        assert _kinds(vault.keys()) == [(4, "recovery", None)]


def test_a_vault_with_other_keys_has_no_notes(at: Location) -> None:
    """What the vault did itself to its slots is no alteration; what somebody else did is."""
    with worlds.new(at)[0] as vault:
        vault.add_slot("passphrase", "second", worlds.FAST)
        vault.remove_slot(2)
        vault.rotate(worlds.PASSPHRASE)
    with unlock(at, worlds.TYPED) as vault:
        assert vault.notes == ()
    worlds.altered(
        at, "DELETE FROM slot WHERE id != 1", "INSERT INTO slot VALUES (7, x'00', x'00')"
    )
    with unlock(at, worlds.TYPED) as vault:
        assert any("key list" in note for note in vault.notes)
        assert _kinds(vault.keys()) == [(1, "passphrase", worlds.FAST), (7, None, None)]
        vault.remove_slot(7)
    with unlock(at, worlds.TYPED) as vault:
        assert vault.notes == ()


def test_rotation_keeps_the_passphrase_given_only(at: Location) -> None:
    """With the work of its slot; an old code opens nothing, a vault without one gets none."""
    made, code = worlds.new(at)
    with made as vault:
        vault.ledger.append(worlds.TOLD)
        vault.add_slot("passphrase", "second", worlds.FAST)
        renewed = vault.rotate(worlds.PASSPHRASE)
        vault.ledger.append(worlds.AGAIN)
        later, _ = vault.add_slot("passphrase", "third", worlds.FAST)
    assert renewed is not None
    for secret in (Secret("passphrase", "second"), Secret("recovery", code)):
        with pytest.raises(WrongSecretError):
            unlock(at, secret)
    unlock(at, Secret("passphrase", "third")).close()
    with unlock(at, Secret("recovery", renewed)) as vault:
        assert [record for _, record in vault.ledger.read()] == [worlds.TOLD, worlds.AGAIN]
        vault.remove_slot(2)
        vault.remove_slot(later)
        assert vault.rotate(worlds.PASSPHRASE) is None
    with unlock(at, worlds.TYPED) as vault:
        assert _kinds(vault.keys()) == [(1, "passphrase", worlds.FAST)]
        assert vault.ledger.count == 2


@given(histories(), st.sets(st.integers(1, 15)))
@worlds.FEW
def test_a_text_is_deleted_for_good(history: list[Record], chosen: set[int]) -> None:
    """What is known stays, also for whoever opens it later; a copy from before is known as old."""

    def known(vault: Vault) -> list[object]:
        return [(n, dict(e.held), e.spent) for n, e in vault.ledger.disclosures.pools(ADS)]

    with TemporaryDirectory() as folder, worlds.new_vault(Path(folder)) as (at, key):
        with unlock_with(at, key) as vault:
            for each in history:
                vault.ledger.append(each)
            before = known(vault)
            vault.backup(old := at.vault.with_name("old"))
            deleted = vault.delete_texts(lambda number, _: number in chosen)
        with unlock_with(at, key) as vault:
            assert vault.notes == ()
            for (number, each), was in zip(vault.ledger.read(), history, strict=True):
                keeps = number not in chosen or not isinstance(was, Disclosure)
                assert each == (was if keeps else cast("Disclosure", was).without_text())
            assert known(vault) == before
            assert vault.delete_texts(lambda number, _: number in chosen) == []
        old.replace(at.vault)
        if deleted:
            with pytest.raises(RolledBackError):
                unlock_with(at, key)


@given(st.lists(st.integers(16, 20), max_size=3), st.integers(16, 20))
def test_a_new_slot_is_as_strong_as_any(others: list[int], measured: int) -> None:
    """However slow the machine is just now."""
    work = {"kind": "passphrase", "salt": "00" * 16, "iterations": 3, "lanes": 4}
    works = ({**work, "memory_kib": 2**each} for each in others)
    rows = [slots.SlotRow(1, b"", msgspec.convert(each, slots.Slot)) for each in works]
    with patch.object(seal, "calibrate", return_value=seal.Derivation(2**measured)):
        assert slots.strongest(rows).memory_kib == 2 ** max(*others, measured, measured)


def test_an_item_of_others_is_not_the_vaults_own(at: Location) -> None:
    """The profile is not among the items, whatever name one takes."""
    with worlds.new(at)[0] as vault:
        vault.items.put("profile", b"not the profile")
        assert vault.profile.facts == ()
        vault.items.delete("profile")
        assert vault.items.get("profile") is None
    with unlock(at, worlds.TYPED) as vault:
        assert vault.profile.facts == ()


def test_a_folder_that_others_write_to_is_not_used(at: Location) -> None:
    """Neither to make a vault nor to open one."""
    at.vault.parent.mkdir()
    at.vault.parent.chmod(0o777)
    with pytest.raises(UsageError, match="other users can write"):
        worlds.new(at)
    at.vault.parent.chmod(0o700)
    worlds.new(at)[0].close()
    at.witness.parent.chmod(0o777)
    with pytest.raises(UsageError, match="other users can write"):
        unlock(at, worlds.TYPED)
    at.witness.parent.chmod(0o755)
    unlock(at, worlds.TYPED).close()
    assert stat.S_IMODE(at.witness.parent.stat().st_mode) == 0o700

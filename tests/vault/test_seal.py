"""What is sealed opens with its key and in its place only, and a passphrase takes its time."""

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import VaultError
from agent.vault.seal import (
    CALIBRATED_KIB,
    FLOOR,
    MAX_ITERATIONS,
    MAX_LANES,
    MAX_MEMORY_KIB,
    MAX_WORK,
    OVERHEAD,
    TARGET_SECONDS,
    Derivation,
    Key,
    Sealer,
    Seals,
    UnsealedError,
    calibrate,
    context,
    derive,
    frame,
    prefix_name,
    split_name,
)

KEY = Key(bytes(range(32)))
FIELDS = st.lists(
    st.binary(max_size=6) | st.text(max_size=4) | st.integers(0, 2**64 - 1), max_size=4
)
SALT = bytes(16)
Machine = tuple[Callable[[], float], Callable[[Derivation], None]]
FASTEST = Derivation(8, 1, 1)


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
    assert (frame(*one) == frame(*other)) == same


@given(st.text(min_size=1, max_size=20), st.binary(max_size=20))
def test_a_name_before_a_payload_comes_back(name: str, payload: bytes) -> None:
    """Also a payload that looks like a name."""
    assert split_name(prefix_name(name, payload)) == (name, payload)


@given(st.binary(max_size=6))
def test_any_bytes_are_named_or_refused(data: bytes) -> None:
    """ValueError, never another."""
    try:
        name, payload = split_name(data)
    except ValueError:
        return
    assert prefix_name(name, payload) == data


@given(st.binary(max_size=100), st.binary(max_size=20))
def test_what_was_sealed_opens(payload: bytes, bound: bytes) -> None:
    """With the same key and context; 28 bytes are added."""
    sealed = Sealer(KEY, os.urandom).seal(payload, bound)
    assert len(sealed) == len(payload) + OVERHEAD
    assert Sealer(Key(KEY.data), bytes).open(sealed, bound) == payload


@given(st.binary(max_size=40), st.data())
def test_any_flipped_bit_is_noticed(payload: bytes, data: st.DataObject) -> None:
    """In nonce, payload, tag or context."""
    sealer = Sealer(KEY, os.urandom)
    whole = sealer.seal(payload, b"place") + b"place"
    at = data.draw(st.integers(0, 8 * len(whole) - 1))
    flipped = bytearray(whole)
    flipped[at // 8] ^= 1 << at % 8
    with pytest.raises(UnsealedError):
        sealer.open(bytes(flipped[:-5]), bytes(flipped[-5:]))


@given(st.binary(max_size=OVERHEAD + 2))
def test_bytes_that_were_never_sealed_do_not_open(data: bytes) -> None:
    """However short."""
    with pytest.raises(UnsealedError):
        Sealer(KEY, os.urandom).open(data, b"")


def test_keys_of_one_vault_are_of_no_use_in_another() -> None:
    """Subkeys and look-ups differ with the vault id, tables and names."""
    one, other = Seals(KEY, bytes(16), os.urandom), Seals(KEY, b"1" * 16, os.urandom)
    assert len({one.lookup("a", "b"), one.lookup("ab", ""), other.lookup("a", "b")}) == 3
    with pytest.raises(UnsealedError):
        other.open(one.seal(b"x", "entry", 1), "entry", 1)
    assert context(bytes(16), "a", 1) == context(bytes(16), "a") + frame(1)


def machine(seconds: float, memory_kib: int = 2**40) -> Machine:
    """Return the clock of a machine that needs so many seconds for each KiB, and its work."""
    now = [0.0]

    def work(derivation: Derivation) -> None:
        if derivation.memory_kib > memory_kib:
            raise VaultError("no memory", "none")
        now[0] += derivation.memory_kib * seconds

    return (lambda: now[0]), work


@given(st.floats(1e-9, 1e-3))
def test_calibration_comes_near_the_target(seconds: float) -> None:
    """From below by less than half, from above by half, or at an end of the range."""
    chosen = calibrate(*machine(seconds))
    taken = chosen.memory_kib * seconds
    assert FLOOR.memory_kib <= chosen.memory_kib <= CALIBRATED_KIB
    assert (chosen.iterations, chosen.lanes) == (FLOOR.iterations, FLOOR.lanes)
    assert chosen == FLOOR or taken <= 1.5 * TARGET_SECONDS
    assert chosen.memory_kib == CALIBRATED_KIB or taken >= TARGET_SECONDS / 1.5


def test_calibration_stays_within_the_memory() -> None:
    """A small machine gets what it can compute; below the floor it is told so."""
    assert calibrate(*machine(0, 2**17)).memory_kib == 2**17
    with pytest.raises(VaultError):
        calibrate(*machine(0, 2**15))


@pytest.mark.parametrize(
    "changes",
    [
        {"memory_kib": MAX_MEMORY_KIB + 1},
        {"memory_kib": 2**32 - 1},
        {"memory_kib": 8 * FLOOR.lanes - 1},
        {"memory_kib": 0},
        {"memory_kib": MAX_MEMORY_KIB, "iterations": MAX_WORK // MAX_MEMORY_KIB + 1},
        {"memory_kib": MAX_WORK // MAX_ITERATIONS + 1, "iterations": MAX_ITERATIONS},
        {"iterations": MAX_ITERATIONS + 1},
        {"iterations": 0},
        {"lanes": MAX_LANES + 1},
        {"lanes": 0},
    ],
)
def test_unbearable_work_is_refused_before_it_is_begun(
    changes: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is ever passed on to Argon2id."""
    begun: Iterator[object] = iter(())
    monkeypatch.setattr("agent.vault.seal.Argon2id", lambda **_: next(begun))
    with pytest.raises(VaultError, match="more work or memory"):
        derive(b"x", SALT, replace(FLOOR, **changes))


def test_memory_that_is_not_there_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """As cryptography says it."""
    exhausted = Mock(side_effect=MemoryError)
    monkeypatch.setattr("agent.vault.seal.Argon2id", exhausted)
    with pytest.raises(VaultError, match="memory"):
        derive(b"x", SALT, FASTEST)


def test_every_parameter_counts() -> None:
    """Different work, salt or passphrase, different key; the same, the same."""
    keys = {
        derive(b"x", SALT, FASTEST),
        derive(b"y", SALT, FASTEST),
        derive(b"x", b"1" * 16, FASTEST),
        derive(b"x", SALT, replace(FASTEST, iterations=2)),
        derive(b"x", SALT, replace(FASTEST, memory_kib=16)),
        derive(b"x", SALT, Derivation(16, 1, 2)),
    }
    assert len(keys) == 6
    assert derive(b"x", SALT, FASTEST) in keys

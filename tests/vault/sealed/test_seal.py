"""What is sealed opens in its place only, and no two lists of fields are one place."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.vault.seal import (
    OVERHEAD,
    Key,
    Sealer,
    Seals,
    UnsealedError,
    context,
    frame,
    named,
    unnamed,
)

KEY = Key(bytes(range(32)))
FIELDS = st.lists(st.binary(max_size=6) | st.text(max_size=4) | st.integers(0, 2**64 - 1))


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
    """Wherever one field ends and the next begins."""
    same = [told(field) for field in one] == [told(field) for field in other]
    assert (frame(*one) == frame(*other)) == same


@given(st.binary(max_size=8))
def test_moving_a_border_is_another_frame(data: bytes) -> None:
    """The same bytes in all, cut at another place."""
    cuts = {frame(data[:at], data[at:]) for at in range(len(data) + 1)}
    assert len(cuts) == len(data) + 1


@given(st.text(min_size=1, max_size=20), st.binary(max_size=20))
def test_a_name_before_a_payload_comes_back(name: str, payload: bytes) -> None:
    """Also a payload that looks like a name."""
    assert unnamed(named(name, payload)) == (name, payload)


@given(st.binary(max_size=6))
def test_any_bytes_are_named_or_refused(data: bytes) -> None:
    """ValueError, never another."""
    try:
        name, payload = unnamed(data)
    except ValueError:
        return
    assert named(name, payload) == data


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


def test_a_key_is_not_shown() -> None:
    """Neither by repr nor by str."""
    key = Key(b"stable" * 5 + b"!!")
    assert "stable" not in f"{key!r} {key}"

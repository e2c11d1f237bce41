"""An old copy is noticed by what was kept apart from it; what cannot be noticed is told."""

from collections.abc import Callable
from pathlib import Path
from shutil import copyfile

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import RolledBackError
from agent.vault.making import rotate
from agent.vault.store import Store
from agent.vault.vault_files import (
    MISSING,
    UNWRITTEN,
    Location,
    Witness,
    read_witness,
    write_witness,
)
from tests.vault.worlds import PASSPHRASE, made, store_of, stream

COUNTS = st.integers(0, 2**63 - 1)
HEX = "0123456789abcdef"
WITNESSES = st.builds(
    Witness,
    st.just(1),
    st.text(HEX, min_size=32, max_size=32),
    COUNTS,
    COUNTS,
    COUNTS,
    st.text(HEX, min_size=64, max_size=64),
)


def seen(at: Location) -> Witness:
    """Return the witness of a vault, which must be there."""
    witness = read_witness(at.witness)
    assert witness is not None
    return witness


@given(WITNESSES)
def test_a_witness_comes_back(tmp_path_factory: pytest.TempPathFactory, witness: Witness) -> None:
    """As one line, in place of the one before."""
    path = tmp_path_factory.getbasetemp() / "witness.json"
    assert write_witness(witness, path)
    assert read_witness(path) == witness
    assert path.read_bytes().endswith(b"}\n")


@pytest.mark.parametrize(
    "spoil",
    [
        lambda _: b"",
        lambda data: data[:-3],
        lambda data: data + data,
        lambda data: data.replace(b'"format":1', b'"format":2'),
        lambda data: data.replace(b'"generation":', b'"more":1,"generation":'),
        lambda data: data.replace(b'"generation":1', b'"generation":-1'),
        lambda data: data.replace(b'"generation":1', b'"generation":1.5'),
        lambda _: b"[" * 1000,
        lambda data: b" " * 2000 + data,
        lambda data: b"\xff" + data,
    ],
)
def test_an_unreadable_witness_is_as_a_missing_one(
    tmp_path: Path, spoil: Callable[[bytes], bytes]
) -> None:
    """It is told, and written anew by the next sync."""
    at, key, _ = made(tmp_path)
    at.witness.write_bytes(spoil(at.witness.read_bytes()))
    with store_of(at, key) as store:
        assert store.notes == [MISSING]
        store.sync()
    with store_of(at, key) as store:
        assert store.notes == []


def test_the_witness_follows_what_is_synced(tmp_path: Path) -> None:
    """At once after what had to be on the disk, at the next sync after the rest."""
    at, key, _ = made(tmp_path)
    with store_of(at, key) as store:
        store.append_entry("a", b"1", durable=True)
        assert seen(at) == store.state.witness(store.seals.vault_id)
        before = seen(at)
        store.append_entry("a", b"2", durable=False)
        assert seen(at) == before
        store.sync()
        assert (seen(at).entries, seen(at).head) == (2, store.state.head.hex())


@pytest.mark.parametrize(
    "later",
    [
        lambda store: store.append_entry("a", b"2", durable=True),
        lambda store: store.put("a", b"2"),
        lambda store: store.delete("a"),
        lambda store: rotate(store, PASSPHRASE, stream("later")),
    ],
)
def test_an_old_copy_is_noticed(tmp_path: Path, later: Callable[[Store], object]) -> None:
    """Whatever was done since; with the old witness as well, nothing is noticed (FORMAT.md)."""
    at, key, _ = made(tmp_path)
    with store_of(at, key) as store:
        store.append_entry("a", b"1", durable=True)
        store.put("a", b"1")
    copyfile(at.vault, tmp_path / "old")
    copyfile(at.witness, tmp_path / "old.json")
    with store_of(at, key) as store:
        later(store)
    copyfile(tmp_path / "old", at.vault)
    with pytest.raises(RolledBackError, match="older"), store_of(at, key):
        pass
    copyfile(tmp_path / "old.json", at.witness)
    with store_of(at, key) as store:
        assert store.notes == []


def test_a_copy_that_went_on_is_noticed(tmp_path: Path) -> None:
    """Also once it has more entries than this machine has seen."""
    at, key, _ = made(tmp_path)
    copyfile(at.vault, tmp_path / "old")
    with store_of(at, key) as store:
        store.append_entry("a", b"here", durable=True)
    known = at.witness.read_bytes()
    copyfile(tmp_path / "old", at.vault)
    at.witness.unlink()
    with store_of(at, key, "there") as store:
        for _ in range(3):
            store.append_entry("a", b"there", durable=True)
    at.witness.write_bytes(known)
    with pytest.raises(RolledBackError, match="entry 1 of the ledger"), store_of(at, key):
        pass


@pytest.mark.parametrize("count", ["generation", "rotations", "entries"])
def test_each_count_may_only_grow(tmp_path: Path, count: str) -> None:
    """One less than was seen is a rollback."""
    at, key, _ = made(tmp_path)
    raised = msgspec.structs.replace(seen(at), **{count: getattr(seen(at), count) + 1})
    assert write_witness(raised, at.witness)
    with pytest.raises(RolledBackError), store_of(at, key):
        pass


def test_a_witness_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    """The vault goes on; a daemon that refused would lose what was answered."""
    at, key, _ = made(tmp_path)
    with store_of(at, key) as store:
        at.witness.unlink()
        at.witness.parent.rmdir()
        store.append_entry("a", b"1", durable=True)
        store.put("a", b"1")
        assert store.notes == [UNWRITTEN]
        at.witness.parent.mkdir()
        store.sync()
        assert seen(at).generation == store.state.generation

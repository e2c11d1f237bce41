"""The witness, and what vaults leave beside their names."""

from collections.abc import Callable
from pathlib import Path
from shutil import copyfile

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import RolledBackError, VaultError, WrongSecretError
from agent.vault.backup import restore
from agent.vault.secrets import Secret
from agent.vault.vault import Vault, make, rotate, staging, unlock
from agent.vault.vault_files import (
    MISSING,
    UNWRITTEN,
    Location,
    Witness,
    read_witness,
    write_witness,
)
from tests.vault.worlds import FAST, PASSPHRASE, TYPED, made, store_of, stream

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
        for deed in (
            lambda: store.append_entry("a", b"1", durable=True),
            lambda: store.put("a", b"1"),
            lambda: store.delete("a"),
            lambda: rotate(store, PASSPHRASE, stream("later")),
        ):
            before = seen(at)
            store.append_entry("a", b"2", durable=False)
            assert seen(at) == before
            deed()
            assert seen(at) == store.state.witness(store.seals.vault_id) != before
        store.append_entry("a", b"3", durable=False)
        store.sync()
        assert (seen(at).entries, seen(at).head) == (6, store.state.head.hex())


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


def killed(at: Location, vault: Vault) -> None:
    """Leave a vault as the kill of its process does: with a log beside it."""
    kept = {suffix: at.vault.with_name(f"vault.db{suffix}") for suffix in ("", "-wal")}
    data = {path: path.read_bytes() for path in kept.values()}
    vault.close()
    for path, content in data.items():
        path.write_bytes(content)


def test_the_log_of_a_vault_that_was_moved_stays(at: Location, vault: Vault) -> None:
    """Its latest entries are nowhere else; moved as well, they are in it again."""
    killed(at, vault)
    old = Location(at.vault.with_name("old.db"), at.witness.with_name("old.json"))
    at.vault.replace(old.vault)
    at.witness.replace(old.witness)
    log = at.vault.with_name("vault.db-wal")
    for attempt in (lambda: make(at, PASSPHRASE, FAST), lambda: restore(at, old.vault, TYPED)):
        with pytest.raises(VaultError, match=r"latest entries .* in vault\.db-wal") as caught:
            attempt()
        assert caught.value.where == str(log)
        assert "where vault.db is now" in caught.value.hint
    log.replace(old.vault.with_name("old.db-wal"))
    make(at, PASSPHRASE, FAST)
    with unlock(old, TYPED) as found:
        assert found.ledger.count == 1


@pytest.mark.parametrize("suffix", ["-wal", "-journal", "-shm"])
def test_what_holds_nothing_is_in_nobodys_way(at: Location, suffix: str) -> None:
    """An empty log; and the index of one, whatever it holds."""
    at.vault.parent.mkdir(0o700)
    at.vault.with_name(f"vault.db{suffix}").write_bytes(b"x" * (suffix == "-shm"))
    make(at, PASSPHRASE, FAST)
    assert [path.name for path in at.vault.parent.iterdir()] == ["vault.db"]


def test_a_vault_that_vanished_is_missed(at: Location, vault: Vault) -> None:
    """Its witness knows of it; a backup can be restored, and nothing new takes its place."""
    backup = at.vault.with_name("copy.db")
    vault.backup(backup)
    vault.close()
    at.vault.unlink()
    before = at.witness.read_bytes()
    with pytest.raises(VaultError, match=r"a vault was here \(1 entry\)") as caught:
        make(at, PASSPHRASE, FAST)
    assert "`reticent vault restore FILE`" in caught.value.hint
    assert at.witness.read_bytes() == before
    assert restore(at, backup, TYPED) is None
    unlock(at, TYPED).close()


def test_what_killed_ones_left_goes_once_the_vault_is_open(at: Location, vault: Vault) -> None:
    """Whole copies, which secrets of then open; but not what somebody makes just now."""
    vault.close()
    copies = [at.vault.with_name(f".vault.db.0a1b2c3d.part{end}") for end in ("", "-wal")]
    left = [*copies, at.witness.with_name(".witness.json.0a1b2c3d.part")]
    for path in left:
        copyfile(at.vault, path)
    with pytest.raises(WrongSecretError):
        unlock(at, Secret("passphrase", "another"))
    with staging(Location(at.vault.with_name("other.db"), at.witness)):
        unlock(at, TYPED).close()
    assert all(path.exists() for path in left)
    unlock(at, TYPED).close()
    assert not any(path.exists() for path in left)

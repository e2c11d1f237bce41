"""A vault is made whole or not at all, and sealed anew whole or not at all."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import BusyVaultError, DamagedVaultError, VaultError, WrongSecretError
from agent.vault import chain, database
from agent.vault.backup import restore
from agent.vault.chain import read_state
from agent.vault.database import Database, connect
from agent.vault.secrets import Secret
from agent.vault.slots import read_slots
from agent.vault.store import opened_item
from agent.vault.vault import Vault, install, make, make_vault, rotate, staging, unlock
from agent.vault.vault_files import Location
from tests.vault.worlds import (
    FAST,
    FEW,
    PASSPHRASE,
    TOLD,
    TYPED,
    altered,
    contents,
    key_of,
    made,
    names_beside,
    store_of,
    stream,
)

ENTRIES = st.lists(st.tuples(st.sampled_from(["a", "b"]), st.binary(max_size=300)), max_size=70)
FAILING = (
    "CREATE TEMP TRIGGER failing BEFORE INSERT ON entry WHEN new.number = 30"
    " BEGIN SELECT raise(ABORT, 'as a disk would'); END"
)
ITEMS = st.dictionaries(st.sampled_from(["a", "b", "c"]), st.binary(max_size=300))


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
    assert names_beside(at) == ["vault.db"]
    assert [path.name for path in at.witness.parent.iterdir()] == ["witness.json"]
    with unlock(at, TYPED) as vault:
        assert vault.items.get("offers") == b"some"
        assert vault.items.names("offers/") == ["offers/a", "offers/b"]
        assert vault.items.names("") == ["offers", "offers/a", "offers/b"]
        assert vault.items.names("other/") == []
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
    assert names_beside(at) == []
    assert [*at.witness.parent.iterdir()] == []
    make(at, PASSPHRASE, FAST, stream())
    unlock(at, TYPED).close()


def test_a_name_is_taken_once(at: Location) -> None:
    """Also where it is taken between the look and the link."""
    with staging(at) as part:
        make_vault(part, PASSPHRASE, FAST, stream())
        at.vault.symlink_to("nowhere")
        with pytest.raises(VaultError, match="a vault already"):
            install(part, at)
        at.vault.unlink()
        install(part, at)
    unlock(at, TYPED).close()


def test_a_file_that_lost_its_name_is_not_opened(
    at: Location, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What would be written into it would be in no vault."""
    make(at, PASSPHRASE, FAST, stream())
    with staging(at) as part:
        make_vault(part, PASSPHRASE, FAST, stream("second"))

        def exchanged(path: Path) -> object:
            found = connect(path)
            found.execute("PRAGMA schema_version")
            install(part, at, over=True)
            return found

        monkeypatch.setattr(database, "connect", exchanged)
        with pytest.raises(BusyVaultError, match="another vault"):
            Database.open(at.vault)
    monkeypatch.undo()
    unlock(at, TYPED).close()


@FEW
@given(ENTRIES, ITEMS)
def test_everything_is_kept_and_the_old_key_opens_nothing(
    tmp_path_factory: pytest.TempPathFactory,
    entries: list[tuple[str, bytes]],
    items: dict[str, bytes],
) -> None:
    """Entry by entry, item by item, and the state."""
    at, key, code = made(tmp_path_factory.mktemp("r"))
    with store_of(at, key) as store:
        for site, payload in entries:
            store.append_entry(site, payload, durable=False)
        for name, payload in items.items():
            store.put(name, payload, durable=False)
        before, old = contents(store), store.seals
        new_key, new_code = rotate(store, PASSPHRASE, stream("new"))
        assert contents(store) == before
        for row in chain.entry_rows(store.database):
            with pytest.raises(DamagedVaultError):
                chain.opened_entry(old, row)
        for item in store.items.values():
            with pytest.raises(DamagedVaultError):
                opened_item(old, item)
        with pytest.raises(DamagedVaultError):
            read_state(store.database, old)
    with store_of(at, TYPED) as store:
        assert contents(store) == before
        with pytest.raises(WrongSecretError):
            key_of(store.database, Secret("recovery", code))
        assert key_of(store.database, Secret("recovery", new_code)) == new_key != key


def test_a_failure_in_the_middle_changes_nothing(tmp_path: Path) -> None:
    """The old key and code go on to open it."""
    at, key, code = made(tmp_path)
    with store_of(at, key) as store:
        for _ in range(40):
            store.append_entry("a", bytes(300), durable=False)
        store.put("a", b"1")
        before, state = contents(store), store.state
        store.database.rows(FAILING)
        with pytest.raises(VaultError):
            rotate(store, PASSPHRASE, stream("new"))
        assert store.state == state
    for secret in (TYPED, Secret("recovery", code)):
        with store_of(at, secret) as store:
            assert (contents(store), store.state) == (before, state)


@pytest.mark.parametrize("step", ["read_state", "read_items"])
def test_once_it_is_written_the_code_is_returned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """Also where nothing can be read any more; then nothing is, until it is opened again."""
    at, key, _ = made(tmp_path)
    with store_of(at, key) as store:
        store.append_entry("a", b"1", durable=False)
        with monkeypatch.context() as failing:

            def fail(*_given: object) -> None:
                raise VaultError("the disk failed while the vault was in use", "check the disk")

            failing.setattr(f"agent.vault.store.{step}", fail)
            _, new_code = rotate(store, PASSPHRASE, stream("new"))
        assert store.uncertain
        with pytest.raises(VaultError, match="must be opened again"):
            store.append_entry("a", b"2", durable=False)
    assert new_code is not None
    for secret in (Secret("recovery", new_code), TYPED):
        with store_of(at, secret) as store:
            assert [payload for _, payload in store.entries()] == [b"1"]


def test_a_damaged_entry_stops_it(tmp_path: Path) -> None:
    """Nothing is sealed anew that is not as it was."""
    at, key, _ = made(tmp_path)
    with store_of(at, key) as store:
        store.append_entry("a", b"1", durable=False)
        before = store.state
        store.database.write([("UPDATE entry SET site = zeroblob(16)", ())], durable=False)
        with pytest.raises(DamagedVaultError, match="entry 1"):
            rotate(store, PASSPHRASE, stream("new"))
        assert store.state == before
        assert len(read_slots(store.database)) == 2
    altered(at, "DELETE FROM entry")
    with pytest.raises(VaultError), store_of(at, key):
        pass

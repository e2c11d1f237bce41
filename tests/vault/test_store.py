"""What is kept comes back, and nothing else."""

import sqlite3
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import Mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from agent.errors import BusyVaultError, DamagedVaultError, UsageError, VaultError, WrongSecretError
from agent.vault import chain, database
from agent.vault.chain import read_state
from agent.vault.database import Database, connect
from agent.vault.rotation import rotate
from agent.vault.seal import Seals
from agent.vault.secrets import Secret
from agent.vault.slots import read_slots, read_vault_id
from agent.vault.store import MAX_ITEM_BYTES, Store, opened_item
from agent.vault.vault import Vault, install, make, make_vault, staging, unlock
from agent.vault.vault_files import Location
from tests.vault import worlds

SITES = st.sampled_from(["one.example", "two.example", "ü.example"])
NAMES = st.sampled_from(["profile", "other/a", "other/b", "é"])
PAYLOADS = st.binary(max_size=700)  # over a small page, too


class Kept(RuleBasedStateMachine):
    """The store beside lists and dicts, opened and closed, rotated and copied between."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = TemporaryDirectory(prefix="r")
        self.at, _, _ = worlds.made(Path(self.folder.name))
        self.entries: list[tuple[str, bytes]] = []
        self.items: dict[str, bytes] = {}
        self.chance = worlds.stream("kept")
        self.open()

    def open(self) -> None:
        """Open it by the passphrase, and find the same."""
        self.database = Database.open(self.at.vault)
        key = worlds.key_of(self.database, worlds.TYPED)
        seals = Seals(key, read_vault_id(self.database), self.chance)
        self.store = Store(self.database, seals, self.at.witness)
        found = [payload for _, payload in self.store.verify()]
        assert found == [payload for _, payload in self.entries]

    @rule(site=SITES, payload=PAYLOADS, durable=st.booleans())
    def append(self, site: str, payload: bytes, durable: bool) -> None:
        self.entries.append((site, payload))
        number = self.store.append_entry(site, payload, durable=durable)
        assert number == len(self.entries)

    @rule(name=NAMES, payload=PAYLOADS, durable=st.booleans())
    def put(self, name: str, payload: bytes, durable: bool) -> None:
        self.items[name] = payload
        self.store.put(name, payload, durable=durable)

    @rule(name=NAMES)
    def delete(self, name: str) -> None:
        self.items.pop(name, None)
        self.store.delete(name)

    @rule()
    def rotate(self) -> None:
        """Replace the data key."""
        rotate(self.store, worlds.PASSPHRASE, self.chance)

    @rule(synced=st.booleans())
    def reopen(self, synced: bool) -> None:
        """Close it, synced or not, and open it again."""
        if synced:
            self.store.sync()
        self.store.close()
        self.open()

    @precondition(lambda self: self.entries)
    @rule(data=st.data())
    def read_on(self, data: st.DataObject) -> None:
        after = data.draw(st.integers(0, len(self.entries)))
        found = [payload for _, payload in self.store.entries(after)]
        assert found == [payload for _, payload in self.entries[after:]]

    @invariant()
    def same(self) -> None:
        """Counts and items are those of the model."""
        assert self.store.count == len(self.entries)
        assert worlds.contents(self.store)[1] == self.items
        assert self.store.names() == sorted(self.items)

    def teardown(self) -> None:
        self.store.close()
        self.folder.cleanup()


TestKept = Kept.TestCase

TestKept.settings = settings(
    worlds.FEW, max_examples=worlds.FEW.max_examples // 2, stateful_step_count=20
)


def test_the_file_names_nothing(tmp_path: Path) -> None:
    """No site, no name and no payload is in it in the clear."""
    at, key, code = worlds.made(tmp_path)
    with worlds.store_of(at, key) as store:
        store.append_entry("recipient.example", b"disclosed value", durable=True)
        store.put("other/offers", b"offered value")
    data = at.vault.read_bytes() + at.witness.read_bytes()
    words = b"recipient", b"disclosed", b"offered", b"other/", worlds.PASSPHRASE.encode()
    assert [word for word in (*words, code.encode(), key.data) if word in data] == []


def test_what_is_deleted_leaves_no_trace(tmp_path: Path) -> None:
    """Also not the sealed bytes."""
    at, key, _ = worlds.made(tmp_path, page_bytes=4096)
    with worlds.store_of(at, key) as store:
        store.put("a", b"x" * 100)
    [(sealed,)] = worlds.rows_of(at, "SELECT sealed FROM item")
    assert sealed[:40] in at.vault.read_bytes()
    with worlds.store_of(at, key) as store:
        store.delete("a")
    assert sealed[:40] not in at.vault.read_bytes()


def test_sizes_have_limits(tmp_path: Path) -> None:
    """The largest is taken and read; one byte more is refused and changes nothing."""
    at, key, _ = worlds.made(tmp_path)
    with worlds.store_of(at, key) as store:
        store.append_entry("s" * chain.MAX_NAME, bytes(chain.MAX_PAYLOAD), durable=False)
        store.put("n" * chain.MAX_NAME, bytes(MAX_ITEM_BYTES))
        for site, payload in (("s", bytes(chain.MAX_PAYLOAD + 1)), ("", b""), ("s" * 1025, b"")):
            with pytest.raises(UsageError):
                store.append_entry(site, payload, durable=False)
        for name, payload in (("n", bytes(MAX_ITEM_BYTES + 1)), ("", b""), ("é" * 513, b"")):
            with pytest.raises(UsageError):
                store.put(name, payload)
        before = worlds.contents(store)
    with worlds.store_of(at, key) as store:
        assert worlds.contents(store) == before
        assert (store.count, len(store.names())) == (1, 1)


def test_an_item_that_is_there_twice_is_damage(tmp_path: Path) -> None:
    """Its id as a text is another row to SQLite, and the same bytes to us."""
    at, key, _ = worlds.made(tmp_path)
    with worlds.store_of(at, key) as store:
        ids = {name: store.seals.lookup("item", name) for name in map(str, range(10_000))}
        odd = {0, *range(0x80, 0xC0)}  # as a text they end it, or are no letter of their own
        store.put(next(name for name, each in ids.items() if odd.isdisjoint(each)), b"1")
    with closing(sqlite3.connect(at.vault)) as file:
        file.execute("INSERT INTO item SELECT CAST(id AS TEXT), generation, sealed FROM item")
        file.commit()
    with pytest.raises(DamagedVaultError, match="missing or invalid"), worlds.store_of(at, key):
        pass


def test_nothing_is_written_before_all_is_verified(tmp_path: Path) -> None:
    """A chain that was not read to the end is not continued."""
    at, key, _ = worlds.made(tmp_path)
    database = Database.open(at.vault)
    store = Store(database, Seals(key, read_vault_id(database), worlds.stream()), at.witness)
    with pytest.raises(DamagedVaultError, match="not read to the end"):
        store.put("a", b"")
    store.close()
    with pytest.raises(VaultError):
        store.get("a")


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
        vault.ledger.append(worlds.TOLD)
        seen.append(at.vault.exists())

    make(at, worlds.PASSPHRASE, worlds.FAST, worlds.stream(), fill)
    assert seen == [False]
    assert worlds.names_beside(at) == ["vault.db"]
    assert [path.name for path in at.witness.parent.iterdir()] == ["witness.json"]
    with unlock(at, worlds.TYPED) as vault:
        assert vault.items.get("offers") == b"some"
        assert vault.items.names("offers/") == ["offers/a", "offers/b"]
        assert vault.items.names("") == ["offers", "offers/a", "offers/b"]
        assert vault.items.names("other/") == []
        assert vault.ledger.count == 1
        assert vault.notes == ()


def test_a_file_that_lost_its_name_is_not_opened(
    at: Location, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What would be written into it would be in no vault."""
    make(at, worlds.PASSPHRASE, worlds.FAST, worlds.stream())
    with staging(at) as part:
        make_vault(part, worlds.PASSPHRASE, worlds.FAST, worlds.stream("second"))

        def exchanged(path: Path) -> object:
            found = connect(path)
            found.execute("PRAGMA schema_version")
            install(part, at, over=True)
            return found

        monkeypatch.setattr(database, "connect", exchanged)
        with pytest.raises(BusyVaultError, match="another vault"):
            Database.open(at.vault)
    monkeypatch.undo()
    unlock(at, worlds.TYPED).close()


@worlds.FEW
@given(ENTRIES, ITEMS)
def test_everything_is_kept_and_the_old_key_opens_nothing(
    tmp_path_factory: pytest.TempPathFactory,
    entries: list[tuple[str, bytes]],
    items: dict[str, bytes],
) -> None:
    """Entry by entry, item by item, and the state."""
    at, key, code = worlds.made(tmp_path_factory.mktemp("r"))
    with worlds.store_of(at, key) as store:
        for site, payload in entries:
            store.append_entry(site, payload, durable=False)
        for name, payload in items.items():
            store.put(name, payload, durable=False)
        before, old = worlds.contents(store), store.seals
        new_key, new_code = rotate(store, worlds.PASSPHRASE, worlds.stream("new"))
        assert worlds.contents(store) == before
        for row in chain.entry_rows(store.database):
            with pytest.raises(DamagedVaultError):
                chain.opened_entry(old, row)
        for item in store.items.values():
            with pytest.raises(DamagedVaultError):
                opened_item(old, item)
        with pytest.raises(DamagedVaultError):
            read_state(store.database, old)
    with worlds.store_of(at, worlds.TYPED) as store:
        assert worlds.contents(store) == before
        with pytest.raises(WrongSecretError):
            worlds.key_of(store.database, Secret("recovery", code))
        assert worlds.key_of(store.database, Secret("recovery", new_code)) == new_key != key


def test_a_failure_in_the_middle_changes_nothing(tmp_path: Path) -> None:
    """The old key and code go on to open it."""
    at, key, code = worlds.made(tmp_path)
    with worlds.store_of(at, key) as store:
        for _ in range(40):
            store.append_entry("a", bytes(300), durable=False)
        store.put("a", b"1")
        before, state = worlds.contents(store), store.state
        store.database.rows(FAILING)
        with pytest.raises(VaultError):
            rotate(store, worlds.PASSPHRASE, worlds.stream("new"))
        assert store.state == state
    for secret in (worlds.TYPED, Secret("recovery", code)):
        with worlds.store_of(at, secret) as store:
            assert (worlds.contents(store), store.state) == (before, state)


@pytest.mark.parametrize("step", ["read_state", "read_items"])
def test_once_it_is_written_the_code_is_returned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """Also where nothing can be read any more; then nothing is, until it is opened again."""
    at, key, _ = worlds.made(tmp_path)
    with worlds.store_of(at, key) as store:
        store.append_entry("a", b"1", durable=False)
        with monkeypatch.context() as failing:
            fault = VaultError("the disk failed while the vault was in use", "check the disk")
            failing.setattr(f"agent.vault.store.{step}", Mock(side_effect=fault))
            _, new_code = rotate(store, worlds.PASSPHRASE, worlds.stream("new"))
        assert store.uncertain
        with pytest.raises(VaultError, match="must be opened again"):
            store.append_entry("a", b"2", durable=False)
    assert new_code is not None
    for secret in (Secret("recovery", new_code), worlds.TYPED):
        with worlds.store_of(at, secret) as store:
            assert [payload for _, payload in store.entries()] == [b"1"]


def test_a_damaged_entry_stops_it(tmp_path: Path) -> None:
    """Nothing is sealed anew that is not as it was."""
    at, key, _ = worlds.made(tmp_path)
    with worlds.store_of(at, key) as store:
        store.append_entry("a", b"1", durable=False)
        before = store.state
        store.database.write([("UPDATE entry SET site = zeroblob(16)", ())], durable=False)
        with pytest.raises(DamagedVaultError, match="entry 1"):
            rotate(store, worlds.PASSPHRASE, worlds.stream("new"))
        assert store.state == before
        assert len(read_slots(store.database)) == 2
    worlds.altered(at, "DELETE FROM entry")
    with pytest.raises(VaultError), worlds.store_of(at, key):
        pass

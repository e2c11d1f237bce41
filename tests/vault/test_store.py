"""What is kept comes back, and nothing else."""

import sqlite3
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from agent.errors import DamagedVaultError, UsageError, VaultError
from agent.vault import chain
from agent.vault.database import Database
from agent.vault.seal import Seals
from agent.vault.slots import read_vault_id
from agent.vault.store import MAX_ITEM_BYTES, Store
from agent.vault.vault import rotate
from tests.vault.worlds import (
    FEW,
    PASSPHRASE,
    TYPED,
    contents,
    key_of,
    made,
    rows_of,
    store_of,
    stream,
)

SITES = st.sampled_from(["one.example", "two.example", "ü.example"])
NAMES = st.sampled_from(["profile", "other/a", "other/b", "é"])
PAYLOADS = st.binary(max_size=700)  # over a small page, too


class Kept(RuleBasedStateMachine):
    """The store beside lists and dicts, opened and closed, rotated and copied between."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = TemporaryDirectory(prefix="r")
        self.at, _, _ = made(Path(self.folder.name))
        self.entries: list[tuple[str, bytes]] = []
        self.items: dict[str, bytes] = {}
        self.chance = stream("kept")
        self.open()

    def open(self) -> None:
        """Open it by the passphrase, and find the same."""
        self.database = Database.open(self.at.vault)
        key = key_of(self.database, TYPED)
        seals = Seals(key, read_vault_id(self.database), self.chance)
        self.store = Store(self.database, seals, self.at.witness)
        found = [payload for _, payload in self.store.verify()]
        assert found == [payload for _, payload in self.entries]

    @rule(site=SITES, payload=PAYLOADS, durable=st.booleans())
    def append(self, site: str, payload: bytes, durable: bool) -> None:
        """Append an entry."""
        self.entries.append((site, payload))
        number = self.store.append_entry(site, payload, durable=durable)
        assert number == len(self.entries)

    @rule(name=NAMES, payload=PAYLOADS, durable=st.booleans())
    def put(self, name: str, payload: bytes, durable: bool) -> None:
        """Keep an item."""
        self.items[name] = payload
        self.store.put(name, payload, durable=durable)

    @rule(name=NAMES)
    def delete(self, name: str) -> None:
        """Remove an item."""
        self.items.pop(name, None)
        self.store.delete(name)

    @rule()
    def rotate(self) -> None:
        """Replace the data key."""
        rotate(self.store, PASSPHRASE, self.chance)

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
        """Read the entries after one of them."""
        after = data.draw(st.integers(0, len(self.entries)))
        found = [payload for _, payload in self.store.entries(after)]
        assert found == [payload for _, payload in self.entries[after:]]

    @invariant()
    def same(self) -> None:
        """Counts and items are those of the model."""
        assert self.store.count == len(self.entries)
        assert contents(self.store)[1] == self.items
        assert self.store.names() == sorted(self.items)

    def teardown(self) -> None:
        """Remove the files."""
        self.store.close()
        self.folder.cleanup()


TestKept = Kept.TestCase


TestKept.settings = settings(FEW, max_examples=FEW.max_examples // 2, stateful_step_count=20)


def test_sync_writes_only_what_is_not_synced(tmp_path: Path) -> None:
    """Twice is once."""
    at, key, _ = made(tmp_path)
    with store_of(at, key) as store:
        store.sync()
        assert store.state.generation == 1
        store.append_entry("a", b"", durable=False)
        store.sync()
        store.sync()
        assert store.state.generation == 3


def test_the_file_names_nothing(tmp_path: Path) -> None:
    """No site, no name and no payload is in it in the clear."""
    at, key, code = made(tmp_path)
    with store_of(at, key) as store:
        store.append_entry("recipient.example", b"disclosed value", durable=True)
        store.put("other/offers", b"offered value")
    data = at.vault.read_bytes() + at.witness.read_bytes()
    for word in (
        b"recipient",
        b"disclosed",
        b"offered",
        b"other/",
        code.encode(),
        key.data,
        PASSPHRASE.encode(),
    ):
        assert word not in data


def test_what_is_deleted_leaves_no_trace(tmp_path: Path) -> None:
    """Also not the sealed bytes."""
    at, key, _ = made(tmp_path, page_bytes=4096)
    with store_of(at, key) as store:
        store.put("a", b"x" * 100)
    [(sealed,)] = rows_of(at, "SELECT sealed FROM item")
    assert sealed[:40] in at.vault.read_bytes()
    with store_of(at, key) as store:
        store.delete("a")
    assert sealed[:40] not in at.vault.read_bytes()


def test_sizes_have_limits(tmp_path: Path) -> None:
    """The largest is taken and read; one byte more is refused and changes nothing."""
    at, key, _ = made(tmp_path)
    with store_of(at, key) as store:
        store.append_entry("s" * chain.MAX_NAME, bytes(chain.MAX_PAYLOAD), durable=False)
        store.put("n" * chain.MAX_NAME, bytes(MAX_ITEM_BYTES))
        for site, payload in (("s", bytes(chain.MAX_PAYLOAD + 1)), ("", b""), ("s" * 1025, b"")):
            with pytest.raises(UsageError):
                store.append_entry(site, payload, durable=False)
        for name, payload in (("n", bytes(MAX_ITEM_BYTES + 1)), ("", b""), ("é" * 513, b"")):
            with pytest.raises(UsageError):
                store.put(name, payload)
        before = contents(store)
    with store_of(at, key) as store:
        assert contents(store) == before
        assert (store.count, len(store.names())) == (1, 1)


def test_too_many_items_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that are there can still be replaced."""
    monkeypatch.setattr("agent.vault.store.MAX_ITEMS", 2)
    at, key, _ = made(tmp_path)
    with store_of(at, key) as store:
        store.put("a", b"1")
        store.put("b", b"1")
        store.put("a", b"2")
        with pytest.raises(UsageError, match="no room"):
            store.put("c", b"1")


def test_an_item_that_is_there_twice_is_damage(tmp_path: Path) -> None:
    """Its id as a text is another row to SQLite, and the same bytes to us."""
    at, key, _ = made(tmp_path)
    with store_of(at, key) as store:
        ids = {name: store.seals.lookup("item", name) for name in map(str, range(10_000))}
        odd = {0, *range(0x80, 0xC0)}  # as a text they end it, or are no letter of their own
        store.put(next(name for name, each in ids.items() if odd.isdisjoint(each)), b"1")
    with closing(sqlite3.connect(at.vault)) as file:
        file.execute("INSERT INTO item SELECT CAST(id AS TEXT), generation, sealed FROM item")
        file.commit()
    with pytest.raises(DamagedVaultError, match="missing or invalid"), store_of(at, key):
        pass


def test_nothing_is_written_before_all_is_verified(tmp_path: Path) -> None:
    """A chain that was not read to the end is not continued."""
    at, key, _ = made(tmp_path)
    database = Database.open(at.vault)
    store = Store(database, Seals(key, read_vault_id(database), stream()), at.witness)
    with pytest.raises(DamagedVaultError, match="not read to the end"):
        store.put("a", b"")
    store.close()
    with pytest.raises(VaultError):
        store.get("a")

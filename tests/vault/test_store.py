"""What is kept comes back, and nothing else."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from agent.errors import DamagedVaultError, RolledBackError, UsageError, VaultError
from agent.vault import chain, ledger
from agent.vault.database import Database
from agent.vault.disclosure_index import Record
from agent.vault.making import rotate
from agent.vault.seal import Key, Seals
from agent.vault.slots import read_vault_id
from agent.vault.store import MAX_ITEM_BYTES, Store
from agent.vault.vault import unlock_with
from agent.vault.vault_files import Location
from tests.vault.doubles import ledger_of
from tests.vault.histories import HOSTS, NOW, disclosed, follows, histories
from tests.vault.worlds import (
    FEW,
    PASSPHRASE,
    TYPED,
    altered,
    contents,
    key_of,
    made,
    new_vault,
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


@contextmanager
def every(entries: int) -> Iterator[list[int]]:
    """Rewrite it after so many entries; yield the numbers of the entries that are opened."""
    opened: list[int] = []
    real = chain.opened_entry

    def noted(seals: Seals, row: chain.EntryRow) -> chain.OpenedEntry:
        opened.append(row.number)
        return real(seals, row)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ledger, "EVERY", entries)
        patched.setattr(chain, "opened_entry", noted)
        yield opened


def filled(at: Location, key: Key, history: list[Record]) -> None:
    """Append entries to a vault."""
    with unlock_with(at, key) as vault:
        for record in history:
            vault.ledger.append(record)


HISTORY: list[Record] = [
    disclosed(NOW + timedelta(hours=hour), HOSTS[hour % 5], age="young") for hour in range(7)
]


@FEW
@given(st.lists(histories(), min_size=1, max_size=3), st.integers(1, 4))
def test_what_follows_is_the_same_without_opening_what_is_old(
    tmp_path_factory: pytest.TempPathFactory, histories: list[list[Record]], entries: int
) -> None:
    """Whoever goes on from it; only the entries after it are opened."""
    with new_vault(tmp_path_factory.getbasetemp()) as (at, key), every(entries) as opened:
        whole: list[Record] = []
        saved = 0
        for history in histories:
            filled(at, key, history)
            whole += history
            saved = len(whole) if len(whole) - saved >= entries else saved
            opened.clear()
            with unlock_with(at, key) as vault:
                assert opened == [*range(saved + 1, len(whole) + 1)]
                assert follows(vault.ledger) == follows(ledger_of(whole))


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE entry SET sealed = zeroblob(length(sealed)) WHERE number = {}",
        "UPDATE entry SET generation = generation + 1 WHERE number = {}",
        "UPDATE entry SET site = x'00112233445566778899aabbccddeeff' WHERE number = {}",
        "UPDATE entry SET number = -number WHERE number = {}",
        "DELETE FROM entry WHERE number = {}",
    ],
)
def test_an_old_entry_that_was_altered_is_damage(tmp_path: Path, change: str) -> None:
    """Each of them, by the sentence that it would have without the snapshot."""
    with new_vault(tmp_path) as (at, key), every(3):
        filled(at, key, HISTORY)
        whole = at.vault.read_bytes()
        for number in range(1, len(HISTORY) + 1):
            altered(at, change.format(number))
            with pytest.raises(DamagedVaultError):
                unlock_with(at, key)
            at.vault.with_name(f"{at.vault.name}-wal").unlink(missing_ok=True)
            at.vault.write_bytes(whole)
        unlock_with(at, key).close()


def test_another_history_than_the_machine_has_seen_is_noticed(tmp_path: Path) -> None:
    """Also where the witness saw less than the snapshot covers."""
    with new_vault(tmp_path) as (at, key), every(3):
        filled(at, key, HISTORY[:2])
        early = at.witness.read_bytes()
        filled(at, key, HISTORY[2:])
        at.witness.write_bytes(early)
        unlock_with(at, key).close()
        head = early.split(b'"head":"')[1][:64]
        at.witness.write_bytes(early.replace(head, head[::-1]))
        with pytest.raises(RolledBackError, match="differs from the one this machine has seen"):
            unlock_with(at, key)


def test_what_does_not_fit_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After another key, a clock that was reset, by another version: all entries are opened."""
    with new_vault(tmp_path) as (at, key), every(2) as opened:
        filled(at, key, HISTORY)
        with unlock_with(at, key) as vault:
            vault.reset_clock(NOW + timedelta(hours=3))
            clipped = follows(vault.ledger)
            assert vault.ledger.latest == NOW + timedelta(hours=3)
        opened.clear()
        with unlock_with(at, key) as vault:
            assert opened == []
            assert follows(vault.ledger) == clipped
            vault.rotate("correct horse")
            fresh = vault._key  # noqa: SLF001  (so that no derivation is waited for)
        everything = [*range(1, 8)]
        opened.clear()
        for version, expected in ((1, everything), (1, []), (2, everything), (2, [])):
            monkeypatch.setattr(ledger, "VERSION", version)
            opened.clear()
            with unlock_with(at, fresh) as vault:
                assert opened == expected
                assert follows(vault.ledger) == clipped


@pytest.mark.parametrize("limit", ["full", "large"])
def test_an_entry_is_kept_though_the_snapshot_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    """What makes unlocking fast is worth no vault that does not close."""

    def full(*_: object, **__: object) -> None:
        raise VaultError("the disk is full", "make room")

    with new_vault(tmp_path) as (at, key), every(2) as opened:
        with monkeypatch.context() as patched:
            if limit == "full":
                patched.setattr("agent.vault.store.Store.put", full)
            else:
                patched.setattr(ledger, "MAX_ITEM_BYTES", 100)
            filled(at, key, HISTORY)
        opened.clear()
        with unlock_with(at, key) as vault:
            assert len(opened) == len(HISTORY)
            assert follows(vault.ledger) == follows(ledger_of(HISTORY))

"""The rows of an open vault: the chain of entries, and named items (FORMAT.md, "Rows")."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, suppress
from operator import gt
from pathlib import Path
from typing import NamedTuple

from agent.errors import (
    DamagedVaultError,
    ReplacedVaultError,
    RolledBackError,
    UsageError,
    VaultError,
)
from agent.files import private_folder
from agent.vault import chain, vault_files
from agent.vault.chain import MAX_NAME, VaultState, digest_of, read_state, written_state
from agent.vault.database import RESTORE, Database, Statement, damaged, refuses, snapshot
from agent.vault.seal import LOOKUP_BYTES, OVERHEAD, Seals, UnsealedError, prefix_name, split_name
from agent.vault.slots import ALTERED, SlotRow, read_slots, slots_digest
from agent.vault.vault_files import OLD_COPY, REPLACED_OPEN, Location

MAX_ITEM_BYTES = 2**22
MAX_ITEMS = 2**16
_MAX_SEALED = OVERHEAD + 2 + MAX_NAME + MAX_ITEM_BYTES
_ITEMS = (  # an id as a text is another row than the same bytes: such a copy would never end
    f"SELECT iif(typeof(id) = 'blob' AND length(id) = {LOOKUP_BYTES}, id, NULL), generation,"  # noqa: S608  (constants)
    f" iif(length(sealed) <= {_MAX_SEALED}, sealed, NULL) FROM item ORDER BY id LIMIT 64 OFFSET ?"
)
_PREFIX = "other/"
ENCLOSED = "enclosed/"  # then the name of a file, and where in it the part begins


class ItemRow(NamedTuple):
    """An item as stored in the file."""

    id: bytes
    generation: int
    sealed: bytes


def sealed_item(seals: Seals, name: str, payload: bytes, generation: int) -> ItemRow:
    """The row of an item."""
    row_id = seals.lookup("item", name)
    sealed = seals.seal(prefix_name(name, payload), "item", row_id, generation)
    return ItemRow(row_id, generation, sealed)


def opened_item(seals: Seals, item: ItemRow) -> tuple[str, bytes]:
    """Return name and payload of an item; DamagedVaultError if it was altered or moved."""
    try:
        name, payload = split_name(seals.open(item.sealed, "item", item.id, item.generation))
    except (UnsealedError, ValueError) as error:
        raise damaged("an item was altered") from error
    if seals.lookup("item", name) != item.id:
        raise damaged("an item has another name")
    return name, payload


def put_item(item: ItemRow) -> Statement:
    """The statement that puts an item in place."""
    return "INSERT OR REPLACE INTO item VALUES (?, ?, ?)", item


def read_items(database: Database, seals: Seals) -> dict[str, ItemRow]:
    """Every item by its name. Raises DamagedVaultError."""
    items: dict[str, ItemRow] = {}
    while rows := database.rows(_ITEMS, len(items)):
        for row in rows:
            match row:
                case (bytes(), int(generation), bytes()) if generation > 0:
                    item = ItemRow(*row)
                case _:
                    raise damaged("an item is missing or invalid", database.path)
            name, _ = opened_item(seals, item)
            items[name] = item
        if len(items) > MAX_ITEMS:
            raise damaged("its items are not those of a vault", database.path)
    return items


class Store:
    """The rows of an open vault; every write is one transaction, all or nothing.

    ``state``: of the vault as a whole; ``items``: by name; ``uncertain``: memory and file may
    differ, and the vault must be opened again; ``afterwards``: calls what renews the witness after
    what is on the disk, at once by default.
    """

    def __init__(self, database: Database, seals: Seals, witness: Path) -> None:
        """Read the state and every item, and check them against each other and the witness.

        Raises DamagedVaultError or RolledBackError.
        """
        self.database, self.seals = database, seals
        self.state, self._place = read_state(database, seals), witness
        self._witness = vault_files.read_witness(witness)
        if (seen := self._witness) is not None:
            if seen.vault != seals.vault_id.hex():
                raise RolledBackError("this is not the vault that belongs here", OLD_COPY)
            now = self.state.generation, self.state.rotations, self.state.entries
            if any(map(gt, (seen.generation, seen.rotations, seen.entries), now)):
                raise RolledBackError("the vault is older than when last used", OLD_COPY)
        self.items = read_items(database, seals)
        if _digest(self.items) != self.state.items:
            raise damaged("its items come from different states", database.path)
        self._verified = self.uncertain = False
        self.afterwards: Callable[[Callable[[], object]], object] = lambda renew: renew()
        self._unsynced = self._witness != self.state.witness(seals.vault_id)
        self.notes = [] if self._witness else [vault_files.MISSING]
        slots = read_slots(database)
        damaged_slots = any(row.slot is None for row in slots)
        if damaged_slots or slots_digest(slots) != self.state.slots:
            self.notes.append(ALTERED)

    @property
    def count(self) -> int:
        """The number of the last entry, 0 without one."""
        return self.state.entries

    def verify(self) -> Iterator[tuple[int, bytes]]:
        """Yield every entry, and check the whole chain against the state.

        Exhaust it once before the first write. Raises DamagedVaultError or RolledBackError.
        """
        yield from chain.verified(self.database, self.seals, self.state, self._witness)
        self._verified = True

    def check_entry(self, site: str, payload: bytes) -> None:
        """Raise UsageError if an entry is too large."""
        if not 0 < len(site.encode()) <= chain.MAX_NAME or len(payload) > chain.MAX_PAYLOAD:
            raise UsageError("the request is too large for the ledger", "ask for fewer attributes")

    def append_entry(self, site: str, payload: bytes, *, durable: bool) -> int:
        """Append an entry to the chain and return its number, from 1.

        When this returns, it is in the file; ``durable``: and on the disk. Raises VaultError if it
        was not written, UsageError if it is too large.
        """
        self.check_entry(site, payload)
        row, head = chain.sealed_entry(self.seals, self.state, site, payload)
        after = self.state.after(entries=row.number, head=head)
        self.commit(after, [("INSERT INTO entry VALUES (?, ?, ?, ?)", row)], durable=durable)
        return row.number

    def entries(self, after: int = 0) -> Iterator[tuple[int, bytes]]:
        """Yield number and payload of the entries after a number. Raises DamagedVaultError."""
        self._check_certain()
        for row in chain.entry_rows(self.database, after):
            yield row.number, chain.opened_entry(self.seals, row)[2]

    def put(self, name: str, payload: bytes, *, durable: bool = True) -> None:
        """Store an item under a name, replacing an earlier one. Raises VaultError."""
        if not 0 < len(name.encode()) <= MAX_NAME or len(payload) > MAX_ITEM_BYTES:
            what = "an item for the vault has no name or is too large"
            raise UsageError(what, f"keep at most {MAX_ITEM_BYTES} bytes in one item")
        if len(self.items.keys() | {name}) > MAX_ITEMS:
            raise UsageError("the vault has no room for more items", "remove some first")
        self.replace({name: payload}, durable=durable)

    def get(self, name: str) -> bytes | None:
        """The item of a name. Raises VaultError."""
        self._check_certain()
        return opened_item(self.seals, self.items[name])[1] if name in self.items else None

    def delete(self, name: str) -> None:
        """Remove an item, if there is one. Raises VaultError."""
        if name in self.items:
            self.replace({}, [name])

    def replace(
        self,
        put: Mapping[str, bytes],
        removed: Iterable[str] = (),
        more: Iterable[Statement] = (),
        *,
        durable: bool = True,
    ) -> None:
        """Put and remove items, and run more statements, in one transaction. Raises VaultError."""
        generation = self.state.generation + 1
        new = {name: sealed_item(self.seals, name, each, generation) for name, each in put.items()}
        old = {name: self.items[name] for name in removed if name in self.items}
        items = {name: item for name, item in (self.items | new).items() if name not in old}
        statements = [("DELETE FROM item WHERE id = ?", (item.id,)) for item in old.values()]
        statements += [*map(put_item, new.values()), *more]
        self.commit(self.state.after(items=_digest(items)), statements, durable=durable)
        self.items = items

    def names(self) -> list[str]:
        """The names of the items, sorted."""
        return sorted(self.items)

    def sync(self) -> None:
        """Bring everything so far to the disk. Raises VaultError."""
        if self._unsynced:
            self.commit(self.state.after(), [], durable=True)
        self.renew_witness()

    def commit(
        self, state: VaultState | None, statements: Iterable[Statement], *, durable: bool
    ) -> None:
        """Run statements and write a state, in one transaction. Raises VaultError.

        ``state``: None where the statements write their own, to be read by `reopen`.
        """
        self._check_certain()
        if not self._verified:
            raise damaged("its ledger was not read to the end", self.database.path)
        if state is not None:
            statements = (*statements, written_state(state, self.seals))
        self.uncertain = True
        try:
            self.database.write(statements, durable=durable)
        except VaultError as error:
            # What failed to reach the disk can look as it was: the system forgets it.
            if refuses(error):
                with suppress(VaultError):
                    rows = self.database.rows("SELECT generation FROM state")
                    self.uncertain = rows != [(self.state.generation,)]
            raise
        self.uncertain = False
        if state is not None:
            self.state, self._unsynced = state, not durable
            if durable:
                self.afterwards(self.renew_witness)

    def reopen(self, seals: Seals) -> None:
        """Read everything with other keys, after it was sealed anew.

        Raises VaultError; then nothing is read or written until the vault is opened again.
        """
        self.uncertain, self.seals = True, seals
        self.state = read_state(self.database, seals)
        self.items, self.uncertain = read_items(self.database, seals), False
        self.renew_witness()

    def close(self) -> None:
        """Close the file and drop the keys. Raises VaultError."""
        self.uncertain = True
        del self.seals
        self.database.close()

    def change_slots(self, slots: list[SlotRow], *statements: Statement) -> None:
        """Add or remove slots, so that these remain. Raises VaultError."""
        self.commit(self.state.after(slots=slots_digest(slots)), statements, durable=True)

    def _check_certain(self) -> None:
        """Raise VaultError where memory and file may differ."""
        if self.uncertain:
            hint = "run `reticent lock`, then `reticent unlock`"
            raise VaultError("the vault must be opened again after an error", hint)

    def renew_witness(self) -> None:
        """Write the state on the disk to the witness; failing to is only noted.

        Not over the witness of a vault that has taken the place of this one.
        """
        now, known = self.state.witness(self.seals.vault_id), (self._witness, None)
        if now == self._witness or vault_files.read_witness(self._place) not in known:
            return
        if vault_files.write_witness(now, self._place):
            self._witness = now
        elif vault_files.UNWRITTEN not in self.notes:
            self.notes.append(vault_files.UNWRITTEN)


def _digest(items: dict[str, ItemRow]) -> bytes:
    """The digest of the items, for the state."""
    return digest_of({item.id: item.generation for item in items.values()})


def set_aside(store: Store, at: Location) -> None:
    """Copy an open vault, wherever the names of its files lead now, to a file for `restore`.

    It lies beside the vault, or beside the witness if that folder is gone or unusable. Raises
    DamagedVaultError if the open file was overwritten, so that there is nothing to copy;
    ReplacedVaultError if the copy cannot be written now.
    """
    what = REPLACED_OPEN
    places = [at.vault.parent] if os.path.isdir(at.vault.parent) else []  # noqa: PTH112  (the other raises where it may not look)
    refusal: VaultError | UsageError | None = None
    for folder in dict.fromkeys((*places, at.witness.parent)):
        try:
            return _copied(store, private_folder(folder) / at.vault.name)
        except DamagedVaultError as error:
            problem = f"{what}, and its contents cannot be read any more"
            raise DamagedVaultError(problem, RESTORE, str(at.vault)) from error
        except (VaultError, UsageError) as error:
            refusal = error
    problem = f"{what}, and it could not be set aside: {refusal}"
    hint = "fix that or free some space, then run `reticent lock`: it is only in memory now"
    raise ReplacedVaultError(problem, hint) from refusal


def _copied(store: Store, name: Path) -> None:
    """Write a complete, verified copy under a name with a number.

    It may contain one transaction more, written just before the files were replaced.
    """
    file = next(vault_files.free_names(name, vault_files.SET_ASIDE))
    store.database.copy(file)
    with ExitStack() as on_failure:
        on_failure.callback(file.unlink, missing_ok=True)
        with snapshot(file) as copy, closing(Database.open(copy)) as database:
            copied = Store(database, store.seals, copy.with_name("no-witness"))
            deque(copied.verify(), maxlen=0)
        if copied.state.generation not in (store.state.generation, store.state.generation + 1):
            raise damaged("it differs from what was last written", file)
        on_failure.pop_all()


def enclose(files: Mapping[str, bytes], copy: Location, seals: Seals) -> None:
    """Seal files into a closed copy of a vault, once all of it is verified. Raises as `Store`.

    Each becomes as many items as it needs.
    """
    with closing(Database.open(copy.vault)) as database:
        store = Store(database, seals, copy.witness)
        deque(store.verify(), maxlen=0)
        parts = {
            f"{ENCLOSED}{name}/{at:010}": data[at : at + MAX_ITEM_BYTES]
            for name, data in files.items()
            for at in range(0, len(data) or 1, MAX_ITEM_BYTES)
        }
        store.replace(parts)
        database.retire()


class Items:
    """Items of the vault's users by name, apart from the vault's own."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def get(self, name: str) -> bytes | None:
        """An item, or None. Raises DamagedVaultError."""
        return self._store.get(_PREFIX + name)

    def names(self, prefix: str) -> list[str]:
        """The names of all items that begin with a prefix, sorted."""
        stored = (name for name in self._store.names() if name.startswith(_PREFIX + prefix))
        return [name.removeprefix(_PREFIX) for name in stored]

    def put(self, name: str, payload: bytes, *, durable: bool = True) -> None:
        """Store an item of at most 1 MiB, replacing an earlier one; VaultError if it fails.

        ``durable``: it survives a power cut, not only the end of the process.
        """
        self._store.put(_PREFIX + name, payload, durable=durable)

    def delete(self, name: str) -> None:
        """Remove an item, if there is one. Raises VaultError."""
        self._store.delete(_PREFIX + name)

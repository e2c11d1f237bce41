"""The sealed state of a vault, and its entries as sealed rows, each linked to the one before."""

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from struct import Struct
from typing import Any, NamedTuple, Self, TypeVar

from agent.errors import RolledBackError
from agent.vault import seal
from agent.vault.database import MAX_INTEGER, Database, Statement, damaged
from agent.vault.vault_files import OLD_COPY, Witness

_STATE = Struct(">QQ32s32s32s")
MAX_PAYLOAD = 2**16
MAX_NAME = 1024
LINK_BYTES = 32
_BATCH = "LIMIT 64"  # rows in memory at a time
_MAX_SEALED = seal.OVERHEAD + LINK_BYTES + 2 + MAX_NAME + MAX_PAYLOAD
_COLUMNS = (
    f"SELECT number, iif(length(site) = {seal.LOOKUP_BYTES}, site, NULL), generation,"  # noqa: S608  (constants)
    f" iif(length(sealed) <= {_MAX_SEALED}, sealed, NULL) FROM entry"
)
_Id = TypeVar("_Id", bytes, int)
_Digest = TypeVar("_Digest", bytes, int)


@dataclass(frozen=True, slots=True)
class VaultState:
    """Counts, the head of the chain, and digests of all items and all slots."""

    generation: int
    rotations: int
    entries: int
    head: bytes
    items: bytes
    slots: bytes

    def after(self, **changes: int | bytes) -> Self:
        """The state that the next transaction leaves."""
        # mypy holds each field to the type of all changes together
        return replace(self, generation=self.generation + 1, **changes)  # type: ignore[arg-type]

    def witness(self, vault_id: bytes) -> Witness:
        """The witness of this state, which is kept outside the vault."""
        counts = self.generation, self.rotations, self.entries
        return Witness(seal.SCHEME, vault_id.hex(), *counts, self.head.hex())


def first_link(seals: seal.Seals) -> bytes:
    """The link that precedes the first entry."""
    return seals.digest("chain")


def digest_of(rows: Mapping[_Id, _Digest]) -> bytes:
    """The digest of items (id: generation) or slots (id: digest)."""
    return sha256(b"".join(seal.frame(*row) for row in sorted(rows.items()))).digest()


def written_state(state: VaultState, seals: seal.Seals) -> Statement:
    """The statement that puts a state in place."""
    fields = (state.rotations, state.entries, state.head, state.items, state.slots)
    sealed = seals.seal(_STATE.pack(*fields), "state", state.generation)
    return "INSERT OR REPLACE INTO state VALUES (1, ?, ?)", (state.generation, sealed)


def read_state(database: Database, seals: seal.Seals) -> VaultState:
    """Read the state of a vault; DamagedVaultError if it was altered, or there is none."""
    match database.rows("SELECT id, generation, sealed FROM state LIMIT 2"):
        case [(1, int(generation), bytes(sealed))] if 0 < generation <= MAX_INTEGER:
            pass
        case _:
            raise damaged("the row with its state is missing", database.path)
    try:
        return VaultState(generation, *_STATE.unpack(seals.open(sealed, "state", generation)))
    except (seal.UnsealedError, struct.error) as error:
        raise damaged("its state was altered", database.path) from error


class EntryRow(NamedTuple):
    """An entry as stored in the file."""

    number: int
    site: bytes
    generation: int
    sealed: bytes


def sealed_entry(
    seals: seal.Seals, before: VaultState, site: str, payload: bytes
) -> tuple[EntryRow, bytes]:
    """The row of the next entry, as the next transaction writes it, and the new head."""
    number, generation = before.entries + 1, before.generation + 1
    site_id = seals.lookup("site", site)
    plain = before.head + seal.prefix_name(site, payload)
    sealed = seals.seal(plain, "entry", number, site_id, generation)
    row = EntryRow(number, site_id, generation, sealed)
    return row, seals.digest("link", *row)


def opened_entry(seals: seal.Seals, row: EntryRow) -> tuple[bytes, str, bytes]:
    """The link of the entry before, site and payload; DamagedVaultError if altered or moved."""
    try:
        plain = seals.open(row.sealed, "entry", row.number, row.site, row.generation)
        site, payload = seal.split_name(plain[LINK_BYTES:])
    except (seal.UnsealedError, ValueError) as error:
        raise damaged(f"entry {row.number} of the ledger was altered") from error
    if row.site != seals.lookup("site", site):
        raise damaged(f"entry {row.number} of the ledger belongs to another site")
    return plain[:LINK_BYTES], site, payload


def entry_rows(database: Database, after: int = 0) -> Iterator[EntryRow]:
    """Yield the rows after a number, in order. Raises DamagedVaultError."""
    while rows := database.rows(f"{_COLUMNS} WHERE number > ? ORDER BY number {_BATCH}", after):
        yield from (_row(each, database) for each in rows)
        after = rows[-1][0]


def verified(
    database: Database, seals: seal.Seals, state: VaultState, witness: Witness | None
) -> Iterator[tuple[int, bytes]]:
    """Yield number and payload of every entry, checked against its neighbours and the state.

    Raises DamagedVaultError if they do not fit, RolledBackError if the witness saw another entry.
    """
    if database.rows("SELECT min(number) FROM entry") not in ([(None,)], [(1,)]):
        raise damaged("the ledger does not begin with entry 1", database.path)
    head, number, generation = first_link(seals), 0, 0
    _check_witness(witness, state, number, head)
    for row in entry_rows(database):
        before, _, payload = opened_entry(seals, row)
        if row.number != number + 1 or before != head:
            raise damaged(f"entries are missing before entry {row.number} of the ledger")
        if not generation <= row.generation <= state.generation:
            raise damaged(f"entry {row.number} of the ledger comes from another state")
        number, generation, head = row.number, row.generation, seals.digest("link", *row)
        _check_witness(witness, state, number, head)
        yield number, payload
    if (number, head) != (state.entries, state.head):
        raise damaged(f"its ledger ends at entry {number} instead of {state.entries}")


def _row(columns: tuple[Any, ...], database: Database) -> EntryRow:
    """An entry as stored in the file; DamagedVaultError if it is not one."""
    match columns:
        case (int(), bytes(), int(generation), bytes()) if generation > 0:
            return EntryRow(*columns)
        case _:
            raise damaged("a row of the ledger is not an entry", database.path)


def _check_witness(witness: Witness | None, state: VaultState, number: int, head: bytes) -> None:
    """Raise RolledBackError if the witness saw another entry in this place."""
    if witness is None or witness.rotations != state.rotations or witness.entries != number:
        return
    if witness.head != head.hex():
        what = f"entry {number} of the ledger differs from the one this machine has seen"
        raise RolledBackError(what, OLD_COPY)

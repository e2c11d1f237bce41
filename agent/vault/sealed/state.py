"""The sealed row that says what the vault is as a whole (FORMAT.md, "Rows")."""

import struct
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Self, TypeVar

from agent.vault.sealed.database import MAX_INTEGER, Database, Statement
from agent.vault.sealed.framing import FORMAT, frame
from agent.vault.sealed.seal import Seals, UnsealedError
from agent.vault.sealed.trouble import damaged
from agent.vault.sealed.witness import Witness

_Id = TypeVar("_Id", bytes, int)
_Stamp = TypeVar("_Stamp", bytes, int)
_LAYOUT = struct.Struct(">QQ32s32s32s")


@dataclass(frozen=True, slots=True)
class State:
    """Counts, the head of the chain, and digests of all items and all slots."""

    generation: int
    rotations: int
    entries: int
    head: bytes
    items: bytes
    slots: bytes

    def after(self, **changes: int | bytes) -> Self:
        """Return the state that the next transaction leaves."""
        # mypy holds each field to the type of all changes together
        return replace(self, generation=self.generation + 1, **changes)  # type: ignore[arg-type]

    def witness(self, vault_id: bytes) -> Witness:
        """Return what to keep apart from the vault."""
        return Witness(
            FORMAT,
            vault_id.hex(),
            self.generation,
            self.rotations,
            self.entries,
            self.head.hex(),
        )


def first_link(seals: Seals) -> bytes:
    """Return what stands before the first entry."""
    return seals.digest("chain")


def digest_of(rows: Mapping[_Id, _Stamp]) -> bytes:
    """Return the digest of items (id: generation) or slots (id: digest)."""
    fields: list[bytes | int] = []
    for key in sorted(rows):
        fields.append(key)
        fields.append(rows[key])
    return sha256(frame(*fields)).digest()


def written_state(state: State, seals: Seals) -> Statement:
    """Return the statement that puts a state in place."""
    fields = (state.rotations, state.entries, state.head, state.items, state.slots)
    sealed = seals.seal(_LAYOUT.pack(*fields), "state", state.generation)
    return "INSERT OR REPLACE INTO state VALUES (1, ?, ?)", (state.generation, sealed)


def state_row(database: Database) -> tuple[int, bytes]:
    """Return the generation of a vault and its state, sealed; DamagedVaultError if it has none."""
    rows = database.rows("SELECT id, generation, sealed FROM state LIMIT 2")
    match rows:
        case [(1, int(generation), bytes(sealed))] if 0 < generation <= MAX_INTEGER:
            return generation, sealed
        case _:
            raise damaged("it has not the one row that says what it is", database.path)


def read_state(database: Database, seals: Seals) -> State:
    """Return the state of a vault; DamagedVaultError if it is not what was sealed."""
    generation, sealed = state_row(database)
    try:
        payload = seals.open(sealed, "state", generation)
        return State(generation, *_LAYOUT.unpack(payload))
    except (UnsealedError, struct.error) as error:
        raise damaged("what it says of itself was altered", database.path) from error

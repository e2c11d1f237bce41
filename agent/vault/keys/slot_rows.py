"""The slots of a vault as rows of its file, readable without a key (FORMAT.md, "Slots")."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256

from agent.errors import VaultError
from agent.vault.keys import keyrings
from agent.vault.keys.derivation import Derivation
from agent.vault.keys.secrets import Kind
from agent.vault.keys.slots import (
    KeyringSlot,
    PassphraseSlot,
    Place,
    Slot,
    decoded,
    encoded,
    kind_of,
)
from agent.vault.sealed.database import Database, Statement
from agent.vault.sealed.framing import context
from agent.vault.sealed.state import digest_of
from agent.vault.sealed.trouble import damaged

MAX_SLOTS = 8
MAX_BODY = 1024
VAULT_ID_BYTES = 16

ALTERED = "a key slot was altered outside of reticent: look at them with `reticent key list`"

_SLOTS = (
    f"SELECT id, iif(length(body) <= {MAX_BODY}, body, NULL),"  # noqa: S608  (constants)
    f" iif(length(digest) <= 32, digest, NULL) FROM slot ORDER BY id LIMIT {MAX_SLOTS + 1}"
)
_ID = (
    f"SELECT iif(length(value) = {VAULT_ID_BYTES}, value, NULL)"  # noqa: S608  (a constant)
    " FROM meta WHERE name = 'vault'"
)


@dataclass(frozen=True, slots=True)
class SlotRow:
    """One slot; ``slot`` is None where it is damaged."""

    id: int
    digest: bytes
    slot: Slot | None

    @property
    def lasting(self) -> bool:
        """Whether it opens the vault on any machine."""
        return self.slot is not None and not isinstance(self.slot, KeyringSlot)


@dataclass(frozen=True, slots=True)
class SlotInfo:
    """What can be said of a slot without opening it; ``kind`` is None where it is damaged."""

    id: int
    kind: Kind | None
    derivation: Derivation | None = None


def keys_of(rows: Iterable[SlotRow]) -> list[SlotInfo]:
    """Return what can be said of slots, in their order."""
    return [_info(row) for row in rows]


def read_vault_id(database: Database) -> bytes:
    """Return the vault's 16 bytes; DamagedVaultError if there are none."""
    match database.rows(_ID):
        case [(bytes(vault_id),)]:
            return vault_id
        case _:
            raise damaged("its number is missing", database.path)


def read_slots(database: Database, vault_id: bytes) -> list[SlotRow]:
    """Return the slots, in the order of their ids; DamagedVaultError if they are none."""
    rows = database.rows(_SLOTS)
    if not 0 < len(rows) <= MAX_SLOTS:
        raise damaged("it has no key slots, or too many", database.path)
    if rows[0][0] <= 0:  # in the order of the ids, which SQLite has up to 2^63 - 1
        raise damaged("a key slot has a number that none has", database.path)
    return [_read(vault_id, *row) for row in rows]


def new_row(place: Place, slot: Slot) -> SlotRow:
    """Return a slot as it will be read."""
    return SlotRow(place.number, _digest(place, encoded(slot)), slot)


def inserted(row: SlotRow) -> Statement:
    """Return the statement that adds a slot."""
    body = b"" if row.slot is None else encoded(row.slot)
    return "INSERT INTO slot VALUES (?, ?, ?)", (row.id, body, row.digest)


def removed(row: SlotRow) -> Statement:
    """Return the statement that removes a slot."""
    return "DELETE FROM slot WHERE id = ?", (row.id,)


def slots_digest(rows: Iterable[SlotRow]) -> bytes:
    """Return what the state says of slots."""
    return digest_of({row.id: row.digest for row in rows})


def free_id(rows: Sequence[SlotRow]) -> int:
    """Return the id of a new slot; VaultError if there are as many as there may be."""
    if len(rows) >= MAX_SLOTS:
        hint = "remove one with `reticent key remove`"
        raise VaultError(f"the vault has {MAX_SLOTS} key slots already", hint)
    return min(set(range(1, MAX_SLOTS + 1)) - {row.id for row in rows})


def accounts(rows: Iterable[SlotRow]) -> list[str]:
    """Return whose passwords in the keyring open slots."""
    return [row.slot.account for row in rows if isinstance(row.slot, KeyringSlot)]


def forget(rows: Iterable[SlotRow]) -> None:
    """Remove from the keyring what belongs to slots that are not in the file."""
    for account in accounts(rows):
        keyrings.forget(account)


def without(rows: Sequence[SlotRow], number: int) -> list[SlotRow]:
    """Return the slots without one; VaultError if there is none such, or it is the last to last."""
    if number not in {row.id for row in rows}:
        raise VaultError(f"there is no key slot {number}", "`reticent key list` shows them")
    rest = [row for row in rows if row.id != number]
    if not any(row.lasting for row in rest):
        hint = "add another passphrase or recovery code first: a keyring alone can be lost"
        raise VaultError(f"key slot {number} is the last that opens on every machine", hint)
    return rest


def _read(vault_id: bytes, number: int, body: object, digest: object) -> SlotRow:
    """Return one slot, damaged or not."""
    found = digest if isinstance(digest, bytes) else b""
    if not isinstance(body, bytes) or found != _digest(Place(vault_id, number), body):
        return SlotRow(number, found, None)
    return SlotRow(number, found, decoded(body))


def _digest(place: Place, body: bytes) -> bytes:
    """Return what tells an accident from a wrong secret."""
    return sha256(context(place.vault_id, "slot digest", place.number, body)).digest()


def _info(row: SlotRow) -> SlotInfo:
    """Return what can be said of one slot."""
    match row.slot:
        case None:
            return SlotInfo(row.id, None)
        case PassphraseSlot() as slot:
            return SlotInfo(row.id, "passphrase", slot.derivation)
        case slot:
            return SlotInfo(row.id, kind_of(slot))

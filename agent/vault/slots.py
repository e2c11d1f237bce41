"""Key slots: the data key, wrapped with what one secret gives (FORMAT.md, "Slots")."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Annotated, NamedTuple, TypeVar

import msgspec
from msgspec import Meta, Struct

from agent.errors import VaultError, WrongSecretError
from agent.vault import secrets
from agent.vault.chain import digest_of
from agent.vault.connection import damaged
from agent.vault.database import Database, Statement
from agent.vault.seal import (
    KEY_BYTES,
    OVERHEAD,
    Chance,
    Derivation,
    Key,
    Sealer,
    UnsealedError,
    context,
    derive,
    expanded,
)
from agent.vault.secrets import CODE_BYTES, Kind, Secret, normalised, parsed, written

SALT_BYTES = 16
ACCOUNT_BYTES = 16
_Hex16 = Annotated[str, Meta(pattern=r"^[0-9a-f]{32}\Z")]
_Wrapped = Annotated[str, Meta(pattern=rf"^[0-9a-f]{{{2 * (OVERHEAD + KEY_BYTES)}}}\Z")]
_Count = Annotated[int, Meta(ge=0, lt=2**32)]
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


class _Base(Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", kw_only=True):
    salt: _Hex16
    wrapped: _Wrapped = ""


class PassphraseSlot(_Base, frozen=True, tag="passphrase", kw_only=True):
    """Opens with a passphrase; whether its work is bearable is tested before it is done."""

    memory_kib: _Count
    iterations: _Count
    lanes: _Count

    @property
    def derivation(self) -> Derivation:
        """How much work a guess costs."""
        return Derivation(self.memory_kib, self.iterations, self.lanes)


class RecoverySlot(_Base, frozen=True, tag="recovery", kw_only=True):
    """Opens with a recovery code."""


class KeyringSlot(_Base, frozen=True, tag="keyring", kw_only=True):
    """Opens with what the keyring of the system keeps for an account."""

    account: _Hex16


Slot = PassphraseSlot | RecoverySlot | KeyringSlot


AnySlot = TypeVar("AnySlot", PassphraseSlot, RecoverySlot, KeyringSlot)


class Place(NamedTuple):
    """A slot of a vault."""

    vault_id: bytes
    number: int


def kind_of(slot: Slot) -> Kind:
    """Return what opens a slot."""
    match slot:
        case PassphraseSlot():
            return "passphrase"
        case RecoverySlot():
            return "recovery"
        case KeyringSlot():
            return "keyring"


def passphrase_slot(derivation: Derivation, chance: Chance) -> PassphraseSlot:
    """Return a new slot for a passphrase, with nothing in it."""
    memory, iterations, lanes = derivation.memory_kib, derivation.iterations, derivation.lanes
    salt = chance(SALT_BYTES).hex()
    return PassphraseSlot(memory_kib=memory, iterations=iterations, lanes=lanes, salt=salt)


def recovery_slot(chance: Chance) -> RecoverySlot:
    """Return a new slot for a recovery code, with nothing in it."""
    return RecoverySlot(salt=chance(SALT_BYTES).hex())


def keyring_slot(chance: Chance) -> KeyringSlot:
    """Return a new slot for the keyring, with nothing in it."""
    salt = chance(SALT_BYTES).hex()
    return KeyringSlot(salt=salt, account=chance(ACCOUNT_BYTES).hex())


def slot_key(slot: Slot, material: bytes) -> Key:
    """Return the key that a slot is wrapped with.

    ``material``: the normalised passphrase, the bytes of the code, or those of the keyring.
    Raises VaultError if a passphrase slot asks for more than is bearable.
    """
    salt = bytes.fromhex(slot.salt)
    if isinstance(slot, PassphraseSlot):
        return Key(derive(material, salt, slot.derivation))
    return Key(expanded(material, salt, f"reticent vault 1 {kind_of(slot)}"))


def wrapped(slot: AnySlot, place: Place, keys: tuple[Key, Key], chance: Chance) -> AnySlot:
    """Return a slot with the data key in it; ``keys``: that of the slot, then the data key."""
    by, data = keys
    sealed = Sealer(by, chance).seal(data.data, _bound(slot, place))
    return msgspec.structs.replace(slot, wrapped=sealed.hex())


def unwrapped(slot: Slot, place: Place, by: Key) -> Key | None:
    """Return the data key, or None if it is not this key that opens the slot."""
    try:
        sealer = Sealer(by, bytes)
        return Key(sealer.open(bytes.fromhex(slot.wrapped), _bound(slot, place)))
    except UnsealedError:
        return None


def encoded(slot: Slot) -> bytes:
    """Return a slot as JSON."""
    return msgspec.json.encode(slot)


def decoded(body: bytes) -> Slot | None:
    """Return the slot that JSON says, or None if it says none."""
    try:
        slot: Slot = msgspec.json.decode(body, type=Slot)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return slot


def _bound(slot: Slot, place: Place) -> bytes:
    """Return all that a slot says, as its payload is bound to it."""
    work = slot.derivation if isinstance(slot, PassphraseSlot) else Derivation(0, 0, 0)
    account = bytes.fromhex(slot.account) if isinstance(slot, KeyringSlot) else b""
    return context(
        place.vault_id,
        "slot",
        place.number,
        kind_of(slot),
        work.memory_kib,
        work.iterations,
        work.lanes,
        bytes.fromhex(slot.salt),
        account,
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
        secrets.forget(account)


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


class SlotMaker:
    """Makes slots of one vault for one data key; nothing is in the file yet."""

    def __init__(self, vault_id: bytes, key: Key, chance: Chance) -> None:
        self._vault_id = vault_id
        self._key = key
        self._chance = chance

    def passphrase(self, number: int, text: str, derivation: Derivation) -> SlotRow:
        """Return a slot for a passphrase; UsageError if it is none, VaultError if out of range."""
        return self._row(number, passphrase_slot(derivation, self._chance), normalised(text))

    def recovery(self, number: int) -> tuple[SlotRow, str]:
        """Return a slot for a new recovery code, and the code as text."""
        code = self._chance(CODE_BYTES)
        return self._row(number, recovery_slot(self._chance), code), written(code)

    def keyring(self, number: int) -> SlotRow:
        """Return a slot whose secret was put into the keyring; VaultError if it was not taken."""
        slot = keyring_slot(self._chance)
        secret = self._chance(secrets.SECRET_BYTES)
        secrets.keep(slot.account, secret)
        return self._row(number, slot, secret)

    def _row(self, number: int, slot: AnySlot, material: bytes) -> SlotRow:
        """Return a slot with the data key in it."""
        place = Place(self._vault_id, number)
        keys = (slot_key(slot, material), self._key)
        return new_row(place, wrapped(slot, place, keys, self._chance))


def opened(rows: Sequence[SlotRow], secret: Secret, vault_id: bytes) -> Key:
    """Return the data key from the first slot that a secret opens.

    Raises WrongSecretError if there is none; DamagedVaultError if it might be one that is damaged;
    VaultError if a slot asks for too much. ``secret``: of a keyring that was asked.
    """
    for _, key in openings(rows, secret, vault_id):
        return key
    if any(row.slot is None for row in rows):
        raise damaged("no key slot opens with this, and one of them was altered")
    if not any(row.slot is not None and kind_of(row.slot) == secret.kind for row in rows):
        raise _unknown(secret)
    raise wrong(secret)


def openings(
    rows: Sequence[SlotRow], secret: Secret, vault_id: bytes
) -> Iterator[tuple[SlotRow, Key]]:
    """Yield every slot that a secret opens, with the data key in it. Raises as `opened`."""
    for row, slot, material in _tries(rows, secret):
        key = unwrapped(slot, Place(vault_id, row.id), slot_key(slot, material))
        if key is not None:
            yield row, key


def wrong(secret: Secret) -> WrongSecretError:
    """Return the error for a secret that opens nothing."""
    match secret.kind:
        case "passphrase":
            what, hint = "the passphrase is wrong", "try again, or use the recovery code"
        case "recovery":
            what, hint = "this recovery code is of no key slot", "use the one that was shown last"
        case "keyring":
            what, hint = "the keyring has no key for this vault", "unlock with the passphrase"
    return WrongSecretError(what, hint)


def _unknown(secret: Secret) -> WrongSecretError:
    """Return the error where no secret of the kind opens the vault."""
    match secret.kind:
        case "passphrase":
            what, hint = "no passphrase opens this vault", "use the recovery code, by --recovery"
        case "recovery":
            what, hint = "no recovery code opens this vault", "use the passphrase"
        case "keyring":
            return wrong(secret)
    return WrongSecretError(what, hint)


def _tries(rows: Sequence[SlotRow], secret: Secret) -> Iterator[tuple[SlotRow, Slot, bytes]]:
    """Yield the slots of the kind of a secret, with what it brings for each."""
    material, kept = _material(secret), secret.kept or {}
    for row in rows:
        if row.slot is None or kind_of(row.slot) != secret.kind:
            continue
        own = kept.get(row.slot.account) if isinstance(row.slot, KeyringSlot) else material
        if own is not None:
            yield row, row.slot, own


def _material(secret: Secret) -> bytes:
    """Return the bytes of what was typed."""
    if secret.kind == "keyring":
        return b""
    text = secret.text or ""
    return parsed(text) if secret.kind == "recovery" else normalised(text)

"""A key slot: the data key, wrapped with what one secret gives (FORMAT.md, "Slots")."""

from typing import Annotated, NamedTuple, TypeVar

import msgspec
from msgspec import Meta, Struct

from agent.vault.keys.derivation import Derivation, derive
from agent.vault.keys.secrets import Kind
from agent.vault.sealed.framing import Chance, context
from agent.vault.sealed.seal import KEY_BYTES, OVERHEAD, Key, Sealer, UnsealedError, expanded

SALT_BYTES = 16
ACCOUNT_BYTES = 16

_Hex16 = Annotated[str, Meta(pattern=r"^[0-9a-f]{32}\Z")]
_Wrapped = Annotated[str, Meta(pattern=rf"^[0-9a-f]{{{2 * (OVERHEAD + KEY_BYTES)}}}\Z")]
_Count = Annotated[int, Meta(ge=0, lt=2**32)]


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

"""New key slots, with a data key in them (FORMAT.md, "Slots")."""

from agent.vault.keys import keyrings
from agent.vault.keys.derivation import Derivation
from agent.vault.keys.recovery import CODE_BYTES, written
from agent.vault.keys.secrets import normalised
from agent.vault.keys.slot_rows import SlotRow, new_row
from agent.vault.keys.slots import (
    AnySlot,
    Place,
    keyring_slot,
    passphrase_slot,
    recovery_slot,
    slot_key,
    wrapped,
)
from agent.vault.sealed.framing import Chance
from agent.vault.sealed.seal import Key


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
        secret = self._chance(keyrings.SECRET_BYTES)
        keyrings.keep(slot.account, secret)
        return self._row(number, slot, secret)

    def _row(self, number: int, slot: AnySlot, material: bytes) -> SlotRow:
        """Return a slot with the data key in it."""
        place = Place(self._vault_id, number)
        keys = (slot_key(slot, material), self._key)
        return new_row(place, wrapped(slot, place, keys, self._chance))

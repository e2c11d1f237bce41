"""Which slot a secret opens (FORMAT.md, "Slots")."""

from collections.abc import Iterator, Sequence

from agent.errors import WrongSecretError
from agent.vault.keys.recovery import parsed
from agent.vault.keys.secrets import Secret, normalised
from agent.vault.keys.slot_rows import SlotRow
from agent.vault.keys.slots import KeyringSlot, Place, Slot, kind_of, slot_key, unwrapped
from agent.vault.sealed.seal import Key
from agent.vault.sealed.trouble import damaged


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

"""A new data key, and everything sealed again under it (FORMAT.md, "Rotation")."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from typing import NamedTuple

from agent.errors import VaultError
from agent.vault.keys import slot_rows
from agent.vault.keys.opening import openings, wrong
from agent.vault.keys.secrets import Secret
from agent.vault.keys.slot_making import SlotMaker
from agent.vault.keys.slot_rows import SlotRow, read_slots, slots_digest
from agent.vault.keys.slots import KeyringSlot, PassphraseSlot, RecoverySlot
from agent.vault.sealed import chain
from agent.vault.sealed.database import Statement
from agent.vault.sealed.framing import Chance
from agent.vault.sealed.item_rows import opened_item, put_item, removed_item, sealed_item
from agent.vault.sealed.seal import KEY_BYTES, Key, Seals
from agent.vault.sealed.state import State, digest_of, first_link, written_state
from agent.vault.sealed.store import Store


class Rotated(NamedTuple):
    """The new data key, and the new recovery code if there was one before."""

    key: Key
    code: str | None

    def __repr__(self) -> str:
        return "Rotated(…)"


def rotate(store: Store, passphrase: str, chance: Chance) -> Rotated:
    """Replace the data key of an open vault, in one transaction.

    The passphrase goes on to open it; other passphrases do not. Raises WrongSecretError if it opens
    nothing now, VaultError if the keyring or the disk does not take what is new: nothing is changed
    then. The new code is returned whatever happens once it is written.
    """
    key = Key(chance(KEY_BYTES))
    vault_id = store.seals.vault_id
    old = read_slots(store.database, vault_id)
    secret = Secret("passphrase", passphrase)
    mine = [row for row, _ in openings(old, secret, vault_id)]
    if not mine:
        raise wrong(secret)
    new, code = _renewed(old, mine, passphrase, SlotMaker(vault_id, key, chance))
    seals = Seals(key, vault_id, chance)
    try:
        store.rewrite(_statements(store, seals, old, new), durable=True)
    except VaultError:
        if not store.doubtful:  # else the new slots may be those in the file
            slot_rows.forget(new)
        raise
    slot_rows.forget(old)
    with suppress(VaultError):  # it is done: whatever comes after it, the code must be shown
        store.reopen(seals)
        store.database.settle()
    return Rotated(key, code)


def _renewed(
    old: Sequence[SlotRow], mine: Sequence[SlotRow], passphrase: str, make: SlotMaker
) -> tuple[list[SlotRow], str | None]:
    """Return the slots for a new data key, and the text of the recovery code.

    Raises VaultError; then nothing is left in the keyring.
    """
    new: list[SlotRow] = []
    code: str | None = None
    with ExitStack() as on_failure:
        on_failure.callback(slot_rows.forget, new)
        for row in old:
            match row.slot:
                case PassphraseSlot() as slot if row in mine:
                    new.append(make.passphrase(row.id, passphrase, slot.derivation))
                case RecoverySlot() if code is None:
                    added, code = make.recovery(row.id)
                    new.append(added)
                case KeyringSlot():
                    new.append(make.keyring(row.id))
        on_failure.pop_all()
    return new, code


def _statements(
    store: Store, seals: Seals, old: Sequence[SlotRow], new: Sequence[SlotRow]
) -> Iterator[Statement]:
    """Yield what seals everything again, and the state at the end; one row in memory at a time."""
    yield from (slot_rows.removed(row) for row in old)
    yield from (slot_rows.inserted(row) for row in new)
    generation = store.generation + 1
    items = {}
    for item in store.items.values():
        fresh = sealed_item(seals, *opened_item(store.seals, item), generation)
        yield removed_item(item)
        yield put_item(fresh)
        items[fresh.id] = generation
    before = replace(store.state, entries=0, head=first_link(seals))
    for row in chain.entry_rows(store.database):
        entry = chain.opened_entry(store.seals, row)
        anew = chain.sealed_entry(seals, before, entry.site, entry.payload)
        yield chain.replaced(anew)
        before = replace(before, entries=anew.number, head=chain.link(seals, anew))
    yield written_state(_after(before, digest_of(items), slots_digest(new)), seals)


def _after(before: State, items: bytes, slots: bytes) -> State:
    """Return the state that a rotation leaves."""
    return before.after(rotations=before.rotations + 1, items=items, slots=slots)

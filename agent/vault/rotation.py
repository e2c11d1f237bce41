"""All rows of a vault sealed anew: in a new chain, and with another key if it is replaced."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace

from agent.errors import VaultError
from agent.vault import chain, slots
from agent.vault.database import Statement
from agent.vault.seal import KEY_BYTES, Chance, Key, Seals
from agent.vault.secrets import Secret
from agent.vault.store import ItemRow, Store, opened_item, put_item, sealed_item


def contents(
    seals: Seals,
    before: chain.VaultState,
    rows: Iterable[slots.SlotRow],
    items: Iterable[ItemRow] = (),
    entries: Iterable[tuple[str, bytes]] = (),
) -> Iterator[Statement]:
    """Yield the statements that fill a vault: slots, items, entries in a new chain, the state.

    ``before``: the state before, with the digests of these slots and items.
    """
    yield from map(slots.inserted, rows)
    yield from map(put_item, items)
    state = replace(before, entries=0, head=chain.first_link(seals))
    for site, payload in entries:
        row, head = chain.sealed_entry(seals, state, site, payload)
        state = replace(state, entries=row.number, head=head)
        yield "INSERT OR REPLACE INTO entry VALUES (?, ?, ?, ?)", row
    yield chain.written_state(state.after(), seals)


def rotate(store: Store, passphrase: str, chance: Chance) -> tuple[Key, str | None]:
    """Replace the data key of an open vault, in one transaction.

    Returns it with the new recovery code, if there was one before.

    The passphrase still opens it; other passphrases do not. Raises WrongSecretError if it does not
    open it now, VaultError if the keyring or the disk refuses; then nothing has changed. Once the
    new code is in the file, it is returned whatever happens.
    """
    key, vault_id = Key(chance(KEY_BYTES)), store.seals.vault_id
    old, secret = slots.read_slots(store.database), Secret("passphrase", passphrase)
    mine = [row for row, _ in slots.data_keys(old, secret, vault_id)]
    if not mine:
        raise slots.wrong_secret(secret)
    seals = Seals(key, vault_id, chance)
    new: list[slots.SlotRow] = []
    code: str | None = None
    with ExitStack() as on_failure:
        on_failure.callback(slots.forget, new)
        for row in old:
            if row.slot is None or (row.kind == "passphrase" and row not in mine):
                continue
            if row.kind == "recovery" and code is not None:
                continue
            by = Secret(row.slot.kind, passphrase)
            added, text = slots.make_slot(row.id, by, key, vault_id, chance, row.derivation)
            new.append(added)
            code = code or text
        on_failure.pop_all()
    try:
        store.commit(None, resealed(store, seals, new), durable=True)
    except VaultError:
        if not store.uncertain:  # else the new slots may be those in the file
            slots.forget(new)
        raise
    slots.forget(old)
    with suppress(VaultError):  # it is done: whatever comes after it, the code must be shown
        store.reopen(seals)
        store.database.empty_log()
    return key, code


def resealed(
    store: Store,
    seals: Seals,
    new: Sequence[slots.SlotRow],
    kept: Callable[[int, bytes], bytes] = lambda _, payload: payload,
) -> Iterator[Statement]:
    """Yield the statements that seal everything anew, with one entry in memory at a time.

    ``kept``: what remains of an entry, by its number and payload.
    """
    yield "DELETE FROM slot", ()
    yield "DELETE FROM item", ()
    generation = store.state.generation + 1
    items = [
        sealed_item(seals, *opened_item(store.seals, item), generation)
        for item in store.items.values()
    ]
    before = replace(
        store.state,
        rotations=store.state.rotations + 1,
        items=chain.digest_of({item.id: generation for item in items}),
        slots=slots.slots_digest(new),
    )
    rows = (
        (site, kept(row.number, payload))
        for row in chain.entry_rows(store.database)
        for _, site, payload in [chain.opened_entry(store.seals, row)]
    )
    yield from contents(seals, before, new, items, rows)

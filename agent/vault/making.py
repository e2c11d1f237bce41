"""Making a vault, sealing it anew under another key, and setting it aside if it was replaced."""

import fcntl
import os
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from agent.errors import (
    BusyVaultError,
    DamagedVaultError,
    ReplacedVaultError,
    UsageError,
    VaultError,
)
from agent.files import clear_unfinished, fsync, name_new, private_folder, unfinished
from agent.vault import chain, slots, vault_files
from agent.vault.database import (
    RESTORE,
    Database,
    Statement,
    damaged,
    make_database,
    snapshot,
    translated,
)
from agent.vault.seal import KEY_BYTES, Chance, Derivation, Key, Seals
from agent.vault.secrets import Secret
from agent.vault.store import ItemRow, Store, opened_item, put_item, sealed_item
from agent.vault.vault_files import Location, Notice


def make_vault(
    at: Location, passphrase: str, derivation: Derivation | None, chance: Chance
) -> tuple[Key, str]:
    """Make an empty vault in place, which a passphrase and a recovery code open.

    Returns its data key and the code. Raises VaultError if the file exists or cannot be written;
    UsageError for an invalid passphrase or an unsafe folder.
    """
    key, vault_id = Key(chance(KEY_BYTES)), chance(slots.VAULT_ID_BYTES)
    typed = Secret("passphrase", passphrase)
    first, _ = slots.make_slot(1, typed, key, vault_id, chance, derivation)
    second, code = slots.make_slot(2, Secret("recovery"), key, vault_id, chance)
    seals = Seals(key, vault_id, chance)
    rows = [first, second]
    digests = chain.digest_of({}), slots.slots_digest(rows)
    before = chain.VaultState(0, 0, 0, chain.first_link(seals), *digests)
    private_folder(at.vault.parent)
    private_folder(at.witness.parent)
    make_database(at.vault, vault_id, contents(seals, before, rows))
    vault_files.write_line(before.after().witness(vault_id), at.witness)
    return key, code or ""


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
        row = chain.sealed_entry(seals, state, site, payload)
        state = replace(state, entries=row.number, head=chain.link(seals, row))
        yield "INSERT OR REPLACE INTO entry VALUES (?, ?, ?, ?)", row
    yield chain.written_state(state.after(), seals)


@contextmanager
def staging(at: Location) -> Iterator[Location]:
    """Yield a place to make a vault in, for `install`; no other process makes one meanwhile.

    Files that killed processes left are removed first, and its own at the end. Raises
    BusyVaultError if another process makes one, VaultError, or UsageError for the folders.
    """
    private_folder(at.vault.parent)
    private_folder(at.witness.parent)
    part = unfinished(at.vault)
    with _locked(at.vault.parent), ExitStack() as stack:
        clear_unfinished(at.vault)
        stack.callback(clear_unfinished, at.vault)
        yield Location(part, part.with_name(f"{part.name}.witness"))


def install(finished: Location, at: Location, *, over: bool = False) -> None:
    """Give a closed vault its name, then its witness; only inside `staging`.

    ``over``: replace the vault that is there, which the caller holds open. Raises VaultError if
    there is one without ``over``, or if it fails.
    """
    if not over:
        vault_files.check_name(at.vault)
    with translated(at.vault):
        # Now, while nobody can have the name: what SQLite left would be read into the new file.
        vault_files.remove_beside(at.vault)
        at.witness.unlink(missing_ok=True)
        if over:
            finished.vault.replace(at.vault)
        else:
            try:
                name_new(finished.vault, at.vault)
            except FileExistsError as error:
                raise vault_files.already_exists(at.vault) from error
        fsync(at.vault.parent)
    witness = vault_files.read_witness(finished.witness)
    if witness is not None:
        vault_files.write_line(witness, at.witness)


def sweep(at: Location) -> None:
    """Remove unfinished files of killed processes, which old secrets may still open.

    Only for whoever has the vault open; does nothing while a vault is being made or restored.
    """
    with suppress(VaultError), _locked(at.vault.parent):
        clear_unfinished(at.vault)
        clear_unfinished(at.witness)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Lock a folder for making a vault; the lock ends with this process at the latest."""
    with ExitStack() as stack:
        with translated(folder):
            descriptor = os.open(folder, os.O_RDONLY)
            stack.callback(os.close, descriptor)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                what = "a vault is being made or restored here"
                raise BusyVaultError(what, "wait until that is done", str(folder)) from error
        yield


class Rotated(NamedTuple):
    """The new data key, and the new recovery code if there was one before."""

    key: Key
    code: str | None

    def __repr__(self) -> str:
        return "Rotated(…)"


def rotate(store: Store, passphrase: str, chance: Chance) -> Rotated:
    """Replace the data key of an open vault, in one transaction.

    The passphrase still opens it; other passphrases do not. Raises WrongSecretError if it does not
    open it now, VaultError if the keyring or the disk refuses; then nothing has changed. Once the
    new code is in the file, it is returned whatever happens.
    """
    key = Key(chance(KEY_BYTES))
    vault_id = store.seals.vault_id
    old = slots.read_slots(store.database)
    secret = Secret("passphrase", passphrase)
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
        store.rewrite(_statements(store, seals, new), durable=True)
    except VaultError:
        if not store.uncertain:  # else the new slots may be those in the file
            slots.forget(new)
        raise
    slots.forget(old)
    with suppress(VaultError):  # it is done: whatever comes after it, the code must be shown
        store.reopen(seals)
        store.database.empty_log()
    return Rotated(key, code)


def _statements(store: Store, seals: Seals, new: Sequence[slots.SlotRow]) -> Iterator[Statement]:
    """Yield the statements that seal everything anew, with one entry in memory at a time."""
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
    rows = (chain.opened_entry(store.seals, row) for row in chain.entry_rows(store.database))
    yield from contents(seals, before, new, items, ((row.site, row.payload) for row in rows))


def set_aside(store: Store, at: Location) -> Notice:
    """Copy an open vault, wherever the names of its files lead now, to a file for `restore`.

    It lies beside the vault, or beside the witness if that folder is gone or unusable. Raises
    DamagedVaultError if the open file was overwritten, so that there is nothing to copy;
    ReplacedVaultError if the copy cannot be written now.
    """
    what = store.database.watch.difference()
    try:
        file = _copied(store, at)
    except DamagedVaultError as error:
        problem = f"{what}, and its contents cannot be read any more"
        raise DamagedVaultError(problem, RESTORE, str(at.vault)) from error
    except (VaultError, UsageError) as error:
        problem = f"{what}, and it could not be set aside: {error}"
        hint = "fix that or free some space, then run `reticent lock`: it is only in memory now"
        raise ReplacedVaultError(problem, hint) from error
    seen = store.state.witness(store.seals.vault_id)
    store.update_witness(seen)
    notice = Notice(str(file), what, seen)
    vault_files.write_line(notice, at.notice)
    return notice


def _copied(store: Store, at: Location) -> Path:
    folders = [at.vault.parent] if os.path.isdir(at.vault.parent) else []  # noqa: PTH112  (the other raises where it may not look)
    *others, last = dict.fromkeys((*folders, at.witness.parent))
    for folder in others:
        with suppress(VaultError, UsageError):
            return _copied_into(folder, store, at)
    return _copied_into(last, store, at)


def _copied_into(folder: Path, store: Store, at: Location) -> Path:
    """Return a complete, verified copy in a folder.

    It may contain one transaction more, written just before the files were replaced.
    """
    name = private_folder(folder) / at.vault.name
    file = next(vault_files.free_names(name, vault_files.SET_ASIDE))
    store.database.copy(file)
    with ExitStack() as on_failure:
        on_failure.callback(file.unlink, missing_ok=True)
        with snapshot(file, name) as copy, closing(Database.open(copy)) as database:
            copied = Store(database, store.seals, copy.with_name("no-witness"))
            deque(copied.verify(), maxlen=0)
        if copied.state.generation not in (store.state.generation, store.state.generation + 1):
            raise damaged("it differs from what was last written", file)
        on_failure.pop_all()
    return file

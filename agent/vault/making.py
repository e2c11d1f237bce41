"""A vault made, sealed anew under another key, or written aside where its file was replaced."""

import fcntl
import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from agent.errors import BusyVaultError, ReplacedVaultError, UsageError, VaultError
from agent.files import clear_unfinished, name_new, private_folder, settle, unfinished
from agent.vault import chain, slots
from agent.vault.chain import State, digest_of, first_link, written_state
from agent.vault.connection import damaged, snapshot, translated
from agent.vault.database import Database, Statement, make_database
from agent.vault.disclosure_index import Record, encode, site_of
from agent.vault.seal import KEY_BYTES, Chance, Derivation, Key, Seals
from agent.vault.secrets import Secret
from agent.vault.slots import (
    VAULT_ID_BYTES,
    KeyringSlot,
    PassphraseSlot,
    RecoverySlot,
    SlotMaker,
    SlotRow,
    data_keys,
    read_slots,
    slots_digest,
    wrong_secret,
)
from agent.vault.store import Store, opened_item, put_item, removed_item, sealed_item
from agent.vault.vault_files import (
    SET_ASIDE,
    Location,
    Notice,
    already_exists,
    check_name,
    free_names,
    read_witness,
    remove_beside,
    write_notice,
    write_witness,
)

PAGE_BYTES = 4096
Remembered = Callable[[], Mapping[int, Record]]


def make_vault(
    at: Location,
    passphrase: str,
    derivation: Derivation,
    chance: Chance,
    page_bytes: int = PAGE_BYTES,
) -> tuple[Key, str]:
    """Make an empty vault, right there, that a passphrase and a recovery code open.

    Returns its data key, and the code as text. Raises VaultError if there is a file already or it
    cannot be written; UsageError if it is not a passphrase or a folder is unsafe.
    """
    key, vault_id = Key(chance(KEY_BYTES)), chance(VAULT_ID_BYTES)
    make = SlotMaker(vault_id, key, chance)
    first = make.passphrase(1, passphrase, derivation)
    second, code = make.recovery(2)
    seals = Seals(key, vault_id, chance)
    state = first_state(seals, [first, second])
    private_folder(at.vault.parent)
    private_folder(at.witness.parent)
    make_database(at.vault, first_rows(seals, state, [first, second]), page_bytes)
    write_witness(state.witness(vault_id), at.witness)
    return key, code


def first_state(seals: Seals, slots: list[SlotRow]) -> State:
    """Return the state of a vault with slots only."""
    return State(1, 0, 0, first_link(seals), digest_of({}), slots_digest(slots))


def first_rows(seals: Seals, state: State, rows: list[SlotRow]) -> list[Statement]:
    """Return the statements that fill the tables of a new vault."""
    return [
        ("INSERT INTO meta VALUES ('vault', ?)", (seals.vault_id,)),
        *(slots.inserted(row) for row in rows),
        written_state(state, seals),
    ]


@contextmanager
def workshop(at: Location) -> Iterator[Location]:
    """Yield where a vault may be made, to be `put` in its place; nobody else makes one meanwhile.

    What is left of it goes at the end, and what a process left that was killed goes before. Raises
    BusyVaultError if somebody makes one now, VaultError, or UsageError for the folders.
    """
    private_folder(at.vault.parent)
    private_folder(at.witness.parent)
    part = unfinished(at.vault)
    with _alone(at.vault.parent), ExitStack() as stack:
        clear_unfinished(at.vault)
        stack.callback(clear_unfinished, at.vault)
        yield Location(part, part.with_name(f"{part.name}.witness"))


def put(finished: Location, at: Location, *, over: bool = False) -> None:
    """Give a closed vault its name, and then its witness; only out of the `workshop`.

    ``over``: in the place of the one that is there, which the caller holds. VaultError if there is
    one otherwise, or it cannot be done.
    """
    if not over:
        check_name(at.vault)
    with translated(at.vault):
        # Now, while nobody can have the name: what SQLite left would be read into the new file.
        remove_beside(at.vault)
        at.witness.unlink(missing_ok=True)
        if over:
            finished.vault.replace(at.vault)
        else:
            try:
                name_new(finished.vault, at.vault)
            except FileExistsError as error:
                raise already_exists(at.vault) from error
        settle(at.vault.parent)
    witness = read_witness(finished.witness)
    if witness is not None:
        write_witness(witness, at.witness)


def sweep(at: Location) -> None:
    """Remove what killed processes left unfinished: secrets of then open it.

    For who has the vault open; nothing is done while somebody makes or restores one.
    """
    with suppress(VaultError), _alone(at.vault.parent):
        clear_unfinished(at.vault)
        clear_unfinished(at.witness)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Keep others out of a workshop; the lock ends with this process, whatever happens to it."""
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

    The passphrase goes on to open it; other passphrases do not. Raises WrongSecretError if it opens
    nothing now, VaultError if the keyring or the disk does not take what is new: nothing is changed
    then. The new code is returned whatever happens once it is written.
    """
    key = Key(chance(KEY_BYTES))
    vault_id = store.seals.vault_id
    old = read_slots(store.database, vault_id)
    secret = Secret("passphrase", passphrase)
    mine = [row for row, _ in data_keys(old, secret, vault_id)]
    if not mine:
        raise wrong_secret(secret)
    new, code = _renewed(old, mine, passphrase, SlotMaker(vault_id, key, chance))
    seals = Seals(key, vault_id, chance)
    try:
        store.rewrite(_statements(store, seals, old, new), durable=True)
    except VaultError:
        if not store.doubtful:  # else the new slots may be those in the file
            slots.forget(new)
        raise
    slots.forget(old)
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
        on_failure.callback(slots.forget, new)
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
    yield from (slots.removed(row) for row in old)
    yield from (slots.inserted(row) for row in new)
    generation = store.state.generation + 1
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
    after = before.after(
        rotations=before.rotations + 1, items=digest_of(items), slots=slots_digest(new)
    )
    yield written_state(after, seals)


def write_aside(store: Store, at: Location, remembered: Remembered) -> Notice:
    """Write all of an open vault to a file beside it, which the same secrets open.

    It is a copy of the file that is open, whatever its names lead to now; where that cannot be read
    any more, what memory has. ``remembered``: the entries as memory has them, by their numbers.
    Raises ReplacedVaultError where it cannot be written.
    """
    what = store.database.watch.difference()
    try:
        file, lost = _written(store, at, remembered)
    except (VaultError, UsageError) as error:
        hint = (
            "fix that or free some space, then run `reticent lock`; until then it is only in memory"
        )
        kept = f"{what}, and it could not be set aside: {error}"
        raise ReplacedVaultError(kept, hint) from error
    seen = store.state.witness(store.seals.vault_id)
    store.tell_witness(seen)
    notice = Notice(str(file), what, seen, lost)
    write_notice(notice, at)
    return notice


def _written(store: Store, at: Location, remembered: Remembered) -> tuple[Path, int]:
    """Return the file that was written, and how many entries could not be read.

    It lies beside the vault; if its folder is gone or of no use, beside the witness.
    """
    while store.unverified:
        with suppress(OSError):
            store.unverified.pop().unlink()
    if os.path.isdir(at.vault.parent):  # noqa: PTH112  (the other raises where it may not look)
        try:
            return _written_into(at.vault.parent, store, at, remembered)
        except (VaultError, UsageError):
            if at.witness.parent == at.vault.parent:
                raise
    return _written_into(at.witness.parent, store, at, remembered)


def _written_into(
    folder: Path, store: Store, at: Location, remembered: Remembered
) -> tuple[Path, int]:
    name = private_folder(folder) / at.vault.name
    file = next(free_names(name, SET_ASIDE))
    try:
        store.database.copy(file)
        _verify(file, name, store.seals, store.state)
    except VaultError:
        store.unverified.append(file)  # better than nothing, should there be no time for more
        part, lost = unfinished(name), list[int]()
        try:
            with translated(file):
                make_database(part, _rebuilt(store, remembered(), lost))
                _verify(part, name, store.seals)
                part.replace(file)
                settle(file.parent)
        finally:
            with suppress(OSError):
                part.unlink(missing_ok=True)
        store.unverified.remove(file)
        return file, len(lost)
    return file, 0


def opens(at: Location, seals: Seals, state: State) -> bool:
    """Return whether the file and log at this place are the vault in this state."""
    try:
        _verify(at.vault, at.vault, seals, state)
    except VaultError:
        return False
    return True


def _verify(file: Path, name: Path, seals: Seals, state: State | None = None) -> None:
    """Raise VaultError unless a copy is whole and, if there is a ``state``, has that.

    It may have one transaction more: one that was written, but after which the files were others.
    """
    with snapshot(file, name) as copy, closing(Database.open(copy)) as database:
        found = Store(database, seals, copy.with_name("no-witness"))
        deque(found.verify(), maxlen=0)
        if state and found.state != state and found.state.generation != state.generation + 1:
            raise damaged("it differs from what was last written", file)


def _rebuilt(
    store: Store, remembered: Mapping[int, Record], lost: list[int]
) -> Iterator[Statement]:
    """Yield what fills a new file from memory and from what can still be read.

    Its entries are linked anew. ``lost``: takes the numbers of those that cannot be read.
    """
    seals = store.seals
    yield from first_rows(seals, store.state, store.slots)
    yield from map(put_item, store.items.values())
    before = replace(store.state, entries=0, head=first_link(seals))
    for number in range(1, store.count + 1):
        try:
            [row] = chain.entry_rows(store.database, number - 1, number)
            _, site, payload = chain.opened_entry(seals, row)
        except (VaultError, ValueError):  # a page that is gone; there is none
            lost.append(number)
            record = remembered[number]
            site, payload = site_of(record.host), encode(record)
        row = chain.sealed_entry(seals, before, site, payload)
        before = replace(before, entries=row.number, head=chain.link(seals, row))
        yield chain.inserted(row)
    yield written_state(before.after(), seals)

"""An open vault written aside, where its file was replaced or damaged (FORMAT.md, "Set aside")."""

import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

from agent.errors import ReplacedVaultError, UsageError, VaultError
from agent.files import private_folder, settle, unfinished
from agent.vault.entry import Record, encode
from agent.vault.facts import site_of
from agent.vault.leftovers import SET_ASIDE, Notice, free_names, write_notice
from agent.vault.location import Location
from agent.vault.making import first_rows
from agent.vault.sealed import chain
from agent.vault.sealed.connection import still
from agent.vault.sealed.database import Database, Statement, make_database
from agent.vault.sealed.item_rows import put_item
from agent.vault.sealed.seal import Seals
from agent.vault.sealed.state import State, first_link, written_state
from agent.vault.sealed.store import Store
from agent.vault.sealed.trouble import damaged, refused

Remembered = Callable[[], Mapping[int, Record]]


def write_aside(store: Store, at: Location, remembered: Remembered) -> Notice:
    """Write all of an open vault to a file beside it, which the same secrets open.

    It is a copy of the file that is open, whatever its names lead to now; where that cannot be read
    any more, what memory has. ``remembered``: the entries as memory has them, by their numbers.
    Raises ReplacedVaultError where it cannot be written.
    """
    what = store.database.what_happened()
    try:
        file, lost = _written(store, at, remembered)
    except (VaultError, UsageError) as error:
        hint = "make room or mend that, then run `reticent lock`: until then it is in memory alone"
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
        rebuilt = _Rebuilt(store, remembered())
        _put_rebuilt(rebuilt, file, name, store)
        store.unverified.remove(file)
        return file, rebuilt.lost
    return file, 0


def _put_rebuilt(rebuilt: "_Rebuilt", file: Path, name: Path, store: Store) -> None:
    """Write a vault out of what is left, in the place of a copy that is not whole."""
    part = unfinished(name)
    try:
        make_database(part, rebuilt.statements())
        _verify(part, name, store.seals)
        part.replace(file)
        settle(file.parent)
    except OSError as error:
        raise refused(error, file) from error
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def opens(at: Location, seals: Seals, state: State) -> bool:
    """Say whether what lies in the place of a vault, and its log, are the vault as it was last."""
    try:
        _verify(at.vault, at.vault, seals, state)
    except VaultError:
        return False
    return True


def _verify(file: Path, name: Path, seals: Seals, state: State | None = None) -> None:
    """Raise VaultError unless a copy is whole and, if there is a ``state``, has that.

    It may have one transaction more: one that was written, but after which the files were others.
    """
    with still(file, name) as copy, closing(Database.open(copy)) as database:
        found = Store(database, seals, copy.with_name("no-witness"))
        deque(found.verify(), maxlen=0)
        if state and found.state != state and found.generation != state.generation + 1:
            raise damaged("it is not as it was last written", file)


class _Rebuilt:
    """A vault out of what is left; ``lost``: how many entries could not be read."""

    def __init__(self, store: Store, remembered: Mapping[int, Record]) -> None:
        self._store = store
        self._remembered = remembered
        self.lost = 0

    def statements(self) -> Iterator[Statement]:
        """Yield what fills a new file; its entries are linked anew, for some may be others."""
        store, seals = self._store, self._store.seals
        yield from first_rows(seals, store.state, store.slots)
        yield from map(put_item, store.items.values())
        before = replace(store.state, entries=0, head=first_link(seals))
        for number in range(1, store.count + 1):
            row = chain.sealed_entry(seals, before, *self._entry(number))
            before = replace(before, entries=row.number, head=chain.link(seals, row))
            yield chain.inserted(row)
        yield written_state(before.after(), seals)

    def _entry(self, number: int) -> tuple[str, bytes]:
        """Return site and payload of an entry."""
        try:
            [row] = chain.entry_rows(self._store.database, number - 1, number)
            entry = chain.opened_entry(self._store.seals, row)
        except (VaultError, ValueError):  # a page that is gone; there is none
            self.lost += 1
            record = self._remembered[number]
            return site_of(record.host), encode(record)
        return entry.site, entry.payload

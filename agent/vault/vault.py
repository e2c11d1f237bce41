"""The vault: made, unlocked, used and closed."""

import os
from collections.abc import Callable
from contextlib import ExitStack, closing, suppress
from datetime import datetime
from pathlib import Path
from typing import Self

import msgspec

from agent.errors import (
    BusyVaultError,
    DamagedVaultError,
    ReplacedVaultError,
    VaultError,
    WrongSecretError,
)
from agent.files import check_way, private_folder
from agent.vault import secrets, slots
from agent.vault.database import Database
from agent.vault.ledger import Ledger, Reset, read_snapshot
from agent.vault.making import install, make_vault, rotate, set_aside, staging, sweep
from agent.vault.profile import Profile
from agent.vault.seal import Chance, Derivation, Key, Seals
from agent.vault.secrets import Kind, Secret, normalised
from agent.vault.slots import SlotRow, data_key, make_slot, read_slots, read_vault_id
from agent.vault.store import Items, Store
from agent.vault.vault_files import Location, Notice, check_free, forget_notice, read_notice

CLOCK = "clock"  # the item with the correction of a wrong clock


class Vault:
    """An open, unlocked vault; for one thread at a time."""

    def __init__(self, store: Store, key: Key, place: Location, chance: Chance) -> None:
        """Read and verify everything. Raises DamagedVaultError or RolledBackError."""
        self._store = store
        self._key = key
        self._chance = chance
        self._closed = self._rescued = False
        self.place = place
        self.ledger = self._read()
        self.profile = Profile(store)
        self.items = Items(store)
        store.sync()

    def _read(self) -> Ledger:
        """Read and verify every entry."""
        store, reset = self._store, Reset.read(self._store.get(CLOCK))
        snapshot = read_snapshot(store, reset)
        rows = store.verify(0 if snapshot is None else snapshot.entries)
        return Ledger(store, rows, reset, snapshot)

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences for the user: none if all is well."""
        return tuple(self._store.notes)

    def keys(self) -> list[SlotRow]:
        """Return the key slots as they are in the file. Raises VaultError."""
        return read_slots(self._store.database)

    def add_slot(
        self, kind: Kind, passphrase: str = "", derivation: Derivation | None = None
    ) -> tuple[int, str | None]:
        """Add a key slot; return its number, and the recovery code if it is for one.

        ``derivation``: by default about half a second on this machine. Raises VaultError, also if
        the keyring refuses the key; UsageError for an invalid passphrase.
        """
        rows, secret = self.keys(), Secret(kind, passphrase)
        own = self._key, self._store.seals.vault_id, self._chance
        row, code = make_slot(slots.free_id(rows), secret, *own, derivation)
        try:
            self._store.change_slots([*rows, row], slots.inserted(row))
        except VaultError:
            slots.forget([row])
            raise
        return row.id, code

    def remove_slot(self, number: int) -> None:
        """Remove a key slot; VaultError if it is the last one that opens on every machine."""
        rows = self.keys()
        rest = slots.without_slot(rows, number)
        [gone] = [row for row in rows if row not in rest]
        self._store.change_slots(rest, ("DELETE FROM slot WHERE id = ?", (number,)))
        slots.forget([gone])

    def rotate(self, passphrase: str) -> str | None:
        """Replace the data key and seal everything again; return the new recovery code, if any.

        The given passphrase must open the vault now, and is the only one that opens it afterwards.
        Raises WrongSecretError or VaultError; then nothing has changed.
        """
        self._key, code = rotate(self._store, passphrase, self._chance)
        return code

    def reset_clock(self, at: datetime) -> None:
        """Count no entry so far as later than a time with a zone. Raises VaultError.

        The entries themselves do not change.
        """
        reset = Reset(entries=self.ledger.count, at=at)
        self._store.put(CLOCK, msgspec.json.encode(reset))
        self.ledger = self._read()

    def backup(self, to: Path) -> None:
        """Write a complete copy, 0600, which the same secrets open; in steps, in any thread.

        Raises VaultError if the file exists, or the vault is closed meanwhile.
        """
        self._store.database.copy(to)

    @property
    def intact(self) -> bool:
        """Whether file and log are still those that were opened, unchanged by others."""
        return self._store.database.watch.intact

    def holds(self, notice: Notice) -> bool:
        """Return whether it contains all that was set aside: restoring would lose later data."""
        return self._store.holds(notice.seen)

    def rescue(self) -> None:
        """Set it aside for `restore` if it is not intact, once (FORMAT.md, "Set aside").

        Raises ReplacedVaultError if that fails, to be tried again; DamagedVaultError, once, if the
        open file was overwritten.
        """
        if not self.intact and not self._rescued:
            try:
                set_aside(self._store, self.place)
            except DamagedVaultError:
                self._rescued = True
                raise
            self._rescued = True

    def close(self) -> None:
        """Bring everything to the disk, drop the keys, and close the vault for good.

        It is closed even if this raises VaultError, except if its file was replaced and it cannot
        be set aside: then it stays open.
        """
        if self._closed:
            return
        self.rescue()
        try:
            if not self._rescued:
                with suppress(ReplacedVaultError):
                    self.ledger.save()
                    self._store.sync()
        finally:
            self.rescue()  # where this fails it stays open
            self._closed = True
            del self._key
            self._store.close()
            if self._rescued:
                self._store.database.remove_log()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


def make(
    at: Location,
    passphrase: str,
    derivation: Derivation | None = None,
    chance: Chance = os.urandom,
    fill: Callable[[Vault], object] | None = None,
) -> tuple[Key, str]:
    """Make a vault, whole or not at all; return its key and its recovery code, stored nowhere.

    ``derivation``: by default about half a second on this machine; ``chance``: random bytes;
    ``fill``: fills it before it is put in its place.
    Raises VaultError if there is one already or it cannot be written; UsageError for an invalid
    passphrase or an unsafe folder.
    """
    normalised(passphrase)  # before even a folder is made
    check_free(at)
    with staging(at) as unfinished, ExitStack() as on_failure:
        key, code = make_vault(unfinished, passphrase, derivation, chance)
        on_failure.callback(_forget_keys, unfinished)
        with unlock_with(unfinished, key, chance) as vault:
            if fill is not None:
                fill(vault)
        install(unfinished, at)
        on_failure.pop_all()
    return key, code


def unlock(at: Location, secret: Secret) -> Vault:
    """Open a vault and verify all of it; takes about half a second for a passphrase.

    Raises WrongSecretError, DamagedVaultError, VaultVersionError, RolledBackError, BusyVaultError;
    VaultError if there is no vault, or disk, keyring or memory fail.
    """
    if secret.kind == "keyring" and secret.kept is None:  # before others are locked out: it is slow
        secret = Secret("keyring", kept=secrets.fetched(accounts_of(at.vault)))

    def key_in(database: Database) -> Key:
        return data_key(read_slots(database), secret, read_vault_id(database))

    try:
        vault = _unlocked(at, key_in)
    except (WrongSecretError, BusyVaultError):
        raise
    except VaultError as error:  # the vault may have been replaced while it was open
        notice = read_notice(at)
        if notice is None:
            raise
        raise type(error)(f"{error.what}: {notice}", notice.hint, error.where) from error
    notice = read_notice(at)
    if notice is not None and vault.holds(notice):
        forget_notice(at)
    return vault


def accounts_of(path: Path) -> list[str]:
    """Return the accounts in the keyring that open a vault. Raises as `key_slots`."""
    return slots.accounts(slots.key_slots(path))


def unlock_with(at: Location, key: Key, chance: Chance = os.urandom) -> Vault:
    """Open a vault with its data key, as `unlock`."""
    return _unlocked(at, lambda _: key, chance)


def _unlocked(
    at: Location, key_in: Callable[[Database], Key], chance: Chance = os.urandom
) -> Vault:
    """Open a vault, unless another user could replace it."""
    with suppress(OSError):  # opening it says why
        check_way(at.vault)
    database = Database.open(at.vault)
    with ExitStack() as on_failure:
        on_failure.callback(database.close, leave=True)
        key = key_in(database)
        private_folder(at.vault.parent)
        private_folder(at.witness.parent)
        sweep(at)
        seals = Seals(key, read_vault_id(database), chance)
        vault = Vault(Store(database, seals, at.witness), key, at, chance)
        on_failure.pop_all()
    return vault


def _forget_keys(at: Location) -> None:
    """Remove the keys of a vault that could not be made from the keyring."""
    with suppress(VaultError), closing(Database.open(at.vault)) as database:
        slots.forget(read_slots(database))

"""The vault: made, unlocked, used, sealed anew under another key, and closed."""

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from datetime import datetime
from itertools import groupby
from pathlib import Path
from types import MappingProxyType
from typing import Self

import msgspec

from agent.errors import (
    BusyVaultError,
    DamagedVaultError,
    ReplacedVaultError,
    VaultError,
    WrongSecretError,
)
from agent.files import check_way, clear_unfinished, fsync, name_new, private_folder, unfinished
from agent.vault import chain, secrets, slots, vault_files
from agent.vault.database import Database, Statement, make_database, new_file, scratch, translated
from agent.vault.ledger import Disclosure, Ledger, Reset, decode, encode
from agent.vault.profile import Profile
from agent.vault.rotation import contents, resealed, rotate
from agent.vault.seal import KEY_BYTES, Chance, Derivation, Key, Seals
from agent.vault.secrets import Kind, Secret, normalised
from agent.vault.slots import SlotRow
from agent.vault.store import ENCLOSED, Items, Store, enclose, set_aside
from agent.vault.vault_files import Location

CLOCK = "clock"  # the item with the correction of a wrong clock


class Vault:
    """An open, unlocked vault; for one thread at a time."""

    def __init__(self, store: Store, key: Key, place: Location, chance: Chance) -> None:
        """Read and verify everything. Raises DamagedVaultError or RolledBackError."""
        self._store, self._key = store, key
        self._chance = chance
        self._closed = self._rescued = False
        self.place = place
        self.ledger = self._read()
        self.profile, self.items = Profile(store), Items(store)
        store.sync()

    def _read(self) -> Ledger:
        """Read and verify every entry."""
        return Ledger(self._store, self._store.verify(), Reset.read(self._store.get(CLOCK)))

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences for the user: none if all is well."""
        return tuple(self._store.notes)

    def renew_witness_by(self, afterwards: Callable[[Callable[[], object]], object]) -> None:
        """Call this with what renews the witness, after each write; closing renews it at once."""
        self._store.afterwards = lambda renew: afterwards(lambda: self._closed or renew())

    def keys(self) -> list[SlotRow]:
        """The key slots as they are in the file. Raises VaultError."""
        return slots.read_slots(self._store.database)

    def add_slot(
        self, kind: Kind, passphrase: str = "", derivation: Derivation | None = None
    ) -> tuple[int, str | None]:
        """Add a key slot; return its number, and the recovery code if it is for one.

        ``derivation``: by default about half a second on this machine, and never less work than any
        other slot asks. Raises VaultError, also if the keyring refuses the key; UsageError for an
        invalid passphrase.
        """
        rows, secret = self.keys(), Secret(kind, passphrase)
        if kind == "passphrase":
            derivation = derivation or slots.strongest(rows)
        keys = self._key, self._store.seals.vault_id, self._chance
        row, code = slots.make_slot(slots.free_id(rows), secret, *keys, derivation)
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
        [removed] = [row for row in rows if row not in rest]
        self._store.change_slots(rest, ("DELETE FROM slot WHERE id = ?", (number,)))
        slots.forget([removed])

    def rotate(self, passphrase: str) -> str | None:
        """Replace the data key and seal everything again; return the new recovery code, if any.

        The given passphrase must open the vault now, and is the only one that opens it afterwards.
        Raises WrongSecretError or VaultError; then nothing has changed.
        """
        self._key, code = rotate(self._store, passphrase, self._chance)
        return code

    def delete_texts(self, chosen: Callable[[int, datetime], bool]) -> list[int]:
        """Delete the texts of entries, by number and time; return the numbers of those with one.

        Everything is sealed anew, and what recipients hold stays counted; the ledger is another
        value then. Raises VaultError; then nothing has changed.
        """
        before = self.ledger.disclosures
        steps = (each for each in before.steps if each.query and chosen(each.number, each.at))
        numbers = dict.fromkeys(each.number for each in steps)

        def kept(number: int, payload: bytes) -> bytes:
            record = decode(payload)
            if number in numbers and isinstance(record, Disclosure):
                return encode(record.without_text())
            return payload

        if numbers:
            store, seals = self._store, self._store.seals
            store.commit(None, resealed(store, seals, self.keys(), kept), durable=True)
            store.reopen(seals)
            store.database.empty_log()
            self.ledger = self._read()
            self.ledger.disclosures.use(before.concepts)
        return [*numbers]

    def change_passphrase(self, passphrase: str, secret: Secret) -> None:
        """Have a new passphrase open the vault in place of those that a secret opens.

        A recovery code, or a keyring, replaces every passphrase. Raises as `add_slot`, and
        WrongSecretError; then nothing has changed.
        """
        rows, vault_id = self.keys(), self._store.seals.vault_id
        typed = [row for row in rows if row.kind == "passphrase"]
        if secret.kind == "passphrase":
            typed = [row for row, _ in slots.data_keys(rows, secret, vault_id)]
            if not typed:
                raise slots.wrong_secret(secret)
        rest = [row for row in rows if row not in typed]
        new, keys = Secret("passphrase", passphrase), (self._key, vault_id, self._chance)
        row, _ = slots.make_slot(slots.free_id(rest), new, *keys, slots.strongest(rows))
        removed: list[Statement] = [("DELETE FROM slot WHERE id = ?", (e.id,)) for e in typed]
        self._store.change_slots([*rest, row], *removed, slots.inserted(row))

    def reset_clock(self, at: datetime) -> None:
        """Count no entry so far as later than a time with a zone. Raises VaultError.

        The entries themselves do not change.
        """
        self._store.put(CLOCK, msgspec.json.encode(Reset(entries=self.ledger.count, at=at)))
        self.ledger = self._read()

    def backup(self, to: Path, files: Mapping[str, bytes] = MappingProxyType({})) -> None:
        """Write a complete, verified copy, 0600, which the same secrets open; in any thread.

        ``files``: sealed into it, by name; what is in the vault as `enclosed` comes before these.
        Raises VaultError if the file exists, or the vault is closed meanwhile.
        """
        if self._closed:
            raise VaultError("the vault was closed meanwhile", "unlock it again")
        seals, files = self._store.seals, {**files, **self.enclosed}
        with scratch() as name:
            copy = Location(Path(name, "vault.db"), Path(name, "witness.json"))
            self._store.database.copy(copy.vault)
            enclose(files, copy, seals)
            with new_file(to) as part:
                shutil.copyfile(copy.vault, part)

    @property
    def enclosed(self) -> dict[str, bytes]:
        """The files that came with a backup, until they are unpacked. Raises VaultError."""
        items = (each for each in self._store.names() if each.startswith(ENCLOSED))
        files = groupby(items, lambda each: each.removeprefix(ENCLOSED).rpartition("/")[0])
        return {name: b"".join(self._store.get(e) or b"" for e in parts) for name, parts in files}

    def unpacked(self) -> None:
        """Remove the files that came with a backup. Raises VaultError."""
        if names := [each for each in self._store.names() if each.startswith(ENCLOSED)]:
            self._store.replace({}, names)
            with suppress(VaultError):  # it only takes more room
                self._store.database.empty_log(shrink=True)

    @property
    def intact(self) -> bool:
        """Whether file and log are still those that were opened, unchanged by others."""
        return self._store.database.watch.intact

    def rescue(self) -> None:
        """Set it aside for `restore` if it is not intact, once (FORMAT.md, "Set aside").

        Raises ReplacedVaultError if that fails, to be tried again; DamagedVaultError, once, if the
        open file was overwritten.
        """
        if not self.intact and not self._rescued:
            self._store.renew_witness()  # else an older vault in its place may pass for the latest
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
        try:
            if self.intact:
                with suppress(ReplacedVaultError):
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
    vault_files.check_free(at)
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
        return slots.data_key(slots.read_slots(database), secret, slots.read_vault_id(database))

    try:
        return _unlocked(at, key_in)
    except VaultError as error:
        notice = vault_files.set_aside_notice(at)  # it may have been replaced while it was open
        if notice is None or isinstance(error, WrongSecretError | BusyVaultError):
            raise
        raise type(error)(f"{error.what}: {notice[0]}", notice[1], error.where) from error


def accounts_of(path: Path) -> list[str]:
    """The accounts in the keyring that open a vault. Raises as `key_slots`."""
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
        seals = Seals(key, slots.read_vault_id(database), chance)
        vault = Vault(Store(database, seals, at.witness), key, at, chance)
        on_failure.pop_all()
    return vault


def _forget_keys(at: Location) -> None:
    """Remove the keys of a vault that could not be made from the keyring."""
    with suppress(VaultError), closing(Database.open(at.vault)) as database:
        slots.forget(slots.read_slots(database))


def make_vault(
    at: Location, passphrase: str, derivation: Derivation | None, chance: Chance
) -> tuple[Key, str]:
    """Make an empty vault in a place with folders, which a passphrase and a recovery code open.

    Returns its data key and the code. Raises VaultError if the file exists or cannot be written;
    UsageError for an invalid passphrase.
    """
    key, vault_id = Key(chance(KEY_BYTES)), chance(slots.VAULT_ID_BYTES)
    typed = Secret("passphrase", passphrase)
    first, _ = slots.make_slot(1, typed, key, vault_id, chance, derivation)
    second, code = slots.make_slot(2, Secret("recovery"), key, vault_id, chance)
    seals, rows = Seals(key, vault_id, chance), [first, second]
    digests = chain.digest_of({}), slots.slots_digest(rows)
    before = chain.VaultState(0, 0, 0, chain.first_link(seals), *digests)
    make_database(at.vault, vault_id, contents(seals, before, rows))
    vault_files.write_witness(before.after().witness(vault_id), at.witness)
    return key, code or ""


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
        vault_files.write_witness(witness, at.witness)


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

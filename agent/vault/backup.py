"""A closed vault: checked without a key, copied, and replaced by a backup."""

import os
import shutil
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from datetime import datetime
from pathlib import Path

import msgspec

from agent.decision.values import Fact
from agent.errors import BusyVaultError, DamagedVaultError, VaultError, VaultVersionError
from agent.files import NO_LINKS, fsync
from agent.model.attributes import UNSPECIFIED
from agent.model.model import Model
from agent.vault import secrets, vault_files
from agent.vault.database import Database, copy_files, decoded, snapshot, translated
from agent.vault.profile import ITEM
from agent.vault.seal import FORMAT, Seals
from agent.vault.secrets import Secret
from agent.vault.slots import accounts, data_key, key_slots, read_slots, read_vault_id
from agent.vault.store import Store
from agent.vault.vault import install, staging, unlock
from agent.vault.vault_files import Location

UNREADABLE = "not a vault, or one that is damaged"
_OLD_VALUES = msgspec.json.Decoder(dict[str, dict[str, str]])  # by model, then by attribute
_GONE = ("checkpoint/", "profile-whole")  # items of format 1
BringOver = Callable[[Location, Secret], None]
OTHER = "name a file that `reticent vault backup` made, perhaps an older one"


def restore(
    at: Location, backup: Path, secret: Secret, bring_over: BringOver | None = None
) -> Path | None:
    """Replace the vault by a backup, after the secret has opened it and all of it is verified.

    ``backup``: may be the vault itself, to accept an old copy that was put there by hand; a vault
    that was set aside is removed once it is restored. ``bring_over``: from an older format; None
    to refuse such a backup.
    Returns the path of the replaced vault, or None if there was none; the witness is renewed.
    Raises as `unlock`, BusyVaultError if the vault is open; then nothing has changed.
    """
    with staging(at) as trial, ExitStack() as stack:
        old = _opened(at.vault)
        if old is not None:  # held to the end, or what another process writes would be lost
            stack.callback(old.close)
        there = os.path.lexists(at.vault)
        if not there:
            vault_files.check_name(at.vault)
        with translated(backup):
            if not backup.is_file():
                what = "not a file" if backup.exists() else "no such file"
                raise VaultError(what, OTHER, str(backup))
            itself = old is not None and backup.samefile(old.path)
        if old is not None and itself:
            old.copy(trial.vault)  # any other way to read it would give up its lock
        else:
            copy_files(backup, trial.vault)
        with _named(backup, trial.vault):
            if bring_over is not None:
                bring_over(trial, secret)
            unlock(trial, secret).close()
        replaced = _set_apart(at.vault, old) if there else None
        install(trial, at, over=there)
        if backup.resolve() in {each.resolve() for each in vault_files.vaults_set_aside(at)}:
            with suppress(OSError):
                backup.unlink()
    return replaced


def check_backup(backup: Path, secret: Secret, bring_over: BringOver | None = None) -> int:
    """Verify all of a backup without changing it; return its number of entries.

    ``bring_over``: as for `restore`. Raises as `unlock`.
    """
    with snapshot(backup) as copy, _named(backup, copy):
        trial = Location(copy, copy.with_name("witness.json"))
        if bring_over is not None:
            bring_over(trial, secret)
        with unlock(trial, secret) as vault:
            return vault.ledger.count


def check_format(backup: Path) -> None:
    """Check, before a secret is asked for, that a file is a vault. Raises as `key_slots`."""
    with _named(backup):
        key_slots(backup, older=True)


def copy_closed(at: Location, to: Path, secret: Secret) -> None:
    """Write a backup of a vault that nobody has open, once all of it is verified.

    Nothing of the vault changes. Raises as `unlock`; VaultError if the file already exists, or
    it cannot be written.
    """
    with snapshot(at.vault) as copy:
        trial = Location(copy, copy.with_name(at.witness.name))
        if at.witness.is_file():
            shutil.copyfile(at.witness, trial.witness)
        with unlock(trial, secret) as vault:
            vault.backup(to)


@contextmanager
def _named(backup: Path, trial: Path | None = None) -> Iterator[None]:
    """Make errors about a backup, or about its copy, name the backup."""
    try:
        yield
    except (DamagedVaultError, VaultVersionError) as error:
        what = error.what.replace("the vault is damaged: it is not a valid database", UNREADABLE)
        what = what.replace("the vault", "the backup")
        hint = OTHER if isinstance(error, DamagedVaultError) else error.hint
        raise type(error)(what, hint, str(backup)) from error
    except VaultError as error:
        if trial is not None and error.where == str(trial):  # a name that nobody knows
            raise type(error)(error.what, error.hint, str(trial.parent)) from error
        raise


def _opened(path: Path) -> Database | None:
    """Open a vault exclusively; return None if it is missing or does not open.

    Raises BusyVaultError.
    """
    try:
        return Database.open(path)
    except BusyVaultError:
        raise
    except VaultError:
        return None


def _set_apart(path: Path, old: Database | None) -> Path:
    """Give the old vault a second name, move its log along, and return that name."""
    if old is not None:
        old.retire()
    replaced = next(vault_files.free_names(path))
    log = path.with_name(path.name + vault_files.LOG)
    with translated(path):
        try:
            os.link(path, replaced)
        except OSError as error:
            if error.errno not in NO_LINKS:
                raise
            path.replace(replaced)  # a file has one name here
        if log.exists():  # left only where the old vault could not be opened
            log.replace(replaced.with_name(replaced.name + vault_files.LOG))
        fsync(path.parent)
    return replaced


def bring_over(
    at: Location, secret: Secret, models: Sequence[Model], now: datetime, new_id: Callable[[], str]
) -> None:
    """Bring a vault of format 1 over to this one, in one transaction, once all of it is verified.

    One of this format stays as it is. ``models``: by whose concepts facts are stored from then on,
    the first first; ``now``: when they count as set. Raises as `unlock`.
    """
    with closing(Database.open(at.vault, older=True)) as database:
        if database.version() == FORMAT:
            return
        slots = read_slots(database)
        if secret.kind == "keyring" and secret.kept is None:
            secret = Secret("keyring", kept=secrets.fetched(accounts(slots)))
        vault_id = read_vault_id(database)
        key = data_key(slots, secret, vault_id)
        store = Store(database, Seals(key, vault_id, os.urandom), at.witness)
        deque(store.verify(), maxlen=0)
        values = decoded(store.get(ITEM), _OLD_VALUES, "the profile") or {}
        facts = [
            Fact(id=new_id(), kind=kind, value=value, set_at=now)
            for kind, value in sorted(old_facts(values, models).items())
        ]
        removed = [name for name in store.names() if name.startswith(_GONE)]
        put = {ITEM: msgspec.json.encode(facts)} if facts else {}
        store.replace(
            put, [*removed, *({ITEM} - put.keys())], [(f"PRAGMA user_version={FORMAT}", ())]
        )


def old_facts(values: Mapping[str, Mapping[str, str]], models: Sequence[Model]) -> dict[str, str]:
    """Return old values by kind: of each the first that is not "unspecified".

    What no model here knows is kept as MODEL.ATTRIBUTE, with the value MODEL:VALUE.
    """
    facts = dict[str, str]()
    installed = {each.id: each for model in models for each in model.every}
    for model_id in dict.fromkeys((*installed, *values)):
        for name, value in values.get(model_id, {}).items():
            kind, meaning = f"{model_id}.{name}", f"{model_id}:{value}"
            if model_id in installed and value in installed[model_id].person_codes.get(name, ()):
                kind, meaning = installed[model_id].meanings[name, value]
            if meaning == f"{model_id}:{UNSPECIFIED}":
                meaning = UNSPECIFIED
            if facts.get(kind, UNSPECIFIED) == UNSPECIFIED:
                facts[kind] = meaning
    return facts

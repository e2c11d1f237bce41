"""A closed vault: checked without a key, copied, and replaced by a backup."""

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from agent.errors import BusyVaultError, DamagedVaultError, VaultError, VaultVersionError
from agent.files import NO_LINKS, fsync
from agent.vault import vault_files
from agent.vault.database import Database, copy_files, snapshot, translated
from agent.vault.secrets import Secret
from agent.vault.slots import key_slots
from agent.vault.vault import install, staging, unlock
from agent.vault.vault_files import Location

UNREADABLE = "not a vault, or one that is damaged"
OTHER = "name a file that `reticent vault backup` made"


def restore(at: Location, backup: Path, secret: Secret) -> Path | None:
    """Replace the vault by a backup, after the secret has opened it and all of it is verified.

    ``backup``: may be the vault itself, to accept an old copy that was put there by hand; a vault
    that was set aside is removed once it is restored.
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
            unlock(trial, secret).close()
        replaced = _set_apart(at.vault, old) if there else None
        install(trial, at, over=there)
        if backup.resolve() in {each.resolve() for each in vault_files.vaults_set_aside(at)}:
            with suppress(OSError):
                backup.unlink()
    return replaced


def check_backup(backup: Path, secret: Secret) -> tuple[int, dict[str, bytes]]:
    """Verify all of a backup without changing it; return how many entries it has, and its files.

    Raises as `unlock`.
    """
    with snapshot(backup) as copy, _named(backup, copy):
        trial = Location(copy, copy.with_name("witness.json"))
        with unlock(trial, secret) as vault:
            return vault.ledger.count, vault.enclosed


def check_format(backup: Path) -> None:
    """Check, before a secret is asked for, that a file is a vault. Raises as `key_slots`."""
    with _named(backup):
        key_slots(backup)


def copy_closed(at: Location, to: Path, secret: Secret, files: Mapping[str, bytes]) -> None:
    """Write a backup of a vault that nobody has open, once all of it is verified, with these files.

    Nothing of the vault changes. Raises as `unlock`; VaultError if the file already exists, or
    it cannot be written.
    """
    with snapshot(at.vault) as copy:
        trial = Location(copy, copy.with_name(at.witness.name))
        if at.witness.is_file():
            shutil.copyfile(at.witness, trial.witness)
        with unlock(trial, secret) as vault:
            vault.backup(to, files)


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

"""A backup put in the place of the vault (FORMAT.md, "Backup and restore")."""

import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from agent.errors import BusyVaultError, DamagedVaultError, VaultError, VaultVersionError
from agent.files import NO_LINKS, settle
from agent.vault.keys.secrets import Secret
from agent.vault.leftovers import LOG, check_name, free_names, mend
from agent.vault.location import Location
from agent.vault.making import put, workshop
from agent.vault.sealed.connection import copy_files, still
from agent.vault.sealed.database import Database
from agent.vault.sealed.framing import Chance
from agent.vault.sealed.trouble import refused
from agent.vault.vault import unlock

OTHER = "name a file that `reticent backup` made, perhaps an older one"


def restore(at: Location, backup: Path, secret: Secret, chance: Chance = os.urandom) -> Path | None:
    """Put a backup in the place of the vault, once the secret has opened and verified all of it.

    ``backup``: may be the vault itself, to vouch for an old copy that was put there by hand; one
    that was set aside is removed, since it is the vault then.
    Returns where the replaced vault now lies, or None if there was none; the witness is renewed.
    Raises as `unlock`: then nothing is changed; BusyVaultError if the vault is open.
    """
    with workshop(at) as trial, ExitStack() as stack:
        old = _opened(at.vault)
        if old is not None:  # and held to the end: what another one told in between would be lost
            stack.callback(old.close)
        there = os.path.lexists(at.vault)
        if not there:
            check_name(at.vault)
        _copy(backup, trial.vault, old)
        with _named(trial.vault, backup):
            unlock(trial, secret, chance).close()
        kept = _keep(at.vault, old) if there else None
        put(trial, at, over=there)
        mend(at, backup)
    return kept


def check(backup: Path, secret: Secret, chance: Chance = os.urandom) -> int:
    """Verify all of a backup, of which nothing changes; return how many entries it has.

    Raises as `unlock`.
    """
    with still(backup) as copy, _named(copy, backup):
        trial = Location(copy, copy.with_name("witness.json"))
        with unlock(trial, secret, chance) as vault:
            return vault.ledger.count


def copy_closed(at: Location, to: Path, secret: Secret, chance: Chance = os.urandom) -> None:
    """Write a backup of a vault that nobody has open, once all of it is verified.

    Nothing of the vault changes. Raises as `unlock`; VaultError if there is such a file already, or
    it cannot be written.
    """
    with still(at.vault) as copy:
        trial = Location(copy, copy.with_name(at.witness.name))
        if at.witness.is_file():
            shutil.copyfile(at.witness, trial.witness)
        try:
            with unlock(trial, secret, chance) as vault:
                vault.backup(to)
        except VaultError as error:
            if error.where == str(copy):
                raise type(error)(error.what, error.hint, str(at.vault)) from error
            raise


@contextmanager
def _named(trial: Path, backup: Path) -> Iterator[None]:
    """Raise what is wrong with a copy of a backup as what is wrong with the backup."""
    try:
        yield
    except (DamagedVaultError, VaultVersionError) as error:
        what = error.what.replace("the vault", "the backup")
        hint = OTHER if isinstance(error, DamagedVaultError) else error.hint
        raise type(error)(what, hint, str(backup)) from error
    except VaultError as error:
        if error.where == str(trial):  # the disk, say: nobody knows the copy by its name
            raise type(error)(error.what, error.hint, str(trial.parent)) from error
        raise


def _opened(path: Path) -> Database | None:
    """Open a vault so that nobody else does; None if it does not open, or there is none.

    Raises BusyVaultError.
    """
    try:
        return Database.open(path)
    except BusyVaultError:
        raise
    except VaultError:
        return None


def _copy(backup: Path, to: Path, old: Database | None) -> None:
    """Copy a backup, and what SQLite may have left beside it, into files of the owner's only."""
    try:
        if not backup.is_file():
            what = "this is not a file" if backup.exists() else "there is no such file"
            raise VaultError(what, OTHER, str(backup))
        itself = old is not None and backup.samefile(old.path)
    except OSError as error:
        raise refused(error, backup) from error
    if old is not None and itself:
        old.copy(to)  # read in any other way, and closed, it would be locked no more
    else:
        copy_files(backup, to)


def _keep(path: Path, old: Database | None) -> Path:
    """Give the old vault another name as well, and return it; its log goes with that name."""
    if old is not None:
        old.retire()
    kept = next(free_names(path))
    log = path.with_name(path.name + LOG)
    try:
        _link(path, kept)
        if log.exists():  # left only where the old vault could not be opened
            log.replace(kept.with_name(kept.name + LOG))
        settle(path.parent)
    except OSError as error:
        raise refused(error, path) from error
    return kept


def _link(path: Path, kept: Path) -> None:
    """Give a file another name as well; or only that one, where a file has one. Raises OSError."""
    try:
        os.link(path, kept)
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        path.replace(kept)

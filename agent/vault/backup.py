"""A backup put in the place of the vault (FORMAT.md, "Backup and restore")."""

import os
import shutil
from contextlib import ExitStack, suppress
from itertools import count
from pathlib import Path

from agent.errors import BusyVaultError, VaultError
from agent.files import private_folder, settle
from agent.vault.connection import make_private
from agent.vault.database import Database
from agent.vault.framing import Chance
from agent.vault.location import Location
from agent.vault.making import beside_name, remove_beside
from agent.vault.secrets import Secret
from agent.vault.trouble import refused
from agent.vault.vault import unlock
from agent.vault.witness import read_witness, write_witness

LOG = "-wal"  # what SQLite appends to the name of a database for what is not in it yet


def restore(at: Location, backup: Path, secret: Secret, chance: Chance = os.urandom) -> Path | None:
    """Put a backup in the place of the vault, once the secret has opened and verified all of it.

    ``backup``: may be the vault itself, to vouch for an old copy that was put there by hand.
    Returns where the replaced vault now lies, or None if there was none; the witness is renewed.
    Raises as `unlock`: then nothing is changed; BusyVaultError if the vault is open.
    """
    _check_free(at.vault)
    private_folder(at.vault.parent)
    private_folder(at.witness.parent)
    beside = beside_name(at.vault, chance)
    trial = Location(beside, beside.with_suffix(".witness"))
    with ExitStack() as stack:
        stack.callback(_remove, trial)
        _copy(backup, beside)
        unlock(trial, secret, chance).close()
        return _exchange(trial, at)


def _check_free(path: Path) -> None:
    """Raise BusyVaultError if the vault is open; it may be damaged, or not there."""
    try:
        Database.open(path).close()
    except BusyVaultError:
        raise
    except VaultError:
        return


def _copy(backup: Path, to: Path) -> None:
    """Copy a backup, and what SQLite may have left beside it, into files of the owner's only."""
    try:
        if not backup.is_file():
            raise VaultError("there is no such file", "name a backup", str(backup))
        for suffix in ("", LOG):
            source = backup.with_name(backup.name + suffix)
            if source.is_file():
                target = to.with_name(to.name + suffix)
                make_private(target)
                shutil.copyfile(source, target)
    except OSError as error:
        raise refused(error, backup) from error


def _exchange(trial: Location, at: Location) -> Path | None:
    """Put a verified vault and its witness in place; return where the old vault is kept."""
    try:
        kept = _keep(at.vault)
        at.witness.unlink(missing_ok=True)
        trial.vault.replace(at.vault)
        settle(at.vault.parent)
    except OSError as error:
        raise refused(error, at.vault) from error
    witness = read_witness(trial.witness)
    if witness is not None:
        write_witness(witness, at.witness)
    return kept


def _keep(path: Path) -> Path | None:
    """Give the old vault another name as well; what lies beside it goes with that name."""
    if not os.path.lexists(path):
        remove_beside(path)
        return None
    names = (path.with_name(f"{path.name}.replaced-{number}") for number in count(1))
    kept = next(name for name in names if not os.path.lexists(name))
    os.link(path, kept)
    log = path.with_name(path.name + LOG)
    if log.exists():  # left only where the old vault could not be opened
        log.replace(kept.with_name(kept.name + LOG))
    remove_beside(path)
    return kept


def _remove(trial: Location) -> None:
    """Remove what is left of a trial."""
    with suppress(OSError):
        trial.vault.unlink(missing_ok=True)
        trial.witness.unlink(missing_ok=True)
        remove_beside(trial.vault)

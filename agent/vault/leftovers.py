"""What vaults leave beside the name of one: logs, replaced ones, unfinished ones, a witness."""

import os
from collections.abc import Iterator
from itertools import count
from pathlib import Path

from agent.errors import VaultError
from agent.vault.location import Location
from agent.vault.sealed.witness import read_witness

LOG, JOURNAL, SHARED = "-wal", "-journal", "-shm"  # SQLite appends these to the name of a database
REPLACED = ".replaced-"  # and a number from 1: what a restored backup replaced


def check_free(at: Location) -> None:
    """Raise VaultError if there is a vault, or there was one of which something is left."""
    check_name(at.vault)
    seen, old = read_witness(at.witness), replaced(at.vault)
    if seen is None and not old:
        return
    many = (
        "" if seen is None else f" ({seen.entries} {'entry' if seen.entries == 1 else 'entries'})"
    )
    file = str(old[-1]) if old else "FILE"
    hint = f"`reticent restore {file}` brings it back; `reticent purge` removes what is left of it"
    raise VaultError(f"a vault was here{many}, and nothing was changed", hint, str(at.vault))


def check_name(path: Path) -> None:
    """Raise VaultError if there is a vault, or what one that was moved has in its log still."""
    if os.path.lexists(path):
        raise taken(path)
    for log in (path.with_name(path.name + suffix) for suffix in (LOG, JOURNAL)):
        if log.is_file() and log.stat().st_size:
            what = f"the latest entries of a vault that was here are in {log.name} still"
            hint = f"move it to where {path.name} went, named like that; else remove it"
            raise VaultError(what, hint, str(log))


def taken(path: Path) -> VaultError:
    """Return the error where a vault is in the way of a new one."""
    hint = "open it with `reticent unlock`; `reticent purge` removes everything, for good"
    return VaultError("there is a vault already, and nothing was changed", hint, str(path))


def replaced(path: Path) -> list[Path]:
    """Return the vaults that backups have replaced, the latest one last."""
    begin = path.name + REPLACED
    found = [each for each in path.parent.glob(f"{begin}*") if each.name[len(begin) :].isdecimal()]
    return sorted(found, key=lambda each: int(each.name[len(begin) :]))


def free_names(path: Path) -> Iterator[Path]:
    """Yield names for a vault that is about to be replaced."""
    names = (path.with_name(f"{path.name}{REPLACED}{number}") for number in count(1))
    return (name for name in names if not os.path.lexists(name))


def remove_beside(path: Path) -> None:
    """Remove what SQLite left beside a file that is gone. Raises OSError."""
    for suffix in (LOG, SHARED, JOURNAL):
        path.with_name(path.name + suffix).unlink(missing_ok=True)

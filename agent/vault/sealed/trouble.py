"""What SQLite and the system say, in our sentences."""

import sqlite3
from pathlib import Path

from agent.errors import BusyVaultError, DamagedVaultError, VaultError, reason

RESTORE = "bring a backup back with `reticent restore FILE`"
OPENSSL = "install `cryptography` from its wheel, which brings OpenSSL 3.2 or newer"

_PRIMARY = 0xFF  # the kind of an error; the bits above tell details
_UNOPENED = {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH}
_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL}
_REFUSALS = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, *_BUSY}


def trouble(error: sqlite3.Error, path: Path) -> VaultError:
    """Return our error for one of SQLite's."""
    code = _kind(error)
    if code in _BUSY:
        return busy(path)
    if code == sqlite3.SQLITE_FULL:
        hint = "free some space and try again; nothing of this was written"
        return VaultError("the disk is full", hint, str(path))
    if code == sqlite3.SQLITE_READONLY:
        hint = "make file, folder and disk writable for you"
        return VaultError("the vault cannot be written: it is read-only", hint, str(path))
    if code in _UNOPENED:
        hint = "check that file and folder are yours and can be written to"
        return VaultError("the vault cannot be opened", hint, str(path))
    if code == sqlite3.SQLITE_IOERR:
        hint = "check the disk and the space on it, then unlock again"
        return VaultError("the disk failed while the vault was in use", hint, str(path))
    return damaged("it is no sound database", path)


def busy(path: Path) -> BusyVaultError:
    """Return the error for a vault that somebody else has open."""
    hint = "stop the other one, for instance with `reticent lock`"
    return BusyVaultError("the vault is open in another process", hint, str(path))


def refuses(error: VaultError) -> bool:
    """Say whether SQLite would not write: no room, read-only, busy. All else may have half-done."""
    return isinstance(error.__cause__, sqlite3.Error) and _kind(error.__cause__) in _REFUSALS


def damaged(what: str, path: Path | None = None) -> DamagedVaultError:
    """Return the error for a vault in which something is not as it was written."""
    place = None if path is None else str(path)
    return DamagedVaultError(f"the vault is damaged: {what}", RESTORE, place)


def refused(error: OSError, path: Path) -> VaultError:
    """Return our error for one of the system's."""
    hint = "check that file and folder are yours, can be written to and have space"
    return VaultError(reason(error), hint, str(path))


def _kind(error: sqlite3.Error) -> int:
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & _PRIMARY

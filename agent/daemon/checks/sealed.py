"""The vault, as far as it can be checked without a key, and its witness."""

import os
from collections.abc import Iterator

from agent.daemon.checks.finding import Finding, Machine, bad, ok, warn
from agent.errors import BusyVaultError, VaultError
from agent.files import left_unfinished
from agent.vault.backup import look
from agent.vault.connection import RESTORE
from agent.vault.seal import FORMAT
from agent.vault.slots import SlotInfo
from agent.vault.vault_files import (
    Location,
    Notice,
    check_free,
    read_notice,
    read_witness,
    replaced,
    set_aside,
)


def vault(here: Machine) -> Iterator[Finding]:
    """Yield what is wrong with the vault, and whether something tells how old it should be."""
    at = Location.of(here.paths)
    notice = read_notice(at)
    if notice is not None:
        yield bad("vault", str(notice), notice.hint)
    yield from _older(at, notice)
    if not os.path.lexists(at.vault):
        yield _missing(at)
        return
    yield from _found(at)
    if not os.access(at.vault, os.W_OK) or not os.access(at.vault.parent, os.W_OK):
        fix = "make the file and its folder writable: what cannot be recorded is not disclosed"
        yield bad("vault", f"{at.vault} cannot be written to", fix)
    if read_witness(at.witness) is None:
        what = "nothing says how old the vault should be: an old copy of it would not be noticed"
        yield warn("vault", what, "reticent unlock: it writes that down")


def _older(at: Location, notice: Notice | None) -> Iterator[Finding]:
    """Yield which other copies of a vault lie there: what opened it then opens them now."""
    for path in replaced(at.vault):
        fix = f"once you do not need it: rm '{path}'"
        yield warn("vault", f"{path} was replaced, and secrets of then open it still", fix)
    for path in set_aside(at):
        if notice is None or str(path) != notice.file:
            fix = f"reticent restore '{path}'; once you do not need it: rm '{path}'"
            yield warn("vault", f"{path} was set aside, when the vault was replaced", fix)
    for path in left_unfinished(at.vault) if at.vault.parent.is_dir() else ():
        what = f"{path} was left unfinished, and secrets of then may open it"
        yield warn("vault", what, "reticent unlock: it removes that")


def _missing(at: Location) -> Finding:
    """Return what to say where no vault is; one that was there is missed."""
    try:
        check_free(at)
    except VaultError as error:
        return bad("vault", str(error), error.hint)
    return warn("vault", "there is none yet", "reticent init")


def _found(at: Location) -> Iterator[Finding]:
    """Yield what is wrong with a vault."""
    try:
        slots = look(at)
    except BusyVaultError:
        yield ok("vault", f"{at.vault} is open, and was verified when it was opened")
        return
    except VaultError as error:
        yield bad("vault", str(error), error.hint)
        return
    problems = [*_damaged(slots)]
    yield from problems
    if not problems:
        yield ok("vault", f"{at.vault}, format {FORMAT}: no damage that shows without a key")


def _damaged(slots: list[SlotInfo]) -> Iterator[Finding]:
    """Yield which key slots open nothing any more."""
    if not any(slot.kind in {"passphrase", "recovery"} for slot in slots):
        yield bad("vault", "no passphrase and no recovery code opens it any more", RESTORE)
        return
    for slot in slots:
        if slot.kind is None:
            fix = f"reticent key remove {slot.id}, then reticent key add for what it was"
            yield bad("vault", f"key slot {slot.id} is damaged, and opens nothing any more", fix)

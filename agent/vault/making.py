"""The file of a new vault, made beside its place and put there whole (FORMAT.md, "Making")."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from agent.errors import BusyVaultError, VaultError
from agent.files import clear_unfinished, name_new, private_folder, settle, unfinished
from agent.vault.keys import slot_rows
from agent.vault.keys.derivation import Derivation
from agent.vault.keys.slot_making import SlotMaker
from agent.vault.keys.slot_rows import VAULT_ID_BYTES, SlotRow, slots_digest
from agent.vault.leftovers import check_name, remove_beside, taken
from agent.vault.location import Location
from agent.vault.sealed.database import Statement, make_database
from agent.vault.sealed.framing import Chance
from agent.vault.sealed.seal import KEY_BYTES, Key, Seals
from agent.vault.sealed.state import State, digest_of, first_link, written_state
from agent.vault.sealed.trouble import refused
from agent.vault.sealed.witness import read_witness, write_witness

PAGE_BYTES = 4096


def make_vault(
    at: Location,
    passphrase: str,
    derivation: Derivation,
    chance: Chance,
    page_bytes: int = PAGE_BYTES,
) -> tuple[Key, str]:
    """Make an empty vault, right there, that a passphrase and a recovery code open.

    Returns its data key, and the code as text. Raises VaultError if there is a file already or it
    cannot be written; UsageError if the passphrase is none or a folder is not to be trusted.
    """
    key, vault_id = Key(chance(KEY_BYTES)), chance(VAULT_ID_BYTES)
    make = SlotMaker(vault_id, key, chance)
    first = make.passphrase(1, passphrase, derivation)
    second, code = make.recovery(2)
    seals = Seals(key, vault_id, chance)
    state = first_state(seals, [first, second])
    private_folder(at.vault.parent)
    private_folder(at.witness.parent)
    make_database(at.vault, first_rows(seals, state, [first, second]), page_bytes)
    write_witness(state.witness(vault_id), at.witness)
    return key, code


def first_state(seals: Seals, slots: list[SlotRow]) -> State:
    """Return the state of a vault with slots only."""
    return State(1, 0, 0, first_link(seals), digest_of({}), slots_digest(slots))


def first_rows(seals: Seals, state: State, slots: list[SlotRow]) -> list[Statement]:
    """Return the statements that fill the tables of a new vault."""
    return [
        ("INSERT INTO meta VALUES ('vault', ?)", (seals.vault_id,)),
        *(slot_rows.inserted(row) for row in slots),
        written_state(state, seals),
    ]


@contextmanager
def workshop(at: Location) -> Iterator[Location]:
    """Yield where a vault may be made, to be `put` in its place; nobody else makes one meanwhile.

    What is left of it goes at the end, and what a process left that was killed goes before. Raises
    BusyVaultError if somebody makes one now, VaultError, or UsageError for the folders.
    """
    private_folder(at.vault.parent)
    private_folder(at.witness.parent)
    part = unfinished(at.vault)
    with _alone(at.vault.parent), ExitStack() as stack:
        clear_unfinished(at.vault)
        stack.callback(clear_unfinished, at.vault)
        yield Location(part, part.with_name(f"{part.name}.witness"))


def put(finished: Location, at: Location, *, over: bool = False) -> None:
    """Give a closed vault its name, and then its witness; only out of the `workshop`.

    ``over``: in the place of the one that is there, which the caller holds. VaultError if there is
    one otherwise, or it cannot be done.
    """
    if not over:
        check_name(at.vault)
    try:
        # Now, while nobody can have the name: what SQLite left would be read into the new file.
        remove_beside(at.vault)
        at.witness.unlink(missing_ok=True)
        if over:
            finished.vault.replace(at.vault)
        else:
            name_new(finished.vault, at.vault)
        settle(at.vault.parent)
    except FileExistsError as error:
        raise taken(at.vault) from error
    except OSError as error:
        raise refused(error, at.vault) from error
    witness = read_witness(finished.witness)
    if witness is not None:
        write_witness(witness, at.witness)


def sweep(at: Location) -> None:
    """Remove what killed processes left unfinished: secrets of then open it.

    For who has the vault open; nothing is done while somebody makes or restores one.
    """
    with suppress(VaultError), _alone(at.vault.parent):
        clear_unfinished(at.vault)
        clear_unfinished(at.witness)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Keep others out of a workshop; the lock ends with this process, whatever happens to it."""
    with ExitStack() as stack:
        try:
            descriptor = os.open(folder, os.O_RDONLY)
            stack.callback(os.close, descriptor)
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            what = "a vault is being made or restored here"
            raise BusyVaultError(what, "wait until that is done", str(folder)) from error
        except OSError as error:
            raise refused(error, folder) from error
        yield

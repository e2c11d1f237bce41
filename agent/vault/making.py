"""The file of a new vault, put in place whole (FORMAT.md, "The database")."""

import os
from contextlib import ExitStack
from pathlib import Path

from agent.errors import VaultError
from agent.files import private_folder, settle
from agent.vault import slot_rows
from agent.vault.database import Statement, make_database
from agent.vault.derivation import Derivation
from agent.vault.framing import Chance
from agent.vault.location import Location
from agent.vault.seal import KEY_BYTES, Key, Seals
from agent.vault.slot_making import SlotMaker
from agent.vault.slot_rows import VAULT_ID_BYTES, SlotRow, slots_digest
from agent.vault.state import State, digest_of, first_link, written_state
from agent.vault.trouble import refused
from agent.vault.witness import write_witness

PAGE_BYTES = 4096


def make_vault(
    at: Location,
    passphrase: str,
    derivation: Derivation,
    chance: Chance,
    page_bytes: int = PAGE_BYTES,
) -> tuple[Key, str]:
    """Make an empty vault that a passphrase and a recovery code open.

    Returns its data key, and the code as text. Raises VaultError if there is a vault already or it
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
    beside = beside_name(at.vault, chance)
    make_database(beside, first_rows(seals, state, [first, second]), page_bytes)
    with ExitStack() as stack:
        stack.callback(beside.unlink)
        _put(beside, at, state, vault_id)
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


def beside_name(path: Path, chance: Chance) -> Path:
    """Return a name beside a file for what will take its place."""
    return path.with_name(f".{path.name}.{chance(4).hex()}.part")


def remove_beside(path: Path) -> None:
    """Remove what SQLite left beside a file that is gone: it would be read into the next one."""
    for suffix in ("-wal", "-shm", "-journal"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _put(beside: Path, at: Location, state: State, vault_id: bytes) -> None:
    """Give a finished file the name of the vault, if nothing has it."""
    hint = "use it with `reticent unlock`, or move it away"
    taken = VaultError("there is a vault already", hint, str(at.vault))
    if os.path.lexists(at.vault):
        raise taken
    try:
        remove_beside(at.vault)
        at.witness.unlink(missing_ok=True)
        os.link(beside, at.vault)
        settle(at.vault.parent)
    except FileExistsError as error:
        raise taken from error
    except OSError as error:
        raise refused(error, at.vault) from error
    write_witness(state.witness(vault_id), at.witness)

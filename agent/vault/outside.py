"""What can be said of a vault without a key, while nobody has it open."""

from contextlib import closing
from pathlib import Path

from agent.vault.keys import slot_rows
from agent.vault.keys.slot_rows import SlotInfo, keys_of, read_slots, read_vault_id
from agent.vault.location import Location
from agent.vault.sealed.database import Database
from agent.vault.sealed.state import state_row
from agent.vault.sealed.trouble import damaged
from agent.vault.sealed.witness import check_age, read_witness

_NUMBERS = "SELECT count(*), ifnull(min(number), 1), ifnull(max(number), 0) FROM entry"
_LATEST = (
    "SELECT max(generation) FROM (SELECT generation FROM entry UNION SELECT generation FROM item)"
)


def keys(at: Location) -> list[SlotInfo]:
    """Return the key slots of a vault, without unlocking it.

    Raises BusyVaultError, DamagedVaultError, VaultVersionError, or VaultError if there is none.
    """
    with closing(Database.open(at.vault)) as database:
        return keys_of(read_slots(database, read_vault_id(database)))


def accounts(path: Path) -> list[str]:
    """Return whose passwords in the keyring open a vault. Raises as `keys`."""
    with closing(Database.open(path, private=False)) as database:
        return slot_rows.accounts(read_slots(database, read_vault_id(database)))


def look(at: Location) -> list[SlotInfo]:
    """Hold a vault to all that needs no key; return its slots, of which some may be damaged.

    Whether what is sealed is as it was, only unlocking tells. Raises as `keys`, and RolledBackError
    if it is older than the witness, or another.
    """
    with closing(Database.open(at.vault, private=False)) as database:
        vault_id = read_vault_id(database)
        slots = read_slots(database, vault_id)
        generation, _ = state_row(database)
        entries = _entries(database, generation)
        seen = {"generation": generation, "entries": entries}
        check_age(read_witness(at.witness), vault_id.hex(), seen)
    return keys_of(slots)


def _entries(database: Database, generation: int) -> int:
    """Return how many entries there are; DamagedVaultError if some are missing, or of later."""
    [(many, first, last)] = database.rows(_NUMBERS)
    if (first, last) != (1, many):
        raise damaged("entries of its ledger are missing", database.path)
    [(latest,)] = database.rows(_LATEST)
    if latest is not None and not (isinstance(latest, int) and latest <= generation):
        raise damaged("its rows are not of one time", database.path)
    return int(many)

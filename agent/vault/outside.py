"""What can be said of a vault without a key, while nobody has it open; nothing of it is changed."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from struct import Struct

from agent.errors import DamagedVaultError, VaultError
from agent.vault.keys import slot_rows
from agent.vault.keys.slot_rows import SlotInfo, keys_of, read_slots, read_vault_id
from agent.vault.leftovers import LOG
from agent.vault.location import Location
from agent.vault.sealed.connection import still
from agent.vault.sealed.database import Database
from agent.vault.sealed.state import state_row
from agent.vault.sealed.trouble import damaged
from agent.vault.sealed.witness import check_age, read_witness

_NUMBERS = "SELECT count(*), ifnull(min(number), 1), ifnull(max(number), 0) FROM entry"
_LATEST = (
    "SELECT max(generation) FROM (SELECT generation FROM entry UNION SELECT generation FROM item)"
)


# A write-ahead log (https://sqlite.org/fileformat2.html#walformat): the bytes before its first page
# and before every page; the size of a page; a page's number, and how many pages there are after it
# where it ends a transaction.
_HEADER, _BEFORE, _PAGE_SIZE, _FRAME = 32, 24, Struct(">8xI"), Struct(">II")


def keys(at: Location) -> list[SlotInfo]:
    """Return the key slots of a vault, without unlocking it.

    Raises BusyVaultError, DamagedVaultError, VaultVersionError, or VaultError if there is none.
    """
    with _looked_at(at.vault) as database:
        return keys_of(read_slots(database, read_vault_id(database)))


def accounts(path: Path) -> list[str]:
    """Return whose passwords in the keyring open a vault. Raises as `keys`."""
    with _looked_at(path) as database:
        return slot_rows.accounts(read_slots(database, read_vault_id(database)))


def look(at: Location) -> list[SlotInfo]:
    """Hold a vault to all that needs no key; return its slots, of which some may be damaged.

    Whether what is sealed is as it was, only unlocking tells. Raises as `keys`, and RolledBackError
    if it is older than the witness, or another.
    """
    with _looked_at(at.vault, check_log=True) as database:
        vault_id = read_vault_id(database)
        slots = read_slots(database, vault_id)
        generation, _ = state_row(database)
        entries = _entries(database, generation)
        seen = {"generation": generation, "entries": entries}
        check_age(read_witness(at.witness), vault_id.hex(), seen)
    return keys_of(slots)


@contextmanager
def _looked_at(path: Path, *, check_log: bool = False) -> Iterator[Database]:
    """Yield a copy of a database. Raises as `keys`."""
    with still(path) as copy:
        try:
            if check_log:
                _check_log(copy)
            database = Database.open(copy)
        except VaultError as error:
            raise type(error)(error.what, error.hint, str(path)) from error
        database.path = path
        with closing(database):
            yield database


def _check_log(path: Path) -> None:
    """Raise DamagedVaultError where the log beside this copy of a vault is that of another file.

    Every transaction writes the next generation: the first one in the log follows that of the file,
    which may have taken some of them already.
    """
    log = path.with_name(path.name + LOG)
    written = log.read_bytes() if log.exists() else b""
    first = _first_transaction(written)
    if not first:
        return
    data = path.read_bytes()
    try:
        log.unlink()
        before = _generation(path)
        log.write_bytes(first)
        after = _generation(path)
    except DamagedVaultError:  # the file may be whole with all of its log alone
        before = after = 0
    if after > before + 1:
        raise damaged("the log beside it belongs to another file, which had its name before", path)
    path.write_bytes(data)
    log.write_bytes(written)


def _generation(path: Path) -> int:
    """Return the generation of a vault, with what is in its log. Raises VaultError."""
    with closing(Database.open(path)) as database:
        return state_row(database)[0]


def _first_transaction(log: bytes) -> bytes:
    """Return as much of a log as there is to its first whole transaction; nothing if none."""
    if len(log) <= _HEADER:
        return b""
    (page,) = _PAGE_SIZE.unpack_from(log)
    for at in range(_HEADER, len(log) - _FRAME.size, _BEFORE + page):
        _, pages = _FRAME.unpack_from(log, at)
        if pages:
            return log[: at + _BEFORE + page]
    return b""


def _entries(database: Database, generation: int) -> int:
    """Return how many entries there are; DamagedVaultError if some are missing, or of later."""
    [(many, first, last)] = database.rows(_NUMBERS)
    if (first, last) != (1, many):
        raise damaged("entries of its ledger are missing", database.path)
    [(latest,)] = database.rows(_LATEST)
    if latest is not None and not (isinstance(latest, int) and latest <= generation):
        raise damaged("its rows are not of one time", database.path)
    return int(many)

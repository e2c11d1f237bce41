"""Entries as sealed rows, each linked to the one before (FORMAT.md, "Rows")."""

from collections.abc import Iterator
from typing import NamedTuple

from agent.errors import RolledBackError
from agent.vault.database import Database, Statement
from agent.vault.framing import named, unnamed
from agent.vault.seal import LOOKUP_BYTES, OVERHEAD, Seals, UnsealedError
from agent.vault.state import State, first_link
from agent.vault.trouble import damaged
from agent.vault.witness import Witness

MAX_PAYLOAD = 2**16
MAX_NAME = 1024
LINK_BYTES = 32

OLD_COPY = "if you put this copy there yourself, run `reticent restore` with it"

_BATCH = 64  # rows in memory at a time
_MAX_SEALED = OVERHEAD + LINK_BYTES + 2 + MAX_NAME + MAX_PAYLOAD
_COLUMNS = (
    f"SELECT number, iif(length(site) = {LOOKUP_BYTES}, site, NULL), generation,"  # noqa: S608
    f" iif(length(sealed) <= {_MAX_SEALED}, sealed, NULL) FROM entry"
)


class Row(NamedTuple):
    """An entry as it lies in the file."""

    number: int
    site: bytes
    generation: int
    sealed: bytes


class Entry(NamedTuple):
    """An entry as it was appended; ``before``: the link of the one before."""

    before: bytes
    site: str
    payload: bytes

    def __repr__(self) -> str:
        return "Entry(…)"


def sealed_entry(seals: Seals, before: State, site: str, payload: bytes) -> Row:
    """Return the row that follows a state, in the transaction that follows it."""
    number, generation = before.entries + 1, before.generation + 1
    found_by = seals.lookup("site", site)
    plain = before.head + named(site, payload)
    return Row(
        number, found_by, generation, seals.seal(plain, "entry", number, found_by, generation)
    )


def link(seals: Seals, row: Row) -> bytes:
    """Return what the next entry holds of a row."""
    return seals.digest("link", *row)


def inserted(row: Row) -> Statement:
    """Return the statement that adds a row."""
    return "INSERT INTO entry VALUES (?, ?, ?, ?)", row


def replaced(row: Row) -> Statement:
    """Return the statement that puts a row in the place of the one with its number."""
    return "UPDATE entry SET site = ?, generation = ?, sealed = ? WHERE number = ?", (
        row.site,
        row.generation,
        row.sealed,
        row.number,
    )


def opened_entry(seals: Seals, row: Row) -> Entry:
    """Return what a row holds; DamagedVaultError if it is not what was sealed there."""
    try:
        plain = seals.open(row.sealed, "entry", row.number, row.site, row.generation)
        site, payload = unnamed(plain[LINK_BYTES:])
    except (UnsealedError, ValueError) as error:
        raise damaged(f"entry {row.number} of the ledger was altered") from error
    if row.site != seals.lookup("site", site):
        raise damaged(f"entry {row.number} of the ledger is of another site")
    return Entry(plain[:LINK_BYTES], site, payload)


def entry_rows(database: Database, after: int = 0, site: bytes | None = None) -> Iterator[Row]:
    """Yield the rows after a number, of one site if given, in order; DamagedVaultError."""
    where = " WHERE number > ?" + ("" if site is None else " AND site = ?")
    query = f"{_COLUMNS}{where} ORDER BY number LIMIT {_BATCH}"
    only = () if site is None else (site,)
    while rows := database.rows(query, after, *only):
        for row in rows:
            match row:
                case (int(after), bytes(), int(generation), bytes()) if generation > 0:
                    yield Row(*row)
                case _:
                    raise damaged("an entry of the ledger is no entry", database.path)


def verified(
    database: Database, seals: Seals, state: State, witness: Witness | None
) -> Iterator[tuple[Row, Entry]]:
    """Yield every entry, from the first, held to its neighbours and to the state.

    Raises DamagedVaultError where they do not fit, RolledBackError if the witness saw another.
    """
    if database.rows("SELECT min(number) FROM entry") not in ([(None,)], [(1,)]):
        raise damaged("the ledger does not begin with entry 1", database.path)
    head, number, generation = first_link(seals), 0, 0
    _check_witness(witness, state, number, head)
    for row in entry_rows(database):
        entry = opened_entry(seals, row)
        if row.number != number + 1 or entry.before != head:
            raise damaged(f"before entry {row.number} of the ledger others are missing")
        if not generation <= row.generation <= state.generation:
            raise damaged(f"entry {row.number} of the ledger is of another time")
        number, generation, head = row.number, row.generation, link(seals, row)
        _check_witness(witness, state, number, head)
        yield row, entry
    if (number, head) != (state.entries, state.head):
        raise damaged(f"its ledger ends at entry {number} instead of {state.entries}")


def _check_witness(witness: Witness | None, state: State, number: int, head: bytes) -> None:
    """Raise RolledBackError if the witness saw another entry in this place."""
    if witness is None or witness.rotations != state.rotations or witness.entries != number:
        return
    if witness.head != head.hex():
        what = f"entry {number} of the ledger is another than this machine has seen"
        raise RolledBackError(what, OLD_COPY)

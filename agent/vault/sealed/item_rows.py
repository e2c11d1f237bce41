"""Items as sealed rows, found by a keyed hash of their name (FORMAT.md, "Rows")."""

from typing import NamedTuple

from agent.errors import UsageError
from agent.vault.sealed.chain import MAX_NAME
from agent.vault.sealed.database import Database, Statement
from agent.vault.sealed.framing import named, unnamed
from agent.vault.sealed.seal import LOOKUP_BYTES, OVERHEAD, Seals, UnsealedError
from agent.vault.sealed.trouble import damaged

MAX_PAYLOAD = 2**20
MAX_ITEMS = 2**16

_MAX_SEALED = OVERHEAD + 2 + MAX_NAME + MAX_PAYLOAD
_ONE = (
    f"SELECT generation, iif(length(sealed) <= {_MAX_SEALED}, sealed, NULL)"  # noqa: S608  (a constant)
    " FROM item WHERE id = ?"
)
_IDS = (
    f"SELECT iif(length(id) = {LOOKUP_BYTES}, id, NULL)"  # noqa: S608  (constants)
    f" FROM item LIMIT {MAX_ITEMS + 1}"
)


class Item(NamedTuple):
    """An item as it lies in the file."""

    id: bytes
    generation: int
    sealed: bytes


def item_id(seals: Seals, name: str) -> bytes:
    """Return what stands for the name of an item in the file."""
    return seals.lookup("item", name)


def sealed_item(seals: Seals, name: str, payload: bytes, generation: int) -> Item:
    """Return the row of an item."""
    found_by = item_id(seals, name)
    sealed = seals.seal(named(name, payload), "item", found_by, generation)
    return Item(found_by, generation, sealed)


def opened_item(seals: Seals, item: Item) -> tuple[str, bytes]:
    """Return name and payload of an item; DamagedVaultError if it is not what was sealed there."""
    try:
        name, payload = unnamed(seals.open(item.sealed, "item", item.id, item.generation))
    except (UnsealedError, ValueError) as error:
        raise damaged("an item was altered") from error
    if item_id(seals, name) != item.id:
        raise damaged("an item has another name")
    return name, payload


def put_item(item: Item) -> Statement:
    """Return the statement that puts an item in place."""
    return "INSERT OR REPLACE INTO item VALUES (?, ?, ?)", item


def removed_item(item: Item) -> Statement:
    """Return the statement that removes an item."""
    return "DELETE FROM item WHERE id = ?", (item.id,)


def read_items(database: Database, seals: Seals) -> dict[str, Item]:
    """Return every item by its name. Raises DamagedVaultError."""
    ids = [found_by for (found_by,) in database.rows(_IDS)]
    if len(ids) > MAX_ITEMS or not all(isinstance(found_by, bytes) for found_by in ids):
        raise damaged("its items are not those of a vault", database.path)
    items = (_item(database, found_by) for found_by in ids)
    return {opened_item(seals, item)[0]: item for item in items}


def _item(database: Database, found_by: bytes) -> Item:
    """Return an item as it is in the file; DamagedVaultError if it is none."""
    match database.rows(_ONE, found_by):
        case [(int(generation), bytes(sealed))] if generation > 0:
            return Item(found_by, generation, sealed)
        case _:
            raise damaged("an item is missing, or is none", database.path)


def check_item(name: str, payload: bytes) -> None:
    """Raise UsageError if an item is larger than a vault takes."""
    if not 0 < len(name.encode()) <= MAX_NAME or len(payload) > MAX_PAYLOAD:
        what = "an item for the vault has no name, or too much in it"
        raise UsageError(what, f"keep at most {MAX_PAYLOAD} bytes in one item")

"""What somebody without the key can do to the rows of a vault.

The name of each is that of its vector, its docstring what the vector is about. It alters the rows,
given another scene: the same vault earlier, or another vault.
"""

from hashlib import sha256
from typing import cast

import msgspec

from agent.vault.seal import context
from tests.vault.scenes import Scene, Tables
from tests.vault.vector_files import Row, meant, shown


def flip(row: Row, column: int, place: int = -1) -> None:
    """Flip the lowest bit of one byte in a column."""
    data = bytearray(cast("bytes", meant(row[column])))
    data[place] ^= 1
    row[column] = shown(bytes(data))


def swap(rows: list[Row], *columns: int) -> None:
    """Exchange columns of the first two rows."""
    for column in columns:
        rows[0][column], rows[1][column] = rows[1][column], rows[0][column]


def respeak(tables: Tables, **changes: object) -> None:
    """Change what the first slot says, and make its digest fit, as a forger would."""
    row = tables["slot"][0]
    slot = msgspec.json.decode(cast("bytes", meant(row[1]))) | changes
    body = msgspec.json.encode(slot)
    vault_id = cast("bytes", meant(tables["meta"][0][1]))
    row[1:] = [shown(body), shown(sha256(context(vault_id, "slot digest", 1, body)).digest())]


def slot_flipped(tables: Tables, _: Scene) -> None:
    """The slot of the passphrase was altered by accident, and no other opens with it."""
    flip(tables["slot"][0], 1)


def slot_digest_flipped(tables: Tables, _: Scene) -> None:
    """The digest of the slot was altered."""
    flip(tables["slot"][0], 2)


def slot_work_lowered(tables: Tables, _: Scene) -> None:
    """Somebody lowered the work in a slot, to guess faster, and forged its digest."""
    respeak(tables, lanes=1, iterations=1, memory_kib=9)


def slot_salt_changed(tables: Tables, _: Scene) -> None:
    """Somebody changed the salt of a slot and forged its digest."""
    respeak(tables, salt="00" * 16)


def slot_memory_hostile(tables: Tables, _: Scene) -> None:
    """A slot asks for 4 TiB; it is refused before anything is derived."""
    respeak(tables, memory_kib=2**32 - 1)


def slot_iterations_hostile(tables: Tables, _: Scene) -> None:
    """A slot asks for 17 iterations, one more than is read."""
    respeak(tables, iterations=17)


def slot_work_hostile(tables: Tables, _: Scene) -> None:
    """A slot asks for 1 GiB, which is read, and for too many iterations of that."""
    respeak(tables, memory_kib=2**20, iterations=5)


def slot_lanes_hostile(tables: Tables, _: Scene) -> None:
    """A slot asks for 17 lanes, one more than is read."""
    respeak(tables, lanes=17, memory_kib=8 * 17)


def slot_unknown_key(tables: Tables, _: Scene) -> None:
    """A slot says something that the format does not know."""
    respeak(tables, comment="hello")


def slot_of_another_vault(tables: Tables, other: Scene) -> None:
    """A slot was brought from another vault with the same passphrase."""
    tables["slot"][0] = other.tables["slot"][0]


def slots_swapped(tables: Tables, _: Scene) -> None:
    """The bodies of two slots were exchanged."""
    swap(tables["slot"], 1, 2)


def slots_missing(tables: Tables, _: Scene) -> None:
    """There is no slot."""
    tables["slot"].clear()


def slots_too_many(tables: Tables, _: Scene) -> None:
    """There are nine slots, one more than there may be."""
    tables["slot"] += [[number, *tables["slot"][0][1:]] for number in range(3, 10)]


def slot_number_zero(tables: Tables, _: Scene) -> None:
    """A slot has the number 0, from below the first."""
    tables["slot"][1][0] = 0


def slot_number_negative(tables: Tables, _: Scene) -> None:
    """A slot was added whose number is less than 0."""
    tables["slot"].append([-5, "hex:00", "hex:00"])


def vault_id_flipped(tables: Tables, _: Scene) -> None:
    """The vault id was altered, to which everything is bound."""
    flip(tables["meta"][0], 1)


def vault_id_missing(tables: Tables, _: Scene) -> None:
    """There is no vault id."""
    tables["meta"].clear()


def state_flipped(tables: Tables, _: Scene) -> None:
    """A byte of the state was altered."""
    flip(tables["state"][0], 2)


def state_generation_raised(tables: Tables, _: Scene) -> None:
    """The generation beside the sealed state was raised, to look new."""
    tables["state"][0][1] += 1


def state_missing(tables: Tables, _: Scene) -> None:
    """There is no state."""
    tables["state"].clear()


def state_twice(tables: Tables, other: Scene) -> None:
    """There are two states."""
    tables["state"].append([2, *other.tables["state"][0][1:]])


def item_flipped(tables: Tables, _: Scene) -> None:
    """A byte of an item was altered."""
    flip(tables["item"][0], 2)


def item_missing(tables: Tables, _: Scene) -> None:
    """An item was removed."""
    del tables["item"][0]


def item_id_flipped(tables: Tables, _: Scene) -> None:
    """The id of an item was altered, so that it would not be found."""
    flip(tables["item"][0], 0)


def items_swapped(tables: Tables, _: Scene) -> None:
    """The contents of two items were exchanged, with their generations."""
    swap(tables["item"], 1, 2)


def item_id_too_long(tables: Tables, _: Scene) -> None:
    """The id of an item is longer than any that is made."""
    tables["item"][0][0] += "00"


def entry_flipped(tables: Tables, _: Scene) -> None:
    """A byte of an entry was altered."""
    flip(tables["entry"][1], 3)


def entry_site_flipped(tables: Tables, _: Scene) -> None:
    """The look-up hash of an entry was altered, to make a recipient look ignorant."""
    flip(tables["entry"][1], 1)


def entry_site_of_another(tables: Tables, _: Scene) -> None:
    """An entry was filed under another site."""
    tables["entry"][1][1] = tables["entry"][0][1]


def entry_site_too_long(tables: Tables, _: Scene) -> None:
    """The look-up hash of an entry is longer than any that is made."""
    tables["entry"][1][1] += "00"


def entry_generation_raised(tables: Tables, _: Scene) -> None:
    """The generation of an entry was altered."""
    tables["entry"][1][2] += 1


def entries_swapped(tables: Tables, _: Scene) -> None:
    """Two entries were exchanged."""
    swap(tables["entry"], 1, 2, 3)


def entry_removed(tables: Tables, _: Scene) -> None:
    """An entry in the middle was removed."""
    del tables["entry"][1]


def entry_removed_and_renumbered(tables: Tables, _: Scene) -> None:
    """An entry was removed, and the later ones counted down."""
    del tables["entry"][1]
    tables["entry"][1][0] -= 1


def entry_first_removed(tables: Tables, _: Scene) -> None:
    """The first entry was removed."""
    del tables["entry"][0]


def entry_zero_added(tables: Tables, _: Scene) -> None:
    """A row was put before the first entry."""
    tables["entry"].insert(0, [0, *tables["entry"][0][1:]])


def entry_is_no_number(tables: Tables, _: Scene) -> None:
    """The generation of an entry is a text."""
    tables["entry"][0][2] = "new"


def tail_cut(tables: Tables, _: Scene) -> None:
    """The last entry was removed, and the state left."""
    del tables["entry"][-1]


def tail_repeated(tables: Tables, _: Scene) -> None:
    """The last entry was appended once more."""
    number, *rest = tables["entry"][-1]
    tables["entry"].append([number + 1, *rest])


def entry_of_another_vault(tables: Tables, other: Scene) -> None:
    """An entry was brought from another vault."""
    tables["entry"][0] = other.tables["entry"][0]


def state_of_earlier(tables: Tables, earlier: Scene) -> None:
    """The state is that of an earlier time, the rest is not."""
    tables["state"] = earlier.tables["state"]


def item_of_earlier(tables: Tables, earlier: Scene) -> None:
    """An item is that of an earlier time, to bring an old value back."""
    ids = [row[0] for row in tables["item"]]
    [old] = earlier.tables["item"]
    tables["item"][ids.index(old[0])] = old


def items_of_earlier(tables: Tables, earlier: Scene) -> None:
    """All items are those of an earlier time."""
    tables["item"] = earlier.tables["item"]


def tail_cut_with_state(tables: Tables, earlier: Scene) -> None:
    """The entries since an earlier time were removed, and its state brought back."""
    tables["entry"] = earlier.tables["entry"]
    tables["state"] = earlier.tables["state"]


def rows_of_before_rotation(tables: Tables, earlier: Scene) -> None:
    """An entry is that from before the data key was replaced."""
    tables["entry"][0] = earlier.tables["entry"][0]


def slots_of_before_rotation(tables: Tables, earlier: Scene) -> None:
    """The slots are those from before the data key was replaced; their key opens nothing."""
    tables["slot"] = earlier.tables["slot"]

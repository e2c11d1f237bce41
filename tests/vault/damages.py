"""What somebody without the key can do to the rows of a vault.

By the name of each vector: what it is about, and how the rows are altered, given those of another
scene: the same vault earlier, or another vault.
"""

from collections.abc import Callable
from hashlib import sha256
from typing import Any, cast

import msgspec

from agent.vault.seal import context
from tests.vault.scenes import Tables
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


def put(rows: list[Any], place: int | slice, value: Any) -> None:  # noqa: ANN401  (a row, or a column of one)
    """Put something in the place of what is there."""
    rows[place] = value


def restored(tables: Tables, earlier: Tables) -> None:
    """Bring the old value of an item back."""
    [old] = earlier["item"]
    ids = [row[0] for row in tables["item"]]
    tables["item"][ids.index(old[0])] = old


DAMAGES: dict[str, tuple[str, Callable[[Tables, Tables], object]]] = {
    "slot_flipped": (
        "The slot of the passphrase was altered by accident, and no other opens with it.",
        lambda t, _: flip(t["slot"][0], 1),
    ),
    "slot_digest_flipped": (
        "The digest of the slot was altered.",
        lambda t, _: flip(t["slot"][0], 2),
    ),
    "slot_work_lowered": (
        "Somebody lowered the work in a slot, to guess faster, and forged its digest.",
        lambda t, _: respeak(t, lanes=1, iterations=1, memory_kib=9),
    ),
    "slot_salt_changed": (
        "Somebody changed the salt of a slot and forged its digest.",
        lambda t, _: respeak(t, salt="00" * 16),
    ),
    "slot_memory_hostile": (
        "A slot asks for 4 TiB; it is refused before anything is derived.",
        lambda t, _: respeak(t, memory_kib=2**32 - 1),
    ),
    "slot_iterations_hostile": (
        "A slot asks for 17 iterations, one more than is read.",
        lambda t, _: respeak(t, iterations=17),
    ),
    "slot_work_hostile": (
        "A slot asks for 1 GiB, which is read, and for too many iterations of that.",
        lambda t, _: respeak(t, memory_kib=2**20, iterations=5),
    ),
    "slot_lanes_hostile": (
        "A slot asks for 17 lanes, one more than is read.",
        lambda t, _: respeak(t, lanes=17, memory_kib=8 * 17),
    ),
    "slot_unknown_key": (
        "A slot says something that the format does not know.",
        lambda t, _: respeak(t, comment="hello"),
    ),
    "slot_of_another_vault": (
        "A slot was brought from another vault with the same passphrase.",
        lambda t, other: put(t["slot"], 0, other["slot"][0]),
    ),
    "slots_swapped": (
        "The bodies of two slots were exchanged.",
        lambda t, _: swap(t["slot"], 1, 2),
    ),
    "slots_missing": ("There is no slot.", lambda t, _: t["slot"].clear()),
    "slots_too_many": (
        "There are nine slots, one more than there may be.",
        lambda t, _: t["slot"].extend([n, *t["slot"][0][1:]] for n in range(3, 10)),
    ),
    "slot_number_zero": (
        "A slot has the number 0, from below the first.",
        lambda t, _: put(t["slot"][1], 0, 0),
    ),
    "slot_number_negative": (
        "A slot was added whose number is less than 0.",
        lambda t, _: t["slot"].append([-5, "hex:00", "hex:00"]),
    ),
    "vault_id_flipped": (
        "The vault id was altered, to which everything is bound.",
        lambda t, _: flip(t["meta"][0], 1),
    ),
    "vault_id_missing": ("There is no vault id.", lambda t, _: t["meta"].clear()),
    "state_flipped": ("A byte of the state was altered.", lambda t, _: flip(t["state"][0], 2)),
    "state_generation_raised": (
        "The generation beside the sealed state was raised, to look new.",
        lambda t, _: put(t["state"][0], 1, t["state"][0][1] + 1),
    ),
    "state_missing": ("There is no state.", lambda t, _: t["state"].clear()),
    "state_twice": (
        "There are two states.",
        lambda t, other: t["state"].append([2, *other["state"][0][1:]]),
    ),
    "item_flipped": ("A byte of an item was altered.", lambda t, _: flip(t["item"][0], 2)),
    "item_missing": ("An item was removed.", lambda t, _: t["item"].pop(0)),
    "item_id_flipped": (
        "The id of an item was altered, so that it would not be found.",
        lambda t, _: flip(t["item"][0], 0),
    ),
    "items_swapped": (
        "The contents of two items were exchanged, with their generations.",
        lambda t, _: swap(t["item"], 1, 2),
    ),
    "item_id_too_long": (
        "The id of an item is longer than any that is made.",
        lambda t, _: put(t["item"][0], 0, t["item"][0][0] + "00"),
    ),
    "entry_flipped": ("A byte of an entry was altered.", lambda t, _: flip(t["entry"][1], 3)),
    "entry_site_flipped": (
        "The look-up hash of an entry was altered, to make a recipient look ignorant.",
        lambda t, _: flip(t["entry"][1], 1),
    ),
    "entry_site_of_another": (
        "An entry was filed under another site.",
        lambda t, _: put(t["entry"][1], 1, t["entry"][0][1]),
    ),
    "entry_site_too_long": (
        "The look-up hash of an entry is longer than any that is made.",
        lambda t, _: put(t["entry"][1], 1, t["entry"][1][1] + "00"),
    ),
    "entry_generation_raised": (
        "The generation of an entry was altered.",
        lambda t, _: put(t["entry"][1], 2, t["entry"][1][2] + 1),
    ),
    "entries_swapped": ("Two entries were exchanged.", lambda t, _: swap(t["entry"], 1, 2, 3)),
    "entry_removed": ("An entry in the middle was removed.", lambda t, _: t["entry"].pop(1)),
    "entry_removed_and_renumbered": (
        "An entry was removed, and the later ones counted down.",
        lambda t, _: put(t["entry"], slice(1, None), [[2, *t["entry"][2][1:]]]),
    ),
    "entry_first_removed": ("The first entry was removed.", lambda t, _: t["entry"].pop(0)),
    "entry_zero_added": (
        "A row was put before the first entry.",
        lambda t, _: t["entry"].insert(0, [0, *t["entry"][0][1:]]),
    ),
    "entry_is_no_number": (
        "The generation of an entry is a text.",
        lambda t, _: put(t["entry"][0], 2, "new"),
    ),
    "tail_cut": ("The last entry was removed, and the state left.", lambda t, _: t["entry"].pop()),
    "tail_repeated": (
        "The last entry was appended once more.",
        lambda t, _: t["entry"].append([t["entry"][-1][0] + 1, *t["entry"][-1][1:]]),
    ),
    "entry_of_another_vault": (
        "An entry was brought from another vault.",
        lambda t, other: put(t["entry"], 0, other["entry"][0]),
    ),
    "state_of_earlier": (
        "The state is that of an earlier time, the rest is not.",
        lambda t, early: t.update(state=early["state"]),
    ),
    "item_of_earlier": (
        "An item is that of an earlier time, to bring an old value back.",
        restored,
    ),
    "items_of_earlier": (
        "All items are those of an earlier time.",
        lambda t, early: t.update(item=early["item"]),
    ),
    "tail_cut_with_state": (
        "The entries since an earlier time were removed, and its state brought back.",
        lambda t, early: t.update(entry=early["entry"], state=early["state"]),
    ),
    "rows_of_before_rotation": (
        "An entry is that from before the data key was replaced.",
        lambda t, early: put(t["entry"], 0, early["entry"][0]),
    ),
    "slots_of_before_rotation": (
        "The slots are those from before the data key was replaced; their key opens nothing.",
        lambda t, early: t.update(slot=early["slot"]),
    ),
}

"""What somebody without the key can do to the rows of a vault.

By the name of each vector: how the rows are altered, given those of another scene (the same vault
earlier, or another vault), and what it is about.
"""

from collections.abc import Callable
from hashlib import sha256
from typing import Any, cast

import msgspec

from agent.vault.seal import context
from tests.vault.vector_files import Row, meant, shown

Tables = dict[str, list[Row]]
Damage = Callable[[Tables, Tables], object]


def flip(table: str, row: int, column: int) -> Damage:
    """Flip the lowest bit of the last byte in a column."""

    def damage(tables: Tables, _: Tables) -> None:
        data = bytearray(cast("bytes", meant(tables[table][row][column])))
        data[-1] ^= 1
        tables[table][row][column] = shown(bytes(data))

    return damage


def swap(table: str, *columns: int) -> Damage:
    """Exchange columns of the first two rows."""

    def damage(tables: Tables, _: Tables) -> None:
        one, other = tables[table][:2]
        for column in columns:
            one[column], other[column] = other[column], one[column]

    return damage


def respeak(**changes: object) -> Damage:
    """Change what the first slot says, and make its digest fit, as a forger would."""

    def damage(tables: Tables, _: Tables) -> None:
        row = tables["slot"][0]
        slot = msgspec.json.decode(cast("bytes", meant(row[1]))) | changes
        body = msgspec.json.encode(slot)
        vault_id = cast("bytes", meant(tables["meta"][0][1]))
        row[1:] = [shown(body), shown(sha256(context(vault_id, "slot digest", 1, body)).digest())]

    return damage


def put(table: str, row: int, column: int, value: Callable[[Any], Any] | int | str) -> Damage:
    """Put a value in the place of a column, or what becomes of the value that is there."""

    def damage(tables: Tables, _: Tables) -> None:
        there = tables[table][row]
        there[column] = value(there[column]) if callable(value) else value

    return damage


def taken(table: str) -> Damage:
    """Put the first row of the other scene in the place of the first."""
    return lambda tables, other: tables[table].__setitem__(0, other[table][0])


def all_taken(*names: str) -> Damage:
    """Put the tables of the other scene in the place of these."""
    return lambda tables, other: tables.update({name: other[name] for name in names})


def item_taken(tables: Tables, earlier: Tables) -> None:
    """Bring the old value of an item back."""
    [old] = earlier["item"]
    ids = [row[0] for row in tables["item"]]
    tables["item"][ids.index(old[0])] = old


def renumbered(tables: Tables, _: Tables) -> None:
    """Remove the second entry, and count the third down."""
    tables["entry"][1:] = [[2, *tables["entry"][2][1:]]]


DAMAGES: dict[str, tuple[Damage, str]] = {
    "slot_flipped": (flip("slot", 0, 1), "The slot of the passphrase was altered by accident."),
    "slot_digest_flipped": (flip("slot", 0, 2), "The digest of the slot was altered."),
    "slot_work_lowered": (
        respeak(lanes=1, iterations=1, memory_kib=9),
        "Somebody lowered the work in a slot, to guess faster, and forged its digest.",
    ),
    "slot_salt_changed": (respeak(salt="00" * 16), "A salt was changed, and a digest forged."),
    "slot_memory_hostile": (respeak(memory_kib=2**32 - 1), "A slot asks for 4 TiB: not derived."),
    "slot_iterations_hostile": (respeak(iterations=17), "A slot asks for one iteration too many."),
    "slot_work_hostile": (
        respeak(memory_kib=2**20, iterations=5),
        "A slot asks for 1 GiB, which is read, and for too many iterations of that.",
    ),
    "slot_lanes_hostile": (respeak(lanes=17, memory_kib=136), "A slot asks for one lane too many."),
    "slot_unknown_key": (respeak(comment="hello"), "A slot has a key that the format lacks."),
    "slot_of_another_vault": (taken("slot"), "A slot is another vault's, of the same passphrase."),
    "slots_swapped": (swap("slot", 1, 2), "The bodies of two slots were exchanged."),
    "slots_missing": (lambda t, _: t["slot"].clear(), "There is no slot."),
    "slots_too_many": (
        lambda t, _: t["slot"].extend([n, *t["slot"][0][1:]] for n in range(3, 10)),
        "There are nine slots, one more than there may be.",
    ),
    "slot_number_zero": (put("slot", 1, 0, 0), "A slot has the number 0, from below the first."),
    "slot_number_negative": (
        lambda t, _: t["slot"].append([-5, "hex:00", "hex:00"]),
        "A slot was added whose number is less than 0.",
    ),
    "vault_id_flipped": (flip("meta", 0, 1), "The vault id was altered: all is bound to it."),
    "vault_id_missing": (lambda t, _: t["meta"].clear(), "There is no vault id."),
    "state_flipped": (flip("state", 0, 2), "A byte of the state was altered."),
    "state_generation_raised": (put("state", 0, 1, lambda n: n + 1), "The state is to look new."),
    "state_missing": (lambda t, _: t["state"].clear(), "There is no state."),
    "state_twice": (lambda t, o: t["state"].append([2, *o["state"][0][1:]]), "Two states."),
    "item_flipped": (flip("item", 0, 2), "A byte of an item was altered."),
    "item_missing": (lambda t, _: t["item"].pop(0), "An item was removed."),
    "item_id_flipped": (
        flip("item", 0, 0),
        "The id of an item was altered: it is not found.",
    ),
    "items_swapped": (swap("item", 1, 2), "The contents of two items were exchanged."),
    "item_id_too_long": (put("item", 0, 0, lambda i: i + "00"), "An id is longer than any made."),
    "entry_flipped": (flip("entry", 1, 3), "A byte of an entry was altered."),
    "entry_site_flipped": (flip("entry", 1, 1), "The look-up hash of an entry was altered."),
    "entry_site_of_another": (
        lambda t, _: t["entry"][1].__setitem__(1, t["entry"][0][1]),
        "An entry was filed under another site.",
    ),
    "entry_site_too_long": (put("entry", 1, 1, lambda s: s + "00"), "A hash is longer than any."),
    "entry_generation_raised": (put("entry", 1, 2, lambda n: n + 1), "A generation was altered."),
    "entries_swapped": (swap("entry", 1, 2, 3), "Two entries were exchanged."),
    "entry_removed": (lambda t, _: t["entry"].pop(1), "An entry in the middle was removed."),
    "entry_removed_and_renumbered": (renumbered, "An entry was removed, the later counted down."),
    "entry_first_removed": (lambda t, _: t["entry"].pop(0), "The first entry was removed."),
    "entry_zero_added": (
        lambda t, _: t["entry"].insert(0, [0, *t["entry"][0][1:]]),
        "A row was put before the first entry.",
    ),
    "entry_is_no_number": (put("entry", 0, 2, "new"), "The generation of an entry is a text."),
    "tail_cut": (lambda t, _: t["entry"].pop(), "The last entry was removed, the state left."),
    "tail_repeated": (
        lambda t, _: t["entry"].append([t["entry"][-1][0] + 1, *t["entry"][-1][1:]]),
        "The last entry was appended once more.",
    ),
    "entry_of_another_vault": (taken("entry"), "An entry was brought from another vault."),
    "state_of_earlier": (all_taken("state"), "The state is that of an earlier time, no more is."),
    "item_of_earlier": (item_taken, "An item is of an earlier time, to bring an old value back."),
    "items_of_earlier": (all_taken("item"), "All items are those of an earlier time."),
    "tail_cut_with_state": (all_taken("entry", "state"), "Entries and state are of earlier."),
    "rows_of_before_rotation": (taken("entry"), "An entry is from before the key was replaced."),
    "slots_of_before_rotation": (all_taken("slot"), "The slots are from before: of an old key."),
}

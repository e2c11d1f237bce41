"""Write the files in vectors/: run `python -m tests.vault.make_vectors` after a change."""

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

import msgspec

from agent.vault.disclosure_index import Record, encode, site_of
from agent.vault.seal import context
from agent.vault.secrets import Secret
from agent.vault.store import Store
from agent.vault.vault import rotate
from agent.vault.vault_files import Witness, read_witness
from tests.vault.histories import NOW, disclosed, forgotten
from tests.vault.vector_files import FOLDER, Expected, Row, Vector, meant, shown, tables_of, text
from tests.vault.worlds import PASSPHRASE, TYPED, contents, made, store_of, stream

Named = tuple[str, Vector]
Tables = dict[str, list[Row]]
Deed = Callable[[Store], object]


@dataclass(frozen=True, slots=True)
class Scene:
    """A vault as somebody finds it, closed."""

    tables: Tables
    witness: Witness | None
    code: str
    entries: list[tuple[int, str]]
    items: dict[str, str]


def scene(seed: str, *deeds: Deed) -> Scene:
    """Return a new vault after some deeds, synced."""
    with TemporaryDirectory(prefix="r") as folder:
        at, key, code = made(Path(folder), seed)
        with store_of(at, key, seed) as store:
            for deed in deeds:
                deed(store)
            store.sync()
            entries, items = contents(store)
        return Scene(
            tables_of(at.vault),
            read_witness(at.witness),
            code,
            [(number, payload.decode()) for number, payload in entries],
            {name: (payload or b"").decode() for name, payload in items.items()},
        )


def told(site: str, payload: str) -> Deed:
    """Append an entry, lazily."""
    return lambda store: store.append_entry(site, payload.encode(), durable=False)


def kept(name: str, payload: str) -> Deed:
    """Keep an item."""
    return lambda store: store.put(name, payload.encode())


def turned(store: Store) -> None:
    """Replace the data key."""
    rotate(store, PASSPHRASE, stream("rotation"))


EARLY = (told("one.example", "first"), told("two.example", "second"), kept("profile", "old"))
LATE = (told("one.example", "third"), kept("profile", "new"), kept("other/offers", "none"))

DAMAGED = Expected("DamagedVaultError")
ROLLED_BACK = Expected("RolledBackError")
WRONG = Expected("WrongSecretError")
REFUSED = Expected("VaultError")
OTHERWISE = {  # all other damages end as DAMAGED
    "slot_work_lowered": WRONG,
    "slot_salt_changed": WRONG,
    "slot_memory_hostile": REFUSED,
    "slot_iterations_hostile": REFUSED,
    "slot_work_hostile": REFUSED,
    "slot_lanes_hostile": REFUSED,
    "state_of_earlier": ROLLED_BACK,
    "tail_cut_with_state": ROLLED_BACK,
}
STATED: tuple[Record, ...] = (
    disclosed(NOW, "www.one.example", region="uk"),
    disclosed(NOW, "two.example", age="old"),
    forgotten("one.example"),
)
FROM_ANOTHER = {"slot_of_another_vault", "entry_of_another_vault"}
FROM_BEFORE_ROTATION = {"rows_of_before_rotation", "slots_of_before_rotation"}


# What somebody without the key can do to the rows, given those of another scene: the same vault
# earlier, or another vault.
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


def vectors() -> dict[str, Vector]:
    """Return every vector by its name."""
    early, late = scene("a", *EARLY), scene("a", *EARLY, *LATE)
    return dict((*_valid(early, late), *_damaged(early, late), *_whole(early, late)))


def vector(about: str, found: Scene, secret: Secret = TYPED, notes: int = 0) -> Vector:
    """Return the vector of a scene as it is."""
    expect = Expected(None, found.entries, found.items, notes)
    typed = (secret.kind, secret.text or "")
    return Vector(about, typed, expect, found.witness, found.tables)


def changed(base: Vector, **changes: object) -> Vector:
    """Return a vector with something else in it."""
    return msgspec.structs.replace(base, **changes)


def _valid(early: Scene, late: Scene) -> Iterator[Named]:
    """Yield vaults that open."""
    new, rotated = scene("new"), scene("a", *EARLY, turned)
    gone: Deed = lambda store: store.delete("profile")  # noqa: E731  (a deed as the others)
    cleared = scene("a", *EARLY, gone, told("one.example", "third"))
    stated = [told(site_of(each.host), encode(each).decode()) for each in STATED]
    code = Secret("recovery", early.code.lower().replace("-", " "))
    spaced = Secret("passphrase", PASSPHRASE.replace(" ", "\u00a0"))
    yield "empty", vector("A vault as it is made.", new)
    yield "filled", vector("Entries of two sites, and items.", late)
    yield "recovery", vector("The recovery code opens it, typed carelessly.", early, code)
    yield "passphrase_spaced", vector("A no-break space in a passphrase is a space.", early, spaced)
    yield "rotated", vector("The data key was replaced; the passphrase is the same.", rotated)
    yield "cleared", vector("An item was removed again.", cleared)
    behind = vector("The witness is older than the vault.", late)
    yield "witness_behind", changed(behind, witness=early.witness)
    behind = vector("The witness is from before a rotation.", rotated)
    yield "witness_before_rotation", changed(behind, witness=early.witness)
    yield "forgotten", vector("One of two recipients is stated to forget.", scene("a", *stated))
    missing = vector("There is no witness: it opens, and says so.", late, notes=1)
    yield "witness_missing", changed(missing, witness=None)
    both = vector("Vault and witness are both an old copy: not noticeable.", early)
    yield "both_rolled_back", both
    spoiled = deepcopy(late)
    flip("slot", 1, 1)(spoiled.tables, {})
    yield "other_slot_flipped", vector("A slot was altered that is not needed.", spoiled, notes=1)


def _damaged(early: Scene, late: Scene) -> Iterator[Named]:
    """Yield vaults of which rows were altered."""
    other, rotated = scene("b", *EARLY), scene("a", *EARLY, turned)
    for name, (damage, about) in sorted(DAMAGES.items()):
        base = rotated if name in FROM_BEFORE_ROTATION else late
        tables = deepcopy(base.tables)
        damage(tables, (other if name in FROM_ANOTHER else early).tables)
        expect = OTHERWISE.get(name, DAMAGED)
        yield name, changed(vector(about, base), tables=tables, expect=expect)


def _whole(early: Scene, late: Scene) -> Iterator[Named]:
    """Yield what concerns the secret, the witness and the file as a whole."""
    fork = scene("a", *EARLY, told("other.example", "fork"), *LATE[1:])
    other = scene("b", *EARLY)
    wrong = vector("Another passphrase.", late, Secret("passphrase", "horse correct"))
    yield "passphrase_wrong", changed(wrong, expect=WRONG)
    mistyped = Secret("recovery", late.code[:-1] + ("0" if late.code[-1] != "0" else "2"))
    wrong = vector("A recovery code with one wrong digit.", late, mistyped)
    yield "recovery_mistyped", changed(wrong, expect=WRONG)
    wrong = vector("The recovery code of another vault.", late, Secret("recovery", other.code))
    yield "recovery_of_another", changed(wrong, expect=WRONG)
    old = vector("An old copy was put in the place of the vault.", early)
    yield "rolled_back", changed(old, expect=ROLLED_BACK, witness=late.witness)
    branch = vector("Another vault grew from the same copy.", fork)
    yield "forked", changed(branch, expect=ROLLED_BACK, witness=late.witness)
    stranger = vector("Another vault was put in the place of this.", other)
    yield "replaced", changed(stranger, expect=ROLLED_BACK, witness=late.witness)
    cut = vector("Cut off with its state, and no witness: not noticeable.", early, notes=1)
    yield "rolled_back_without_witness", changed(cut, witness=None)
    base = vector("", late)
    newer, older = Expected("VaultVersionError"), Expected("VaultVersionError")
    yield "newer", changed(base, about="A later format.", user_version=3, expect=newer)
    yield "older", changed(base, about="An earlier format.", user_version=0, expect=older)
    yield "foreign", changed(base, about="Another application's.", application_id=1, expect=DAMAGED)
    for name, schema in (
        ("trigger", "CREATE TRIGGER t AFTER INSERT ON entry BEGIN DELETE FROM entry; END"),
        ("view", "CREATE VIEW v AS SELECT * FROM entry"),
        ("table", "CREATE TABLE more(x)"),
        ("index", "CREATE INDEX i ON entry(site)"),
    ):
        about = f"A {name} was added to the schema."
        yield f"schema_{name}", changed(base, about=about, more=[schema], expect=DAMAGED)


def main() -> None:
    """Write every vector, and remove what is none."""
    made = vectors()
    for path in FOLDER.glob("*.json"):
        if path.stem not in made:
            path.unlink()
    for name, each in made.items():
        (FOLDER / f"{name}.json").write_bytes(text(each))


if __name__ == "__main__":
    main()

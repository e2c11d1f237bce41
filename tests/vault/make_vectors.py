"""Write the files in vectors/: run `python -m tests.vault.make_vectors` after a change."""

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from agent.vault.disclosure_index import Record, encode, site_of
from agent.vault.making import rotate
from agent.vault.secrets import Secret
from agent.vault.store import Store
from agent.vault.vault_files import Witness, read_witness
from tests.vault.damages import DAMAGES, Tables, flip
from tests.vault.histories import NOW, disclosed, forgotten
from tests.vault.vector_files import FOLDER, Expected, Vector, tables_of, text
from tests.vault.worlds import PASSPHRASE, TYPED, contents, made, store_of, stream

Named = tuple[str, Vector]
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
    shown = Secret("passphrase", PASSPHRASE.replace(" ", "\u00a0"))
    yield "empty", vector("A vault as it is made.", new)
    yield "filled", vector("Entries of two sites, and items.", late)
    yield "recovery", vector("The recovery code opens it, typed carelessly.", early, code)
    yield "passphrase_spaced", vector("A no-break space in a passphrase is a space.", early, shown)
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
    yield "newer", changed(base, about="A later format.", user_version=2, expect=newer)
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

"""FORMAT.md says what the code does, and so does every vector, one scenario per file."""

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import pytest
from msgspec import Struct, field

from agent.errors import ReticentError
from agent.vault import chain, seal, slots, store
from agent.vault.database import APPLICATION_ID, TABLES
from agent.vault.ledger import MOST_SITES, Ledger, Record, encode, site_of
from agent.vault.rotation import rotate
from agent.vault.seal import FORMAT
from agent.vault.secrets import Kind, Secret
from agent.vault.store import Store
from agent.vault.vault_files import Location, Witness, read_witness
from tests.vault import worlds
from tests.vault.doubles import MemoryStore
from tests.vault.histories import NOW, disclosed, forgotten, grouping, held

FOLDER = Path(__file__).parent / "vectors"
COLUMNS = {"meta": 2, "slot": 3, "state": 3, "item": 3, "entry": 4}

Row = list[Any]  # integers, texts, and bytes as "hex:…"


class Expected(Struct, frozen=True, omit_defaults=True):
    """An error by its class, or what is in the vault; payloads and names as text."""

    error: str | None = None
    entries: list[tuple[int, str]] = field(default_factory=list)
    items: dict[str, str] = field(default_factory=dict)
    notes: int = 0


class Vector(Struct, frozen=True):
    """A scenario; ``more``: schema beyond the tables of a vault."""

    about: str
    secret: tuple[Kind, str]
    expect: Expected
    witness: Witness | None
    tables: dict[str, list[Row]]
    application_id: int = APPLICATION_ID
    user_version: int = FORMAT
    more: list[str] = field(default_factory=list)


def meant(value: object) -> object:
    """Return a column as the file has it."""
    if isinstance(value, str) and value.startswith("hex:"):
        return bytes.fromhex(value.removeprefix("hex:"))
    return value


def _tables_of(path: Path) -> dict[str, list[Row]]:
    with closing(sqlite3.connect(path)) as connection:
        return {
            table: [
                [f"hex:{each.hex()}" if isinstance(each, bytes) else each for each in row]
                for row in connection.execute(f"SELECT * FROM {table} ORDER BY 1")  # noqa: S608  (ours)
            ]
            for table in COLUMNS
        }


def _build(vector: Vector, at: Location) -> None:
    at.vault.parent.mkdir(mode=0o700)
    at.witness.parent.mkdir(mode=0o700)
    at.vault.touch(0o600)
    with closing(sqlite3.connect(at.vault, isolation_level=None)) as connection:
        connection.execute("BEGIN")
        connection.execute(f"PRAGMA application_id={vector.application_id}")
        connection.execute(f"PRAGMA user_version={vector.user_version}")
        for statement in (*TABLES, *vector.more):
            connection.execute(statement)
        for table, rows in vector.tables.items():
            places = ", ".join("?" * COLUMNS[table])
            insert = f"INSERT INTO {table} VALUES ({places})"  # noqa: S608  (ours)
            for row in rows:
                values = [meant(value) for value in row]
                connection.execute(insert, values)
        connection.execute("COMMIT")
    if vector.witness is not None:
        at.witness.write_bytes(msgspec.json.encode(vector.witness))


def _read(path: Path) -> Vector:
    return msgspec.json.decode(path.read_bytes(), type=Vector)


Deed = Callable[[Store], object]


def found_in(store: Store) -> Expected:
    """What a vault holds."""
    entries, items = worlds.contents(store)
    return Expected(
        entries=[(number, payload.decode()) for number, payload in entries],
        items={name: (payload or b"").decode() for name, payload in items.items()},
        notes=len(store.notes),
    )


def vector(
    about: str, seed: str, *deeds: Deed, secret: Callable[[str], Secret] = lambda _: worlds.TYPED
) -> Vector:
    """Make a vault and do something to it; ``secret``: opens it, made of the recovery code."""
    with TemporaryDirectory(prefix="r") as folder:
        at, key, code = worlds.made(Path(folder), seed)
        with worlds.store_of(at, key, seed) as store:
            for deed in deeds:
                deed(store)
            store.sync()
            found = found_in(store)
        by = secret(code)
        typed = by.kind, by.text or ""
        return Vector(about, typed, found, read_witness(at.witness), _tables_of(at.vault))


def told(site: str, payload: str) -> Deed:
    return lambda store: store.append_entry(site, payload.encode(), durable=False)


def kept(name: str, payload: str) -> Deed:
    """Keep an item."""
    return lambda store: store.put(name, payload.encode())


EARLY = (told("one.example", "first"), told("two.example", "second"), kept("profile", "old"))
LATE = (told("one.example", "third"), kept("profile", "new"), kept("other/offers", "none"))
STATED: tuple[Record, ...] = (
    disclosed(NOW, "www.one.example", region="uk"),
    disclosed(NOW, "two.example", age="old"),
    forgotten("one.example"),
)


def written() -> Iterator[tuple[str, Vector]]:
    """Yield the vectors of vaults that open, as this version writes them."""
    gone: Deed = lambda store: store.delete("profile")  # noqa: E731  (a deed as the others)
    cleared = (*EARLY, gone, told("one.example", "third"))
    stated = [told(site_of(each.host), encode(each).decode()) for each in STATED]
    spaced = Secret("passphrase", worlds.PASSPHRASE.replace(" ", "\u00a0"))

    def carelessly(code: str) -> Secret:
        return Secret("recovery", code.lower().replace("-", " "))

    yield "empty", vector("A vault as it is made.", "new")
    yield "filled", vector("Entries of two sites, and items.", "a", *EARLY, *LATE)
    about = "The recovery code opens it, typed carelessly."
    yield "recovery", vector(about, "a", *EARLY, secret=carelessly)
    about = "A no-break space in a passphrase is a space."
    yield "passphrase_spaced", vector(about, "a", *EARLY, secret=lambda _: spaced)
    about = "The data key was replaced; the passphrase is the same."
    turned = partial(rotate, passphrase=worlds.PASSPHRASE, chance=worlds.stream("rotation"))
    yield "rotated", vector(about, "a", *EARLY, turned)
    yield "cleared", vector("An item was removed again.", "a", *cleared)
    yield "forgotten", vector("One of two recipients is stated to forget.", "a", *stated)


BOTH = ("one.example", "two.example")
TEXT = (Path(__file__).parents[2] / "agent/vault/FORMAT.md").read_text()
FILES = sorted(FOLDER.glob("*.json"))


def opened(at_file: Path, folder: Path) -> Expected | ReticentError:
    """Return what opening the vault of a vector brings."""
    vector, at = _read(at_file), worlds.place(folder)
    _build(vector, at)
    try:
        with worlds.store_of(at, Secret(*vector.secret)) as store:
            return found_in(store)
    except ReticentError as error:
        return error


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_vector_is_what_it_says(path: Path, tmp_path: Path) -> None:
    """It opens to what was put in, or is refused with the error named; its file is free then."""
    found, expected = opened(path, tmp_path), _read(path).expect
    if isinstance(found, ReticentError):
        assert type(found).__name__ == expected.error
        assert (found.what + found.hint).isprintable()
    else:
        assert found == expected
    with closing(sqlite3.connect(worlds.place(tmp_path).vault, timeout=0)) as connection:
        assert connection.execute("SELECT count(*) FROM slot").fetchone()


def test_who_is_stated_to_forget_holds_nothing() -> None:
    """And the other, whether or not the two are a group by now."""
    entries = _read(FOLDER / "forgotten.json").expect.entries
    ledger = Ledger(MemoryStore(), [(number, payload.encode()) for number, payload in entries])
    for pool, groups in (("two.example", {}), ("@both", dict.fromkeys(BOTH, "@both"))):
        assert {*held(ledger, pool, grouping(groups))} == {"age"}
    assert held(ledger, "one.example", grouping({})) == {}


def test_this_version_writes_what_the_vectors_say() -> None:
    """Byte for byte, each vault that opens."""
    for name, each in written():
        text = msgspec.json.format(msgspec.json.encode(each), indent=1) + b"\n"
        assert text == (FOLDER / f"{name}.json").read_bytes(), name


def test_the_tables_are_those_of_the_page() -> None:
    """Word for word: they are compared with the file's."""
    found = re.search(r"```sql\n(.*?)```", TEXT, re.DOTALL)
    assert found is not None
    assert tuple(found[1].splitlines()) == TABLES


def test_the_numbers_are_those_of_the_page() -> None:
    """Limits, and what tells a vault from another file."""
    said = (
        f"`application_id` is 0x{APPLICATION_ID:08X}",
        f"# The vault file, format {FORMAT}\n",
        f"| slots | {slots.MAX_SLOTS}, bodies of at most {slots.MAX_BODY // 1024} KiB |",
        f"| payload of an entry | {chain.MAX_PAYLOAD // 1024} KiB |",
        f"that time; 1 to {MOST_SITES}, ascending",
        f"A pool of more than {MOST_SITES} sites",
        f"{store.MAX_ITEMS:,}; {store.MAX_ITEM_BYTES // 2**20} MiB |",
        f"m ≤ {seal.MAX_MEMORY_KIB:,} (1 GiB), 1 ≤ t ≤ {seal.MAX_ITERATIONS}",
        f"1 ≤ p ≤ {seal.MAX_LANES}",
        f"m ≥ {seal.FLOOR.memory_kib:,} (64 MiB), t = {seal.FLOOR.iterations}",
        f"up to {seal.CALIBRATED_KIB // 1024} MiB",
    )
    assert [each for each in said if each not in TEXT.replace("\n", " ") + TEXT] == []

"""FORMAT.md says what the code does, and so does every vector, one scenario per file."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from agent.errors import ReticentError
from agent.vault import chain, seal, slots, store
from agent.vault.database import APPLICATION_ID, TABLES
from agent.vault.disclosure_index import MOST_SITES
from agent.vault.ledger import Ledger
from agent.vault.seal import FORMAT
from agent.vault.secrets import Secret
from tests.vault.doubles import MemoryStore
from tests.vault.histories import Grouping, held
from tests.vault.make_vectors import vectors
from tests.vault.vector_files import FOLDER, Expected, build, read, text
from tests.vault.worlds import contents, place, store_of

BOTH = ("one.example", "two.example")
TEXT = (Path(__file__).parents[2] / "agent/vault/FORMAT.md").read_text()
FILES = sorted(FOLDER.glob("*.json"))


def opened(at_file: Path, folder: Path) -> Expected | ReticentError:
    """Return what opening the vault of a vector brings."""
    vector = read(at_file)
    at = place(folder)
    build(vector, at)
    try:
        with store_of(at, Secret(*vector.secret)) as store:
            entries, items = contents(store)
            notes = len(store.notes)
    except ReticentError as error:
        return error
    return Expected(
        None,
        [(number, payload.decode()) for number, payload in entries],
        {name: (payload or b"").decode() for name, payload in items.items()},
        notes,
    )


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_vector_is_what_it_says(path: Path, tmp_path: Path) -> None:
    """It opens to what was put in, or is refused with the error named; its file is free then."""
    found, expected = opened(path, tmp_path), read(path).expect
    if isinstance(found, ReticentError):
        assert type(found).__name__ == expected.error
        assert (found.what + found.hint).isprintable()
    else:
        assert found == expected
    with closing(sqlite3.connect(place(tmp_path).vault, timeout=0)) as connection:
        assert connection.execute("SELECT count(*) FROM slot").fetchone()


def test_who_is_stated_to_forget_holds_nothing() -> None:
    """And the other, whether or not the two are a group by now."""
    entries = read(FOLDER / "forgotten.json").expect.entries
    ledger = Ledger(MemoryStore(), [(number, payload.encode()) for number, payload in entries])
    for pool, groups in (("two.example", {}), ("@both", dict.fromkeys(BOTH, "@both"))):
        assert {*held(ledger, pool, Grouping(groups).of)} == {"age"}
    assert held(ledger, "one.example", Grouping({}).of) == {}


def test_the_files_are_those_that_are_made() -> None:
    """Byte for byte: what this version writes is what the vectors say, nothing is by hand."""
    made = {name: text(each) for name, each in vectors().items()}
    assert {path.stem: path.read_bytes() for path in FILES} == made


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

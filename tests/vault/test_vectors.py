"""Every vector, one scenario per file, is what the format says of it."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from agent.errors import ReticentError
from agent.vault.ledger import Ledger
from agent.vault.secrets import Secret
from tests.vault.doubles import MemoryStore
from tests.vault.histories import Grouping, held
from tests.vault.make_vectors import vectors
from tests.vault.vector_files import FOLDER, Expected, build, read, text
from tests.vault.worlds import contents, place, store_of

BOTH = ("one.example", "two.example")
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

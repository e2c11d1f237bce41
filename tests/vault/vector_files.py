"""One scenario per file: the rows of a vault, what opens it, and what is then found or said."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, field

from agent.vault.database import APPLICATION_ID, TABLES
from agent.vault.seal import FORMAT
from agent.vault.secrets import Kind
from agent.vault.vault_files import Location, Witness, make_private

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


def shown(value: object) -> object:
    """Return a column as a vector has it."""
    return f"hex:{value.hex()}" if isinstance(value, bytes) else value


def meant(value: object) -> object:
    """Return a column as the file has it."""
    if isinstance(value, str) and value.startswith("hex:"):
        return bytes.fromhex(value.removeprefix("hex:"))
    return value


def tables_of(path: Path) -> dict[str, list[Row]]:
    """Return all rows of a database that nobody has open."""
    with closing(sqlite3.connect(path)) as connection:
        return {
            table: [
                [shown(value) for value in row]
                for row in connection.execute(f"SELECT * FROM {table} ORDER BY 1")  # noqa: S608  (ours)
            ]
            for table in COLUMNS
        }


def build(vector: Vector, at: Location) -> None:
    """Make the file of a vector, and its witness."""
    at.vault.parent.mkdir(mode=0o700)
    at.witness.parent.mkdir(mode=0o700)
    make_private(at.vault)
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


def read(path: Path) -> Vector:
    """Return the vector in a file."""
    return msgspec.json.decode(path.read_bytes(), type=Vector)


def text(vector: Vector) -> bytes:
    """Return the content of the file of a vector."""
    return msgspec.json.format(msgspec.json.encode(vector), indent=1) + b"\n"

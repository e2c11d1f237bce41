"""Small vaults, made fast and always the same, and ways to reach below their lid."""

import os
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from hashlib import sha256
from itertools import count as counted
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from agent.files import private_folder
from agent.vault import database as databases
from agent.vault.database import Database
from agent.vault.seal import Chance, Derivation, Key, Seals
from agent.vault.secrets import Secret
from agent.vault.slots import data_key, read_slots, read_vault_id
from agent.vault.store import Store
from agent.vault.vault import Vault, make, make_vault, unlock, unlock_with
from agent.vault.vault_files import Location
from tests.vault.histories import NOW, disclosed

FAST = Derivation(8, 1, 1)  # read, but never made outside tests
PASSPHRASE = "correct horse"  # noqa: S105  (of vaults that hold nothing)
TYPED = Secret("passphrase", PASSPHRASE)
TOLD = disclosed(NOW, "www.a.example", region="uk")
AGAIN = disclosed(NOW, "www.a.example", region="uk", age="old")

Rows = list[tuple[int, bytes]]

SECOND = """
import sys
from pathlib import Path
from agent.errors import BusyVaultError
from agent.vault.database import Database
try:
    Database.open(Path(sys.argv[1])).close()
except BusyVaultError as error:
    print(error.what)
"""
FEW = settings(max_examples=settings().max_examples // 4)  # where each waits for the disk


def second(at: Location) -> str:
    """Return what another process says to a vault: nothing where it can open it."""
    command = [sys.executable, "-c", SECOND, str(at.vault)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
    return done.stdout.strip()


def stream(seed: str = "") -> Chance:
    """Return bytes that look random and are the same each time."""
    places = counted()

    def drawn(length: int) -> bytes:
        blocks = (sha256(f"{seed}/{next(places)}".encode()).digest() for _ in range(0, length, 32))
        return b"".join(blocks)[:length]

    return drawn


def place(folder: Path) -> Location:
    return Location(folder / "data" / "vault.db", folder / "state" / "witness.json")


def made(folder: Path, seed: str = "", page_bytes: int = 512) -> tuple[Location, Key, str]:
    """Return the place of a new vault, its data key and its recovery code."""
    at = place(folder)
    for each in (at.vault.parent, at.witness.parent):
        private_folder(each)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(databases, "PAGE_BYTES", page_bytes)
        key, code = make_vault(at, PASSPHRASE, FAST, stream(seed))
    return at, key, code


def create(
    at: Location, passphrase: str, derivation: Derivation | None = None, chance: Chance = os.urandom
) -> tuple[Vault, str]:
    """Make a vault and open it; return it with its recovery code."""
    key, code = make(at, passphrase, derivation, chance)
    return unlock_with(at, key, chance), code


@contextmanager
def new_vault(folder: Path) -> Iterator[tuple[Location, Key]]:
    """Yield a vault in a folder of its own, and its key: so nothing waits for a derivation."""
    with tempfile.TemporaryDirectory(dir=folder) as name:
        at = place(Path(name))
        yield at, make(at, PASSPHRASE, FAST)[0]


def key_of(database: Database, secret: Secret) -> Key:
    return data_key(read_slots(database), secret, read_vault_id(database))


@contextmanager
def store_of(at: Location, by: Key | Secret, seed: str = "") -> Iterator[Store]:
    """Yield the verified store of a vault; it is closed without being synced."""
    database = Database.open(at.vault)
    with closing(database):
        key = key_of(database, by) if isinstance(by, Secret) else by
        store = Store(database, Seals(key, read_vault_id(database), stream(seed)), at.witness)
        for _ in store.verify():
            pass
        yield store


def contents(store: Store) -> tuple[Rows, dict[str, bytes | None]]:
    return [*store.entries()], {name: store.get(name) for name in store.names()}


def altered(at: Location, *statements: str | tuple[str, tuple[Any, ...]]) -> None:
    """Run statements on the file of a closed vault, as somebody without the key could."""
    with closing(sqlite3.connect(at.vault, isolation_level=None)) as connection:
        for each in statements:
            query, values = (each, ()) if isinstance(each, str) else each
            connection.execute(query, values)


def rows_of(at: Location, query: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(at.vault)) as connection:
        return connection.execute(query).fetchall()


def new(at: Location, seed: str = "") -> tuple[Vault, str]:
    """Make a vault, fast; return it open, with its recovery code."""
    return create(at, PASSPHRASE, FAST, stream(seed))


def count(at: Location) -> int:
    """Return how many entries a vault has; it opens without a note."""
    with unlock(at, TYPED) as vault:
        assert vault.notes == ()
        return vault.ledger.count


def names_beside(at: Location) -> list[str]:
    return sorted(path.name for path in at.vault.parent.iterdir())

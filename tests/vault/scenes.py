"""The vaults that vectors begin with: rows and witness, at several times."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from agent.vault.disclosure_index import Record, encode, site_of
from agent.vault.making import rotate
from agent.vault.seal import Key
from agent.vault.store import Store
from agent.vault.vault_files import Witness, read_witness
from tests.vault.vector_files import Row, tables_of
from tests.vault.worlds import PASSPHRASE, contents, made, store_of, stream

Tables = dict[str, list[Row]]
Deed = Callable[[Store], object]


@dataclass(frozen=True, slots=True)
class Scene:
    """A vault as somebody finds it, closed."""

    tables: Tables
    witness: Witness | None
    code: str
    key: Key
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
            key,
            [(number, payload.decode()) for number, payload in entries],
            {name: (payload or b"").decode() for name, payload in items.items()},
        )


def told(site: str, payload: str) -> Deed:
    """Append an entry, lazily."""
    return lambda store: store.append_entry(site, payload.encode(), durable=False)


def entered(record: Record) -> Deed:
    """Append an entry as the ledger does."""
    return told(site_of(record.host), encode(record).decode())


def kept(name: str, payload: str) -> Deed:
    """Keep an item."""
    return lambda store: store.put(name, payload.encode())


def gone(name: str) -> Deed:
    """Remove an item."""
    return lambda store: store.delete(name)


def turned(store: Store) -> None:
    """Replace the data key."""
    rotate(store, PASSPHRASE, stream("rotation"))


EARLY = (told("one.example", "first"), told("two.example", "second"), kept("profile", "old"))
LATE = (told("one.example", "third"), kept("profile", "new"), kept("other/offers", "none"))

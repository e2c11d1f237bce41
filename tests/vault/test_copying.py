"""A copy is taken in steps while the vault is in use: it is whole, or there is none."""

import stat
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import VaultError
from agent.vault import database
from agent.vault.database import Database
from agent.vault.seal import Key
from agent.vault.store import Store
from agent.vault.vault_files import Location
from tests.vault.worlds import Rows, contents, made, store_of

DEEDS: dict[str, Callable[[Store], object]] = {
    "append": lambda store: store.append_entry("a.example", bytes(900), durable=False),
    "append surely": lambda store: store.append_entry("b.example", bytes(100), durable=True),
    "put": lambda store: store.put("n", bytes(3000)),
    "delete": lambda store: store.delete("n"),
    "settle": lambda store: store.database.settle(),
    "nothing": lambda _store: None,
}


def copied(to: Path, key: Key) -> tuple[Rows, dict[str, bytes | None]]:
    """Return all that a copy holds, which is verified as a vault is."""
    with store_of(Location(to, to.with_name("own.json")), key) as store:
        return contents(store)


def between_steps(patch: pytest.MonkeyPatch, deeds: Sequence[Callable[[], object]]) -> None:
    """Do something after each page that is copied, as long as there is something to do."""
    left, whole = iter(deeds), Database._go_on  # noqa: SLF001  (what is called after each step)

    def stepped(given: Database, *progress: int) -> None:
        if progress:
            next(left, lambda: None)()
        whole(given)

    patch.setattr(database, "STEP", 1)
    patch.setattr(Database, "_go_on", stepped)


@given(st.lists(st.sampled_from(sorted(DEEDS)), max_size=20))
def test_what_is_written_meanwhile_is_in_it(
    tmp_path_factory: pytest.TempPathFactory, names: list[str]
) -> None:
    """Whatever comes between two pages, the copy is what the vault is at the end."""
    folder = tmp_path_factory.mktemp("r")
    at, key, _ = made(folder)
    with store_of(at, key) as store, pytest.MonkeyPatch.context() as patch:
        for _ in range(12):
            DEEDS["append"](store)
        between_steps(patch, [partial(DEEDS[name], store) for name in names])
        store.database.copy(folder / "copy.db")
        expected = contents(store)
    assert copied(folder / "copy.db", key) == expected
    assert stat.S_IMODE((folder / "copy.db").stat().st_mode) == 0o600


def test_another_thread_may_copy_while_this_one_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each copy is the vault as it was after some transaction."""
    monkeypatch.setattr(database, "STEP", 1)
    at, key, _ = made(tmp_path)
    copies = [tmp_path / f"{number}.db" for number in range(8)]
    with store_of(at, key) as store, ThreadPoolExecutor(1) as beside:
        for copy in copies:
            copying = beside.submit(store.database.copy, copy)
            while not copying.done():
                DEEDS["append surely"](store)
            copying.result()
        whole, _ = contents(store)
    for copy in copies:
        entries, _ = copied(copy, key)
        assert entries == whole[: len(entries)]


def test_one_that_is_closed_meanwhile_is_not_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No file is left, and the vault can be opened at once."""
    at, key, _ = made(tmp_path)
    folder = tmp_path / "usb"
    folder.mkdir()
    with ThreadPoolExecutor(1) as beside, store_of(at, key) as store:
        closing: list[object] = []

        def close() -> None:
            closing.append(beside.submit(store.database.close))
            while not store.database._closing:  # noqa: SLF001  (until it has begun)
                pass

        between_steps(monkeypatch, [close])
        with pytest.raises(VaultError, match="closed before all of it was copied"):
            store.database.copy(folder / "copy.db")
        with pytest.raises(VaultError, match="closed before all of it was copied"):
            store.database.copy(folder / "copy.db")
    assert [*folder.iterdir()] == []
    with store_of(at, key):
        pass


def test_a_copy_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor does it replace what appears under its name meanwhile."""
    at, key, _ = made(tmp_path)
    folder = tmp_path / "usb"
    folder.mkdir()
    to = folder / "copy.db"
    with store_of(at, key) as store:
        between_steps(monkeypatch, [lambda: to.write_bytes(b"theirs")])
        with pytest.raises(VaultError, match="such a file already") as caught:
            store.database.copy(to)
        assert (caught.value.where, to.read_bytes()) == (str(to), b"theirs")
        with pytest.raises(VaultError, match="no such file or directory") as caught:
            store.database.copy(folder / "none" / "copy.db")
        assert caught.value.where == str(folder / "none" / "copy.db")
    assert [*folder.iterdir()] == [to]

"""Every byte of a small vault, flipped once: it is noticed, or nothing is different."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from agent.errors import VaultError
from agent.vault.seal import Key
from agent.vault.vault_files import Location
from tests.vault.make_vectors import EARLY, LATE
from tests.vault.worlds import Rows, contents, made, store_of

Found = tuple[Rows, dict[str, bytes | None]]

IN_MEMORY = Path("/dev/shm")  # noqa: S108  (15,000 openings; where it is missing they take longer)
NEXT = b"next"
LOG = "-wal"


@contextmanager
def small_vault() -> Iterator[tuple[Location, Key]]:
    """Yield a vault of a few small pages, closed and synced, and its key."""
    with TemporaryDirectory(prefix="r", dir=IN_MEMORY if IN_MEMORY.exists() else None) as folder:
        at, key, _ = made(Path(folder))
        with store_of(at, key) as store:
            for deed in (*EARLY, *LATE):
                deed(store)
            store.sync()
        yield at, key


def outcome(at: Location, key: Key, before: Found) -> str:
    """Return what becomes of a vault with a flipped byte; what seems whole is also written to."""
    try:
        with store_of(at, key) as store:
            if contents(store) != before:
                return "MISSED"
            told = bool(store.notes)
            store.append_entry("next.example", NEXT, durable=False)
        with store_of(at, key) as store:
            (*entries, last), items = contents(store)
    except VaultError as error:
        readable = (error.what + error.hint).isprintable()
        return f"noticed: {type(error).__name__}" if readable else "GARBLED"
    if (entries, items) != before or last[1] != NEXT:
        return "MISSED LATER"
    return "told in a note" if told else "harmless"


def flipped(at: Location, key: Key, file: Path, before: Found, step: int = 1) -> Counter[str]:
    """Flip every byte, or every so many, of a file of a vault; return how often what came of it."""
    mask = 0x01 if file == at.witness else 0xFF  # another digit is worse than no text
    files = (at.vault, at.vault.with_name(at.vault.name + LOG), at.witness)
    whole = {path: path.read_bytes() for path in files if path.exists()}
    found: Counter[str] = Counter()
    for place in range(0, len(whole[file]), step):
        for path in files:
            path.unlink(missing_ok=True)
        for path, data in whole.items():
            flip = bytes([data[place] ^ mask]) if path == file else data[place : place + 1]
            path.write_bytes(data[:place] + flip + data[place + 1 :])
        found[outcome(at, key, before)] += 1
    return found


@pytest.mark.parametrize("step", [11, pytest.param(1, marks=pytest.mark.soak)])
def test_every_flipped_byte_of_the_file_is_noticed_or_harmless(
    capsys: pytest.CaptureFixture[str], step: int
) -> None:
    """Unused bytes of a page are harmless; a slot that is not needed is told."""
    with small_vault() as (at, key):
        with store_of(at, key) as store:
            before = contents(store)
        found = flipped(at, key, at.vault, before, step)
    report(capsys, "vault", found)
    assert set(found) <= {
        "harmless",
        "told in a note",
        "noticed: DamagedVaultError",
        "noticed: VaultVersionError",
        "noticed: VaultError",
    }
    assert found["told in a note"]
    assert found["noticed: DamagedVaultError"] > 1000 // step


def test_every_flipped_byte_of_the_log_is_noticed_or_harmless(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """What was synced and is then missing is a rollback, since SQLite drops a torn log."""
    with small_vault() as (at, key):
        with store_of(at, key) as store:
            store.append_entry("three.example", b"fourth", durable=True)
            before = contents(store)
            log = at.vault.with_name(at.vault.name + LOG)
            crashed = at.vault.read_bytes(), log.read_bytes()
        for path, data in zip((at.vault, log), crashed, strict=True):
            path.write_bytes(data)
        found = flipped(at, key, log, before)
    report(capsys, "log", found)
    assert set(found) <= {"harmless", "noticed: DamagedVaultError", "noticed: RolledBackError"}
    assert found["noticed: RolledBackError"] > 1000


def test_every_flipped_byte_of_the_witness_is_noticed_or_harmless(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """One that cannot be read is told as missing."""
    with small_vault() as (at, key):
        with store_of(at, key) as store:
            before = contents(store)
        found = flipped(at, key, at.witness, before)
    report(capsys, "witness", found)
    assert set(found) <= {"harmless", "told in a note", "noticed: RolledBackError"}
    assert found["told in a note"]
    assert found["noticed: RolledBackError"] > 60


def report(capsys: pytest.CaptureFixture[str], what: str, found: Counter[str]) -> None:
    """Print the counts, past the capture."""
    with capsys.disabled():
        counts = ", ".join(f"{count} {name}" for name, count in sorted(found.items()))
        print(f"\n{what}: {found.total()} bytes flipped: {counts}")  # noqa: T201  (figures are its product)

"""Every byte of a small vault, flipped once: it is noticed, or nothing is different."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from agent.errors import VaultError
from agent.vault.seal import Key
from agent.vault.vault import unlock_with
from agent.vault.vault_files import Location
from tests.vault.histories import NOW, disclosed, follows, record_at
from tests.vault.worlds import made

IN_MEMORY = Path("/dev/shm")  # noqa: S108  (30,000 openings; where it is missing they take longer)
NEXT = disclosed(NOW, "next.example", age="old")
DAMAGED, ROLLED_BACK = "DamagedVaultError", "RolledBackError"
FINE = {"harmless", "told in a note"}  # unused bytes of a page, and a slot that is not needed


@contextmanager
def small_vault() -> Iterator[tuple[Location, Key]]:
    """Yield a closed vault of small pages, with entries and an item, and its key."""
    folder = IN_MEMORY if IN_MEMORY.exists() else None
    with TemporaryDirectory(prefix="r", dir=folder) as name:
        at, key, _ = made(Path(name))
        with unlock_with(at, key) as vault:
            for number in range(1, 8):
                vault.ledger.append(record_at(number))
            vault.items.put("offers", b"some")
        yield at, key


def found_in(at: Location, key: Key, *, write: bool) -> tuple[list[object], bool]:
    """Return all that a vault holds, and whether it has notes; it is written to, if so said."""
    with unlock_with(at, key) as vault:
        found = [*follows(vault.ledger), vault.items.get("offers"), vault.items.names("")]
        notes = bool(vault.notes)
        if write:
            vault.ledger.append(NEXT)
    return found, notes


def outcome(at: Location, key: Key, before: list[object], after: list[object]) -> str:
    """Return what becomes of a vault with a flipped byte; what seems whole is also written to."""
    try:
        found, notes = found_in(at, key, write=True)
        later, _ = found_in(at, key, write=False)
    except VaultError as error:
        return type(error).__name__ if (error.what + error.hint).isprintable() else "GARBLED"
    if (found, later) != (before, after):
        return "MISSED"
    return "told in a note" if notes else "harmless"


@pytest.mark.parametrize("step", [47, pytest.param(1, marks=pytest.mark.soak)])
@pytest.mark.parametrize(
    ("suffix", "ends", "often"),
    [
        ("", {*FINE, DAMAGED, "VaultVersionError", "VaultError"}, DAMAGED),
        # What was synced and is then missing is a rollback, since SQLite drops a torn log.
        ("-wal", {"harmless", DAMAGED, ROLLED_BACK}, ROLLED_BACK),
        # One that cannot be read is told as missing.
        ("witness", {*FINE, ROLLED_BACK}, ROLLED_BACK),
    ],
)
def test_every_flipped_byte_is_noticed_or_harmless(
    capsys: pytest.CaptureFixture[str], suffix: str, ends: set[str], often: str, step: int
) -> None:
    """Of the file, of its log as a crash leaves it, and of the witness; the counts are printed."""
    with small_vault() as (at, key):
        log = at.vault.with_name(f"{at.vault.name}-wal")
        file = at.witness if suffix == "witness" else at.vault.with_name(at.vault.name + suffix)
        if file == log:
            vault = unlock_with(at, key)
            vault.ledger.append(NEXT)
        files = [path for path in (at.vault, log, at.witness) if path.exists()]
        whole = {path: path.read_bytes() for path in files}
        if file == log:
            vault.close()
        before, _ = found_in(at, key, write=True)
        after, _ = found_in(at, key, write=False)
        mask = 0x01 if file == at.witness else 0xFF  # another digit is worse than no text
        found: Counter[str] = Counter()
        for place in range(0, len(whole[file]), min(step, len(whole[file]) // 100)):
            log.unlink(missing_ok=True)
            for path, data in whole.items():
                flip = bytes([data[place] ^ mask]) if path == file else data[place : place + 1]
                path.write_bytes(data[:place] + flip + data[place + 1 :])
            found[outcome(at, key, before, after)] += 1
    with capsys.disabled():
        counts = ", ".join(f"{count} {name}" for name, count in sorted(found.items()))
        print(f"\n{file.name}: {found.total()} bytes flipped: {counts}")  # noqa: T201  (figures are its product)
    assert set(found) <= ends
    assert found[often] > found.total() // 5
    assert found["told in a note"] or file == log

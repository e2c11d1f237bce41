"""A vault whose process is killed: `python -m tests.vault.killed FOLDER KILLS SEED`.

Children append to a real vault as fast as it goes, and tell each number by a pipe as soon as the
ledger has acknowledged it; each child is killed at an instant drawn at random, from its start on.
After each kill the vault is opened and held to what was told. Prints what was found.
"""

import os
import random
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

from agent.errors import VaultError
from agent.vault.disclosure_index import DisclosureIndex, Record
from agent.vault.seal import Derivation, Key
from agent.vault.vault import Vault, unlock_with
from agent.vault.vault_files import Location
from tests.vault.doubles import ledger_of
from tests.vault.histories import HOSTS, NOW, SITES, VALUES, Grouping, disclosed, forgotten
from tests.vault.worlds import create

WEAK = Derivation(memory_kib=32, iterations=1, lanes=4)
KILLS_PER_VAULT = 10  # each opening reads all of it
LATEST_SECONDS = 0.06
BUSY = 0.8  # the others are killed while they open the vault, or before
MARK = "mark"  # an item that is written beside the entries
POOL_OF = Grouping({"a.example": "@ads", "b.example": "@ads"}).of


class Instant(NamedTuple):
    """When to kill: so many seconds after the first entry (``busy``), or after the start."""

    busy: bool
    seconds: float


class Told(NamedTuple):
    """What a child told before it was killed: the last entry and mark, and how many entries."""

    entry: int
    mark: int
    entries: int


def record_at(number: int) -> Record:
    """Return the entry that has a number in every vault here."""
    rng = random.Random(number)  # noqa: S311  (a stream that can be repeated)
    at, host = NOW + timedelta(minutes=number), rng.choice(HOSTS)
    if rng.random() < 0.05:
        return forgotten(rng.choice(SITES), at=at)
    names = rng.sample(sorted(VALUES), rng.randint(0, len(VALUES)))
    return disclosed(at, host, **{name: rng.choice(VALUES[name]) for name in names})


def append_forever(at: Location, key: Key, pipe: int) -> None:
    """Append, and tell of it; until somebody ends this process."""
    with unlock_with(at, key) as vault:
        while True:
            number = vault.ledger.append(record_at(vault.ledger.count + 1))
            os.write(pipe, b"%d\n" % number)
            if number % 16 == 0:
                vault.items.put(MARK, b"%d" % number)
                os.write(pipe, b"-%d\n" % number)


def killed_child(at: Location, key: Key, instant: Instant) -> Told:
    """Let a child append, kill it at an instant, and return what it told."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            append_forever(at, key, writing)
        finally:  # whatever it was: a child must not go on as its parent
            traceback.print_exc()
            os._exit(1)
    os.close(writing)
    with os.fdopen(reading, "rb") as lines:
        first = [lines.readline()] if instant.busy else []
        time.sleep(instant.seconds)
        os.kill(child, signal.SIGKILL)
        told = [int(line) for line in (*first, *lines)]
    _, status = os.waitpid(child, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL, "the child ended by itself"
    numbers = [each for each in told if each > 0]
    marks = [-each for each in told if each < 0]
    return Told(max(numbers, default=0), max(marks, default=0), len(numbers))


def lost(vault: Vault, told: Told) -> list[str]:
    """Return what a vault lacks of what was told, or has that nobody wrote."""
    ledger = vault.ledger
    expected = [record_at(number) for number in range(1, ledger.count + 1)]
    again = ledger_of(expected)
    checks = {
        f"entries after {ledger.count}": ledger.count >= told.entry,
        "what an entry says": [each.record for each in ledger.read()] == expected,
        "knowledge": holdings(ledger.disclosures) == holdings(again.disclosures),
        "an item": int(vault.items.get(MARK) or b"0") >= told.mark,
        "notes": not vault.notes,
    }
    return [name for name, holds in checks.items() if not holds]


def holdings(facts: DisclosureIndex) -> list[tuple[str, object, int]]:
    """Return what every pool holds."""
    return [(name, dict(each.held), each.recent(NOW)) for name, each in facts.pools(POOL_OF)]


@contextmanager
def new_vault(folder: Path) -> Iterator[tuple[Location, Key]]:
    """Make a vault in a folder of its own, and give its key."""
    with tempfile.TemporaryDirectory(dir=folder) as name:
        at = Location(Path(name) / "data/vault.db", Path(name) / "state/witness.json")
        vault, _ = create(at, "correct horse", WEAK)
        key = vault._key  # noqa: SLF001  (so that no kill waits for a derivation)
        vault.close()
        yield at, key


def main(folder: Path, kills: int, seed: int) -> str:
    """Kill so many children, and return the counts."""
    rng = random.Random(seed)  # noqa: S311  (instants that can be drawn again)
    acknowledged = losses = corrupt = 0
    for start in range(0, kills, KILLS_PER_VAULT):
        with new_vault(folder) as (at, key):
            for _ in range(start, min(start + KILLS_PER_VAULT, kills)):
                instant = Instant(rng.random() < BUSY, rng.uniform(0, LATEST_SECONDS))
                told = killed_child(at, key, instant)
                acknowledged += told.entries
                try:
                    with unlock_with(at, key) as vault:
                        losses += len(lost(vault, told))
                except VaultError:
                    corrupt += 1
    return f"{kills} kills, {acknowledged} acknowledged, {losses} lost, {corrupt} corrupt"


if __name__ == "__main__":
    sys.stdout.write(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])) + "\n")

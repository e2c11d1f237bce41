"""kill -9 at any instant costs nothing that was acknowledged."""

import os
import random
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from itertools import islice
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from time import sleep

import pytest

from agent.errors import VaultError
from agent.vault.ledger import Disclosure
from agent.vault.seal import Key
from agent.vault.vault import Vault, unlock_with
from agent.vault.vault_files import Location
from tests.house.tree import ROOT
from tests.vault.doubles import ledger_of
from tests.vault.histories import holdings, record_at
from tests.vault.worlds import new_vault

# A kill leaves what the system was given, on whatever disk; in memory more of it happens.
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108  (folders in it)
MODULE = "tests.vault.test_kills"
KILLS_PER_VAULT = 10  # each opening reads all of it
LATEST_SECONDS = 0.06
BUSY = 0.8  # are killed after some entries, the others while they open the vault, or before
MARK, EVERY = "mark", 16  # an item that is written beside the entries, and after how many


@pytest.mark.parametrize("kills", [24, pytest.param(2000, marks=pytest.mark.soak)])
def test_a_kill_costs_nothing_that_was_acknowledged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kills: int
) -> None:
    """Kills of a process that appends; the counts are printed."""
    done = subprocess.run(
        [sys.executable, "-m", MODULE, MEMORY or tmp_path, str(kills)],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
        timeout=120 + kills,
    )
    assert done.returncode == 0, done.stderr
    with capsys.disabled():
        sys.stdout.write(f"\n{done.stdout}")
    found = re.fullmatch(rf"{kills} kills, (\d+) acknowledged, 0 lost, 0 corrupt\n", done.stdout)
    assert found
    assert int(found[1]) > kills, "so few that the kills came before the entries"


def main(folder: Path, kills: int) -> str:
    """Kill so many processes that append, and return the counts."""
    # Each comes from a server that has nothing but the modules, and no thread.
    processes = get_context("forkserver")
    processes.set_forkserver_preload([MODULE])
    rng = random.Random(4)  # noqa: S311  (instants that can be drawn again)
    acknowledged = losses = corrupt = 0
    for start in range(0, kills, KILLS_PER_VAULT):
        with new_vault(folder) as (at, key):
            for _ in range(start, min(start + KILLS_PER_VAULT, kills)):
                reading, writing = processes.Pipe(duplex=False)
                child = processes.Process(target=append_forever, args=(at, key, writing))
                child.start()
                writing.close()  # so that reading ends with the child
                try:
                    told = [*islice(numbers(reading), 4)] if rng.random() < BUSY else []
                    sleep(rng.uniform(0, LATEST_SECONDS))
                finally:
                    child.kill()
                    child.join(60)
                assert child.exitcode == -signal.SIGKILL, "the child ended by itself"
                told += numbers(reading)
                acknowledged += sum(each > 0 for each in told)
                try:
                    with unlock_with(at, key) as vault:
                        losses += len(lost(vault, told))
                except VaultError:
                    corrupt += 1
    return f"{kills} kills, {acknowledged} acknowledged, {losses} lost, {corrupt} corrupt"


def append_forever(at: Location, key: Key, pipe: Connection) -> None:
    """Append, and tell each number as soon as the ledger has acknowledged it.

    Below 0 that of a mark, up to which every third text was deleted after that.
    """
    with unlock_with(at, key) as vault:
        while True:
            number = vault.ledger.append(record_at(vault.ledger.count + 1))
            pipe.send(number)
            if number % EVERY == 0:
                vault.items.put(MARK, b"%d" % number)
                vault.delete_texts(lambda each, _: each % 3 == 0)
                pipe.send(-number)


def numbers(pipe: Connection) -> Iterator[int]:
    """Yield what a process tells, until it is killed."""
    while True:
        assert pipe.poll(60), "neither an entry nor an end"
        try:
            yield pipe.recv()
        except EOFError:
            return


def lost(vault: Vault, told: list[int]) -> list[str]:
    """Return what a vault lacks of what was told, or has that nobody wrote."""
    ledger = vault.ledger
    expected = [record_at(number) for number in range(1, ledger.count + 1)]
    again, marked = ledger_of(expected), -min([0, *told])
    possible = [  # a text is gone up to a mark, the last one of which somebody was told or a later
        [
            each.without_text()
            if isinstance(each, Disclosure) and at % 3 == 0 and at <= end
            else each
            for at, each in enumerate(expected, 1)
        ]
        for end in range(marked, ledger.count + 1, EVERY)
    ]
    checks = {
        f"entries after {ledger.count}": ledger.count >= max(told, default=0),
        "what an entry says": [record for _, record in ledger.read()] in possible,
        "knowledge": holdings(ledger.disclosures) == holdings(again.disclosures),
        "an item": int(vault.items.get(MARK) or b"0") >= marked,
        "notes": not vault.notes,
    }
    return [name for name, holds in checks.items() if not holds]


if __name__ == "__main__":
    sys.stdout.write(main(Path(sys.argv[1]), int(sys.argv[2])) + "\n")

"""kill -9 at any instant costs nothing that was acknowledged."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.tree import ROOT

# A kill leaves what the system was given, on whatever disk; in memory more of it happens.
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108  (folders in it)


@pytest.mark.parametrize("kills", [24, pytest.param(2000, marks=pytest.mark.soak)])
def test_a_kill_costs_nothing_that_was_acknowledged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kills: int
) -> None:
    """Kills of a process that appends; the counts are printed."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.vault.killed", MEMORY or tmp_path, str(kills), "4"],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},  # a process that forks has one thread
    )
    assert done.returncode == 0, done.stderr
    with capsys.disabled():
        sys.stdout.write(f"\n{done.stdout}")
    found = re.fullmatch(rf"{kills} kills, (\d+) acknowledged, 0 lost, 0 corrupt\n", done.stdout)
    assert found
    assert int(found[1]) > kills, "so few that the kills came before the entries"

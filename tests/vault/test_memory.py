"""No core file holds a key."""

import subprocess
import sys

import pytest

from tests.house.tree import ROOT
from tests.vault.dumps import NEVER

PROGRAM = """
from agent.vault.secrets import forbid_dumps
from tests.vault.dumps import state
print(state())
for _ in range({times}):
    forbid_dumps()
print(state())
"""


@pytest.mark.parametrize("times", [1, 2])
def test_there_is_no_core_file_any_more(times: int) -> None:
    """However often that is said; for the sake of the test there might have been one before."""
    command = [sys.executable, "-c", PROGRAM.format(times=times)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    before, after = done.stdout.splitlines()
    assert before.endswith(" 1")
    assert after == NEVER

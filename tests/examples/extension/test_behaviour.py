"""How the extension's modules behave: scenes in JavaScript, run by Node."""

import subprocess
from pathlib import Path

import pytest

from tests.programs import needs
from tests.waiting import PATIENCE

SCENES = sorted(Path(__file__).parent.glob("*.test.mjs"))


@pytest.mark.parametrize("scenes", [pytest.param(each, id=each.name) for each in SCENES])
def test_scenes(scenes: Path) -> None:
    """Every one of a file."""
    done = subprocess.run(
        [needs("node"), "--test", "--test-reporter=tap", str(scenes)],
        check=False,
        capture_output=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stdout.decode()
    assert b"# fail 0" in done.stdout
    assert b"# pass 0" not in done.stdout

"""Programs that only some tests need: without one they are skipped, in CI they fail."""

import os
import shutil
from pathlib import Path

import pytest

from tests.house.tree import ROOT

MISSING = "not installed: "
MODULES = ROOT / ".ci/node_modules"
PACKAGES = "npm's packages (make extension)"
ELSEWHERE = {PACKAGES: MODULES, "searx": Path("/usr/share/python3-searx")}  # not on PATH


def needs(*names: str) -> str:
    """Find the first of these programs; skip the test if one of them is not installed.

    Where ``CI`` is set the test fails instead.
    """
    found = [ELSEWHERE.get(name) or shutil.which(name) for name in names]
    for name, path in zip(names, found, strict=True):
        if path is None or not Path(path).exists():
            reason = f"{MISSING}{Path(name).name}"
            if os.environ.get("CI"):
                pytest.fail(f"{reason}, which CI has to install", pytrace=False)
            pytest.skip(reason)
    return str(found[0])

"""What the client costs to import: every command of the command line pays for it."""

import subprocess
import sys

import pytest

from tests.house.tree import ROOT

HEAVY = {
    *("numpy", "aiohttp", "http_sf", "cryptography", "safetensors", "publicsuffixlist"),
    *("sqlite3", "asyncio", "textual", "ibis", "platformdirs"),
}


def imported(module: str) -> set[str]:
    """Return what a fresh interpreter has imported after a module."""
    code = f"import sys, {module}; print(*sys.modules)"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    return set(done.stdout.split())


@pytest.mark.parametrize("module", ["agent.wire.client", "agent.wire.faults", "agent.wire.routes"])
def test_it_brings_no_library_but_msgspec(module: str) -> None:
    """No mathematics, no server, no keys."""
    found = imported(module)
    assert {module, "msgspec"} <= found
    assert found & HEAVY == set()

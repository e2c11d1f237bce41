"""Which room sees which, and what starting the command costs."""

import sys
from pathlib import Path

import pytest

from agent import __version__
from tests.house.tree import PROJECT, ROOT, ran

# Runs the command in a fresh interpreter and lists what it imported.
PROBE = """
import sys
from agent.cli.main import run
try:
    run()
except SystemExit as end:
    print("exit", end.code)
print("imported", *sys.modules)
"""

# What `agent.daemon.run` imports at once, and what it imports once it listens.
DAEMON = """
import sys
import agent.daemon.run
import agent.daemon.agent, agent.daemon.api, agent.daemon.server
print("imported", *sys.modules)
"""


def imported(*arguments: str, probe: str = PROBE) -> tuple[str, set[str]]:
    """Return what `reticent ARGUMENTS`, or a probe, printed, and the modules it imported."""
    printed, _, modules = ran(sys.executable, "-c", probe, *arguments).stdout.rpartition(
        "imported "
    )
    return printed, set(modules.split())


def test_the_contracts_hold() -> None:
    """The one-way order of the rooms, as import-linter sees it."""
    linter = Path(sys.executable).with_name("lint-imports")
    done = ran(linter, "--no-logo", "--no-cache", check=False)
    assert done.returncode == 0, done.stdout


def test_the_linter_and_the_wheel_know_every_package() -> None:
    """A package that is in neither would be under no contract, or missing for the user."""
    found = {path.parent.name for path in ROOT.glob("[a-z]*/__init__.py")}
    packages = found - {"tests", "examples"}
    assert set(PROJECT["tool"]["importlinter"]["root_packages"]) == packages
    assert set(PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]) == packages


@pytest.mark.parametrize("argument", ["--version", "--help"])
def test_a_command_that_decides_nothing_imports_no_mathematics(argument: str) -> None:
    """What a shell's completion or a script asks for must come at once."""
    printed, modules = imported(argument)
    assert "exit 0" in printed
    assert "click" in modules
    assert modules.isdisjoint({"numpy", "safetensors", "cryptography", "ibis", "textual"})


def test_the_daemon_brings_no_screens_and_no_studies() -> None:
    """It runs all day, and what it does not need would stay in memory for as long."""
    _, modules = imported(probe=DAEMON)
    assert {"agent.daemon.server", "aiohttp", "numpy"} <= modules
    assert modules.isdisjoint({"textual", "matplotlib", "ibis", "duckdb", "scipy", "click"})


def test_the_version_is_the_packages() -> None:
    """It is written in one place."""
    printed, _ = imported("--version")
    assert __version__ in printed

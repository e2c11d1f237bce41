"""Which room sees which, what starting the command costs, and that deciding touches nothing."""

import ast
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from agent import __version__
from agent.paths import HOME
from tests.house.budget import product_sources
from tests.house.tree import PROJECT, ROOT, ran

Graph = Mapping[str, set[str]]

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

# What `reticent mcp --recipient HOST` imports before it answers.
ASSISTANT = """
import sys
from agent.cli.main import outcome
outcome(["mcp", "--recipient", "claude.ai"])
print("imported", *sys.modules)
"""

# What `reticent proxy` imports before it listens, which an address that is taken ends.
PROXY = """
import socket, sys
from agent.cli.main import outcome
with socket.create_server(("127.0.0.1", 0)) as taken:
    port = str(taken.getsockname()[1])
    outcome(["proxy", "--upstream", "https://a.b", "--recipient", "a.b", "--port", port])
import agent.assistants.proxy
print("imported", *sys.modules)
"""

# Decides in a warmed-up process with every algorithm and mode, and prints what a hook hears.
VALUES = "agent.decision.values"  # a leaf, but for what explains a decision
DECIDING = """
import sys

from tests.house.tree import ran
from tests.decision.made import decide
from agent.decision.knowledge import Knowledge
from agent.decision.context import Limits, Terms
from agent.decision.values import Request
from tests.decision.made import made_model

model = made_model(1)
events = []

def run():
    for limits in (Limits(), Limits(k=2), Limits(risk=0.5)):
        for algorithm in ("lls", "ls", "greedy", "exact", "exhaustive"):
            for mode in ("dynamic", "standing", "planned"):
                terms = Terms(trade_off=weight, limits=limits, algorithm=algorithm, mode=mode)
                decide(Request("python today"), terms, Knowledge(), model)
                decide(Request("nothing known"), terms, Knowledge((("age", 1),)), model)

weight = 0.3
run()
recording = []
sys.addaudithook(lambda event, _: recording and event != "builtins.id" and events.append(event))
recording.append(True)
open(sys.argv[1]).close()
assert events, "the hook hears nothing"
events.clear()
weight = 0.2
run()
recording.clear()
print(*events)
"""


def imported(*arguments: str, probe: str = PROBE) -> tuple[str, set[str]]:
    """Run `reticent ARGUMENTS`, or a probe: what it printed, and the modules it imported."""
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


def test_a_command_that_decides_nothing_imports_no_mathematics() -> None:
    """What a shell's completion or a script asks for must come at once."""
    for argument in ("--version", "--help"):
        printed, modules = imported(argument)
        assert "exit 0" in printed
        assert (__version__ in printed) == (argument == "--version")
        assert "click" in modules
        assert modules.isdisjoint({"numpy", "safetensors", "cryptography", "ibis", "textual"})


def test_the_daemon_brings_no_screens_and_no_studies() -> None:
    """It runs all day, and what it does not need would stay in memory for as long."""
    _, modules = imported(probe=DAEMON)
    assert {"agent.daemon.server", "aiohttp", "numpy"} <= modules
    assert modules.isdisjoint({"textual", "matplotlib", "ibis", "duckdb", "scipy", "click"})


def test_an_assistants_server_is_a_client_and_nothing_more() -> None:
    """Its program waits for it to start; and it has no keys, no mathematics and no screens."""
    _, modules = imported(probe=ASSISTANT)
    assert {"agent.assistants.server", "mcp", "msgspec"} <= modules
    assert modules.isdisjoint({"numpy", "safetensors", "textual", "aiohttp", "tomlkit", "sqlite3"})
    rooms = {name.split(".")[1] for name in modules if name.startswith("agent.")}
    assert rooms <= {"assistants", "cli", "decision", "errors", "paths", "wire", "words"}
    assert {name for name in modules if name.startswith("agent.decision.")} == {VALUES}


def test_the_proxy_is_a_client_and_nothing_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No keys, no mathematics, no screens; and no other command waits for its libraries."""
    monkeypatch.setenv(HOME, str(tmp_path))
    _, modules = imported(probe=PROXY)
    assert {"agent.assistants.proxy", "agent.daemon.sockets", "aiohttp"} <= modules
    assert modules.isdisjoint({"numpy", "safetensors", "cryptography", "mcp", "textual"})
    assert not {"agent.vault", "agent.model", "agent.tradeoff"} & modules
    assert {name for name in modules if name.startswith("agent.decision.")} == {VALUES}


def test_a_warm_decision_raises_no_audit_event() -> None:
    """Fresh decisions in a warmed-up process, every algorithm and mode, raise no event."""
    assert ran(sys.executable, "-c", DECIDING, __file__).stdout.split() == []


def cycles(graph: Graph) -> list[set[str]]:
    """Find the sets of more than one module that all reach each other, the largest first."""
    reach: dict[str, set[str]] = {}
    for start in graph:
        names, rest = set[str](), [*graph[start]]
        while rest:
            name = rest.pop()
            if name not in names:
                names.add(name)
                rest.extend(graph[name])
        reach[start] = names
    circles = {frozenset(each for each in reach[name] if name in reach[each]) for name in graph}
    return sorted((set(each) for each in circles if len(each) > 1), key=len, reverse=True)


def test_imports_run_in_no_circle() -> None:
    """Whoever reads one of them would have to read all; one import upwards is made when called."""
    modules = {module_of(path): ast.parse(path.read_text()) for path in product_sources()}
    graph: dict[str, set[str]] = {name: set() for name in modules}
    for name, tree in modules.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                graph[name] |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module is not None:
                deeper = (f"{node.module}.{alias.name}" for alias in node.names)
                graph[name] |= {each if each in modules else node.module for each in deeper}
        graph[name] &= modules.keys() - {name}
    graph[VALUES].discard("agent.words.decisions")
    assert cycles(graph) == []
    circle = {"a": {"b"}, "b": {"c"}, "c": {"a"}}
    assert cycles(circle) == [{*"abc"}]
    assert cycles({**circle, "c": set()}) == []


def module_of(path: Path) -> str:
    """Name a module as it is imported, a package by its own name."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

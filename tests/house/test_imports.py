"""Which room sees which, what starting the command costs, and that deciding touches nothing."""

import sys
from pathlib import Path

import pytest

from agent import __version__
from agent.paths import HOME
from tests.house.tree import PROJECT, ROOT, ran

COMMAND = "from agent.cli.main import outcome; outcome"
PROBES = {
    # `reticent ARGUMENTS` in a fresh interpreter.
    "command": """
from agent.cli.main import run
try:
    run()
except SystemExit as end:
    print("exit", end.code)
""",
    # What `agent.daemon.run` imports at once, and what it imports once it listens.
    "daemon": "import agent.daemon.run, agent.daemon.agent, agent.daemon.api, agent.daemon.server",
    # What `reticent mcp --recipient HOST` imports before it answers.
    "assistant": f"{COMMAND}(['mcp', '--recipient', 'claude.ai'])",
    "client": f"{COMMAND}(['status'])",
    "decision": f"{COMMAND}(['model', 'decide', '--query', 'editor'])",
    # What `reticent proxy` imports before it listens, which an address that is taken ends.
    "proxy": """
import socket
from agent.cli.main import outcome
with socket.create_server(("127.0.0.1", 0)) as taken:
    port = str(taken.getsockname()[1])
    outcome(["proxy", "--upstream", "https://a.b", "--recipient", "a.b", "--port", port])
import agent.assistants.proxy
""",
}

# Decides in a warmed-up process with every algorithm and mode, and prints what a hook hears.
LEAVES = {"errors", "extras", "paths", "text"}  # that any room may know
VALUES = "agent.decision.values"  # a leaf, but for what explains a decision
DECIDING = """
import sys

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


def imported(probe: str, *arguments: str) -> tuple[str, set[str]]:
    """Run a probe, by its name or text: what it printed, and the modules it imported."""
    script = f"{PROBES.get(probe, probe)}\nimport sys; print('imported', *sys.modules)"
    done = ran(sys.executable, "-c", script, *arguments)
    printed, _, modules = done.stdout.rpartition("imported ")
    return printed, set(modules.split())


def test_the_linter_and_the_wheel_know_every_package() -> None:
    """A package that is in neither would be under no contract, or missing for the user."""
    found = {path.parent.name for path in ROOT.glob("[a-z]*/__init__.py")}
    packages = found - {"tests", "examples"}
    assert set(PROJECT["tool"]["importlinter"]["root_packages"]) == packages
    assert set(PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]) == packages


def test_a_command_that_decides_nothing_imports_no_mathematics() -> None:
    """What a shell's completion or a script asks for must come at once."""
    for argument in ("--version", "--help"):
        printed, modules = imported("command", argument)
        assert ("exit 0" in printed, __version__ in printed) == (True, argument == "--version")
        assert "click" in modules
        assert modules.isdisjoint({*SLOW, "ibis", "msgspec", "numpy", "safetensors", "textual"})


SLOW = {"asyncio", "cryptography", "http.client", "publicsuffixlist", "sqlite3", "ssl", "tomlkit"}
LEAN: dict[str, tuple[set[str], set[str]]] = {  # what each imports, and what it does without
    # It runs all day, and what it does not need would stay in memory for as long.
    "daemon": (
        {"agent.daemon.server", "aiohttp", "numpy"},
        {"textual", "matplotlib", "ibis", "duckdb", "scipy", "click"},
    ),
    # Somebody waits for each: one asks the daemon, the other decides, by a name of a query.
    "client": (
        {"agent.wire.client", "http.client"},
        {*SLOW, "numpy", "concurrent.futures"} - {"http.client", "ssl"},
    ),
    "decision": ({"numpy"}, {*SLOW, "concurrent.futures", "safetensors"}),
    # Its program waits for it to start; and it has no keys, no mathematics and no screens.
    "assistant": (
        {"agent.assistants.server", "mcp", "msgspec"},
        {"numpy", "safetensors", "textual", "aiohttp", "tomlkit", "sqlite3"},
    ),
    # Nor has this; and no other command waits for its libraries.
    "proxy": (
        {"agent.assistants.proxy", "agent.daemon.sockets", "aiohttp"},
        {"numpy", "safetensors", "cryptography", "mcp", "textual"}
        | {"agent.vault", "agent.model.model", "agent.tradeoff"},
    ),
}


@pytest.mark.parametrize("probe", LEAN)
def test_a_program_that_waits_brings_what_it_needs(
    probe: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clients of the daemon see nothing of how it decides but the values of a decision."""
    monkeypatch.setenv(HOME, str(tmp_path))
    _, modules = imported(probe)
    needed, foreign = LEAN[probe]
    assert (needed - modules, foreign & modules) == (set(), set())
    if probe not in {"daemon", "decision"}:
        assert {name for name in modules if name.startswith("agent.decision.")} == {VALUES}
    if probe == "assistant":
        rooms = {name.split(".")[1] for name in modules if name.startswith("agent.")}
        assert rooms <= LEAVES | {"assistants", "cli", "decision", "wire", "words"}


def test_a_warm_decision_raises_no_audit_event() -> None:
    """Fresh decisions in a warmed-up process, every algorithm and mode, raise no event."""
    assert ran(sys.executable, "-c", DECIDING, __file__).stdout.split() == []

"""Programs that start `reticent mcp` for their assistant: where each is configured, and how.

Each keeps one file of JSON, in which a member names the servers that it starts. We add one of our
own name, and keep all else. An interpreter is named by its absolute path, with -P: a host may
start it in a folder that somebody else has filled.
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

from agent.daemon.artifacts import ConfigurationEntry, Machine, as_text, members_of
from agent.daemon.service import FOLDERS
from agent.errors import UsageError
from agent.paths import HOME, RUNTIME, paths

NAME = "reticent"  # of our server, in every host's file
OUR_PLACES = (*FOLDERS, RUNTIME)  # of the environment
DEFEATING = {"url", "disabled"}  # of an entry: then the host does not start what it names
Members = dict[str, Any]


class HostProgram(NamedTuple):
    """A program with an assistant in it.

    ``place``: of its file, below the user's own folder where it begins with a dot, else below
    their configuration; ``servers``: the member that names servers; ``typed``: it wants to be told
    how each is reached; ``recipient``: who answers in it, as it comes.
    """

    name: str
    title: str
    place: str
    servers: str
    typed: bool
    recipient: str

    def path(self, machine: Machine) -> Path:
        """Return where its file is, whether or not it exists."""
        variables = machine.environment
        own = variables.get("CLAUDE_CONFIG_DIR", "") if self.name == "claude-code" else ""
        if self.place.startswith("."):
            return (Path(own) if Path(own).is_absolute() else machine.home) / self.place
        if machine.manager == "launchd":
            return machine.home / "Library" / "Application Support" / self.place
        return machine.configuration / self.place


CLAUDE, SERVERS = "claude.ai", "mcpServers"
HOST_PROGRAMS = (
    HostProgram(
        "claude-desktop",
        "Claude Desktop",
        "Claude/claude_desktop_config.json",
        SERVERS,
        typed=False,
        recipient=CLAUDE,
    ),
    HostProgram(
        "claude-code", "Claude Code", ".claude.json", SERVERS, typed=True, recipient=CLAUDE
    ),
    HostProgram(
        "vscode", "VS Code", "Code/User/mcp.json", "servers", typed=True, recipient="github.com"
    ),
    HostProgram(
        "cursor", "Cursor", ".cursor/mcp.json", SERVERS, typed=True, recipient="cursor.com"
    ),
)


def entry(host: HostProgram, machine: Machine, recipient: str | None = None) -> ConfigurationEntry:
    """Return our server as a host's file is to have it.

    ``recipient``: who gets the facts, by default the one it has now, else the host's. What others
    have added to our server stays, but for what would keep the host from starting it.
    """
    path = host.path(machine)
    try:
        found = members_of(path).get(host.servers, {}).get(NAME, {})
    except (UsageError, AttributeError):
        found = {}
    before = found if isinstance(found, dict) else {}
    environment = {name: each for name in OUR_PLACES if (each := machine.environment.get(name))}
    if HOME in environment:
        environment = {HOME: str(paths(environment).config.parent)}  # absolute, and all there is
    whom = recipient or recipient_of(before) or host.recipient
    server: Members = {"type": "stdio"} if host.typed else {}
    server["command"] = machine.interpreter
    server["args"] = ["-P", "-m", "agent.cli", "mcp", "--recipient", whom]
    home = environment.get(HOME)

    def is_ours(text: str) -> bool:
        return _environment(json.loads(text)).get(HOME) == home

    text = as_text(_merged(before, server, environment))
    return ConfigurationEntry(path, text, is_ours, "", program_of, group=host.servers, name=NAME)


def recipient_of(server: Members) -> str:
    """Return who gets the facts by a server's arguments, nothing if they name nobody."""
    arguments = server.get("args")
    words = [*map(str, arguments)] if isinstance(arguments, list) else []
    return words[words.index("--recipient") + 1] if "--recipient" in words[:-1] else ""


def program_of(text: str) -> str:
    """Return the program that a server names, nothing if it names none."""
    return str((json.loads(text) if text else {}).get("command", ""))


def _environment(server: Members) -> Members:
    found = server.get("env")
    return found if isinstance(found, dict) else {}


def _merged(before: Members, server: Members, environment: Members) -> Members:
    """Join our server with what others have added to one before it."""
    merged = {name: each for name, each in before.items() if name not in DEFEATING or not each}
    others = _environment(before).items()
    env = {name: each for name, each in others if name not in OUR_PLACES} | environment
    return merged | server | ({"env": env} if env or "env" in before else {})

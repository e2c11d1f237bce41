"""Programs that start `reticent mcp` for their assistant: where each is configured, and how.

Each keeps one file of JSON, in which a member names the servers that it starts. We add one of our
own name, and keep all else. An interpreter is named by its absolute path, with -P: a host may
start it in a folder that somebody else has filled.
"""

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal, NamedTuple

from agent.daemon.browsers import System
from agent.daemon.service import KEPT
from agent.errors import UsageError
from agent.files import read_bytes
from agent.paths import HOME, RUNTIME, paths

NAME = "reticent"  # of our server, in every host's file
LARGEST = 64 << 20  # bytes of a file: one of these has all conversations in it
OUR_PLACES = (*KEPT, RUNTIME)  # of the environment
DEFEATING = {"url", "disabled"}  # of an entry: then the host does not start what it names
BY_HAND = "add the server by hand, as it is shown without --write"
State = Literal["absent", "installed", "differing", "unreadable"]
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

    def path(self, system: System) -> Path:
        """Return where its file is, whether or not it is there."""
        own = system.environment.get("CLAUDE_CONFIG_DIR", "") if self.name == "claude-code" else ""
        if self.place.startswith("."):
            return (Path(own) if Path(own).is_absolute() else system.home) / self.place
        if system.manager == "launchd":
            return system.home / "Library" / "Application Support" / self.place
        config = Path(system.environment.get("XDG_CONFIG_HOME") or "")
        return (config if config.is_absolute() else system.home / ".config") / self.place


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


@dataclass(frozen=True, slots=True)
class Seen:
    """What a host's file says of us; ``entry``: our server as it stands there."""

    host: HostProgram
    path: Path
    state: State
    entry: Mapping[str, Any]

    @property
    def recipient(self) -> str:
        """Who gets the facts, by the last of its arguments."""
        given = self.entry.get("args")
        return str(given[-1]) if isinstance(given, list) and given else ""

    @property
    def program(self) -> str:
        """The program that the host starts."""
        return str(self.entry.get("command", ""))


def entry(
    host: HostProgram, recipient: str, interpreter: str, environment: Mapping[str, str]
) -> Members:
    """Return our server as a host's file has it.

    Hosts pass on next to nothing of the user's ``environment``: what says where our folders and
    sockets lie stands in the entry.
    """
    kept = {name: environment[name] for name in OUR_PLACES if environment.get(name)}
    if HOME in kept:
        kept = {HOME: str(paths(kept).config.parent)}  # absolute, and all there is to know
    made: Members = {"type": "stdio"} if host.typed else {}
    arguments = ["-P", "-m", "agent.cli", "mcp", "--recipient", recipient]
    made |= {"command": interpreter, "args": arguments}
    return made | ({"env": kept} if kept else {})


def members_of(path: Path) -> Members:
    """Return what a host's file has, nothing where there is none.

    UsageError where it cannot be read, or writing it again would lose something.
    """
    if not os.path.lexists(path):
        return {}
    try:
        text = read_bytes(path, LARGEST).decode("utf-8")
        whole = exact_json(text) if text.strip() else {}
        json.dumps(whole, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, ArithmeticError, RecursionError):
        # comments, two members of one name, half a character, more digits than a float has
        raise UsageError(
            "this file has comments or a number too long, or is not valid JSON", BY_HAND, str(path)
        ) from None
    if not isinstance(whole, dict):
        raise UsageError("this file does not have an object in it", BY_HAND, str(path))
    return whole


def with_entry(whole: Members, host: HostProgram, made: Members) -> str:
    """Return the text of a host's file with our server in it, and all else as it is.

    What others have added to our server stays too, but for what would have it reached in another
    way, or not started. UsageError where there is no place for it.
    """
    servers = whole.get(host.servers, {})
    before = servers.get(NAME, {}) if isinstance(servers, dict) else None
    if not isinstance(before, dict):
        what = f"{host.servers} is not made of servers there"
        raise UsageError(what, BY_HAND)
    added = {**whole, host.servers: {**servers, NAME: _merged(before, made)}}
    return json.dumps(added, indent=2, ensure_ascii=False) + "\n"


def look_at_hosts(system: System, interpreter: str) -> Iterator[Seen]:
    """Yield what each host's file says of us."""
    for host in HOST_PROGRAMS:
        path = host.path(system)
        try:
            servers = members_of(path).get(host.servers, {})
        except UsageError:
            yield Seen(host, path, "unreadable", {})
            continue
        found = servers.get(NAME) if isinstance(servers, dict) else None
        if not isinstance(found, dict):
            yield Seen(host, path, "absent", {})
            continue
        seen = Seen(host, path, "installed", found)
        wanted = entry(host, seen.recipient, interpreter, system.environment)
        same = found == _merged(found, wanted)
        yield seen if same else replace(seen, state="differing")


def _merged(before: Members, made: Members) -> Members:
    """Return an entry of ours as it is to be, with what others have added to one before it."""
    merged = {name: each for name, each in before.items() if name not in DEFEATING or not each}
    own = before.get("env")
    others = own.items() if isinstance(own, dict) else ()
    env = {name: each for name, each in others if name not in OUR_PLACES} | made.get("env", {})
    return merged | made | ({"env": env} if env or "env" in before else {})


def exact_json(text: str) -> Any:  # noqa: ANN401  (of any type)
    """Return what a text of JSON says; ValueError or ArithmeticError if writing it loses some."""

    def once(pairs: list[tuple[str, Any]]) -> Members:
        whole = dict(pairs)
        if len(whole) != len(pairs):
            raise ValueError
        return whole

    def exact(number: str) -> float:
        found = float(number)
        if Decimal(number) != Decimal(repr(found)):
            raise ValueError
        return found

    return json.loads(text, object_pairs_hook=once, parse_float=exact)

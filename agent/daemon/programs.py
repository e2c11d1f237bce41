"""All that can be connected to Reticent on a machine: the system, browsers, and assistants.

A browser's manifest names a program and no arguments, so the launcher has them: an interpreter by
its absolute path, as a version manager's would take longer than all the rest, and our socket.
Programs with an assistant keep one file of JSON each, in which a member names the servers that they
start: we add one of our own name. Its interpreter has -P, since such a program may start it in a
folder that somebody else has filled.
"""

import json
import os
import shlex
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, NamedTuple

from agent.daemon import artifacts, service
from agent.daemon.artifacts import Artifact, ConfigurationEntry, Machine, UnpackedFolder
from agent.daemon.service import FOLDERS
from agent.errors import UsageError
from agent.files import PRIVATE_FOLDER
from agent.paths import HOME, RUNTIME, Paths, paths
from agent.wire.client import check_address

HOST = "reticent.relay"  # of letters, digits, _ and dots, as all browsers take it
FIREFOX_ID = "reticent@local"
CHROMIUM_ID = "cjchhllokgepblobapiadnkiofdfpjij"  # from the key in its manifest
SYSTEM_WIDE = Path("/")  # below it lies what snap and flatpak have for all users
_HOSTS, _FIREFOX_HOSTS = "NativeMessagingHosts", "native-messaging-hosts"
RELAY = Path(__file__).with_name("relay.py")
EXTENSION = Path(str(files("agent") / "browser_extension"))
MARK = "Reticent's relay."  # in every version's manifests and launcher
WRITTEN = f"{MARK} Written by `reticent connect`; `reticent disconnect` removes it."
_LAUNCHER = f"""#!/bin/sh
# {WRITTEN}
[ -x {{python}} ] && [ -r {{relay}} ] && exec {{python}} -I -S {{relay}} {{socket}}
head -c 1 >/dev/null  # so that the browser waits for an answer
printf '{{length}}%s' '{{answer}}'
"""
_GONE = (  # the answer where a new Python, say, has taken the place of ours
    '{"code":"no daemon","what":"Reticent is no longer where it was installed",'
    '"hint":"install it again (with pipx: `pipx reinstall reticent`), then run'
    ' `reticent connect browsers`"}'
)


class Browser(NamedTuple):
    """A browser; ``folder``: its own below the user's configuration, ``mac``: below theirs.

    ``program``: what starts it, which some systems give one of `ENDINGS`; ``flatpak``: its name
    there.
    """

    name: str
    folder: str
    mac: str
    program: str
    flatpak: str

    @property
    def title(self) -> str:
        """What people call it."""
        return self.name.capitalize()

    @property
    def kind(self) -> Literal["chromium", "firefox"]:
        """Whose manifests it reads."""
        return "firefox" if self.name == "firefox" else "chromium"


BRAVE, CHROME, EDGE = "BraveSoftware/Brave-Browser", "google-chrome", "microsoft-edge"
BROWSERS = (
    Browser("chromium", "chromium", "Chromium", "chromium", "org.chromium.Chromium"),
    Browser("chrome", CHROME, "Google/Chrome", CHROME, "com.google.Chrome"),
    Browser("brave", BRAVE, BRAVE, "brave-browser", "com.brave.Browser"),
    Browser("edge", EDGE, "Microsoft Edge", EDGE, "com.microsoft.Edge"),
    Browser("vivaldi", "vivaldi", "Vivaldi", "vivaldi", "com.vivaldi.Vivaldi"),
    Browser("firefox", ".mozilla", "Mozilla", "firefox", "org.mozilla.firefox"),
)
ENDINGS = ("", "-browser", "-stable", "-esr")  # of a program's name


def manifest_path(browser: Browser, machine: Machine) -> Path:
    """Locate the manifest of our relay for a browser."""
    lower = browser.kind == "firefox" and not machine.mac
    return _folder(browser, machine) / (_FIREFOX_HOSTS if lower else _HOSTS) / f"{HOST}.json"


def is_here(browser: Browser, machine: Machine) -> bool:
    """Say whether a browser was run here, or can be, outside of a sandbox."""
    path = machine.environment.get("PATH", "")
    programs = [shutil.which(browser.program + ending, path=path) for ending in ENDINGS]
    folder, hosts = _folder(browser, machine), {_HOSTS, _FIREFOX_HOSTS}
    if any(each and not {"snap", "flatpak"} & {*Path(each).parts} for each in programs):
        return True
    return folder.is_dir() and any(each.name not in hosts for each in folder.iterdir())


def confined(machine: Machine) -> Iterator[tuple[Browser, Literal["snap", "flatpak"]]]:
    """Yield each browser that is here in a sandbox only: it can start no program outside of it."""
    home, flatpaks = machine.home, SYSTEM_WIDE / "var/lib/flatpak/app"
    for browser in (each for each in BROWSERS if not is_here(each, machine)):
        if any((each / "snap" / browser.name).is_dir() for each in (home, SYSTEM_WIDE)):
            yield browser, "snap"
        elif any((each / browser.flatpak).is_dir() for each in (home / ".var/app", flatpaks)):
            yield browser, "flatpak"


def _folder(browser: Browser, machine: Machine) -> Path:
    """Locate the folder in which a browser keeps the user's files."""
    if browser.kind == "firefox" and not machine.mac:
        return machine.home / browser.folder
    return machine.support(browser.mac if machine.mac else browser.folder)


def manifest(browser: Browser, machine: Machine) -> Artifact:
    """Write the manifest by which a browser finds our relay; ours if it names our launcher."""
    allowed = {
        "firefox": {"allowed_extensions": [FIREFOX_ID]},
        "chromium": {"allowed_origins": [f"chrome-extension://{CHROMIUM_ID}/"]},
    }
    relay = str(machine.paths.relay)
    fields = {"name": HOST, "description": WRITTEN, "path": relay, "type": "stdio"}
    text = json.dumps({**fields, **allowed[browser.kind]}, indent=2) + "\n"

    def is_ours(other: str) -> bool:
        try:
            document = json.loads(other)
        except (ValueError, RecursionError):
            return False
        return MARK in other and isinstance(document, dict) and document.get("path") == relay

    return Artifact(manifest_path(browser, machine), text, is_ours, MARK)


def launcher(machine: Machine) -> Artifact:
    """Write the script that browsers start; UsageError where our socket's path is too long."""
    socket, path = check_address(machine.paths.query), machine.paths.relay
    places = {"python": machine.interpreter, "relay": str(RELAY), "socket": socket}
    quoted = {name: shlex.quote(each) for name, each in places.items()}
    length = "".join(f"\\{each:03o}" for each in len(_GONE).to_bytes(4, sys.byteorder))
    text = _LAUNCHER.format(length=length, answer=_GONE, **quoted)
    return Artifact(path, text, lambda other: MARK in other, MARK, PRIVATE_FOLDER)


def extension(paths: Paths) -> UnpackedFolder:
    """Describe the extension, unpacked where a browser can load it; UsageError without ours."""
    text = artifacts.digests(EXTENSION)
    return UnpackedFolder(paths.extension, text, lambda _: True, "", source=EXTENSION)


SYSTEM = "system"
PRESENT = {"installed", "outdated"}  # states of what is of this installation


@dataclass(frozen=True, slots=True)
class Installation:
    """A program that is connected by an artifact of its own, and by some that it shares."""

    name: str
    title: str
    kind: Literal["system", "browser", "assistant"]
    artifact: Artifact
    shared: tuple[Artifact, ...] = ()
    recipient: str = ""  # of an assistant: who gets the facts

    @property
    def state(self) -> artifacts.ArtifactState:
        """The state of its own artifact."""
        return self.artifact.state()


def this_machine() -> Machine:
    """Describe the machine and the user that run this process, at this time."""
    now = datetime.now().astimezone()
    return Machine(paths(), os.environ, now, sys.executable, sys.platform == "darwin")


def system_service(machine: Machine) -> Iterator[Installation]:
    """Yield the service that starts the daemon; UsageError where its files cannot be written."""
    yield Installation(SYSTEM, "The system", "system", service.unit(machine))


def browser_installations(machine: Machine) -> Iterator[Installation]:
    """Yield each browser; UsageError where the path of our socket is too long."""
    shared = (launcher(machine), extension(machine.paths))
    for each in BROWSERS:
        yield Installation(each.name, each.title, "browser", manifest(each, machine), shared)


def assistant_installations(
    machine: Machine, recipient: str | None = None
) -> Iterator[Installation]:
    """Yield each program with an assistant in it; ``recipient``: by default as it is now."""
    for each in HOST_PROGRAMS:
        own = entry(each, machine, recipient)
        whom = recipient_of(json.loads(own.text))
        yield Installation(each.name, each.title, "assistant", own, recipient=whom)


KINDS: Mapping[str, Callable[[Machine], Iterator[Installation]]] = {
    "service": system_service,
    "browsers": browser_installations,
    "assistants": assistant_installations,
}


def installations(machine: Machine) -> list[Installation]:
    """List all that can be connected, but for a kind whose files cannot be written."""
    connectable: list[Installation] = []
    for kind in KINDS.values():
        with suppress(UsageError):
            connectable += kind(machine)
    return connectable


def found(machine: Machine) -> Iterator[Installation]:
    """Yield the browsers and assistants that are here and not connected, as far as they can be."""
    here = {each.name for each in BROWSERS if is_here(each, machine)}
    for each in installations(machine):
        path = each.artifact.path
        own = path.exists() or (path.parent != machine.home and path.parent.is_dir())
        is_in_use = own if each.kind == "assistant" else each.name in here
        if is_in_use and each.state in {"absent", "elsewhere"}:
            yield each


def write(chosen: Iterable[Installation]) -> list[Artifact]:
    """Write all artifacts; return them. UsageError before anything is written if one is foreign."""
    needed = {part.path: part for each in chosen for part in (*each.shared, each.artifact)}
    for part in needed.values():
        part.check()
    for part in needed.values():
        part.write()
    return [*needed.values()]


def remove(chosen: Sequence[Installation], every: Iterable[Installation]) -> list[Artifact]:
    """Remove the artifacts of this installation, and what no other program shares any more.

    ``every``: all that may share them. Returns what was removed; UsageError where one cannot be.
    """
    removed = [each.artifact for each in chosen if each.artifact.remove()]
    used = {part.path for each in every if each.state in PRESENT for part in each.shared}
    shared = {part.path: part for each in chosen for part in each.shared}
    return removed + [part for path, part in shared.items() if path not in used and part.remove()]


NAME = "reticent"  # of our server, in every host's file
OUR_PLACES = (*FOLDERS, RUNTIME)  # of the environment
DEFEATING = {"url", "disabled"}  # of an entry: then the host does not start what it names
Members = dict[str, Any]


class HostProgram(NamedTuple):
    """A program with an assistant in it.

    ``place``: of its file, below the user's own folder where it begins with a dot, else below
    their configuration; ``recipient``: who answers in it, as it comes; ``typed``: whether it wants
    to be told how each server is reached.
    """

    name: str
    title: str
    place: str
    recipient: str
    servers: str = "mcpServers"
    typed: bool = True

    def path(self, machine: Machine) -> Path:
        """Locate its file, whether or not it exists."""
        if self.place.startswith("."):
            return machine.home / self.place
        return machine.support(self.place)


CLAUDE, DESKTOP = "claude.ai", "claude_desktop_config.json"
HOST_PROGRAMS = (
    HostProgram("claude-desktop", "Claude Desktop", f"Claude/{DESKTOP}", CLAUDE, typed=False),
    HostProgram("claude-code", "Claude Code", ".claude.json", CLAUDE),
    HostProgram("vscode", "VS Code", "Code/User/mcp.json", "github.com", "servers"),
    HostProgram("cursor", "Cursor", ".cursor/mcp.json", "cursor.com"),
)


def entry(host: HostProgram, machine: Machine, recipient: str | None = None) -> ConfigurationEntry:
    """Write our server as a host's file is to have it.

    ``recipient``: who gets the facts, by default the one it has now, else the host's. What others
    have added to our server stays, but for what would keep the host from starting it.
    """
    path = host.path(machine)
    try:
        current = artifacts.members_of(path).get(host.servers, {}).get(NAME, {})
    except (UsageError, AttributeError):
        current = {}
    before = current if isinstance(current, dict) else {}
    environment = {name: each for name in OUR_PLACES if (each := machine.environment.get(name))}
    if HOME in environment:
        environment = {HOME: str(paths(environment).config.parent)}  # absolute, and all there is
    whom = recipient or recipient_of(before) or host.recipient
    server: Members = {"type": "stdio"} if host.typed else {}
    server["command"] = machine.interpreter
    server["args"] = ["-P", "-m", "agent.cli", "mcp", "--recipient", whom, "--program", host.name]
    home = environment.get(HOME)

    def is_ours(text: str) -> bool:
        return _environment(json.loads(text)).get(HOME) == home

    text = artifacts.as_text(_merged(before, server, environment))
    return ConfigurationEntry(path, text, is_ours, "", group=host.servers, name=NAME)


def recipient_of(server: Members) -> str:
    """Read from a server's arguments who gets the facts; empty if they name nobody."""
    arguments = server.get("args")
    words = [*map(str, arguments)] if isinstance(arguments, list) else []
    return words[words.index("--recipient") + 1] if "--recipient" in words[:-1] else ""


def _environment(server: Members) -> Members:
    variables = server.get("env")
    return variables if isinstance(variables, dict) else {}


def _merged(before: Members, server: Members, environment: Members) -> Members:
    """Join our server with what others have added to one before it."""
    merged = {name: each for name, each in before.items() if name not in DEFEATING or not each}
    others = _environment(before).items()
    env = {name: each for name, each in others if name not in OUR_PLACES} | environment
    return merged | server | ({"env": env} if env or "env" in before else {})

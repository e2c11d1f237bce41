"""The files that make the system start the daemon: systemd's units, launchd's plist. Pure.

systemd listens on both sockets and starts the daemon at the first call. A socket unit gives all
its sockets one name, so that each door has a unit of its own. Of the sandbox, only what a user's
own manager can do without namespaces: those are refused on many systems.
"""

import plistlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from agent.errors import UsageError
from agent.paths import HOME, paths
from agent.wire.client import check_address

Manager = Literal["systemd", "launchd"]

SERVICE = "reticent.service"
SOCKETS = {"control": "reticent-control.socket", "query": "reticent-query.socket"}
PLIST = "reticent.daemon.plist"
KEPT = (HOME, "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")  # where things lie

_HEADER = "# Written by `reticent service install`; `reticent service remove` takes it away.\n"
_SERVICE = """
[Unit]
Description=Reticent decides which few facts a request may carry

[Service]
Type=notify
ExecStart={command}
{environment}Sockets={sockets}
Restart=on-failure
RestartSec=2
UMask=0077
LimitCORE=0
NoNewPrivileges=yes
LockPersonality=yes
RestrictAddressFamilies=AF_UNIX AF_INET
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
SystemCallArchitectures=native
"""
_SOCKET = """
[Unit]
Description=Reticent's socket for {door}

[Socket]
ListenStream={path}
FileDescriptorName={door}
SocketMode=0600
DirectoryMode=0700
RemoveOnStop=yes
Service={service}

[Install]
WantedBy=sockets.target
"""
_UNTRIED = """<!-- Written by `reticent service install`; `reticent service remove` takes it away.
     Untried: it has been checked as a property list, never run by launchd. -->
"""


@dataclass(frozen=True, slots=True)
class UnitFile:
    """A file for the system's manager of services."""

    path: Path
    text: str


def files(manager: Manager, interpreter: str, environment: Mapping[str, str]) -> list[UnitFile]:
    """Return the files that start the daemon by an interpreter's absolute path.

    ``environment``: that of the user; what says where our folders lie is passed on. Raises
    UsageError for a path or a variable that such a file cannot hold.
    """
    kept = {name: environment[name] for name in KEPT if environment.get(name)}
    if HOME in kept:
        kept[HOME] = str(paths(kept).config.parent)  # absolute
    _check(interpreter, "\"'\\" if manager == "systemd" else "")
    for text in kept.values():
        _check(text)
    folder = place(manager, environment)
    command = [interpreter, "-P", "-m", "agent.cli", "daemon"]  # -P: not from where it is run
    if manager == "launchd":
        return [UnitFile(folder / PLIST, _plist(command, kept))]
    return [UnitFile(folder / name, _HEADER + text) for name, text in _units(command, kept)]


def place(manager: Manager, environment: Mapping[str, str]) -> Path:
    """Return the folder of a user's own services."""
    home = Path(environment.get("HOME") or Path.home())
    if manager == "launchd":
        return home / "Library" / "LaunchAgents"
    config = Path(environment.get("XDG_CONFIG_HOME") or "")
    return (config if config.is_absolute() else home / ".config") / "systemd" / "user"


def _units(command: list[str], kept: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each of systemd's units."""
    program, *arguments = command
    lines = [f'Environment="{name}={_escaped(value)}"\n' for name, value in kept.items()]
    started = f'"{_escaped(program)}"'  # no variable is expanded in the program's name
    yield (
        SERVICE,
        _SERVICE.format(
            command=" ".join([started, *arguments]),
            environment="".join(lines),
            sockets=" ".join(SOCKETS.values()),
        ),
    )
    for door, name in SOCKETS.items():
        yield name, _SOCKET.format(door=door, path=_socket(door, kept), service=SERVICE)


def _socket(door: str, kept: Mapping[str, str]) -> str:
    """Return where a socket lies; without $RETICENT_HOME, %t is the user's $XDG_RUNTIME_DIR."""
    if HOME not in kept:
        return f"%t/reticent/{door}.sock"
    ours = paths(kept)
    return check_address(ours.control if door == "control" else ours.query).replace("%", "%%")


def _plist(command: list[str], kept: Mapping[str, str]) -> str:
    """Return the text of launchd's property list, marked as untried."""
    document = {
        "Label": PLIST.removesuffix(".plist"),
        "ProgramArguments": command,
        "EnvironmentVariables": dict(kept),
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "Umask": 0o077,
        "HardResourceLimits": {"Core": 0},
        "ProcessType": "Interactive",
    }
    head, mark, rest = plistlib.dumps(document).decode().partition("<plist")
    return head + _UNTRIED + mark + rest


def _check(text: str, without: str = "") -> None:
    """Refuse what a line of a unit, or a property list, cannot hold."""
    if not text.isprintable() or any(each in text for each in without):
        hint = "give the folder, or the environment of Python, an ordinary name"
        raise UsageError("a service cannot have such a path", hint, text)


def _escaped(text: str) -> str:
    """Return a text as it stands between double quotes in a unit."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")

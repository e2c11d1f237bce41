"""Having the system start the daemon: the files for systemd and launchd, and their commands."""

import plistlib
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from xml.parsers.expat import ExpatError

from agent.daemon.artifacts import Artifact, Machine, Manager
from agent.errors import DaemonError, UsageError, reason
from agent.paths import HOME, paths
from agent.wire.client import check_address

SERVICE = "reticent.service"
SOCKETS = {"control": "reticent-control.socket", "query": "reticent-query.socket"}
PLIST = "reticent.daemon.plist"
FOLDERS = (HOME, "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")  # of the environment
UNITS = Path(__file__).with_name("units")  # with places to fill in
MARK = "Written by `reticent "  # by every version
_WRITTEN = f"{MARK}connect system`; `reticent disconnect system` removes it."
_HEADER = f"# {_WRITTEN}\n\n"
_UNTRIED = f"""<!-- {_WRITTEN}
     Untried: it has been checked as a property list, never run by launchd. -->
"""
Commands = list[list[str]]
SECONDS = 30.0  # for a manager to answer
_CTL = ["systemctl", "--user"]
_PLACES = ("Environment=", "ListenStream=")
_PROGRAM = re.compile(r'^ExecStart="((?:[^"\\]|\\.)*)"', re.MULTILINE)


def units(machine: Machine) -> tuple[Artifact, ...]:
    """Write the files that start the daemon, with the variables that locate our folders.

    Raises UsageError for a path or a variable that such a file cannot hold.
    """
    environment, interpreter = machine.environment, machine.interpreter
    variables = {name: environment[name] for name in FOLDERS if environment.get(name)}
    if HOME in variables:
        variables[HOME] = str(paths(variables).config.parent)  # absolute
    for text in (interpreter, *variables.values()):
        _check(text)
    command = [interpreter, "-P", "-m", "agent.cli", "daemon", "run"]  # -P: not from where it runs
    folder = place(machine)
    if machine.manager == "launchd":
        texts = {PLIST: _plist(command, variables)}
    else:
        texts = {name: _HEADER + text for name, text in _units(command, variables)}
    return tuple(_artifact(folder / name, text) for name, text in texts.items())


def _artifact(path: Path, text: str) -> Artifact:
    folders = _folders(text)

    def is_ours(other: str) -> bool:
        return MARK in other and _folders(other) == folders

    return Artifact(path, text, is_ours, MARK, program_of)


def place(machine: Machine) -> Path:
    """Locate the folder of a user's own services."""
    if machine.manager == "launchd":
        return machine.home / "Library" / "LaunchAgents"
    return machine.configuration / "systemd" / "user"


def _units(command: list[str], variables: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each of systemd's units."""
    program, *arguments = command
    environment = [f'Environment="{name}={_escaped(value)}"\n' for name, value in variables.items()]
    started = f'"{_escaped(program)}"'  # no variable is expanded in the program's name
    service, socket = ((UNITS / f"systemd.{kind}").read_text() for kind in ("service", "socket"))
    yield (
        SERVICE,
        service.format(
            command=" ".join([started, *arguments]),
            environment="".join(environment),
            sockets=" ".join(SOCKETS.values()),
        ),
    )
    for door, name in SOCKETS.items():
        path = f"%t/reticent/{door}.sock"  # %t: the user's $XDG_RUNTIME_DIR
        if HOME in variables:
            own = getattr(paths(variables), door)
            path = check_address(own).replace("%", "%%")
        yield name, socket.format(door=door, path=path, service=SERVICE)


def _plist(command: list[str], variables: Mapping[str, str]) -> str:
    """Write launchd's property list, marked as untried."""
    document = {
        "Label": PLIST.removesuffix(".plist"),
        "ProgramArguments": command,
        "EnvironmentVariables": dict(variables),
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "Umask": 0o077,
        "HardResourceLimits": {"Core": 0},
        "ProcessType": "Interactive",
    }
    head, mark, rest = plistlib.dumps(document).decode().partition("<plist")
    return head + _UNTRIED + mark + rest


def check_program(machine: Machine) -> None:
    """Refuse an interpreter that the manager would not start; UsageError."""
    _check(machine.interpreter, "\"'\\" if machine.manager == "systemd" else "")


def _check(text: str, without: str = "") -> None:
    """Refuse what a line of a unit, or a property list, cannot hold."""
    if not text.isprintable() or any(each in text for each in without):
        hint = "use plain characters in the names of the folder and of Python"
        raise UsageError("a service file cannot hold this path", hint, text)


def _escaped(text: str) -> str:
    """Escape a text for double quotes in a unit."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")


def program_of(text: str) -> str | None:
    """Read the interpreter that a unit or a property list starts, None if it names none."""
    if text.startswith("<?xml"):
        arguments = _document(text).get("ProgramArguments")
        return str(arguments[0]) if isinstance(arguments, list) and arguments else None
    found = _PROGRAM.search(text)
    return found and found[1].replace('\\"', '"').replace("\\\\", "\\").replace("%%", "%")


def _folders(text: str) -> object:
    """Read from a file where our folders are."""
    if text.startswith("<?xml"):
        return _document(text).get("EnvironmentVariables")
    return [line for line in text.splitlines() if line.startswith(_PLACES)]


def _document(text: str) -> dict[str, object]:
    try:
        found = plistlib.loads(text.encode())
    except (ExpatError, ValueError, TypeError):
        return {}
    return found if isinstance(found, dict) else {}


def reachable(manager: Manager) -> bool:
    """Say whether the user's manager of services answers."""
    return _succeeds(["launchctl", "list"] if manager == "launchd" else [*_CTL, "show-environment"])


def listening(manager: Manager) -> bool:
    """Say whether the manager of services listens for the daemon, and so starts it at a call."""
    if manager == "launchd":
        return _succeeds(["launchctl", "list", PLIST.removesuffix(".plist")])
    return _succeeds([*_CTL, "is-active", "--quiet", SOCKETS["control"]])


def _succeeds(command: list[str]) -> bool:
    return shutil.which(command[0]) is not None and _run(command) is None


def starting(machine: Machine) -> Commands:
    """List the commands that load the files, and start to listen."""
    if machine.manager == "launchd":
        return [["launchctl", "load", "-w", str(place(machine) / PLIST)]]
    return [[*_CTL, "daemon-reload"], [*_CTL, "enable", "--now", *SOCKETS.values()]]


def stopping(machine: Machine) -> Commands:
    """List the commands to run before the files are removed."""
    if machine.manager == "launchd":
        return [["launchctl", "unload", "-w", str(place(machine) / PLIST)]]
    return [[*_CTL, "disable", "--now", *SOCKETS.values(), SERVICE]]


def forgetting(manager: Manager) -> Commands:
    """List the commands to run after the files are removed."""
    return [] if manager == "launchd" else [[*_CTL, "daemon-reload"]]


def run(commands: Commands) -> None:
    """Run commands one after the other; DaemonError for the first that fails."""
    for command in commands:
        if (problem := _run(command)) is not None:
            shown = " ".join(command)
            raise DaemonError(f"`{shown}` failed: {problem}", "fix that and try again")


def _run(command: list[str]) -> str | None:
    """Run a command; return None on success, else the last line of its error output."""
    try:
        done = subprocess.run(  # noqa: S603  (the commands above)
            command, capture_output=True, text=True, errors="replace", check=False, timeout=SECONDS
        )
    except subprocess.TimeoutExpired:
        return f"no answer within {SECONDS:g} seconds"
    except OSError as error:
        return reason(error)
    if done.returncode == 0:
        return None
    return (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]

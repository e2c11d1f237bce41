"""Having the system start the daemon: the files for systemd and launchd, and their commands."""

import plistlib
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple
from xml.parsers.expat import ExpatError

from agent.errors import DaemonError, UsageError, reason
from agent.files import read_bytes, replace_bytes
from agent.paths import HOME, paths
from agent.wire.client import check_address

Manager = Literal["systemd", "launchd"]
SERVICE = "reticent.service"
SOCKETS = {"control": "reticent-control.socket", "query": "reticent-query.socket"}
PLIST = "reticent.daemon.plist"
KEPT = (HOME, "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")  # where things lie
UNITS = Path(__file__).with_name("units")  # with places to fill in
_HEADER = "# Written by `reticent daemon service install`; its `remove` takes it away.\n\n"
_UNTRIED = """<!-- Written by `reticent daemon service install`; its `remove` takes it away.
     Untried: it has been checked as a property list, never run by launchd. -->
"""
Commands = list[list[str]]
SECONDS = 30.0  # for a manager to answer
BY_HAND = "fix that, or write it by hand with --print"
_CTL = ["systemctl", "--user"]
LARGEST = 64 * 1024  # bytes of a file that we write
_PLACES = ("Environment=", "ListenStream=")


class UnitFile(NamedTuple):
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
    for text in (interpreter, *kept.values()):
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
    environment = [f'Environment="{name}={_escaped(value)}"\n' for name, value in kept.items()]
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
        if HOME in kept:
            ours = paths(kept)
            own = ours.control if door == "control" else ours.query
            path = check_address(own).replace("%", "%%")
        yield name, socket.format(door=door, path=path, service=SERVICE)


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


def check_program(manager: Manager, interpreter: str) -> None:
    """Refuse an interpreter that the manager would not start, whose files are not to be written."""
    _check(interpreter, "\"'\\" if manager == "systemd" else "")


def _check(text: str, without: str = "") -> None:
    """Refuse what a line of a unit, or a property list, cannot hold."""
    if not text.isprintable() or any(each in text for each in without):
        hint = "use plain characters in the names of the folder and of Python"
        raise UsageError("a service file cannot hold this path", hint, text)


def _escaped(text: str) -> str:
    """Return a text as it stands between double quotes in a unit."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")


class Installed(NamedTuple):
    """What there is of the service: its files, and those that are missing or other than now."""

    present: tuple[Path, ...]
    differing: tuple[Path, ...]

    @property
    def whole(self) -> bool:
        """Whether all of it is there, as it would be written now."""
        return bool(self.present) and not self.differing


def look_at_units(files: Sequence[UnitFile]) -> Installed:
    """Return what there is of the files that would be written now."""
    texts = {each.path: text_of(each.path) for each in files}
    present = tuple(path for path, text in texts.items() if text is not None)
    return Installed(present, tuple(path for path, text in files if texts[path] != text))


def foreign(files: Sequence[UnitFile]) -> bool:
    """Return whether what is there starts a daemon whose folders are others than ours now."""
    texts = ((text, text_of(path)) for path, text in files)
    return any(there is not None and _homes(there) != _homes(text) for text, there in texts)


def write(files: Sequence[UnitFile]) -> None:
    """Write the files, over older ones; UsageError if that is not possible."""
    for path, text in files:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_bytes(text.encode(), path)
        except UsageError as error:
            raise UsageError(error.what, BY_HAND, error.where) from error
        except OSError as error:
            raise UsageError(reason(error), BY_HAND, str(path)) from error


def remove(files: Sequence[UnitFile]) -> list[Path]:
    """Remove what there is of the files; return what was removed."""
    return removed(look_at_units(files).present)


def removed(paths: Sequence[Path]) -> list[Path]:
    """Remove files, where they are; return them. UsageError where one cannot be."""
    for path in paths:
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise UsageError(reason(error), "fix that and try again", str(path)) from error
    return [*paths]


def text_of(path: Path) -> str | None:
    """Return the text of a file that is written here, None if it cannot be read."""
    try:
        return read_bytes(path, LARGEST).decode("utf-8", "replace")
    except UsageError:
        return None


def reachable(manager: Manager) -> bool:
    """Return whether the user's manager of services answers."""
    return _succeeds(["launchctl", "list"] if manager == "launchd" else [*_CTL, "show-environment"])


def listening(manager: Manager) -> bool:
    """Return whether the manager of services listens for the daemon, and so starts it at a call."""
    if manager == "launchd":
        return _succeeds(["launchctl", "list", PLIST.removesuffix(".plist")])
    return _succeeds([*_CTL, "is-active", "--quiet", SOCKETS["control"]])


def _succeeds(command: list[str]) -> bool:
    return shutil.which(command[0]) is not None and _run(command) is None


def starting(manager: Manager, environment: Mapping[str, str]) -> Commands:
    """Return the commands that make written files known, and start to listen."""
    if manager == "launchd":
        return [["launchctl", "load", "-w", str(place(manager, environment) / PLIST)]]
    return [[*_CTL, "daemon-reload"], [*_CTL, "enable", "--now", *SOCKETS.values()]]


def stopping(manager: Manager, environment: Mapping[str, str]) -> Commands:
    """Return the commands to run before the files go."""
    if manager == "launchd":
        return [["launchctl", "unload", "-w", str(place(manager, environment) / PLIST)]]
    return [[*_CTL, "disable", "--now", *SOCKETS.values(), SERVICE]]


def forgetting(manager: Manager) -> Commands:
    """Return the commands to run after the files went."""
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


def _homes(text: str) -> object:
    """Return what a file says of where things lie."""
    if not text.startswith("<?xml"):
        return [line for line in text.splitlines() if line.startswith(_PLACES)]
    try:
        return plistlib.loads(text.encode())["EnvironmentVariables"]
    except (ExpatError, ValueError, KeyError, TypeError):
        return None

"""The service as it is on this machine: its files, and the commands that make it known."""

import plistlib
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.parsers.expat import ExpatError

from agent.daemon.service.units import PLIST, SERVICE, SOCKETS, Manager, UnitFile, place
from agent.errors import DaemonError, UsageError, reason
from agent.files import replace_bytes

Commands = list[list[str]]

SECONDS = 30.0  # for a manager to answer
BY_HAND = "mend that, or write it by hand with --print"
_SYSTEMCTL = ["systemctl", "--user"]
_PLACES = ("Environment=", "ListenStream=")


@dataclass(frozen=True, slots=True)
class Installed:
    """What there is of the service: its files, and those that are missing or other than now."""

    present: tuple[Path, ...]
    differing: tuple[Path, ...]

    @property
    def whole(self) -> bool:
        """Whether all of it is there, as it would be written now."""
        return bool(self.present) and not self.differing


def look(files: Sequence[UnitFile]) -> Installed:
    """Return what there is of the files that would be written now."""
    texts = {each.path: _text(each.path) for each in files}
    return Installed(
        tuple(path for path, text in texts.items() if text is not None),
        tuple(each.path for each in files if texts[each.path] != each.text),
    )


def foreign(files: Sequence[UnitFile]) -> bool:
    """Say whether what is there starts a daemon whose folders are others than ours now."""
    texts = ((each.text, _text(each.path)) for each in files)
    return any(there is not None and _homes(there) != _homes(text) for text, there in texts)


def write(files: Sequence[UnitFile]) -> None:
    """Write the files, over older ones; UsageError if that is not possible."""
    for each in files:
        try:
            each.path.parent.mkdir(parents=True, exist_ok=True)
            replace_bytes(each.text.encode(), each.path)
        except UsageError as error:
            raise UsageError(error.what, BY_HAND, error.where) from error
        except OSError as error:
            raise _refused(each.path, error) from error


def remove(files: Sequence[UnitFile]) -> list[Path]:
    """Remove what there is of the files; return what was removed."""
    present = look(files).present
    for path in present:
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise _refused(path, error) from error
    return [*present]


def reachable(manager: Manager) -> bool:
    """Say whether the user's manager of services answers."""
    asked = ["launchctl", "list"] if manager == "launchd" else [*_SYSTEMCTL, "show-environment"]
    return shutil.which(asked[0]) is not None and _run(asked) is None


def listening(manager: Manager) -> bool:
    """Say whether the manager of services listens for the daemon, and so starts it at a call."""
    label = PLIST.removesuffix(".plist")
    asked = [*_SYSTEMCTL, "is-active", "--quiet", SOCKETS["control"]]
    if manager == "launchd":
        asked = ["launchctl", "list", label]
    return shutil.which(asked[0]) is not None and _run(asked) is None


def starting(manager: Manager, environment: Mapping[str, str]) -> Commands:
    """Return the commands that make written files known, and start to listen."""
    if manager == "launchd":
        return [["launchctl", "load", "-w", str(place(manager, environment) / PLIST)]]
    return [
        [*_SYSTEMCTL, "daemon-reload"],
        [*_SYSTEMCTL, "enable", "--now", *SOCKETS.values()],
    ]


def stopping(manager: Manager, environment: Mapping[str, str]) -> Commands:
    """Return the commands to run before the files go."""
    if manager == "launchd":
        return [["launchctl", "unload", "-w", str(place(manager, environment) / PLIST)]]
    return [[*_SYSTEMCTL, "disable", "--now", *SOCKETS.values(), SERVICE]]


def forgetting(manager: Manager) -> Commands:
    """Return the commands to run after the files went."""
    return [] if manager == "launchd" else [[*_SYSTEMCTL, "daemon-reload"]]


def run(commands: Commands) -> None:
    """Run commands one after the other; DaemonError for the first that fails."""
    for command in commands:
        if (problem := _run(command)) is not None:
            shown = " ".join(command)
            raise DaemonError(f"`{shown}` failed: {problem}", "mend that, and run it again")


def _run(command: list[str]) -> str | None:
    """Run a command; return None if all went well, else the last line that it said."""
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


def _text(path: Path) -> str | None:
    """Return the text of a file, None if there is none to read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None


def _refused(path: Path, error: OSError) -> UsageError:
    return UsageError(reason(error), BY_HAND, str(path))

"""Having systemd start the daemon: its units, and the commands that load and stop them."""

import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

from agent.daemon.artifacts import Artifact, Machine
from agent.errors import DaemonError, UsageError, reason
from agent.paths import HOME, paths
from agent.wire.client import check_address

SERVICE = "reticent.service"
SOCKETS = {"control": "reticent-control.socket", "query": "reticent-query.socket"}
FOLDERS = (HOME, "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")  # of the environment
UNITS = Path(__file__).with_name("units")  # with places to fill in
MARK = "Written by `reticent "  # by every version
_HEADER = f"# {MARK}connect system`; `reticent disconnect system` removes it.\n\n"
SECONDS = 30.0  # for systemd to answer
_CTL = ["systemctl", "--user"]
_PLACES = ("Environment=", "ListenStream=")
Commands = list[list[str]]
RELOAD = [*_CTL, "daemon-reload"]
STARTING = [RELOAD, [*_CTL, "enable", "--now", *SOCKETS.values()]]  # once the files are written
STOPPING = [[*_CTL, "disable", "--now", *SOCKETS.values(), SERVICE]]  # before they are removed


def units(machine: Machine) -> tuple[Artifact, ...]:
    """Write the units that start the daemon, with the variables that locate our folders.

    Raises UsageError for a path or a variable that such a file cannot hold, and on macOS.
    """
    if machine.mac:
        hint = "start `reticent daemon` by hand, or have it opened when you log in"
        raise UsageError("the system can start the daemon only where systemd runs", hint)
    environment = machine.environment
    variables = {name: environment[name] for name in FOLDERS if environment.get(name)}
    if HOME in variables:
        variables[HOME] = str(paths(variables).config.parent)  # absolute
    for text in (machine.interpreter, *variables.values()):
        if not text.isprintable() or (text == machine.interpreter and {*"\"'\\"} & {*text}):
            hint = "use plain characters in the names of the folder and of Python"
            raise UsageError("a service file cannot hold this path", hint, text)
    folder = machine.configuration / "systemd" / "user"
    return tuple(_unit(folder / name, text) for name, text in _texts(machine, variables))


def _unit(path: Path, text: str) -> Artifact:
    """A unit is ours if it names the same folders."""
    places = [line for line in text.splitlines() if line.startswith(_PLACES)]

    def is_ours(other: str) -> bool:
        lines = other.splitlines()
        return MARK in other and places == [each for each in lines if each.startswith(_PLACES)]

    return Artifact(path, _HEADER + text, is_ours, MARK)


def _texts(machine: Machine, variables: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each unit."""
    service, socket = ((UNITS / f"systemd.{kind}").read_text() for kind in ("service", "socket"))
    environment = [f'Environment="{name}={_escaped(value)}"\n' for name, value in variables.items()]
    yield (
        SERVICE,
        service.format(  # -P: not from where it runs
            command=f'"{_escaped(machine.interpreter)}" -P -m agent.cli daemon run',
            environment="".join(environment),
            sockets=" ".join(SOCKETS.values()),
        ),
    )
    for door, name in SOCKETS.items():
        path = f"%t/reticent/{door}.sock"  # %t: the user's $XDG_RUNTIME_DIR
        if HOME in variables:
            path = check_address(getattr(paths(variables), door)).replace("%", "%%")
        yield name, socket.format(door=door, path=path, service=SERVICE)


def _escaped(text: str) -> str:
    """Escape a text for double quotes in a unit."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")


def reachable() -> bool:
    """Say whether the user's systemd answers."""
    return _succeeds("show-environment")


def listening() -> bool:
    """Say whether systemd listens for the daemon, and so starts it at a call."""
    return _succeeds("is-active", "--quiet", SOCKETS["control"])


def _succeeds(*arguments: str) -> bool:
    return shutil.which(_CTL[0]) is not None and _problem([*_CTL, *arguments]) is None


def run(commands: Commands) -> None:
    """Run commands one after the other; DaemonError for the first that fails."""
    for command in commands:
        if (problem := _problem(command)) is not None:
            what = f"`{' '.join(command)}` failed: {problem}"
            raise DaemonError(what, "fix that and try again")


def _problem(command: list[str]) -> str | None:
    """Run a command; None on success, else the last line of its error output."""
    try:
        done = subprocess.run(  # noqa: S603  (the commands above)
            command, capture_output=True, text=True, errors="replace", check=False, timeout=SECONDS
        )
    except subprocess.TimeoutExpired:
        return f"no answer within {SECONDS:g} seconds"
    except OSError as error:
        return reason(error)
    errors = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
    return errors[-1] if done.returncode else None

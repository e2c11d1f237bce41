"""Having systemd start the daemon: its unit, and the commands that load and stop it."""

import shutil
import subprocess
from pathlib import Path

from agent.daemon.artifacts import Artifact, Machine
from agent.errors import DaemonError, UsageError, reason
from agent.paths import HOME, paths
from agent.wire.client import check_address

SERVICE = "reticent.service"
FOLDERS = (HOME, "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")  # of the environment
UNIT = Path(__file__).with_name("systemd.service")  # with places to fill in
MARK = "Written by `reticent "  # by every version
_HEADER = f"# {MARK}connect system`; `reticent disconnect system` removes it.\n\n"
SECONDS = 30.0  # for systemd to answer
_CTL = ["systemctl", "--user"]
Commands = list[list[str]]
RELOAD = [*_CTL, "daemon-reload"]
STARTING = [RELOAD, [*_CTL, "enable", "--now", SERVICE]]  # once the unit is written
STOPPING = [[*_CTL, "disable", "--now", SERVICE]]  # before it is removed


def unit(machine: Machine) -> Artifact:
    """Write the unit that starts the daemon, with the variables that locate our folders.

    Raises UsageError for a path or a variable that such a file cannot hold, and on macOS.
    """
    if machine.mac:
        hint = "start `reticent daemon` by hand, or have it opened when you log in"
        raise UsageError("the system can start the daemon only where systemd runs", hint)
    environment = machine.environment
    variables = {name: environment[name] for name in FOLDERS if environment.get(name)}
    if HOME in variables:
        variables[HOME] = str(paths(variables).config.parent)  # absolute
        check_address(paths(variables).control)
    for text in (machine.interpreter, *variables.values()):
        if not text.isprintable() or (text == machine.interpreter and {*"\"'\\"} & {*text}):
            hint = "use plain characters in the names of the folder and of Python"
            raise UsageError("a service file cannot hold this path", hint, text)
    lines = [f'Environment="{name}={_escaped(value)}"\n' for name, value in variables.items()]
    text = _HEADER + UNIT.read_text().format(  # -P: not from where it runs
        command=f'"{_escaped(machine.interpreter)}" -P -m agent.cli daemon run',
        environment="".join(lines),
    )

    def is_ours(other: str) -> bool:
        """It names the same folders."""
        return MARK in other and _folders(other) == _folders(text)

    return Artifact(machine.configuration / "systemd" / "user" / SERVICE, text, is_ours, MARK)


def _folders(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("Environment=")]


def _escaped(text: str) -> str:
    """Escape a text for double quotes in a unit."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")


def reachable() -> bool:
    """Say whether the user's systemd answers."""
    return shutil.which(_CTL[0]) is not None and _problem([*_CTL, "show-environment"]) is None


def run(commands: Commands) -> None:
    """Run commands one after the other; DaemonError for the first that fails."""
    for command in commands:
        if (problem := _problem(command)) is not None:
            raise DaemonError(f"`{' '.join(command)}` failed: {problem}", "fix that and try again")


def _problem(command: list[str]) -> str | None:
    """Run a command; None on success, else the last line of its error output."""
    try:
        done = subprocess.run(  # noqa: S603  (the commands above)
            command, capture_output=True, text=True, errors="replace", check=False, timeout=SECONDS
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return reason(error) if isinstance(error, OSError) else "no answer"
    errors = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
    return errors[-1] if done.returncode else None

"""`reticent service`: have the system start the daemon at the first call."""

import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, TypedDict, Unpack

import click

from agent.cli.groups import Commands
from agent.cli.options import json_option, record
from agent.cli.parameters import OneOf
from agent.cli.problems import printable
from agent.daemon.checks.places import listens
from agent.daemon.service.installed import (
    forgetting,
    look,
    reachable,
    remove,
    run,
    starting,
    stopping,
    write,
)
from agent.daemon.service.units import Manager, UnitFile, files
from agent.errors import DaemonError
from agent.paths import paths

Command = Callable[..., None]


class ServiceFlags(TypedDict):
    """The options of each command, as click hands them over."""

    manager: Manager
    as_json: bool


def usual() -> Manager:
    """Return the manager of services that this system has."""
    return "launchd" if sys.platform == "darwin" else "systemd"


def written(manager: Manager) -> list[UnitFile]:
    """Return the files of the service as they would be written now."""
    return files(manager, sys.executable, os.environ)


def _options(command: Command) -> Command:
    """Give a command the options that all of them have."""
    manager = click.option(
        "--manager",
        type=OneOf(["systemd", "launchd"]),
        default=usual,
        help="Whose files. By default those of this system.",
    )
    return manager(json_option(command))


@click.group(cls=Commands)
def service() -> None:
    """Have the system start the daemon at the first call."""


@service.command()
@click.option("--print", "only_print", is_flag=True, help="Show the files, and write nothing.")
@_options
def install(*, only_print: bool, **flags: Unpack[ServiceFlags]) -> None:
    """Write the files of a user's own service, and start to listen.

    Where the system's manager of services does not answer, the commands are shown that do it.
    """
    manager = flags["manager"]
    units = written(manager)
    if only_print:
        _print(units, as_json=flags["as_json"])
        return
    again = bool(look(units).present)
    answers = reachable(manager)
    if answers and not again and listens(paths().control):
        hint = "end it first, as by Ctrl-C where it was started, and run this again"
        raise DaemonError("a daemon runs already, and the service would start another", hint)
    write(units)
    commands = starting(manager, os.environ)
    if answers:
        run([*(stopping(manager, os.environ) if again else []), *commands])
    said = ["Wrote:", *(f"  {each.path}" for each in units)]
    if answers:
        said.append("The daemon starts at the first call.")
    _tell(flags, {"written": [str(each.path) for each in units]}, said, [] if answers else commands)


@service.command(name="remove")
@_options
def remove_(**flags: Unpack[ServiceFlags]) -> None:
    """Stop the service, and remove its files."""
    manager = flags["manager"]
    removed, left = removed_service(manager)
    said = ["Removed:", *(f"  {each}" for each in removed)]
    if not removed:
        said = ["The service is not installed, so there was nothing to remove."]
    _tell(flags, {"removed": removed}, said, left)


def removed_service(manager: Manager) -> tuple[list[str], list[list[str]]]:
    """Stop the service and remove its files; return these, and the commands that are left to do."""
    units = written(manager)
    if not look(units).present:
        return [], []
    answers = reachable(manager)
    if answers:
        run(stopping(manager, os.environ))
    removed = [str(each) for each in remove(units)]
    if answers:
        run(forgetting(manager))
    return removed, [] if answers else forgetting(manager)


@service.command()
@_options
def status(**flags: Unpack[ServiceFlags]) -> None:
    """Say whether the service is installed, as this reticent would install it."""
    manager = flags["manager"]
    found = look(written(manager))
    answers = reachable(manager)
    if flags["as_json"]:
        seen = {
            "manager": manager,
            "answers": answers,
            "installed": found.whole,
            "present": [str(each) for each in found.present],
            "differing": [str(each) for each in found.differing],
        }
        click.echo(record(seen))
        return
    state = "The service is installed:" if found.whole else "The service is not installed."
    if found.present and not found.whole:
        state = "The service is not as this reticent would install it:"
    click.echo(state)
    for each in found.present:
        click.echo(f"  {printable(str(each))}")
    if found.present and not found.whole:
        click.echo("Run `reticent service install` to mend it.")
    click.echo(f"{manager} {'answers' if answers else 'does not answer here'}.")


def _print(units: Sequence[UnitFile], *, as_json: bool) -> None:
    """Print the files, each below its path."""
    if as_json:
        files = [{"path": str(each.path), "text": each.text} for each in units]
        click.echo(record({"files": files}))
        return
    click.echo("\n".join(f"{printable(str(each.path))}:\n\n{each.text}" for each in units))


def _tell(
    flags: ServiceFlags, done: dict[str, Any], said: Sequence[str], left: Sequence[list[str]]
) -> None:
    """Say what was done, and which commands are left to the user."""
    commands = [" ".join(each) for each in left]
    if flags["as_json"]:
        click.echo(record({**done, "left": commands}))
        return
    lines = [*said]
    if commands:
        lines.append(f"{flags['manager']} does not answer here. Where it does, run:")
        lines += [f"  {each}" for each in commands]
    click.echo("\n".join(printable(line) for line in lines))

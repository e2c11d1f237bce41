"""The daemon: run it, stop it, examine it, and have the system start it."""

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import datetime
from typing import Any, TypedDict, Unpack
from urllib.parse import urlsplit

import click

from agent.cli.daemon_client import door
from agent.cli.groups import Commands, Deferred
from agent.cli.options import OneOf, json_option, record
from agent.cli.printing import paragraph, printable
from agent.daemon.checks import Finding, Machine, listens
from agent.daemon.doctor import examine
from agent.daemon.events import Bus
from agent.daemon.loopback import TOKEN
from agent.daemon.run import Options
from agent.daemon.run import run as run_daemon
from agent.daemon.service import (
    Manager,
    UnitFile,
    files,
    foreign,
    forgetting,
    listening,
    look_at_units,
    reachable,
    remove,
    run,
    starting,
    stopping,
    write,
)
from agent.daemon.services import Services, assembled
from agent.daemon.sockets import alone
from agent.errors import DaemonError, ReticentError, UsageError
from agent.files import private_folder
from agent.paths import Paths, paths
from agent.words.figures import counted

Command = Callable[..., None]
PORTS = click.IntRange(0, 65535)
SECONDS = 20.0  # for the daemon to end
PAUSE = 0.1
ENDED = "The daemon has ended: nothing is attached to any request until one runs again."
SERVICE = (
    "The system starts it again with the next call, locked; `reticent daemon service remove` stops "
    "that"
)
WRONG = ReticentError.exit_code
COLOURS = {"ok": "green", "warn": "yellow", "bad": "red"}
SEEN = {"ok": "ok  ", "warn": "note", "bad": "BAD "}
DEFERRED = {"completion": Deferred("agent.cli.status", "Complete commands in your shell.")}


@click.group(cls=Commands, default="run", deferred=DEFERRED)
def daemon() -> None:
    """Run, stop and check the daemon, which answers requests.

    Without a command it runs until Ctrl-C.
    """


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


@daemon.group(cls=Commands)
def service() -> None:
    """Have the system start the daemon when it is first needed."""


@service.command()
@click.option("--print", "only_print", is_flag=True, help="Show the files, and write nothing.")
@_options
def install(*, only_print: bool, **flags: Unpack[ServiceFlags]) -> None:
    """Install the daemon as a service of your user, and start listening.

    Where the system's manager of services does not answer, the commands are shown that do it.
    """
    manager = flags["manager"]
    units = written(manager)
    if only_print:
        _print(units, as_json=flags["as_json"])
        return
    again = bool(look_at_units(units).present)
    answers = reachable(manager)
    if answers and not again and listens(paths().control):
        hint = "end it first, as by Ctrl-C where it was started, and run this again"
        raise DaemonError("a daemon is already running, and the service would start another", hint)
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
    if not look_at_units(units).present:
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
    """Show whether the service is installed and up to date."""
    manager = flags["manager"]
    found = look_at_units(written(manager))
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
        click.echo("Run `reticent daemon service install` to mend it.")
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


@daemon.command(name="run")
@click.option(
    "--listen",
    type=PORTS,
    metavar="PORT",
    help="Answer at this port of 127.0.0.1 too, to those who have the token; 0 for any port.",
)
@click.option(
    "--origin",
    "origins",
    metavar="ORIGIN",
    multiple=True,
    help="A web page that may ask there for its own site, as in https://books.example, or an"
    " extension, which may for all. May be repeated.",
)
@json_option
def run_(listen: int | None, origins: tuple[str, ...], *, as_json: bool) -> None:
    """Answer requests until Ctrl-C, or `reticent daemon stop`, ends it.

    It starts locked: `reticent unlock` opens the vault. Nobody else on this machine can reach it.
    """
    if origins and listen is None:
        raise UsageError("--origin needs --listen", "say with --listen at which port pages ask")
    for origin in origins:
        _check_origin(origin)

    def build(places: Paths, bus: Bus) -> Services:
        """Say where it listens once it does, and only then look at policy and models."""
        said, vault = _places(places, listening=listen is not None), places.vault.exists()
        click.echo(record({**said, "vault": vault}) if as_json else _announced(said, vault=vault))
        return assembled(places, bus)

    run_daemon(paths(), Options(listen=listen, origins=origins), build)


def _check_origin(origin: str) -> None:
    """Refuse what no browser sends as the origin of a page; UsageError (RFC 6454, section 6.2)."""
    try:
        parts = urlsplit(origin)
        exact = f"{parts.scheme}://{parts.netloc}" == origin and bool(parts.hostname)
    except ValueError:
        exact = False
    if not exact or origin != origin.lower() or "@" in origin:
        hint = "write scheme, host and port only, as in https://books.example"
        raise UsageError(f"{origin!r} is not the origin of a web page", hint)


def _places(places: Paths, *, listening: bool) -> dict[str, str | None]:
    """Return where the daemon listens, and what it writes."""
    token = str(places.state / TOKEN) if listening else None
    return {
        "control": str(places.control),
        "query": str(places.query),
        "log": str(places.log),
        "token": token,
    }


def _announced(said: dict[str, str | None], *, vault: bool) -> str:
    text = f"Listening at {said['control']} and {said['query']}; Ctrl-C ends it."
    lines = [paragraph(printable(text))]
    if not vault:
        lines.append("No vault yet: `reticent init` creates one.")
    if said["token"] is not None:
        lines.append(paragraph(printable(f"The token for the port is in {said['token']}.")))
    return "\n".join(lines)


@daemon.command()
@json_option
def stop(*, as_json: bool) -> None:
    """Stop the daemon: nothing is attached until you start it again.

    What waits for your word is in its memory only, and forgotten.
    """
    with door() as client:
        client.call("status")  # of a service it would be started, and of none this says so
    with ended(paths()):
        pass
    units = written(usual())
    again = bool(look_at_units(units).present) and not foreign(units) and listening(usual())
    if as_json:
        click.echo(record({"ended": True, "service": again}))
    else:
        click.echo("\n".join(map(paragraph, [ENDED, *([f"{SERVICE}."] if again else [])])))


@contextmanager
def ended(at: Paths) -> Iterator[None]:
    """End the daemon, and keep another from starting meanwhile; DaemonError if it does not end."""
    if listens(at.control):
        with door() as client:
            client.call("shutdown")
    private_folder(at.state)
    until = time.monotonic() + SECONDS
    with ExitStack() as stack:
        while True:
            try:
                stack.enter_context(alone(at.daemon_lock))
                break
            except DaemonError:
                if time.monotonic() > until:
                    raise
                time.sleep(PAUSE)
        yield


@daemon.command()
@json_option
@click.pass_context
def doctor(context: click.Context, /, *, as_json: bool) -> None:
    """Check this machine for problems, and say how to fix them.

    Nothing changed. The exit code is 1 if something does not work or is not safe.
    """
    now = datetime.now().astimezone()
    found = examine(Machine(paths(), os.environ, now, usual(), sys.executable))
    if as_json:
        click.echo(record({"findings": found}))
    else:
        click.echo(_text(found))
    if any(each.state == "bad" for each in found):
        context.exit(WRONG)


def _text(found: Sequence[Finding]) -> str:
    """Return a line for each finding, its fix below it, and how many there are of each kind."""
    lines = []
    for each in found:
        mark = click.style(SEEN[each.state], fg=COLOURS[each.state])
        lines.append(f"{mark}  {printable(each.name)}: {printable(each.what)}")
        if each.fix:
            lines.append(f"      {printable(each.fix)}")
    states = [each.state for each in found]
    wrong, notes = states.count("bad"), states.count("warn")
    said = f"{counted(wrong, 'thing')} to mend" if wrong else "Nothing is wrong"
    rest = f", and {counted(notes, 'note')}" if notes else ""
    return "\n".join([*lines, "", paragraph(f"{said}{rest}.")])

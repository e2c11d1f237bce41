"""The daemon: run it, stop it, examine it, and have the system start it."""

import os
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime

import click

from agent.cli.daemon_client import door
from agent.cli.groups import Commands, Deferred
from agent.cli.options import Answer, OneOf, answers, json_option, option, record
from agent.cli.printing import listing, paragraph, printable
from agent.daemon import service as services
from agent.daemon.checks import Machine, listens
from agent.daemon.doctor import examine
from agent.daemon.run import run as run_daemon
from agent.daemon.sockets import alone
from agent.errors import DaemonError, ReticentError
from agent.files import private_folder
from agent.paths import Paths, paths
from agent.words.notices import health

OWN_MANAGER = "Whose files. By default those of this system."
SECONDS = 20.0  # for the daemon to end
PAUSE = 0.1
ENDED = "The daemon has ended: nothing is attached to any request until one runs again."
RESTARTS = (
    "The system starts it again with the next call, locked; `reticent daemon service remove` stops "
    "that."
)
COLOURS = {"ok": "green", "warn": "yellow", "bad": "red"}
MARKS = {"ok": "ok  ", "warn": "note", "bad": "BAD "}
DEFERRED = {"completion": Deferred("agent.cli.status", "Complete commands in your shell.")}


@click.group(cls=Commands, default="run", deferred=DEFERRED)
def daemon() -> None:
    """Run, stop and check the daemon, which answers requests.

    Without a command it runs until Ctrl-C.
    """


def usual() -> services.Manager:
    """Return the manager of services that this system has."""
    return "launchd" if sys.platform == "darwin" else "systemd"


def written(manager: services.Manager) -> list[services.UnitFile]:
    """Return the files of the service as they would be written now."""
    return services.files(manager, sys.executable, os.environ)


manager_option = option(
    "--manager", OneOf(["systemd", "launchd"]), None, OWN_MANAGER, default=usual
)


@daemon.group(cls=Commands)
def service() -> None:
    """Have the system start the daemon when it is first needed."""


@service.command()
@click.option("--print", "only_print", is_flag=True, help="Show the files, and write nothing.")
@manager_option
@answers
def install(manager: services.Manager, *, only_print: bool) -> Answer:
    """Install the daemon as a service of your user, and start listening.

    If the system's service manager does not answer, it shows you the commands to run.
    """
    services.check_program(manager, sys.executable)
    units = written(manager)
    if only_print:
        pages = (f"{printable(str(each.path))}:\n\n{each.text}" for each in units)
        found = [{"path": str(each.path), "text": each.text} for each in units]
        return Answer({"files": found}, "\n".join(pages))
    again = bool(services.look_at_units(units).present)
    answers = services.reachable(manager)
    if answers and not again and listens(paths().control):
        hint = "run `reticent daemon stop`, then this again"
        raise DaemonError("a daemon is already running, and the service would start another", hint)
    services.write(units)
    commands = services.starting(manager, os.environ)
    if answers:
        services.run([*(services.stopping(manager, os.environ) if again else []), *commands])
    left = [] if answers else [" ".join(each) for each in commands]
    places = [str(each.path) for each in units]
    then = left_to_run(manager, left) if left else "The daemon starts at the first call."
    return Answer({"written": places, "left": left}, f"{listing('Wrote:', places)}\n{then}")


@service.command(name="remove")
@manager_option
@answers
def remove_(manager: services.Manager) -> Answer:
    """Stop the service, and remove its files."""
    removed, left = removed_service(manager)
    lines = ["The service is not installed, so there was nothing to remove."]
    if removed:
        lines = [listing("Removed:", removed)]
    if left:
        lines.append(left_to_run(manager, left))
    return Answer({"removed": removed, "left": left}, "\n".join(lines))


def removed_service(manager: services.Manager) -> tuple[list[str], list[str]]:
    """Stop the service and remove its files; return these, and the commands that are left to do."""
    units = written(manager)
    if not services.look_at_units(units).present:
        return [], []
    answers = services.reachable(manager)
    if answers:
        services.run(services.stopping(manager, os.environ))
    removed = [str(each) for each in services.remove(units)]
    if answers:
        services.run(services.forgetting(manager))
    return removed, [] if answers else [" ".join(each) for each in services.forgetting(manager)]


def left_to_run(manager: str, commands: Iterable[str]) -> str:
    """Return which commands are left to the user."""
    return listing(f"{manager} does not answer here. Where it does, run:", commands)


@service.command()
@manager_option
@answers
def status(manager: services.Manager) -> Answer:
    """Show whether the service is installed and up to date."""
    found = services.look_at_units(written(manager))
    answers = services.reachable(manager)
    state, fix = "The service is not installed.", []
    if found.whole:
        state = "The service is installed:"
    elif found.present:
        state = "The service differs from what this version would install:"
        fix = ["Run `reticent daemon service install` to update it."]
    lines = [listing(state, found.present), *fix]
    lines.append(f"{manager} {'answers' if answers else 'does not answer here'}.")
    message = {
        "manager": manager,
        "answers": answers,
        "installed": found.whole,
        "present": [str(each) for each in found.present],
        "differing": [str(each) for each in found.differing],
    }
    return Answer(message, "\n".join(lines))


@daemon.command(name="run")
@json_option
def run_(*, as_json: bool) -> None:
    """Answer requests until Ctrl-C, or `reticent daemon stop`, ends it.

    It starts locked: `reticent unlock` opens the vault. Nobody else on this machine can reach it.
    """
    at = paths()

    def announce() -> None:
        vault = at.vault.exists()
        lines = [f"Listening at {at.control} and {at.query}; Ctrl-C ends it."]
        if not vault:
            lines.append("No vault yet: `reticent init` creates one.")
        places = {"control": str(at.control), "query": str(at.query), "log": str(at.log)}
        message = {**places, "vault": vault}
        click.echo(record(message) if as_json else "\n".join(map(paragraph, lines)))

    run_daemon(at, announce)


@daemon.command()
@answers
def stop() -> Answer:
    """Stop the daemon: nothing is attached until you start it again.

    What waits for your word is in its memory only, and forgotten.
    """
    with door() as client:
        client.call("status")  # of a service it would be started, and of none this says so
    with ended(paths()):
        pass
    units = written(usual())
    again = (
        bool(services.look_at_units(units).present)
        and not services.foreign(units)
        and services.listening(usual())
    )
    page = "\n".join(map(paragraph, [ENDED, RESTARTS] if again else [ENDED]))
    return Answer({"ended": True, "service": again}, page)


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
@answers
def doctor() -> Answer:
    """Check this machine for problems, and say how to fix them.

    It changes nothing. The exit code is 1 if something does not work or is not safe.
    """
    now = datetime.now().astimezone()
    found = examine(Machine(paths(), os.environ, now, usual(), sys.executable))
    lines = []
    for each in found:
        mark = click.style(MARKS[each.state], fg=COLOURS[each.state])
        lines.append(f"{mark}  {printable(f'{each.name}: {each.what}')}")
        if each.fix:
            lines.append(f"      {printable(each.fix)}")
    counts = Counter(each.state for each in found)
    page = "\n".join([*lines, "", health(counts["bad"], counts["warn"])])
    return Answer({"findings": found}, page, ReticentError.exit_code if counts["bad"] else 0)

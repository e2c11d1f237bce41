"""The daemon: run it, stop it, and examine the machine."""

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import click

from agent.cli.daemon_client import call
from agent.cli.options import Commands, Output, answers, json_option, record
from agent.cli.printing import paragraph, printable
from agent.daemon.doctor import examine
from agent.daemon.programs import this_machine
from agent.daemon.run import run as run_daemon
from agent.daemon.sockets import alone, listens
from agent.errors import DaemonError, ReticentError
from agent.files import private_folder
from agent.paths import Paths, paths
from agent.words.notices import health

SECONDS = 20.0  # for the daemon to end
PAUSE = 0.1
ENDED = "The daemon has ended: nothing is attached to any request until one runs again."
COLOURS = {"ok": "green", "warn": "yellow", "bad": "red"}
MARKS = {"ok": "ok  ", "warn": "note", "bad": "BAD "}


@click.group(cls=Commands, default=lambda _: "run")
def daemon() -> None:
    """Run and stop the daemon, which answers requests.

    Without a command it runs until Ctrl-C.
    """


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
def stop() -> Output:
    """Stop the daemon: nothing is attached until you start it again.

    What waits for your word is in its memory only, and forgotten.
    """
    call("status")  # of none this says so
    with ended(paths()):
        pass
    return Output({"ended": True}, paragraph(ENDED))


@contextmanager
def ended(at: Paths) -> Iterator[None]:
    """End the daemon, and keep another from starting meanwhile; DaemonError if it does not end."""
    if listens(at.control):
        call("shutdown")
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


@click.command()
@answers
def doctor() -> Output:
    """Check this machine for problems, and say how to fix them.

    It changes nothing. The exit code is 1 if something does not work or is not safe.
    """
    findings = examine(this_machine())
    lines = []
    for each in findings:
        mark = click.style(MARKS[each.state], fg=COLOURS[each.state])
        lines.append(f"{mark}  {printable(f'{each.name}: {each.what}')}")
        if each.fix:
            lines.append(f"      {printable(each.fix)}")
    counts = Counter(each.state for each in findings)
    page = "\n".join([*lines, "", health(counts["bad"], counts["warn"])])
    return Output({"findings": findings}, page, ReticentError.exit_code if counts["bad"] else 0)

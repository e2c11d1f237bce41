"""`reticent` where nothing is set up: from nothing to a first request, in one go."""

import os
import shlex
import subprocess
import time
from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from importlib import invalidate_caches
from importlib.util import find_spec
from typing import Any

import click

from agent.cli.ask import ask
from agent.cli.connect import connect
from agent.cli.daemon_client import call, start
from agent.cli.init import set_up
from agent.cli.interrupt import Interrupted
from agent.cli.printing import listing, note, paragraph, say, show, texts
from agent.cli.prompts import confirmed
from agent.daemon import programs, service
from agent.daemon.artifacts import Machine
from agent.daemon.sockets import listens
from agent.errors import DaemonError, ReticentError, install_hint, installing, reason
from agent.wire.state import Unlock, screen_of

TEXTS = texts("first_steps")
SECONDS, PAUSE = 20.0, 0.1  # for the daemon to listen
OPEN = "The vault is open: requests are answered from now on. `reticent lock` closes it."
RECIPIENT, QUERY = "recipes.example", "quick dinner ideas for a weeknight"
EXAMPLE = f'An example: you ask {RECIPIENT}, which does not exist, for "{QUERY}".'
MORE = "Assistants need a package that is not installed. Install it now?"


@click.command()
def begin() -> None:
    """Set up, start the daemon, connect what is here, and send an example.

    Ctrl-C makes nothing before the vault is there; after that all that was done is kept.
    """
    passphrase, machine = set_up(), programs.this_machine()
    steps = {
        "reticent daemon": lambda: started(machine),
        "reticent unlock": lambda: opened(passphrase),
        "reticent connect": lambda: connected(machine),
        f"reticent ask {RECIPIENT} {shlex.quote(QUERY)}": example,
    }
    left = [*steps]
    try:
        for step in steps.values():
            step()
            left.pop(0)
    except (click.Abort, Interrupted):
        click.echo(err=True)  # the terminal has written ^C into the line
        say(TEXTS["kept"])
    except ReticentError as error:
        show(error)
    click.echo(listing("To go on from here:", left) if left else TEXTS["next"])


def run(command: click.Command, **options: Any) -> None:  # noqa: ANN401  (of the command)
    """Run another command, for people."""
    click.get_current_context().invoke(command, **options, as_json=False)


def started(machine: Machine) -> None:
    """Have the system start the daemon, or start it in the background, and wait until it listens.

    One that runs already is taken.
    """
    at = machine.paths
    if not listens(at.control):
        if not machine.mac and service.reachable():
            run(connect, names=[programs.SYSTEM], recipient=None)
        else:
            start()
            say(TEXTS["behind"])
    until = time.monotonic() + SECONDS
    while not listens(at.control):
        if time.monotonic() > until:
            raise DaemonError("the daemon did not start", f"see its log: {at.log}")
        time.sleep(PAUSE)


def opened(passphrase: str) -> None:
    """Open the vault."""
    how = Unlock(method="passphrase", secret=passphrase, screen=screen_of(os.environ))
    call("unlock", how)
    say(OPEN)


def connected(machine: Machine, before: Mapping[str, str] | None = None) -> None:
    """Connect those browsers and assistants that the user picks of all that are here.

    ``before``: only these, by name, each with the recipient that it had.
    """
    chosen, ready = defaultdict[str | None, list[str]](list), cache(has_extra)  # which asks once
    for each in programs.found(machine):
        if before is None or each.name in before:
            whom = (before or {}).get(each.name) or each.recipient
            known = f" What it is told counts as known to {whom}." if whom else ""
            if confirmed(f"Connect {each.title}?{known}") and (not known or ready()):
                chosen[None if whom == each.recipient else whom].append(each.name)
    for recipient, names in chosen.items():
        run(connect, names=names, recipient=recipient)


def has_extra() -> bool:
    """Install the extra for assistants if the user wants it; say whether it is there."""
    command = installing("mcp")
    if find_spec("mcp") is None and confirmed(f"{MORE} {shlex.join(command)}", default=True):
        try:
            subprocess.run(command, check=False)  # noqa: S603  (as the user was shown)
        except OSError as error:
            note(f"{command[0]}: {reason(error)}")
        invalidate_caches()
    there = find_spec("mcp") is not None
    if not there:
        note(f"it was not connected; {install_hint('mcp')}, then `reticent connect`")
    return there


def example() -> None:
    """Send one request to a recipient that does not exist."""
    click.echo(f"\n{paragraph(EXAMPLE)}\n", err=True)
    run(ask, recipient=RECIPIENT, query=QUERY, explain=False, every=False)

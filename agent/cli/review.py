"""`reticent review`: the screens, for as long as a person keeps them open."""

import os
import subprocess
import sys
from collections.abc import Sequence
from datetime import datetime

import click

from agent.cli.editor import edit
from agent.cli.terminal import sees_terminal
from agent.errors import DaemonError, UsageError, reason
from agent.paths import paths
from agent.tui.app import Review
from agent.tui.finding import Finding
from agent.tui.link import Link
from agent.tui.outside import Outside

PLAIN = ("", "dumb")  # terminals that have lines alone (terminfo(5))


@click.command()
def review() -> None:
    """See what left, why, and at what cost; and change it.

    It starts the daemon if none runs, and leaves it running. Keys are in the footer; `?` is help.
    """
    if not sees_terminal() or os.environ.get("TERM", "") in PLAIN:
        hint = "`reticent watch` says the same line by line, and `reticent pending` what waits"
        raise UsageError("the screens need a terminal", hint)
    shown = Review(Link(paths().control, start), Outside(examined, edit, now))
    shown.run()
    if shown.defect is not None:
        raise shown.defect


def start() -> None:
    """Start a daemon that outlives this program; DaemonError where that cannot be."""
    try:
        subprocess.Popen(
            [sys.executable, "-m", "agent.cli", "daemon"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        what = f"the daemon cannot be started: {reason(error)}"
        raise DaemonError(what, "start it with `reticent daemon`") from None


def examined() -> Sequence[Finding]:
    """Return all that `reticent doctor` finds."""
    from agent.cli.service import usual
    from agent.daemon.checks.finding import Machine
    from agent.daemon.doctor import examine

    return examine(Machine(paths(), os.environ, now(), usual(), sys.executable))


def now() -> datetime:
    """Return the time, where the user lives."""
    return datetime.now().astimezone()

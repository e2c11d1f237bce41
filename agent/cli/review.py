"""`reticent review`: the screens, for as long as a person keeps them open."""

import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from datetime import datetime

import click

from agent.cli.interrupt import left_to_others
from agent.cli.terminal import sees_terminal
from agent.errors import DaemonError, UsageError, reason
from agent.paths import paths
from agent.tui.app import Review
from agent.tui.finding import Finding
from agent.tui.link import Link
from agent.tui.outside import Outside

NAME = "name one that can be run, as in `export EDITOR=nano`"


@click.command()
def review() -> None:
    """See what left, why, and at what cost; and change it.

    It starts the daemon if none runs, and leaves it running. Keys are in the footer; `?` is help.
    """
    if not sees_terminal():
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


def edit(path: str, line: int | None) -> None:
    """Have the user change a file in the editor of their own; UsageError where there is none."""
    named = os.environ.get("VISUAL") or os.environ.get("EDITOR") or ""
    try:
        editor = shlex.split(named)
    except ValueError:  # a quote that does not end
        raise UsageError("what EDITOR names cannot be read", NAME) from None
    if not editor:
        raise UsageError("no editor is named", NAME)
    place = [] if line is None else [f"+{line}"]  # as vi, nano, emacs and their like have it
    try:
        with left_to_others():
            subprocess.run([*editor, *place, path], check=False)  # noqa: S603  (the user's own)
    except OSError as error:
        raise UsageError(f"{editor[0]} cannot be run: {reason(error)}", NAME) from None


def now() -> datetime:
    """Return the time, where the user lives."""
    return datetime.now().astimezone()

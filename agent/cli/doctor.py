"""`reticent doctor`: look at everything that a user can get wrong, and say the fix."""

import os
import sys
from collections.abc import Sequence
from datetime import datetime

import click

from agent.cli.layout import counted, paragraph
from agent.cli.options import json_option, record
from agent.cli.problems import printable
from agent.cli.service import usual
from agent.daemon.checks.finding import Finding, Machine
from agent.daemon.doctor import examine
from agent.errors import ReticentError
from agent.paths import paths

WRONG = ReticentError.exit_code
COLOURS = {"ok": "green", "warn": "yellow", "bad": "red"}
SEEN = {"ok": "ok  ", "warn": "note", "bad": "BAD "}


@click.command()
@json_option
@click.pass_context
def doctor(context: click.Context, /, *, as_json: bool) -> None:
    """Look at everything that can be wrong on this machine, and say the fix.

    Nothing is changed. The exit code is 1 if something does not work or is not safe.
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

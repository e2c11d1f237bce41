"""`reticent mcp install`: have an assistant's program start `reticent mcp`."""

import json
import os
import stat
import sys

import click

from agent.cli.browser import system
from agent.cli.mcp import check_extra
from agent.cli.options import Answer, OneOf, answers, host, option
from agent.cli.printing import listing, paragraph
from agent.daemon.mcp_hosts import HOST_PROGRAMS, LARGEST, NAME, entry, members_of, with_entry
from agent.errors import UsageError
from agent.files import PRIVATE, check_way, private_folder, read_bytes, replace_bytes
from policy.hosts import host_of

BY_NAME = {each.name: each for each in HOST_PROGRAMS}


@click.command()
@click.argument("program", metavar="HOST_PROGRAM", type=OneOf([*BY_NAME]))
@option("--recipient", host, "HOST", "Who gets the facts. By default who answers there.")
@click.option("--write", is_flag=True, help="Write it into the program's file, and keep the rest.")
@answers
def install(program: str, recipient: str | None, *, write: bool) -> Answer:
    """Show how a program is told to start `reticent mcp`, or tell it.

    \b
    HOST_PROGRAM is one of claude-desktop, claude-code, vscode, cursor.
    """  # noqa: D301  (click's mark, which stands for itself)
    check_extra()
    chosen, whose = BY_NAME[program], system()
    path, whom = chosen.path(whose), host_of(recipient or chosen.recipient)
    made = entry(chosen, whom, sys.executable, os.environ)
    shown = {chosen.servers: {NAME: made}}
    message = {"path": str(path), "recipient": whom, "written": write, "configuration": shown}
    then = f"What it is told counts as known to {whom}: see `reticent requests knows {whom}`."
    if not write:
        text = json.dumps(shown, indent=2).splitlines()
        head = f"Add this to {path}, beside what is there, or run this again with --write:"
        return Answer(message, f"{listing(head, text)}\n{paragraph(then)}")
    check_way(path)
    there = path.exists()
    before = read_bytes(path, LARGEST) if there else None

    def unchanged() -> None:
        """Raise UsageError where the program has written its file since it was read."""
        if before != (read_bytes(path, LARGEST) if path.exists() else None):
            what = f"{chosen.title} changed this file meanwhile, and it was left as it is"
            raise UsageError(what, f"close {chosen.title} and try again", str(path))

    text_then = with_entry(members_of(path), chosen, made)
    if not path.parent.is_dir():
        private_folder(path.parent)
    mode = stat.S_IMODE(path.stat().st_mode) if there else PRIVATE
    replace_bytes(text_then.encode(), path.resolve(), mode, unchanged)
    told = f"{chosen.title} starts it the next time that you open it. {then}"
    return Answer(message, f"{listing('Wrote:', [path])}\n{paragraph(told)}")

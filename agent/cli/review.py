"""`reticent`: the screens, and the user's own editor."""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from datetime import datetime

import click

from agent.cli.interrupt import left_to_others
from agent.cli.options import sees_terminal
from agent.errors import DaemonError, UsageError, reason
from agent.paths import paths
from agent.tui.app import Review
from agent.tui.link import Link
from agent.tui.page import Environment, Finding

NAME = "name one that can be run, as in `export EDITOR=nano`"
USUAL = ("editor", "sensible-editor", "nano", "vi")  # where none is named
PLUS = ("vi", "vim", "nvim", "nano", "pico", "emacs", "emacsclient", "joe", "micro", "kak")
COLON = ("hx", "helix")
GOTO = ("code", "codium")
PLAIN = ("", "dumb")  # terminals that have lines alone (terminfo(5))


def edit(path: str, line: int | None) -> None:
    """Have the user change a file in an editor, UsageError where there is none.

    It is what VISUAL or EDITOR names, else a usual one; one that is not known to take a line is
    told none.
    """
    editor = _named() or _usual()
    try:
        with left_to_others():
            subprocess.run([*editor, *_place(editor[0], path, line)], check=False)  # noqa: S603  (the user's own)
    except OSError as error:
        raise UsageError(f"{editor[0]} cannot be run: {reason(error)}", NAME) from None


def _named() -> Sequence[str]:
    """Return what the user names, with its options; empty where that is nothing."""
    try:
        return shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "")
    except ValueError:  # a quote that does not end
        raise UsageError("EDITOR cannot be parsed", NAME) from None


def _usual() -> Sequence[str]:
    found = next((each for each in USUAL if shutil.which(each)), None)
    if found is None:
        raise UsageError("no editor is set, and none was found", NAME)
    return [found]


def _place(editor: str, path: str, line: int | None) -> Sequence[str]:
    """Return the file as an editor takes it, at a line if it is known to take one."""
    if line is None:
        return [path]
    ways: dict[tuple[str, ...], Callable[[], Sequence[str]]] = {
        PLUS: lambda: [f"+{line}", path],
        COLON: lambda: [f"{path}:{line}"],
        GOTO: lambda: ["-g", f"{path}:{line}"],
    }
    name = _program(editor)
    return next((way() for names, way in ways.items() if name in names), [path])


def _program(editor: str) -> str:
    """Return the name of a program: what `editor` leads to, and vim for `vim.basic`."""
    found = shutil.which(editor) or editor
    own = os.path.basename(editor)  # noqa: PTH119  (what is named may be no path)
    if own == USUAL[0]:
        own = os.path.basename(os.path.realpath(found))  # noqa: PTH119
    return own.split(".")[0]


@click.command()
def review() -> None:
    """Open the screens: see what was sent, why and at what cost, and change it.

    It starts the daemon if none runs, and leaves it running. Keys are in the footer; `?` is help.
    """
    if not sees_terminal() or os.environ.get("TERM", "") in PLAIN:
        hint = "use `reticent requests watch` and `reticent requests pending` instead"
        raise UsageError("the screens need a terminal", hint)
    shown = Review(Link(paths().control, start), Environment(examined, edit, now))
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
        what = f"cannot start the daemon: {reason(error)}"
        raise DaemonError(what, "start it with `reticent daemon`") from None


def examined() -> Sequence[Finding]:
    """Return all that `reticent daemon doctor` finds."""
    from agent.cli.daemon import usual
    from agent.daemon.checks import Machine
    from agent.daemon.doctor import examine

    return examine(Machine(paths(), os.environ, now(), usual(), sys.executable))


def now() -> datetime:
    """Return the time, where the user lives."""
    return datetime.now().astimezone()

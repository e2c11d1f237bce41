"""`reticent`: the screens, and the user's own editor."""

import os
import shlex
import subprocess
from collections.abc import Sequence

import click

from agent.cli.daemon_client import start
from agent.cli.interrupt import handled_by
from agent.cli.options import now, sees_terminal
from agent.errors import UsageError, reason
from agent.files import create_private
from agent.paths import HOME, paths
from agent.tui.app import ReviewApp
from agent.tui.link import Link
from agent.tui.page import Environment
from agent.wire.state import Finding

NAME = "name one that can be run, as in `export EDITOR=nano`"
USUAL = "vi"  # where none is named
PLUS = ("vi", "vim", "nvim", "nano", "pico", "emacs", "emacsclient", "joe", "micro", "kak")
PLAIN = ("", "dumb")  # terminals that have lines alone (terminfo(5))


def edit(path: str, line: int | None) -> None:
    """Have the user change a file in an editor, UsageError where there is none.

    It is what VISUAL or EDITOR names, else vi; ``line``: where to begin, if the editor is known to
    take one.
    """
    try:
        editor = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or USUAL)
    except ValueError:  # a quote that does not end
        raise UsageError("EDITOR cannot be parsed", NAME) from None
    if not editor:
        raise UsageError("no editor is set", NAME)
    program = os.path.basename(editor[0]).split(".")[0]  # noqa: PTH119  (what is named may be no path)
    place = [] if line is None or program not in PLUS else [f"+{line}"]
    try:
        with handled_by(lambda _number, _frame: None):  # left to the editor
            subprocess.run([*editor, *place, path], check=False)  # noqa: S603  (the user's own)
    except OSError as error:
        raise UsageError(f"{editor[0]} cannot be run: {reason(error)}", NAME) from None


def save(name: str, text: str) -> str:
    """Write a new file that only the user can read, among their downloads where these are."""
    from platformdirs import user_downloads_path

    from agent.daemon.installed_files import note_copy

    folder = paths().state if os.environ.get(HOME) else user_downloads_path()
    place = (folder if folder.is_dir() else paths().state) / name
    create_private(text.encode(), place)
    note_copy(place, paths())
    return str(place)


@click.command()
def screens() -> None:
    """Open the screens: see what was sent, why and at what cost, and change it.

    It starts the daemon if none runs, and leaves it running. Keys are in the footer; `?` is help.
    """
    if not sees_terminal() or os.environ.get("TERM", "") in PLAIN:
        hint = "use `reticent requests list` or `--waiting` instead"
        raise UsageError("the screens need a terminal", hint)
    shown = ReviewApp(Link(paths().control, start), Environment(examined, edit, now, save))
    shown.run()
    if shown.defect is not None:
        raise shown.defect


def examined() -> Sequence[Finding]:
    """Examine the machine as `reticent doctor` does."""
    from agent.daemon.doctor import examine
    from agent.daemon.programs import this_machine

    return examine(this_machine())

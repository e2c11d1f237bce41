"""The user's own editor: which it is, and how it is told the line."""

import os
import shlex
import shutil
import subprocess
from collections.abc import Callable, Sequence

from agent.cli.interrupt import left_to_others
from agent.errors import UsageError, reason

NAME = "name one that can be run, as in `export EDITOR=nano`"
USUAL = ("editor", "sensible-editor", "nano", "vi")  # where none is named
PLUS = ("vi", "vim", "nvim", "nano", "pico", "emacs", "emacsclient", "joe", "micro", "kak")
COLON = ("hx", "helix")
GOTO = ("code", "codium")


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
        raise UsageError("what EDITOR names cannot be read", NAME) from None


def _usual() -> Sequence[str]:
    found = next((each for each in USUAL if shutil.which(each)), None)
    if found is None:
        raise UsageError("no editor is named, and no usual one is there", NAME)
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

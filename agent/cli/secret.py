"""Asking for secrets: hidden at a terminal but for a recovery code, else one line of the input.

A secret is never an argument, which every user of the machine can see, nor an environment
variable, which other programs inherit. Before one is read, core files are forbidden.
"""

import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import click

from agent.cli.terminal import at_terminal
from agent.errors import UsageError
from agent.vault.keys import keyrings
from agent.vault.memory import forbid_dumps
from agent.wire.base import LONGEST_SECRET
from agent.wire.state import Method

PROMPTS: dict[Method, str] = {"passphrase": "Passphrase", "recovery": "Recovery code"}

TYPE = "type one, or leave with Ctrl-C"
GIVE = "type it at a terminal, or give it as one line of the standard input"

Command = Callable[..., Any]


def method_options(command: Command) -> Command:
    """Give a command the options that say what opens the vault: `keyring` and `recovery`."""
    keyring = click.option(
        "--keyring", is_flag=True, help="With the key that the desktop's keyring has."
    )
    return keyring(
        click.option("--recovery", is_flag=True, help="With the recovery code.")(command)
    )


def method_of(*, keyring: bool, recovery: bool) -> Method:
    """Return what opens the vault; UsageError where the options name two things."""
    if keyring and recovery:
        raise UsageError("--keyring does not go with --recovery", "choose one of them")
    return "keyring" if keyring else "recovery" if recovery else "passphrase"


def check_keyring() -> None:
    """Refuse to use a keyring where the extra is not installed; UsageError."""
    if not keyrings.installed():
        what = "the keyring needs an extra that is not installed"
        raise UsageError(what, "pip install 'reticent[keyring]'")


def ask_for(method: Method) -> str | None:
    """Return the secret that goes with a method; None for the keyring, which has it."""
    forbid_dumps()  # the keyring's key is not read here, and yet in this process
    return ask_secret(PROMPTS[method]) if method in PROMPTS else None


def ask_secret(prompt: str) -> str:
    """Return a secret; UsageError where none was given, or one that is too long.

    A recovery code is shown while it is typed: it is long, and on paper beside it.
    """
    if not at_terminal():
        return read_secret(prompt)
    hide = prompt != PROMPTS["recovery"]
    return _checked(_hidden(prompt) if hide else _typed(prompt, hide=False), prompt)


def ask_new_secret(prompt: str, check: Callable[[str], None]) -> str:
    """Return a new secret, asked for twice at a terminal; UsageError as with `ask_secret`.

    ``check``: raises UsageError for one that is no good, before it is asked for again.
    """
    while True:
        text = _checked(_hidden(prompt), prompt)
        check(text)
        if _hidden("The same again") == text:
            return text
        click.echo("These are not the same; once more.", err=True)


def read_secret(prompt: str) -> str:
    """Return one line of the standard input; UsageError as with `ask_secret`."""
    return _checked(_line(), prompt)


def _hidden(prompt: str) -> str:
    return _typed(prompt, hide=True)


def _typed(prompt: str, *, hide: bool) -> str:
    forbid_dumps()
    # With a default, an empty line is an answer, so that ours is the sentence about it.
    with suppress(UnicodeDecodeError):
        answer: str = click.prompt(
            prompt, hide_input=hide, default="", show_default=False, err=True
        )
        return answer
    raise _no_text(prompt.lower())


def _line() -> str:
    forbid_dumps()
    line = "" if sys.stdin is None else sys.stdin.readline()
    return line.removesuffix("\n").removesuffix("\r")


def _checked(text: str, prompt: str) -> str:
    what = prompt.lower()
    if not text:
        raise UsageError(f"no {what} was given", TYPE if at_terminal() else GIVE)
    if len(text) > LONGEST_SECRET:
        hint = f"it has at most {LONGEST_SECRET:,} characters"
        raise UsageError(f"the {what} is too long", hint)
    if any("\ud800" <= each <= "\udfff" for each in text):  # bytes that are no UTF-8 come so
        raise _no_text(what)
    return text


def _no_text(what: str) -> UsageError:
    return UsageError(f"the {what} is not text in UTF-8", "type it in a terminal that uses UTF-8")

"""Questions at the terminal: consent, secrets, a new passphrase and how strong it is."""

import re
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import wraps
from itertools import pairwise
from typing import Any

import click

from agent.cli.options import at_terminal, checked_text, not_text, prompted
from agent.cli.printing import facts, say
from agent.errors import ReticentError, UsageError, install_hint, nearest
from agent.vault import secrets
from agent.vault.secrets import forbid_dumps
from agent.wire.base import LONGEST_SECRET
from agent.wire.state import Method
from agent.words.figures import counted

PROMPTS: dict[Method, str] = {"passphrase": "Passphrase", "recovery": "Recovery code"}
TYPE = "type one, or leave with Ctrl-C"
GIVE = "type it at a terminal, or give it as one line of the standard input"
Command = Callable[..., Any]
SHORTEST = 8  # characters
ENOUGH = 40.0  # bits
SECONDS = 0.5  # of one guess: what the key derivation is calibrated to
MACHINES = 1_000
_FIRST, _INSIDE = 5.0, 2.0  # bits of the first letter of a word, and of the others
_DIGIT, _SIGN, _SPACE = 3.3, 5.0, 0.5
_PIECES = re.compile(r"[^\W\d_]+|\d+|.", re.DOTALL)  # words, numbers and the signs between
_EXPECTED = 0.5  # what follows by itself: the next in a sequence, a piece that was there before
_UNITS = (("minute", 60.0), ("hour", 3_600.0), ("day", 86_400.0), ("year", 31_557_600.0))
MOST_YEARS = 1_000_000


def agree(question: str, *, yes: bool, warning: str = "", word: str | None = None) -> None:
    """Wait until the user agrees; ``yes``: beforehand; ``word``: what is to be typed, if not y.

    ``warning``: what to know before the question. UsageError where there is no terminal,
    ReticentError where the answer is no.
    """
    if yes:
        return
    if warning:
        say(warning)
    if not at_terminal():
        raise UsageError("this asks for confirmation, and there is no terminal", "agree with --yes")
    agreed = confirmed(question) if word is None else line(question) == word
    if not agreed:
        hint = f"agree with {word or 'y'}, or with --yes"
        raise ReticentError("not confirmed, so nothing was done", hint)


def method_options(command: Command) -> Command:
    """Give a command `--keyring` and `--recovery`, and call it with the ``method`` they choose."""

    @click.option("--keyring", is_flag=True, help="Use the key in the desktop's keyring.")
    @click.option("--recovery", is_flag=True, help="Use the recovery code.")
    @wraps(command)
    def chosen(*given: object, keyring: bool, recovery: bool, **named: object) -> None:
        if keyring and recovery:
            raise UsageError("--keyring does not go with --recovery", "choose one of them")
        method: Method = "keyring" if keyring else "recovery" if recovery else "passphrase"
        command(*given, method=method, **named)

    return chosen


def check_keyring() -> None:
    """Refuse to use a keyring where the extra is not installed; UsageError."""
    if not secrets.installed():
        raise UsageError("the extra `keyring` is not installed", install_hint("keyring"))


def ask_for(method: Method) -> str | None:
    """Ask for the secret that goes with a method; None for the keyring, which has it."""
    forbid_dumps()  # the keyring's key is not read here, and yet in this process
    return ask_secret(PROMPTS[method]) if method in PROMPTS else None


def ask_secret(prompt: str) -> str:
    """Ask for a secret; UsageError where none was given, or one that is too long.

    A recovery code is shown while it is typed: it is long, and on paper beside it.
    """
    if not at_terminal():
        return read_secret(prompt)
    return _checked(_typed(prompt, hide=prompt != PROMPTS["recovery"]), prompt)


def read_secret(prompt: str) -> str:
    """Read one line of the standard input; UsageError as with `ask_secret`."""
    forbid_dumps()
    line = "" if sys.stdin is None else sys.stdin.readline()
    return _checked(line.removesuffix("\n").removesuffix("\r"), prompt)


def _typed(prompt: str, *, hide: bool = True) -> str:
    forbid_dumps()
    with suppress(UnicodeDecodeError):
        return prompted(prompt, hide=hide)
    raise not_text(prompt.lower())


def _checked(text: str, prompt: str) -> str:
    what = prompt.lower()
    if not text:
        raise UsageError(f"no {what} was given", TYPE if at_terminal() else GIVE)
    return checked_text(text, what, LONGEST_SECRET)


def check_passphrase(text: str) -> None:
    """Refuse a passphrase that is too short; UsageError."""
    if len(text) < SHORTEST:
        hint = f"use {SHORTEST} characters or more; four random words are good and easy to keep"
        raise UsageError("the passphrase is too short", hint)


def guessing_time(bits: float) -> str:
    """Say how long somebody who has the file and many machines would guess."""
    seconds = 2**bits * SECONDS / MACHINES
    time = "less than a minute"
    for unit, length in _UNITS:
        time = counted(round(seconds / length), unit) if seconds >= length else time
    if seconds > MOST_YEARS * _UNITS[-1][1]:
        time = f"more than {MOST_YEARS:,} years"
    return f"A rough estimate: {MACHINES:,} machines like this one would guess it in {time}."


def strength(passphrase: str) -> float:
    """Estimate the guesses that a passphrase withstands, in bits.

    Words and sequences count little, whatever their letters. It knows no list of words, so that a
    famous passphrase counts as if it were anybody's.
    """
    seen: set[str] = set()
    bits = 0.0
    for piece in _PIECES.findall(passphrase):
        first, inside = (_FIRST, _INSIDE) if piece.isalpha() else (_SIGN, 0.0)
        if piece.isdigit():
            first = inside = _DIGIT
        if piece.isspace():
            first = _SPACE
        steps = (abs(ord(one) - ord(other)) for one, other in pairwise(piece.lower()))
        full = first + sum(_EXPECTED if step <= 1 else inside for step in steps)
        bits += _EXPECTED if piece in seen else full
        seen.add(piece)
    return bits


def new_passphrase(prompt: str) -> str:
    """Ask for a new passphrase where somebody is there, else read a line of the input.

    UsageError for a line that is none or too short.
    """
    return ask_passphrase(prompt) if at_terminal() else read_passphrase(prompt)


def ask_passphrase(prompt: str = PROMPTS["passphrase"]) -> str:
    """Ask for a new passphrase, twice, until it is long enough, and not weak by mistake."""
    while True:
        try:
            text = _checked(_typed(prompt), prompt)
            check_passphrase(text)  # before it is asked for again
        except UsageError as error:
            say(f"{error.what[:1].upper()}{error.what[1:]}: {error.hint}.")
            continue
        if _typed("The same again") != text:
            say("These differ; try again.")
            continue
        bits = strength(text)
        say(guessing_time(bits))
        if bits >= ENOUGH or confirmed("That is weak. Use it all the same?"):
            return text


def read_passphrase(prompt: str = PROMPTS["passphrase"]) -> str:
    """Read a passphrase from the standard input; a weak one is accepted, with a warning."""
    text = read_secret(prompt)
    check_passphrase(text)
    bits = strength(text)
    if bits < ENOUGH:
        say(f"The passphrase is weak. {guessing_time(bits)}")
    return text


def confirmed(question: str, *, default: bool = False) -> bool:
    """Ask until the answer is yes or no; Enter is the default."""
    prompt = f"{question} [{'Y/n' if default else 'y/N'}]"
    while (text := line(prompt).casefold()) not in ("", "y", "yes", "n", "no"):
        say("That is not one of the answers: type y or n, or Enter.")
    return text.startswith("y") if text else default


def line(prompt: str) -> str:
    """Ask for one line, without the white space around it; click.Abort where there is no more."""
    return prompted(prompt).strip()


def pick(prompt: str, names: Sequence[str], texts: Sequence[str]) -> str | None:
    """Show numbered texts, and ask until the name of one is chosen; None for Enter."""
    click.echo(facts((str(number), text) for number, text in enumerate(texts, 1)), err=True)
    while True:
        text = line(prompt)
        try:
            return chosen(text, names) if text else None
        except UsageError as error:
            say(f"{error.what}: {error.hint}.")


def chosen(text: str, names: Sequence[str]) -> str:
    """Find what was chosen by name or by number, from 1; UsageError if it is neither.

    A name that looks like a number is a name first; its case counts only where two names differ
    in nothing else.
    """
    if text in names:
        return text
    alike = [each for each in names if each.casefold() == text.casefold()]
    if len(alike) == 1:
        return alike[0]
    if text.isascii() and text.isdecimal() and 1 <= int(text) <= len(names):
        return names[int(text) - 1]
    near, hint = nearest(text, names), f"type a number from 1 to {len(names)}, or a name"
    hint = hint if near is None else f"did you mean {near!r}?"
    raise UsageError(f"{text!r} is not one of these", hint)

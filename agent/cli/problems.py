"""What the user is told when something went wrong: one sentence, and how to mend it."""

import re

import click

from agent.cli.layout import paragraph
from agent.errors import PolicyError, ReticentError, UsageError, nearest

_NUMBERS = (  # what click says of numbers, and what is meant
    (re.compile("is not a valid integer( range)?"), "is not a whole number"),
    (re.compile("is not a valid float( range)?"), "is not a number"),
    (re.compile(r"is not in the range (\S+?)<=x<=(\S+)"), r"is not between \1 and \2"),
    (re.compile(r"is not in the range x>=(\S+)"), r"is below \1"),
    (re.compile(r"is not in the range x<=(\S+)"), r"is over \1"),
)
_LONG = re.compile(r"(\S{200})\S{200,}")  # a path may be as long as that


def show(error: ReticentError) -> int:
    """Show an error once, on the error stream, and return the exit code that it asks for.

    Of a policy all that is wrong is shown, each with its hint.
    """
    parts = _parts(error) if isinstance(error, PolicyError) else (error,)
    for part in parts:
        click.echo(f"reticent: error: {_shortened(printable(str(part)))}", err=True)
        click.echo(f"reticent: hint: {_shortened(printable(part.hint))}", err=True)
    return error.exit_code


def _shortened(text: str) -> str:
    """Return a text without what is too long to be read: a word of thousands of characters."""
    return _LONG.sub("\\1…", text)


def told(text: str) -> None:
    """Say something beside the answer: on the error stream, wrapped."""
    click.echo(paragraph(printable(text)), err=True)


def note(text: str) -> None:
    """Show what is worth knowing beside an answer; lower case, no full stop."""
    click.echo(f"reticent: note: {printable(text)}", err=True)


def _parts(error: PolicyError) -> tuple[PolicyError, ...]:
    """Return an error for each problem of a policy."""
    return tuple(PolicyError(error.source, [problem]) for problem in error.problems)


def as_usage_error(error: click.ClickException) -> ReticentError:
    """Return what click found wrong in our own words."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    command = "reticent" if context is None else context.command_path
    hint = f"see `{command} --help`"
    if isinstance(error, click.NoSuchOption):
        near = None if context is None else _nearest_option(error.option_name, context)
        hint = hint if near is None else f"did you mean {near!r}?"
        return UsageError(f"unknown option {error.option_name!r} of `{command}`", hint)
    message = " ".join(error.format_message().split()).rstrip(".")
    for form, ours in _NUMBERS:
        message = form.sub(ours, message)
    return UsageError(message[:1].lower() + message[1:], hint)


def _nearest_option(name: str, context: click.Context) -> str | None:
    """Return the option that was probably meant; the dashes make no two names alike."""
    options = {option.lstrip("-"): option for option in _options(context)}
    near = nearest(name.lstrip("-"), options)
    return None if near is None else options[near]


def _options(context: click.Context) -> list[str]:
    """Return the names of the options that a command takes."""
    options = (each for each in context.command.get_params(context) if each.opts)
    return [name for each in options for name in each.opts if name.startswith("-")]


def printable(text: str) -> str:
    """Return a text in which nothing steers the terminal."""
    return "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in text)

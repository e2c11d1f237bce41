"""Plain text for a terminal of 80 columns: paragraphs, tables, times, counts, errors and notes."""

import re
from collections.abc import Iterable
from functools import cache
from typing import Any

import click

from agent.cli.options import record
from agent.errors import PolicyError, ReticentError, UsageError
from agent.words.layout import INDENT, Column, facts, numeric, paragraph, printable, table, wide

__all__ = ["Column", "facts", "numeric", "paragraph", "printable", "table", "wide"]  # re-exported

_NUMBERS = (  # what click says of numbers, and what is meant
    (re.compile("is not a valid integer( range)?"), "is not a whole number"),
    (re.compile("is not a valid float( range)?"), "is not a number"),
    (re.compile(r"is not in the range (\S+?)<=x<=(\S+)"), r"is not between \1 and \2"),
    (re.compile(r"is not in the range x>=(\S+)"), r"is below \1"),
    (re.compile(r"is not in the range x<=(\S+)"), r"is over \1"),
)
_LONG = re.compile(r"(\S{200})\S{200,}")  # a path may be as long as that


@cache
def texts(module: str) -> Any:  # noqa: ANN401  (texts, or tables of some, by name)
    """What a module of commands says, by name, where it takes more than a line (texts.toml)."""
    import tomllib
    from importlib.resources import files

    return tomllib.loads((files("agent.cli") / "texts.toml").read_text("utf-8"))[module]


def page(headline: str, *parts: str) -> str:
    """Lay out a page: the headline stands out, and a blank line precedes each part present."""
    return "\n\n".join(filter(None, (strong(paragraph(headline)), *parts)))


def strong(text: str) -> str:
    """Make a text stand out where the terminal can show it."""
    return "\n".join(click.style(line, bold=True) for line in text.splitlines())


def show(error: ReticentError, *, as_json: bool = False) -> int:
    """Show an error once, on the error stream, and return the exit code that it asks for.

    Of a policy all that is wrong is shown, each with its hint. ``as_json``: as one object, with the
    ``code`` that the daemon's faults have.
    """
    if as_json:
        from agent.wire.routes import fault_of

        click.echo(record({"error": fault_of(error)}), err=True)
        return error.exit_code
    each: Iterable[ReticentError] = [error]
    if isinstance(error, PolicyError):
        each = [PolicyError(error.source, [problem]) for problem in error.problems]
    for part in each:
        click.echo(f"reticent: error: {_shortened(printable(str(part)))}", err=True)
        click.echo(f"reticent: hint: {_shortened(printable(part.hint))}", err=True)
    return error.exit_code


def _shortened(text: str) -> str:
    """Shorten what is too long to be read: a word of thousands of characters."""
    return _LONG.sub("\\1…", text)


def say(text: str) -> None:
    """Say something beside the answer: on the error stream, wrapped."""
    click.echo(paragraph(text), err=True)


def note(text: str) -> None:
    """Show what is worth knowing beside an answer; lower case, no full stop."""
    click.echo(f"reticent: note: {printable(text)}", err=True)


def as_usage_error(error: click.ClickException) -> ReticentError:
    """Put what click reports into our own words."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    command = "reticent" if context is None else context.command_path
    hint = f"see `{command} --help`"
    if isinstance(error, click.NoSuchOption):
        hint = f"did you mean {error.possibilities[0]!r}?" if error.possibilities else hint
        return UsageError(f"unknown option {error.option_name!r} of `{command}`", hint)
    if isinstance(error, click.MissingParameter) and context is not None:
        parts = [command]
        for each in context.command.params:
            flags = [name for name in each.opts if name.startswith("-")]
            parts += [*flags, each.make_metavar(context)] if each.required else []
        hint = f"write `{' '.join(parts)}`; see `{command} --help`"
    message = " ".join(error.format_message().split()).rstrip(".")
    for form, ours in _NUMBERS:
        message = form.sub(ours, message)
    return UsageError(message[:1].lower() + message[1:], hint)


def listing(head: str, items: Iterable[object]) -> str:
    """Lay out a line and, below it, each item whole in a line of its own, to be copied."""
    return "\n".join(map(printable, (head, *(f"{INDENT}{each}" for each in items))))

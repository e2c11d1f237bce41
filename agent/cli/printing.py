"""Plain text for a terminal of 80 columns: paragraphs, tables, times, counts, errors and notes."""

import re
import sys
import textwrap
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import NamedTuple

import click

from agent.errors import PolicyError, ReticentError, UsageError, nearest
from agent.tui.charts import bars

WIDTH = 80
INDENT = "  "
GAP = "  "
_COMMAND = re.compile(r"`[^`]*`")
_TOGETHER = "\ue000"  # for a space where no line ends; of private use, so that no text has it
_NUMBERS = (  # what click says of numbers, and what is meant
    (re.compile("is not a valid integer( range)?"), "is not a whole number"),
    (re.compile("is not a valid float( range)?"), "is not a number"),
    (re.compile(r"is not in the range (\S+?)<=x<=(\S+)"), r"is not between \1 and \2"),
    (re.compile(r"is not in the range x>=(\S+)"), r"is below \1"),
    (re.compile(r"is not in the range x<=(\S+)"), r"is over \1"),
)
_LONG = re.compile(r"(\S{200})\S{200,}")  # a path may be as long as that
BAR_COLUMNS = 8  # columns


class Column(NamedTuple):
    """A column of a table: numbers stand to the right; what is too wide wraps, the last first.

    ``least``: columns of a cell that wraps, before the one to its left gives way.
    """

    title: str
    right: bool = False
    wraps: bool = False
    least: int = 16


def wide(title: str, least: int = 16) -> Column:
    """Return a column of text that wraps."""
    return Column(title, wraps=True, least=least)


def numeric(title: str) -> Column:
    """Return a column of numbers."""
    return Column(title, right=True)


def page(headline: str, *parts: str) -> str:
    """Return a page: the headline stands out, and a blank line precedes each part that is there."""
    return "\n\n".join(filter(None, (strong(paragraph(headline)), *parts)))


def paragraph(text: str, indent: str = "") -> str:
    """Return a text in lines of at most 80 columns; a command in backquotes stays in one."""
    return "\n".join(_wrapped(printable(text), WIDTH, indent, indent))


def strong(text: str) -> str:
    """Return a text that stands out where the terminal can show it."""
    return "\n".join(click.style(line, bold=True) for line in text.splitlines())


def table(columns: Sequence[Column], rows: Iterable[Sequence[str]]) -> str:
    """Return an indented table of at most 80 columns, empty without rows."""
    cells = [[printable(text) for text in row] for row in rows]
    if not cells:
        return ""
    cells.insert(0, [column.title for column in columns])
    widths = [max(map(len, texts)) for texts in zip(*cells, strict=True)]
    frame = len(INDENT) + len(GAP) * (len(columns) - 1)
    for place, column in reversed([*enumerate(columns)]):
        if column.wraps:
            room = WIDTH - frame - sum(widths) + widths[place]
            widths[place] = min(widths[place], max(room, column.least))
    lines = []
    for row in cells:
        wrapped = [
            _wrapped(text, width) if column.wraps and text else [text]
            for column, width, text in zip(columns, widths, row, strict=True)
        ]
        for texts in zip_longest(*wrapped, fillvalue=""):
            aligned = [
                f"{text:>{width}}" if column.right else f"{text:<{width}}"
                for column, width, text in zip(columns, widths, texts, strict=True)
            ]
            lines.append((INDENT + GAP.join(aligned)).rstrip())
    return "\n".join(lines)


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    """Return names and what there is to say about each, in two columns; empty without any."""
    shown = [(printable(name), printable(text)) for name, text in pairs]
    margin = max((len(name) for name, _ in shown), default=0)
    lines = []
    for name, text in shown:
        first = f"{INDENT}{name:<{margin}}{GAP}"
        lines += _wrapped(text, WIDTH, first, " " * len(first))
    return "\n".join(lines)


def _wrapped(text: str, width: int, first: str = "", rest: str = "") -> list[str]:
    """Return a text in lines, each as it begins; a command is broken only if it fills a line."""
    room = width - max(len(first), len(rest))

    def kept(command: re.Match[str]) -> str:
        return command[0] if len(command[0]) > room else command[0].replace(" ", _TOGETHER)

    lines = textwrap.wrap(
        _COMMAND.sub(kept, text),
        width,
        initial_indent=first,
        subsequent_indent=rest,
        break_on_hyphens=False,
    )
    return [line.replace(_TOGETHER, " ") for line in lines]


def show(error: ReticentError) -> int:
    """Show an error once, on the error stream, and return the exit code that it asks for.

    Of a policy all that is wrong is shown, each with its hint.
    """
    each: Iterable[ReticentError] = [error]
    if isinstance(error, PolicyError):
        each = [PolicyError(error.source, [problem]) for problem in error.problems]
    for part in each:
        click.echo(f"reticent: error: {_shortened(printable(str(part)))}", err=True)
        click.echo(f"reticent: hint: {_shortened(printable(part.hint))}", err=True)
    return error.exit_code


def _shortened(text: str) -> str:
    """Return a text without what is too long to be read: a word of thousands of characters."""
    return _LONG.sub("\\1…", text)


def told(text: str) -> None:
    """Say something beside the answer: on the error stream, wrapped."""
    click.echo(paragraph(text), err=True)


def note(text: str) -> None:
    """Show what is worth knowing beside an answer; lower case, no full stop."""
    click.echo(f"reticent: note: {printable(text)}", err=True)


def as_usage_error(error: click.ClickException) -> ReticentError:
    """Return what click found wrong in our own words."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    command = "reticent" if context is None else context.command_path
    hint = f"see `{command} --help`"
    if isinstance(error, click.NoSuchOption):
        parameters = [] if context is None else context.command.get_params(context)
        known = [name for each in parameters for name in each.opts if name.startswith("-")]
        options = {name.lstrip("-"): name for name in known}  # dashes make no two names alike
        near = nearest(error.option_name.lstrip("-"), options)
        hint = hint if near is None else f"did you mean {options[near]!r}?"
        return UsageError(f"unknown option {error.option_name!r} of `{command}`", hint)
    message = " ".join(error.format_message().split()).rstrip(".")
    for form, ours in _NUMBERS:
        message = form.sub(ours, message)
    return UsageError(message[:1].lower() + message[1:], hint)


def printable(text: str) -> str:
    """Return a text in which nothing steers the terminal."""
    return "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in text)


def sparkline(numbers: Sequence[int], most: int) -> str:
    """Return a bar for each number, on a logarithmic scale from 1 to ``most``.

    Of more than there is room for some are left out, never the first or the last. It is empty
    where the terminal has no bars.
    """
    found = bars(numbers, most, BAR_COLUMNS)
    try:
        found.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return ""
    return found


def listing(head: str, items: Iterable[object]) -> str:
    """Return a line and, below it, each item whole in a line of its own, to be copied."""
    return "\n".join(map(printable, (head, *(f"{INDENT}{each}" for each in items))))

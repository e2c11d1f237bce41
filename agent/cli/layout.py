"""Plain text for a terminal of 80 columns: paragraphs, tables, times, counts."""

import re
import textwrap
from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import zip_longest
from typing import NamedTuple

import click

WIDTH = 80
INDENT = "  "
GAP = "  "
_COMMAND = re.compile(r"`[^`]*`")
_TOGETHER = "\ue000"  # for a space where no line ends; of private use, so that no text has it


class Column(NamedTuple):
    """A column of a table: numbers stand to the right; what is too wide wraps, the last first.

    ``least``: columns of a cell that wraps, before the one to its left gives way.
    """

    title: str
    right: bool = False
    wraps: bool = False
    least: int = 16


def paragraph(text: str, indent: str = "") -> str:
    """Return a text in lines of at most 80 columns; a command in backquotes stays in one."""
    return "\n".join(_wrapped(text, WIDTH, indent, indent))


def strong(text: str) -> str:
    """Return a text that stands out where the terminal can show it."""
    return "\n".join(click.style(line, bold=True) for line in text.splitlines())


def moment(at: datetime) -> str:
    """Return a time to the minute, as it is here."""
    return f"{at.astimezone():%Y-%m-%d %H:%M}"


def counted(number: int, one: str, many: str = "") -> str:
    """Return how many there are: 1 entry, 1,200 entries; ``many``: by default with an s."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def table(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> str:
    """Return an indented table of at most 80 columns."""
    widths = [
        max(len(text) for text in (column.title, *(row[place] for row in rows)))
        for place, column in enumerate(columns)
    ]
    frame = len(INDENT) + len(GAP) * (len(columns) - 1)
    for place in reversed(range(len(columns))):
        if columns[place].wraps:
            room = WIDTH - frame - sum(widths) + widths[place]
            widths[place] = min(widths[place], max(room, columns[place].least))
    lines = [_line(columns, widths, [column.title for column in columns])]
    for row in rows:
        cells = [_cell(*each) for each in zip(columns, widths, row, strict=True)]
        lines += [_line(columns, widths, texts) for texts in zip_longest(*cells, fillvalue="")]
    return "\n".join(lines)


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    """Return names and what there is to say about each, in two columns."""
    listed = [*pairs]
    margin = max(len(name) for name, _ in listed)
    lines = []
    for name, text in listed:
        first = f"{INDENT}{name:<{margin}}{GAP}"
        lines += _wrapped(text, WIDTH, first, " " * len(first))
    return "\n".join(lines)


def _cell(column: Column, width: int, text: str) -> list[str]:
    """Return the lines of one cell."""
    if not column.wraps or not text:
        return [text]
    return _wrapped(text, width)


def _wrapped(text: str, width: int, first: str = "", rest: str = "") -> list[str]:
    """Return a text in lines, each as it begins: no command that fits is broken."""
    room = width - max(len(first), len(rest))
    kept = _COMMAND.sub(lambda found: _kept(found[0], room), text)
    lines = textwrap.wrap(
        kept, width, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False
    )
    return [line.replace(_TOGETHER, " ") for line in lines]


def _kept(command: str, room: int) -> str:
    """Return a command in which no line ends, unless it is longer than a line."""
    return command if len(command) > room else command.replace(" ", _TOGETHER)


def _line(columns: Sequence[Column], widths: Sequence[int], texts: Sequence[str]) -> str:
    cells = [
        f"{text:>{width}}" if column.right else f"{text:<{width}}"
        for column, width, text in zip(columns, widths, texts, strict=True)
    ]
    return (INDENT + GAP.join(cells)).rstrip()

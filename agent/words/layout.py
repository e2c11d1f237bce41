"""Plain text in 80 columns: paragraphs, tables, and facts with their names."""

import re
import textwrap
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import NamedTuple

WIDTH = 80
INDENT = GAP = "  "
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


def wide(title: str, least: int = 16) -> Column:
    """Make a column of text that wraps."""
    return Column(title, wraps=True, least=least)


def numeric(title: str) -> Column:
    """Make a column of numbers."""
    return Column(title, right=True)


def paragraph(text: str, indent: str = "") -> str:
    """Wrap a text in lines of at most 80 columns; a command in backquotes stays in one."""
    return "\n".join(_wrapped(printable(text), WIDTH, indent))


def table(columns: Sequence[Column], rows: Iterable[Sequence[str]]) -> str:
    """Lay out an indented table of at most 80 columns under its titles; empty without rows."""
    cells = [[printable(text) for text in row] for row in rows]
    if not cells:
        return ""
    if any(column.title for column in columns):
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
    """Lay out names and what there is to say about each, in two columns; empty without any."""
    return table((Column(""), wide("")), pairs)


def _wrapped(text: str, width: int, indent: str = "") -> list[str]:
    """Break a text into lines; a command is broken only if it fills a line."""
    room = width - len(indent)

    def whole(command: re.Match[str]) -> str:
        return command[0] if len(command[0]) > room else command[0].replace(" ", _TOGETHER)

    lines = textwrap.wrap(
        _COMMAND.sub(whole, text),
        width,
        initial_indent=indent,
        subsequent_indent=indent,
        break_on_hyphens=False,
    )
    return [line.replace(_TOGETHER, " ") for line in lines]


def printable(text: str) -> str:
    """Replace what could steer the terminal."""
    return "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in text)

"""On which line of a policy each key stands, for the errors that name it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from policy.statements import Key, statements

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["Key", "line_of", "lines_of"]


def lines_of(text: str) -> Mapping[Key, int]:
    """Return the line, from 1, on which each key of a text is mentioned first.

    The text must be TOML that tomllib accepts. A path is as tomllib nests the key, with a number
    from 0 for an element of an array: ("rule", 2, "lambda"), and ("rule", 2) for its header.
    Paths of more than DEPTH parts, and elements of arrays that are no tables, are left out.
    """
    lines: dict[Key, int] = {}
    line, counted = 1, 0
    for path, known, offset in _mentions(text):
        line += text.count("\n", counted, offset)
        counted = offset
        for length in range(known + 1, len(path) + 1):
            lines.setdefault(path[:length], line)
    return lines


def line_of(positions: Mapping[Key, int], path: Key) -> int:
    """Return the line of a path, else of the nearest part before it that has one, else 1."""
    for length in range(len(path), 0, -1):
        if path[:length] in positions:
            return positions[path[:length]]
    return 1


def _mentions(text: str) -> Iterator[tuple[Key, int, int]]:
    """Yield every path, how many of its parts were mentioned before, and its offset."""
    for statement in statements(text):
        known = 0 if statement.is_header else len(statement.table)
        yield statement.path, known, statement.start
        for path, offset in statement.inner:
            yield path, len(statement.path), offset

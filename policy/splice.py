"""Changes of a TOML text in place: what is not changed keeps every character and its order.

Whole keys with their values are exchanged, put in and taken out; so a comment stays, unless it
stands inside what is taken out. The text must be TOML that tomllib accepts, and end with a line.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, NamedTuple

from policy.statements import Key, Statement, statements

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_BLANK_LINES = re.compile(r"(?:[ \t\r]*+\n)*+")


class Splice(NamedTuple):
    """What shall stand where something else stands, between two offsets."""

    start: int
    end: int
    text: str = ""


def put(text: str, path: Key, value: str) -> str:
    """Return the text with a value, written as TOML, at a path, in whichever form it was there.

    The first of its keys is replaced where it stands; a new one follows the last key of its
    table; a table that has no header yet gets one, above the first.
    """
    found = [*statements(text)]
    keys = (each for each in found if not each.is_header and each.within(path))
    spot = next((each for each in keys if len(each.table) < len(path)), None)
    if spot is None:
        new = _insertion(text, found, path, value)
    elif spot.path == path:
        new = Splice(spot.value, spot.end, value)
    else:
        new = Splice(spot.start, spot.end, _pair(spot.table, path, value))
    cuts = [*_cuts(text, [each for each in found if each != spot], path)]
    changed = _spliced(text, [new, *cuts])
    return _ended(changed) if cuts else changed


def cut(text: str, path: Key) -> str:
    """Return the text without the lines of what stands at a path."""
    return _ended(_spliced(text, _cuts(text, [*statements(text)], path)))


def append(text: str, block: str) -> str:
    """Return the text with a block of lines below it, after a blank line."""
    return f"{text}{_gap(text, len(text))}{block}"


def dotted(parts: Iterable[str | int]) -> str:
    """Return the parts of a path as a TOML key, in quotes where they must be."""
    return ".".join(_quoted(str(part)) for part in parts)


def _quoted(part: str) -> str:
    """Return one part of a key; the escapes of JSON are TOML's too, which wants one more."""
    if _BARE.fullmatch(part):
        return part
    return json.dumps(part, ensure_ascii=False).replace("\x7f", "\\u007f")


def _pair(table: Key, path: Key, value: str) -> str:
    """Return a key and its value as they stand in a table."""
    return f"{dotted(path[len(table) :])} = {value}"


def _insertion(text: str, found: Sequence[Statement], path: Key, value: str) -> Splice:
    """Return the line for a path that has none yet, where it belongs."""
    parent = path[:-1]
    last = None
    for each in found:
        implied = not each.is_header and each.within(parent) and len(each.table) < len(parent)
        if each.table == parent or implied:
            last = each
    if last is not None:
        at = _line_end(text, last.end)
        return Splice(at, at, _pair(last.table, path, value) + "\n")
    at = _above_tables(text, found)
    below = "\n" if at < len(text) else ""
    if not parent:
        return Splice(at, at, f"{_pair(parent, path, value)}\n{below}")
    header = f"{_gap(text, at)}[{dotted(parent)}]\n"
    return Splice(at, at, f"{header}{_pair(parent, path, value)}\n{below}")


def _above_tables(text: str, found: Sequence[Statement]) -> int:
    """Return where a line may stand above all tables, and above the comment on the first.

    A comment on the first line is about the whole file, and stays above.
    """
    lowest = 0
    for each in found:
        if each.is_header:
            break
        lowest = _line_end(text, each.end)
    else:
        return len(text)
    header = at = _line_start(text, each.start)
    while at > lowest and text[_line_start(text, at - 1) : at].lstrip().startswith("#"):
        at = _line_start(text, at - 1)
    return at or header


def _cuts(text: str, found: Sequence[Statement], path: Key) -> Iterator[Splice]:
    """Yield what takes out all at a path: a table from its header to its last key."""
    spans: list[tuple[int, int]] = []
    for each in found:
        if each.within(path):
            start, end = _line_start(text, each.start), _line_end(text, each.end)
            if not each.is_header and len(each.table) >= len(path):
                start, _ = spans.pop()
            spans.append((start, end))
    for start, end in spans:
        blank = _BLANK_LINES.match(text, end) if not _gap(text, start) else None
        yield Splice(start, blank.end() if blank else end)


def _gap(text: str, at: int) -> str:
    """Return the blank line that is missing above the line at an offset, if one is."""
    above = text[_line_start(text, at - 1) : at] if at else ""
    return "\n" if above.strip() else ""


def _line_start(text: str, at: int) -> int:
    """Return where the line with an offset starts."""
    return text.rfind("\n", 0, at) + 1


def _line_end(text: str, at: int) -> int:
    """Return where the line after an offset starts."""
    return text.index("\n", at) + 1


def _spliced(text: str, splices: Iterable[Splice]) -> str:
    """Return the text with all splices done; none overlaps another."""
    parts: list[str] = []
    done = 0
    for start, end, new in sorted(splices):
        parts += (text[done:start], new)
        done = end
    return "".join((*parts, text[done:]))


def _ended(text: str) -> str:
    """Return the text without blank lines at its end."""
    content = text.rstrip(" \t\r\n")
    return text[: text.find("\n", len(content)) + 1] if content else ""

"""Where the keys of a TOML text stand, and edits that leave all else as it is.

A scan, not a parser: the text must be TOML that tomllib accepts, so nothing is checked. It is for
what tomllib does not keep: the line of a key, for an error, and the place of a value, for an edit.
Lines are put in and taken out, so a comment stays unless it stands inside what is taken out.
"""

from __future__ import annotations

import json
import re
import tomllib
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence


Key = tuple[str | int, ...]
DEPTH = 16  # a longer path stands for what is below it: a key of 10,000 dots has no place here
_STRING = r"""
    \"{3} (?: [^"\\]++ | \\. | "{1,2}(?!") )*+ "{3,5}
  | '{3}  (?: [^']++   | '{1,2}(?!') )*+ '{3,5}
  | "     (?: [^"\\]++ | \\. )*+ "
  | '     [^']*+ '
"""
_ATOM = re.compile(
    rf"(?s: {_STRING} | [^\s,\]}}#]++ (?:[ \t]++[^\s,\]}}#]++)?+ )",  # a date and time have a space
    re.VERBOSE,
)
_PART = re.compile(
    rf"(?s: [ \t]*+ (?P<part> [A-Za-z0-9_-]++ | {_STRING} ) [ \t]*+ (?P<dot> \.?) )", re.VERBOSE
)
_COMMENT = re.compile(rf"(?s: {_STRING} ) | (?P<comment> \#[^\n]*+ )", re.VERBOSE)
_BLANK = re.compile(r"(?:[ \t\r\n]++|#[^\n]*+)*+")
_BETWEEN = re.compile(r"(?:[ \t\r\n,]++|#[^\n]*+)*+")  # two elements of an array
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_BLANK_LINES = re.compile(r"(?:[ \t\r]*+\n)*+")


class Statement(NamedTuple):
    """A header, or a key with its value.

    `table` is the path of the table it stands in; of a header it is its own `path`. The other
    figures are offsets into the text: where it starts, where its value starts, and where it ends,
    white space and comment left out. `inner` are the keys of inline tables in the value.
    """

    table: Key
    path: Key
    start: int
    value: int
    end: int
    inner: tuple[tuple[Key, int], ...] = ()

    @property
    def is_header(self) -> bool:
        """Whether it opens a table."""
        return self.value == self.end

    def within(self, path: Key) -> bool:
        """Tell whether it is what stands at `path`, or a part of it."""
        return self.path[: len(path)] == path


def statements(text: str) -> Iterator[Statement]:
    """Yield the headers and keys of a text that tomllib accepts, in its order, in linear time."""
    table: Key = ()
    counts: dict[Key, int] = {}
    at = _end(_BLANK, text, 0)
    while at < len(text):
        start = at
        if text[at] == "[":
            is_array = text.startswith("[[", at)
            parts, at = _key(text, at + 1 + is_array)
            at += 1 + is_array
            table = _opened(parts, counts, is_array=is_array)
            yield Statement(table, table, start, at, at)
        else:
            parts, at = _key(text, at)
            path = (table + parts)[:DEPTH]
            value = _end(_BLANK, text, at + 1)
            at, inner = _value(text, value, path)
            yield Statement(table, path, start, value, at, inner)
        at = _end(_BLANK, text, at)


def comments(text: str) -> list[str]:
    """Return the comments of a text that tomllib accepts, or of a value in one."""
    found = (each["comment"] for each in _COMMENT.finditer(text))
    return [comment for comment in found if comment is not None]


def _key(text: str, at: int) -> tuple[tuple[str, ...], int]:
    """Return the parts of the key at an offset, and where `=` or `]` follows it."""
    parts = []
    while found := _PART.match(text, at):
        at = found.end()
        parts.append(_plain(found["part"]))
        if not found["dot"]:
            break
    return tuple(parts), at


def _plain(part: str) -> str:
    """Return what a part of a key means, without quotes and escapes."""
    if part[0] not in "\"'":
        return part
    if "\\" not in part:
        return part[1:-1]
    (key,) = tomllib.loads(f"{part} = 0")
    return key


def _opened(parts: tuple[str, ...], counts: dict[Key, int], *, is_array: bool) -> Key:
    """Return the path of a header, and count it if it is one more element of an array."""
    path: Key = ()
    for place, part in enumerate(parts, start=1):
        path = (*path, part)
        if len(path) >= DEPTH:
            return path
        if is_array and place == len(parts):
            counts[path] = counts.get(path, -1) + 1
        if path in counts:
            path = (*path, counts[path])
    return path


class _Open(NamedTuple):
    """An array or inline table that has not been closed yet, and how many elements it had."""

    path: Key
    is_table: bool
    counter: Iterator[int]


def _value(text: str, at: int, path: Key) -> tuple[int, tuple[tuple[Key, int], ...]]:
    """Return where a value ends, and the keys of inline tables in it.

    Without recursion, since it may be called from deeper in the stack than tomllib was.
    """
    inner: list[tuple[Key, int]] = []
    opened: list[_Open] = []
    while True:
        if text[at] in "[{":
            opened.append(_Open(path, text[at] == "{", count()))
            at += 1
        else:
            at = _end(_ATOM, text, at)
        at = _closed(text, at, opened)
        if not opened:
            return at, tuple(inner)
        path, start, at = _element(text, at, opened[-1])
        if opened[-1].is_table or text[at] == "{":
            inner.append((path, start))


def _closed(text: str, at: int, opened: list[_Open]) -> int:
    """Close what ends after a value, and return where the next value or its key starts."""
    while opened:
        at = _end(_BETWEEN, text, at)
        if text[at] not in "]}":
            break
        opened.pop()
        at += 1
    return at


def _element(text: str, at: int, holder: _Open) -> tuple[Key, int, int]:
    """Return the path of an element, where it starts, and where its value does."""
    if not holder.is_table:
        return (*holder.path, next(holder.counter))[:DEPTH], at, at
    parts, equals = _key(text, at)
    return (holder.path + parts)[:DEPTH], at, _end(_BLANK, text, equals + 1)


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    """Return where a match of `pattern` at an offset ends."""
    found = pattern.match(text, at)
    return found.end() if found else at


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

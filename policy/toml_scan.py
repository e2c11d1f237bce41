"""Where the keys of a TOML text stand.

A scan, not a parser: the text must be TOML that tomllib accepts, so nothing is checked. It is for
what tomllib does not keep: the line of a key, for an error, and the place of a value, for an edit.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from itertools import count
from typing import NamedTuple

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


class Statement(NamedTuple):
    """A header, or a key with its value; of an array, an inline table without a key.

    `table` is the path of the table or array it stands in; of a header it is its own `path`. The
    other figures are offsets into the text: where it starts, where its value starts, and where it
    ends, white space and comment left out. `inline`: whether it stands in another one's value.
    """

    table: Key
    path: Key
    start: int
    value: int
    end: int
    inline: bool = False

    @property
    def is_header(self) -> bool:
        """Whether it opens a table."""
        return self.value == self.end

    def within(self, path: Key) -> bool:
        """Tell whether it is what stands at `path`, or a part of it."""
        return self.path[: len(path)] == path


def statements(text: str) -> Iterator[Statement]:
    """Yield the headers and keys of a text that tomllib accepts, in its order, in linear time.

    What stands in a value follows its key.
    """
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
            yield Statement(table, path, start, value, at)
            yield from inner
        at = _end(_BLANK, text, at)


def comments(text: str) -> list[str]:
    """Return the comments of a text that tomllib accepts, or of a value in one."""
    found = (each["comment"] for each in _COMMENT.finditer(text))
    return [comment for comment in found if comment is not None]


def lines_of(text: str) -> Mapping[Key, int]:
    """Return the line, from 1, on which each key of a text is mentioned first.

    The text must be TOML that tomllib accepts. A path is as tomllib nests the key, with a number
    from 0 for an element of an array: ("rule", 2, "lambda"), and ("rule", 2) for its header.
    Paths of more than DEPTH parts, and elements of arrays that are no tables, are left out.
    """
    lines: dict[Key, int] = {}
    line, counted, above = 1, 0, 0
    for each in statements(text):
        line += text.count("\n", counted, each.start)
        counted = each.start
        if not each.inline:
            above = 0 if each.is_header else len(each.table)
        for length in range(above + 1, len(each.path) + 1):
            lines.setdefault(each.path[:length], line)
        if not each.inline:
            above = len(each.path)
    return lines


def line_of(lines: Mapping[Key, int], path: Key) -> int:
    """Return the line of a path, else of the nearest part before it that has one, else 1."""
    above = (path[:length] for length in range(len(path), 0, -1))
    return next((lines[each] for each in above if each in lines), 1)


def _key(text: str, at: int) -> tuple[tuple[str, ...], int]:
    """Return the parts of the key at an offset, and where `=` or `]` follows it."""
    parts = []
    while found := _PART.match(text, at):
        at, part = found.end(), found["part"]
        if part[0] in "\"'":
            (part,) = tomllib.loads(f"{part} = 0")
        parts.append(part)
        if not found["dot"]:
            break
    return tuple(parts), at


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


def _value(text: str, at: int, path: Key) -> tuple[int, list[Statement]]:
    """Return where a value ends, and what stands in it.

    Without recursion, since it may be called from deeper in the stack than tomllib was.
    """
    inner: list[tuple[Key, Key, int, int]] = []
    ends: dict[int, int] = {}  # of what is in `inner`
    opened: list[tuple[Key, Iterator[int] | None, int]] = []  # an array counts, a table does not
    place = -1  # in `inner`, of what has the value at `at`
    while True:
        if text[at] in "[{":
            opened.append((path, count() if text[at] == "[" else None, place))
            at += 1
        else:
            at = ends[place] = _end(_ATOM, text, at)
        while opened:
            after = _end(_BETWEEN, text, at)
            if text[after] not in "]}":
                break
            *_, place = opened.pop()
            at = ends[place] = after + 1
        if not opened:
            found = enumerate(inner)
            return at, [Statement(*each, ends[number], inline=True) for number, each in found]
        holder, places, _ = opened[-1]
        parts: Key
        start = at = after
        if places is None:
            parts, equals = _key(text, at)
            at = _end(_BLANK, text, equals + 1)
        else:
            parts = (next(places),)
        path, place = (holder + parts)[:DEPTH], -1
        if places is None or text[at] == "{":
            place = len(inner)
            inner.append((holder, path, start, at))


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    """Return where a match of `pattern` at an offset ends."""
    found = pattern.match(text, at)
    return found.end() if found else at

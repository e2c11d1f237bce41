"""JSON with comments, as editors keep it: one member of it is changed, and all else stays as it is.

Comments (`//` and `/* */`), a comma behind the last member and a byte-order mark count as white
space. Source: "JSON with Comments" in the documentation of Visual Studio Code.
"""

import json
import re
from itertools import count
from typing import Any, NamedTuple

_STRING = r'("[^"\\]*(?:\\.[^"\\]*)*")'
_COMMENT = re.compile(rf"{_STRING}|\ufeff|//[^\n]*|/\*.*?\*/", re.DOTALL)
_LAST_COMMA = re.compile(rf"{_STRING}|,(?=\s*[\]}}])", re.DOTALL)
_EMPTY = re.compile(r"\s*\{\s*\}\s*")
_INDENT = re.compile(r"\n([ \t]+)")  # of the first member


class _Member(NamedTuple):
    """Where its name and its value begin, and where it ends."""

    begin: int
    value: int
    end: int


def read(text: str) -> object:
    """Read a document, an empty object where it has nothing.

    ValueError where it is not JSON, and for two members of one name; RecursionError.
    """
    bare = _bare(text)
    return _DECODER.decode(bare) if bare.strip() else {}


def with_member(text: str, group: str, name: str, value: object) -> str:
    """Set a member of the object that a document has by the name of ``group``, or is to have.

    A new one comes first. ValueError where the value is not JSON.
    """
    indents, line = _INDENT.search(text), "\r\n" if "\r\n" in text else "\n"
    indent = indents[1] if indents else "  "
    if not _bare(text).strip():
        text = f"{text.rstrip()}{line if text.strip() else ''}{{}}{line}"
    (members, close), depth = _members(text), 1
    if group in members:
        (members, close), depth, group = _members(text, members[group].value), 2, name
    else:
        value = {name: value}
    inside = line + indent * depth
    written = json.dumps(value, indent=indent, allow_nan=False).replace("\n", inside)
    if group in members:
        _, begin, end = members[group]
        return text[:begin] + written + text[end:]
    entry = f"{json.dumps(group)}: {written}"
    if members:
        begin = next(iter(members.values())).begin
        return f"{text[:begin]}{entry},{inside}{text[begin:]}"
    return f"{text[:close].rstrip()}{inside}{entry}{line}{indent * (depth - 1)}{text[close:]}"


def without_member(text: str, group: str, name: str) -> str:
    """Remove a member, then its group, then all, as far as each holds nothing more."""
    text = _cut(text, _members(text, _members(text)[0][group].value)[0], name)
    members, _ = _members(text)
    if _EMPTY.fullmatch(text, *members[group][1:]):
        text = _cut(text, members, group)
    return "" if _EMPTY.fullmatch(text.removeprefix("\ufeff")) else text


def _cut(text: str, members: dict[str, _Member], name: str) -> str:
    """Remove a member, with the comma behind it or before it."""
    places = [*members.values()]
    at = places.index(members[name])
    if at + 1 < len(places):
        return text[: places[at].begin] + text[places[at + 1].begin :]
    if at:
        return text[: places[at - 1].end] + text[places[at].end :]
    comma = re.match(r"\s*,", text[places[at].end :])  # the last one, which editors allow
    end = places[at].end + (comma.end() if comma else 0)
    return text[: places[at].begin].rstrip() + text[end:]


def _members(text: str, begin: int = 0) -> tuple[dict[str, _Member], int]:
    """Locate the members of the object that comes next in a document, and where it closes."""
    bare, members = _bare(text), dict[str, _Member]()
    at = bare.index("{", begin) + 1
    while bare[at := _next(bare, at)] != "}":
        at = _next(bare, at + 1) if bare[at] == "," else at
        name, end = _DECODER.raw_decode(bare, at)
        value = _next(bare, bare.index(":", end) + 1)
        members[name] = _Member(at, value, _DECODER.raw_decode(bare, value)[1])
        at = members[name].end
    return members, at


def _next(text: str, at: int) -> int:
    """Locate the next sign that is no white space; the text has one."""
    return next(place for place in count(at) if not text[place].isspace())


def _bare(text: str) -> str:
    """Put spaces in place of what JSON does not have: all else stays in its place."""

    def blank(found: re.Match[str]) -> str:
        return found[1] or re.sub(r"\S", " ", found[0].replace("\ufeff", " "))

    return _LAST_COMMA.sub(blank, _COMMENT.sub(blank, text))


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError
    return members


_DECODER = json.JSONDecoder(object_pairs_hook=_once)

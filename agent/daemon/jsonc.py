"""JSON with comments, as editors keep it: one member of it is changed, and all else stays as it is.

Comments (`//` and `/* */`), a comma behind the last member and a byte-order mark count as white
space. Source: "JSON with Comments" in the documentation of Visual Studio Code.
"""

import json
import re
from typing import Any, NamedTuple

_STRING = r'("[^"\\]*(?:\\.[^"\\]*)*")'
_COMMENT = re.compile(rf"{_STRING}|\ufeff|//[^\n]*|/\*.*?\*/", re.DOTALL)
_LAST_COMMA = re.compile(rf"{_STRING}|,(?=\s*[\]}}])", re.DOTALL)
_SOLID, _SIGN = re.compile(r"\S"), re.compile(r"\S|$")
_EMPTY = re.compile(r"\{\s*\}")
_INDENT = re.compile(r"\n([ \t]+)")  # of the first member


class _Member(NamedTuple):
    """Where its name and its value begin, and where it ends."""

    begin: int
    value: int
    end: int


class _Object(NamedTuple):
    """Its members, and where its bracket closes; ``open_ended``: a comma follows the last one."""

    members: dict[str, _Member]
    close: int
    open_ended: bool


def read(text: str) -> object:
    """Read a document, an empty object where it has nothing.

    ValueError where it is not JSON, and for two members of one name; RecursionError.
    """
    bare = _bare(_uncommented(text))
    return _DECODER.decode(bare) if bare.strip() else {}


def with_member(text: str, group: str, name: str, value: object) -> str:
    """Set a member of the object that a document has by the name of ``group``, or is to have.

    ValueError where that is not an object, or the value is not JSON.
    """
    indents, lines = _INDENT.search(text), "\r\n" if "\r\n" in text else "\n"
    indent = indents[1] if indents else "  "
    if not _uncommented(text).strip():
        text = f"{text.rstrip()}{lines if text.strip() else ''}{{}}{lines}"
    whole, depth = _object(text), 1
    if group in whole.members:
        whole, depth, group = _object(text, whole.members[group].value), 2, name
    else:
        value = {name: value}
    inside = lines + indent * depth
    written = json.dumps(value, indent=indent, allow_nan=False).replace("\n", inside)
    if group in whole.members:
        _, begin, end = whole.members[group]
        return text[:begin] + written + text[end:]
    before = text[: whole.close].rstrip()
    space = text[len(before) : whole.close]
    if whole.members and not whole.open_ended:
        end = [*whole.members.values()][-1].end
        before = f"{before[:end]},{before[end:]}"
    entry = f"{inside}{json.dumps(group)}: {written}{',' if whole.open_ended else ''}"
    space = space if "\n" in space else lines + indent * (depth - 1)
    return before + entry + space + text[whole.close :]


def without_member(text: str, group: str, name: str) -> str:
    """Remove a member, then its group, then all, as far as each holds nothing more."""
    inner = _object(text, _object(text).members[group].value)
    text = _cut(text, inner, name)
    found = _object(text)
    _, begin, end = found.members[group]
    if _EMPTY.fullmatch(text, begin, end):
        text = _cut(text, found, group)
    return "" if _EMPTY.fullmatch(text.strip("\ufeff \t\r\n")) else text


def _cut(text: str, of: _Object, name: str) -> str:
    """Remove a member, and the comma that stands behind it, or else before it."""
    names, places = [*of.members], [*of.members.values()]
    at, plain = names.index(name), _uncommented(text)
    begin, _, end = places[at]
    begin = len(text[:begin].rstrip())
    if at + 1 < len(names) or of.open_ended:
        end = plain.index(",", end) + 1
    elif at:
        comma = plain.index(",", places[at - 1].end)
        return text[:comma] + text[comma + 1 : begin] + text[end:]
    return text[:begin] + text[end:]


def _object(text: str, begin: int | None = None) -> _Object:
    """Locate the members of an object, by default of the document; ValueError for any other."""
    plain = _uncommented(text)
    bare = _bare(plain)
    at = _next(bare, 0) if begin is None else begin
    if bare[at] != "{":
        raise ValueError
    members, end = dict[str, _Member](), at
    at += 1
    while bare[at := _next(bare, at)] != "}":
        begin = at if bare[at] != "," else _next(bare, at + 1)
        name, at = _DECODER.raw_decode(bare, begin)
        value = _next(bare, bare.index(":", at) + 1)
        at = end = _DECODER.raw_decode(bare, value)[1]
        members[name] = _Member(begin, value, end)
    open_ended = "," in plain[end:at]
    if open_ended and not members:
        raise ValueError
    return _Object(members, at, open_ended)


def _next(text: str, at: int) -> int:
    """Locate the next sign that is no white space."""
    found = _SIGN.search(text, at)
    return at if found is None else found.start()


def _blank(found: re.Match[str]) -> str:
    return found[1] or _SOLID.sub(" ", found[0]).replace("\ufeff", " ")


def _uncommented(text: str) -> str:
    """Put spaces in place of comments: everything else stays at its place."""
    return _COMMENT.sub(_blank, text)


def _bare(text: str) -> str:
    """Put spaces in place of commas behind a last member."""
    return _LAST_COMMA.sub(_blank, text)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError
    return members


_DECODER = json.JSONDecoder(object_pairs_hook=_once)

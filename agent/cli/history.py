"""Histories on disk: JSON Lines, one object per request, as `reticent ledger --json` prints them.

{"at": "2026-03-02T09:14:00+01:00", "recipient": "search.example", "query": "editor",
 "asked": null, "disclosed": {"int_python": "yes"}}

``at``: RFC 3339 with a zone; ``recipient``: a host or URL; ``asked``: names of attributes, or null
where the recipient did not say; ``disclosed``: attribute and value. All keys are there.
"""

import re
from datetime import datetime
from pathlib import Path
from typing import Annotated, NamedTuple

import msgspec
from msgspec import Meta, Struct

from agent.decision.past import Past
from agent.errors import UsageError, nearest
from agent.files import read_bytes
from agent.model.model import Model
from policy.hosts import host_of

LARGEST = 1 << 28  # bytes
EARLIEST = 1970  # there is no week before the first year
BOM = b"\xef\xbb\xbf"
_UNKNOWN = re.compile("Object contains unknown field `(.*)`", re.DOTALL)
_MISSING = re.compile("Object missing required field `(.*)`")
_PLACED = re.compile(r" - at `\$\.(\w+)")
FORMS = {
    "at": ("this is no time with a zone", "write it as in 2026-03-02T09:14:00+01:00"),
    "recipient": ("this is no text", 'write a host in quotes, as in "books.example"'),
    "query": ("this is no text", "write what was asked in quotes"),
    "asked": ("this is no list of names", "write names of attributes in [ ], or null"),
    "disclosed": ("these are no names with values", 'write them as in {"region": "uk"}'),
}


class _Line(Struct, frozen=True, forbid_unknown_fields=True):
    """One line as it is written."""

    at: Annotated[datetime, Meta(tz=True)]
    recipient: str
    query: str
    asked: list[str] | None
    disclosed: dict[str, str]


class History(NamedTuple):
    """Requests in order of time; ``sorted``: whether the lines stood in another order."""

    requests: tuple[Past, ...]
    sorted: bool


_DECODER = msgspec.json.Decoder(_Line)


def read_history(path: Path, model: Model) -> History:
    """Return the requests in a file, sorted by time; of equal times the order of the lines holds.

    UsageError, with the line and the field, where one cannot be read or names what the model has
    not. Lines of white space are passed over.
    """
    lines = read_bytes(path, LARGEST).removeprefix(BOM).split(b"\n")
    requests = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                requests.append(_request(line, model))
            except UsageError as error:
                where = f"{path}:{number}" + (f": {error.where}" if error.where else "")
                raise UsageError(error.what, error.hint, where) from None
    ordered = sorted(requests, key=lambda past: past.at)
    return History(tuple(ordered), ordered != requests)


def _request(line: bytes, model: Model) -> Past:
    try:
        read = _DECODER.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise _unreadable(error) from None
    if read.at.year < EARLIEST:
        hint = f"write a time from {EARLIEST} on"
        raise UsageError(f"{read.at.isoformat()} is too long ago", hint, "at")
    return Past(
        read.at,
        _checked_host(read.recipient),
        read.query,
        None
        if read.asked is None
        else frozenset(_name(each, "asked", model) for each in read.asked),
        tuple((name, _code(name, value, model)) for name, value in read.disclosed.items()),
    )


def _checked_host(recipient: str) -> str:
    """Return the recipient as it is written; UsageError where it is no host."""
    try:
        host_of(recipient)
    except UsageError as error:
        raise UsageError(error.what, error.hint, "recipient") from None
    return recipient


def _name(name: str, field: str, model: Model) -> str:
    try:
        model.index(name)
    except UsageError as error:
        raise UsageError(error.what, error.hint, field) from None
    return name


def _code(name: str, value: str, model: Model) -> int:
    attribute = model.attributes[model.index(_name(name, "disclosed", model))]
    try:
        return attribute.code(value)
    except UsageError as error:
        raise UsageError(error.what, error.hint, "disclosed") from None


def _unreadable(error: Exception) -> UsageError:
    """Return in our own words why a line is no request."""
    hint = f"a line is one object with {', '.join(_Line.__struct_fields__)}"
    message = str(error)
    if unknown := _UNKNOWN.search(message):
        name = unknown[1]
        near = nearest(name, _Line.__struct_fields__)
        return UsageError(f"unknown key {name!r}", f"did you mean {near!r}?" if near else hint)
    if missing := _MISSING.search(message):
        return UsageError("it is missing", hint, missing[1])
    if not isinstance(error, msgspec.ValidationError):
        return UsageError("this is no JSON", hint)
    if placed := _PLACED.search(message):
        return UsageError(*FORMS[placed[1]], placed[1])
    return UsageError("this is no object", hint)

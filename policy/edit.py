"""Edits of a policy as text, returned only if the result, read again, means what was intended.

Lines, and elements of inline tables and arrays, are put in and taken out, so a comment stays unless
it stands inside what is taken out.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from datetime import date
from functools import reduce
from operator import getitem
from typing import Any

import tomlkit

from agent.errors import UsageError
from policy.settings import Value
from policy.toml_scan import Key, Statement, statements

Document = dict[str, Any]
Settings = Mapping[str, Value | date]
Entry = Value | date | Sequence[str]
Content = Entry | Mapping[str, Entry]
Splice = tuple[int, int, str]  # what shall stand where something else stands, from and to an offset
_COMMA = re.compile(r"((?:[ \t\r\n]++|#[^\n]*+)*+),[ \t]*")
_BLANK_LINES = re.compile(r"(?:[ \t\r]*+\n)*+")


def parsed(text: str) -> Document:
    """Return a text as tomllib reads it; UsageError if it is not TOML."""
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        reason = str(error)[:1].lower() + str(error)[1:]
        raise UsageError(f"the policy is not TOML: {reason}", "fix it by hand first") from None


def same(one: object, other: object) -> bool:
    """Tell whether two values of TOML are alike, also in type: 1, 1.0 and true are three."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return repr(one) == repr(other) if isinstance(one, float) else one == other


def with_attribute(text: str, name: str, value: str | Settings) -> str:
    """Return a policy in which `[attributes]` has this for a name, and nothing else for it.

    value: "never" and the like, or settings, which become an inline table. Whatever form the
    entry had is replaced; the table is made if there is none. UsageError as in `with_keys`.
    """
    if not isinstance(parsed(text).get("attributes", {}), dict):
        raise UsageError("'attributes' is not a table", "write it as [attributes]")
    return _edited(text, {("attributes", name): value})


def with_rule(text: str, rule: Mapping[str, Entry]) -> str:
    """Return a policy with a rule: instead of the one with its `name`, or as its last.

    A rule that is replaced keeps its place, and the keys that stay theirs; keys that the new one
    lacks go. UsageError as in `with_keys`, and if two rules have the name.
    """
    rules = _rules(text)
    place = _place(rules, rule.get("name"))
    if place is None:
        return _edited(text, {("rule", len(rules)): rule})
    old, new = rules[place], _plain(rule)
    changes: dict[Key, Content | None] = {
        ("rule", place, key): rule.get(key)
        for key in (*old, *new)
        if key not in new or key not in old or not same(old[key], new[key])
    }
    return _edited(text, changes)


def without_rule(text: str, name: str) -> str:
    """Return a policy without the rule that has a name; UsageError as in `with_rule`."""
    place = _place(_rules(text), name)
    return text if place is None else without(text, ("rule", place))


def with_keys(text: str, table: Key, values: Settings) -> str:
    """Return a policy in which a table has these values, and is otherwise as it was written.

    table: where it stands, such as ("rule", 0); () is the top, where a new key stands above the
    first table. UsageError if the text is not TOML, or cannot be changed without doing more.
    """
    return _edited(text, {(*table, key): value for key, value in values.items()})


def without(text: str, *paths: Key) -> str:
    """Return a policy without what stands at some paths; UsageError as in `with_keys`.

    The path of a rule is that in `text`.
    """
    return _edited(text, dict.fromkeys(sorted(paths, reverse=True)))


def free_name(text: str, title: str) -> str:
    """Return a name for a new rule that no other has: the title, with a number if need be."""
    taken = [rule.get("name") for rule in _rules(text)]
    names = (title, *(f"{title} ({number})" for number in range(2, len(taken) + 3)))
    return next(each for each in names if each not in taken)


def toml(value: Content) -> str:
    """Return a value as TOML, as it is written into a policy; settings as an inline table."""
    if not isinstance(value, Mapping):
        return tomlkit.item(value).as_string()
    pairs = ", ".join(_line([key], inner) for key, inner in value.items())
    return f"{{ {pairs} }}" if pairs else "{}"


def _rules(text: str) -> list[Document]:
    """Return the rules of a policy; UsageError if they are written as something else."""
    rules = parsed(text).get("rule", [])
    if not isinstance(rules, list) or not all(isinstance(rule, dict) for rule in rules):
        raise UsageError("'rule' is not a list of tables", "write each rule as [[rule]]")
    return rules


def _place(rules: Sequence[Document], name: object) -> int | None:
    """Return which rule has a name, if one has."""
    places = [place for place, rule in enumerate(rules) if same(rule.get("name", ...), name)]
    if len(places) > 1:
        raise UsageError(f"{len(places)} rules are named {name!r}", "give each a name of its own")
    return places[0] if places else None


def _edited(text: str, changes: Mapping[Key, Content | None]) -> str:
    """Return the text with a value at each path, None for nothing; each change follows the others.

    UsageError if what comes out says anything else.
    """
    wanted: Any = {"attributes": {}, "rule": [], **parsed(text)}
    for path, value in changes.items():
        holder = reduce(getitem, path[:-1], wanted)
        if value is None:
            del holder[path[-1]]
        elif isinstance(holder, list):
            holder.append(_plain(value))
        else:
            holder[path[-1]] = _plain(value)
    if _says(text, wanted):
        return text
    windows = text.count("\r\n") == text.count("\n") > 0
    result = text.replace("\r\n", "\n") if windows else text
    result += "" if result.endswith("\n") or not result else "\n"
    for path, value in changes.items():
        result = _changed(result, path, value)
    if windows:
        result = result.replace("\n", "\r\n")
    if not _says(result, wanted):
        what = "the policy is written in a way that cannot be changed safely"
        raise UsageError(what, "change it by hand")
    return result


def _plain(value: Content) -> Any:  # noqa: ANN401  (any TOML)
    """Return a value as tomllib would."""
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    return value if isinstance(value, str | int | float | date) else list(value)


def _says(text: str, wanted: Document) -> bool:
    """Tell whether a text means what is wanted; an empty list or table counts as absent."""
    try:
        found = tomllib.loads(text)
    except (ValueError, RecursionError):
        return False
    return same({"attributes": {}, "rule": [], **found}, wanted)


def _changed(text: str, path: Key, value: Content | None) -> str:
    """Return the text with a value at a path, in whichever form it was there; None for nothing.

    The first of its keys is replaced where it stands; what else is at the path goes.
    """
    found = [*statements(text)]
    keys = (each for each in found if not each.is_header and each.within(path))
    spot, new = None, list[Splice]()
    if value is not None:
        spot = next((each for each in keys if len(each.table) < len(path)), None)
        if spot is None:
            new = [_insertion(text, found, path, value)]
        elif spot.path == path:
            new = [(spot.value, spot.end, toml(value))]
        else:
            new = [(spot.start, spot.end, _line(path[len(spot.table) :], value))]
    cuts = _cuts(text, found, path, spot)
    done, parts = 0, list[str]()
    for start, end, piece in sorted([*new, *cuts]):
        parts += (text[done:start], piece)
        done = end
    changed = "".join((*parts, text[done:]))
    if not cuts or cuts[-1][1] < len(text):
        return changed
    content = changed.rstrip(" \t\r\n")
    return changed[: changed.find("\n", len(content)) + 1] if content else ""


def _line(parts: Sequence[str | int], value: Content) -> str:
    """Return a key and its value as TOML."""
    return f"{tomlkit.key([str(part) for part in parts]).as_string()} = {toml(value)}"


def _insertion(text: str, found: Sequence[Statement], path: Key, value: Content) -> Splice:
    """Return the lines for a path that is not in the text yet, at their place.

    A key follows the last one of its table; a table without a header gets one, above the first; a
    rule stands below all else.
    """
    parent = path[:-1]
    last = None
    for each in found:
        implied = not each.is_header and each.within(parent) and len(each.table) < len(parent)
        if each.table == parent or implied:
            last = each
    if last is not None:
        is_empty = last.path == parent and not last.is_header  # an inline table, or an array
        parts = path[len(parent if is_empty else last.table) :]
        piece = toml(value) if isinstance(path[-1], int) else _line(parts, value)
        if is_empty:
            return last.value + 1, last.value + 1, piece
        if last.inline:
            return last.end, last.end, f", {piece}"
        at = _line_end(text, last.end)
        return at, at, f"{piece}\n"
    if isinstance(value, Mapping) and parent == ("rule",):
        lines = ["[[rule]]", *(_line([key], each) for key, each in value.items())]
        at = len(text)
        return at, at, _gap(text, at) + "".join(f"{line}\n" for line in lines)
    at = _above_tables(text, found)
    header = f"{_gap(text, at)}[{'.'.join(map(str, parent))}]\n" if parent else ""
    below = "\n" if at < len(text) else ""
    return at, at, f"{header}{_line(path[-1:], value)}\n{below}"


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


def _cuts(text: str, found: Sequence[Statement], path: Key, spot: Statement | None) -> list[Splice]:
    """Return what takes out all at a path but one spot: a table from its header to its last key.

    In inline tables and arrays, one comma goes with what stands side by side.
    """
    spans: list[tuple[int, int, bool]] = []
    done = 0
    for each in found:
        if not each.within(path) or (each.inline and each.start < done):
            continue
        done = each.end
        if each == spot:
            continue
        if each.inline:
            start, end = each.start, each.end
            goes_on = bool(spans) and not text[spans[-1][1] : start].strip(" \t,")
        else:
            start, end = _line_start(text, each.start), _line_end(text, each.end)
            goes_on = not each.is_header and len(each.table) >= len(path)
        if goes_on:
            start, *_ = spans.pop()
        spans.append((start, end, each.inline))
    cuts = []
    for start, end, inline in spans:
        before = text[:start].rstrip(" \t")
        if not inline:
            blank = _BLANK_LINES.match(text, end) if not _gap(text, start) else None
            cuts.append((start, blank.end() if blank else end, ""))
        elif comma := _COMMA.match(text, end):
            cuts += [(start, end, ""), (comma.end(1), comma.end(), "")]
        else:
            cuts.append((len(before) - 1 if before.endswith(",") else start, end, ""))
    return cuts


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

"""Where keys stand in a TOML text, and how to change the text so that it says something else.

A scan, not a parser: the text must be TOML that tomllib accepts. tomlkit writes single values only:
where it changes a document, the comment above the next table moves or is lost.
"""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from agent.errors import UsageError

Key = tuple[str | int, ...]
Document = dict[str, Any]
UNSAFE = ("the policy is written in a way that cannot be changed safely", "change it by hand")
_STRING = r"""
    \"{3} (?: [^"\\]++ | \\. | "{1,2}(?!") )*+ "{3,5}
  | '{3}  (?: [^']++   | '{1,2}(?!') )*+ '{3,5}
  | "     (?: [^"\\]++ | \\. )*+ "
  | '     [^']*+ '
"""
_TOKEN = re.compile(rf"""(?s: {_STRING} | \#[^\n]*+ | [^"'\#\[\]{{}}\n]++ | . )""", re.VERBOSE)
_PART = re.compile(
    rf"(?s: [ \t]*+ (?P<part> [A-Za-z0-9_-]++ | {_STRING} ) [ \t]*+ (?P<dot> \.?) )", re.VERBOSE
)
_BLANK = re.compile(r"(?:[ \t\r\n]++|#[^\n]*+)*+")


class Statement(NamedTuple):
    """A header, or a key with its value.

    ``table``: the path of the table it stands in, for a header its own ``path``. The other figures
    are offsets into the text: where it starts, where its value starts, and where it ends, white
    space and comment left out.
    """

    table: Key
    path: Key
    start: int
    value: int
    end: int

    @property
    def is_header(self) -> bool:
        """Whether it opens a table."""
        return self.value == self.end

    def within(self, path: Key) -> bool:
        """Whether it stands at a path or below it."""
        return self.path[: len(path)] == path


def statements(text: str) -> Iterator[Statement]:
    """Yield the headers and keys of a text in their order; those inside values are left out."""
    table: Key = ()
    counts: dict[Key, int] = {}
    at = _skip_blank(text, 0)
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
            value = _skip_blank(text, at + 1)
            at = _value_end(text, value)
            yield Statement(table, table + parts, start, value, at)
        at = _skip_blank(text, at)


def lines_of(text: str) -> Mapping[Key, int]:
    """The line, from 1, on which each key of a text is mentioned first.

    A path is as tomllib nests the key, with a number from 0 for an element of an array of tables:
    ("rule", 2, "lambda"), and ("rule", 2) for its header. Keys inside values are left out.
    """
    lines: dict[Key, int] = {}
    line, counted = 1, 0
    for each in statements(text):
        line += text.count("\n", counted, each.start)
        counted = each.start
        above = 0 if each.is_header else len(each.table)
        for length in range(above + 1, len(each.path) + 1):
            lines.setdefault(each.path[:length], line)
    return lines


def line_of(lines: Mapping[Key, int], path: Key) -> int:
    """The line of a path, else of the nearest part before it that has one, else 1."""
    above = (path[:length] for length in range(len(path), 0, -1))
    return next((lines[each] for each in above if each in lines), 1)


def dotted(path: Key) -> str:
    """A key as a person writes it, rules counted from 1."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part + 1}]"
        else:
            plain = part.replace("_", "").replace("-", "").isalnum() and part.isascii()
            quoted = part if plain else json.dumps(part, ensure_ascii=not part.isprintable())
            text += ("." if text else "") + quoted
    return text


def parsed(text: str) -> Document:
    """A text as tomllib reads it; UsageError if it is not TOML."""
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        hint = "`reticent policy check` says where: fix it by hand first"
        raise UsageError("the policy is not TOML", hint) from error


def toml(value: object) -> str:
    """A value as TOML writes it in one line; a mapping as an inline table."""
    if isinstance(value, list) and any(isinstance(each, Mapping) for each in value):
        return f"[{', '.join(map(toml, value))}]"
    if not isinstance(value, Mapping):
        import tomlkit  # slow, and only for what changes a policy

        return tomlkit.item(value).as_string()
    pairs = ", ".join(_pair([key], inner) for key, inner in value.items())
    return f"{{ {pairs} }}" if pairs else "{}"


def rewritten(text: str, wanted: Document) -> str:
    """The text of a policy that says what is wanted; what it said already stays as written.

    ``wanted``: as tomllib has it, with None in place of a rule to take it out. Comments on lines of
    their own stay. UsageError where the result would say anything else.
    """
    changes = [*_changes((), parsed(text), wanted)]
    if not changes:
        return text
    result = text if text.endswith("\n") or not text else f"{text}\n"
    removed = sorted((path for path, value in changes if value is None), reverse=True)
    for path, value in changes:
        if value is not None:
            result = _changed(result, path, value, wanted)
    for path in removed:
        result = _changed(result, path, None, wanted)
    rules = [each for each in wanted.get("rule", ()) if each is not None]
    if not _says(result, {**wanted, "rule": rules}):
        raise UsageError(*UNSAFE)
    return result


def _says(text: str, wanted: Document) -> bool:
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError):
        return False
    as_many = len(document.get("rule", ())) == len(wanted["rule"])
    return as_many and not [*_changes((), document, wanted)]


def same(one: object, other: object) -> bool:
    """Whether two values of TOML are alike, also in type: 1, 1.0 and true are three."""
    return repr(_ordered(one)) == repr(_ordered(other))


def _ordered(value: object) -> object:
    if isinstance(value, dict):
        return {key: _ordered(value[key]) for key in sorted(value)}
    return [*map(_ordered, value)] if isinstance(value, list) else value


def _changes(path: Key, old: Document, new: Document) -> Iterator[tuple[Key, object]]:
    """Yield each path at which two documents differ, with its new value, None for nothing."""
    for key in dict.fromkeys((*new, *old)):
        place, was, becomes = (*path, key), old.get(key), new.get(key)
        if not path and key == "rule" and isinstance(becomes, list):
            rules = was if isinstance(was, list) else []
            for number, rule in enumerate(becomes):
                old_rule = rules[number] if number < len(rules) else None
                if isinstance(old_rule, dict) and isinstance(rule, dict):
                    yield from _changes((*place, number), old_rule, rule)
                elif rule != old_rule:
                    yield (*place, number), rule
        elif isinstance(becomes, dict) and (isinstance(was, dict) or not path):
            yield from _changes(place, was if isinstance(was, dict) else {}, becomes)
        elif not same(was, becomes):
            yield place, becomes


def _changed(text: str, path: Key, value: object, wanted: Document) -> str:
    """The text with a value at a path, None for nothing there.

    A path inside the value of a key has that whole value written anew: no comment may stand in it.
    """
    before = [*statements(text)]
    for each in before:
        if each.path == path and not each.is_header and value is not None:
            return text[: each.value] + toml(value) + text[each.end :]
        if not each.is_header and each.path != path and path[: len(each.path)] == each.path:
            if any(token[0][0] == "#" for token in _TOKEN.finditer(text, each.value, each.end)):
                raise UsageError(*UNSAFE)
            whole: Any = wanted
            for key in each.path:
                whole = whole[key]
            if isinstance(whole, list):
                whole = [part for part in whole if part is not None]
            return text[: each.value] + toml(whole) + text[each.end :]
    text, before = _without(text, [each for each in before if each.within(path)], before)
    return text if value is None else _inserted(text, before, path, value)


def _without(
    text: str, removed: Sequence[Statement], before: list[Statement]
) -> tuple[str, list[Statement]]:
    """The text without the lines of some statements, and what then stands in it."""
    if not removed:
        return text, before
    for each in reversed(removed):
        start, end = _line_start(text, each.start), _line_end(text, each.end)
        if not _gap(text, start):  # one blank line stays
            while end < len(text) and not text[end : _line_end(text, end)].strip():
                end = _line_end(text, end)
        text = text[:start] + text[end:]
    if not text[_line_start(text, len(text) - 1) :].strip():
        text = f"{text.rstrip()}\n" if text.strip() else ""
    return text, [*statements(text)]


def _inserted(text: str, stated: Sequence[Statement], path: Key, value: object) -> str:
    """The text with a path that is not in it yet.

    A key follows the last one of its table; the first setting for all requests stands at the top; a
    rule, and a table without a header, below all else.
    """
    parent, last = path[:-1], None
    if isinstance(value, Mapping) and parent == ("rule",):
        lines = ["[[rule]]", *(_pair([key], each) for key, each in value.items())]
        return text + _gap(text, len(text)) + "".join(f"{line}\n" for line in lines)
    for each in stated:
        implied = not each.is_header and each.within(parent) and len(each.table) < len(parent)
        if each.table == parent or implied:
            last = each
    if last is not None:
        at = _line_end(text, last.end)
        return f"{text[:at]}{_pair(path[len(last.table) :], value)}\n{text[at:]}"
    line = f"{_pair(path[-1:], value)}\n"
    if parent:
        return f"{text}{_gap(text, len(text))}[{'.'.join(map(str, parent))}]\n{line}"
    return f"{line}\n{text}" if text else line


def _pair(parts: Sequence[str | int], value: object) -> str:
    import tomlkit

    return f"{tomlkit.key([str(part) for part in parts]).as_string()} = {toml(value)}"


def _gap(text: str, at: int) -> str:
    """The blank line that is missing above the line at an offset, if one is."""
    above = text[_line_start(text, at - 1) : at] if at else ""
    return "\n" if above.strip() else ""


def _line_start(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1


def _line_end(text: str, at: int) -> int:
    return text.index("\n", at) + 1


def _key(text: str, at: int) -> tuple[tuple[str, ...], int]:
    """The parts of the key at an offset, and where `=` or `]` follows it."""
    parts = []
    while match := _PART.match(text, at):
        at, part = match.end(), match["part"]
        if part[0] in "\"'":
            (part,) = tomllib.loads(f"{part} = 0")
        parts.append(part)
        if not match["dot"]:
            break
    return tuple(parts), at


def _opened(parts: tuple[str, ...], counts: dict[Key, int], *, is_array: bool) -> Key:
    """The path of a header, and count it if it is one more element of an array."""
    path: Key = ()
    for place, part in enumerate(parts, start=1):
        path = (*path, part)
        if is_array and place == len(parts):
            counts[path] = counts.get(path, -1) + 1
        if path in counts:
            path = (*path, counts[path])
    return path


def _value_end(text: str, at: int) -> int:
    """Where the value at an offset ends."""
    depth, end = 0, at
    for token in _TOKEN.finditer(text, at):
        piece = token[0]
        depth += (piece in "[{") - (piece in "]}")
        if piece == "\n" and not depth:
            break
        if piece[0] != "#" and piece.strip():
            end = token.start() + len(piece.rstrip())
    return end


def _skip_blank(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    return match.end() if match else at

"""Policies as people write them: drawn values in drawn notation, and where each key was put."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from policy.toml_text import Key

if TYPE_CHECKING:
    from collections.abc import Iterator

Pair = tuple[Key, Any]
Table = tuple[Key, dict[str, Any]]

NAMES = ("gender", "salary", "dev_*", "int_*", "a b", "é", 'q"q', "x.y", "it's", "back\\slash")
PIECES = ("never", "a.example", "[rule]", "\n[[rule]]", "k = 1", "# no", '"', "'", "\\", "é", "\n")
TRAPS = ("", " [rule]", " [[rule]]", ' k = "', " '''", ' """', " }", " ],", " \\")

STRINGS = st.lists(st.sampled_from(PIECES), max_size=4).map("".join)
NUMBERS = st.integers(-99, 99) | st.sampled_from([0.2, 5.12, 1e22, -0.0, float("inf")])
VALUES = st.one_of(STRINGS, NUMBERS, st.booleans(), st.dates(date(1970, 1, 1), date(2999, 1, 1)))
LISTS = st.lists(STRINGS, max_size=3)
SETTINGS = st.dictionaries(st.sampled_from(["disclose", "guard", "é ü"]), VALUES, max_size=3)
RULES = st.dictionaries(
    st.sampled_from(["lambda", "k", "recipient", "query"]), VALUES | LISTS, max_size=3
)


@dataclass(slots=True)
class Writer:
    """Writes TOML in drawn notation and keeps the line of each key, and each comment's owner.

    A comment is inside its owner: the key in whose value it stands, or the table it stands in.
    """

    draw: st.DrawFn
    text: str = ""
    lines: dict[Key, int] = field(default_factory=dict)
    comments: dict[str, Key] = field(default_factory=dict)

    def mention(self, path: Key) -> None:
        """Note the present line for a path, and for what it is in, unless there was one."""
        line = self.text.count("\n") + 1
        for length in range(1, len(path) + 1):
            self.lines.setdefault(path[:length], line)

    def space(self) -> str:
        """Return white space, or none."""
        return self.draw(st.sampled_from(["", " ", "\t "]))

    def comment(self, owner: Key) -> None:
        """Write one comment that looks like something else."""
        comment = f"#{len(self.comments)}:{self.draw(st.sampled_from(TRAPS))}"
        self.comments[comment] = owner
        self.text += comment

    def ending(self, owner: Key) -> None:
        """End a line, with or without a comment."""
        self.text += self.space()
        if self.draw(st.booleans()):
            self.comment(owner)
        self.text += "\n"

    def between(self, owner: Key) -> None:
        """Write a few lines, blank or comments, and indent the next."""
        for _ in range(self.draw(st.integers(0, 2))):
            self.ending(owner)
        self.text += self.space()

    def key(self, parts: Key) -> str:
        """Return a dotted key."""
        return f"{self.space()}.{self.space()}".join(self.part(str(part)) for part in parts)

    def part(self, part: str) -> str:
        """Return one part of a key in one of the ways to write it."""
        ways = [json.dumps(part), json.dumps(part, ensure_ascii=False)]
        if part.isascii() and part.replace("_", "").isalnum():
            ways += [part] * 3
        if "'" not in part:
            ways.append(f"'{part}'")
        return self.draw(st.sampled_from(ways))

    def pair(self, table: Key, path: Key, value: object) -> None:
        """Write a key with its value."""
        self.mention(path)
        self.text += f"{self.key(path[len(table) :])}{self.space()}={self.space()}"
        self.value(path, value)

    def value(self, path: Key, value: object) -> None:
        """Write a value in one of its notations."""
        match value:
            case dict():
                self.inline(path, value)
            case list():
                self.array(path, value)
            case str():
                self.text += self.string(value)
            case date():
                self.text += value.isoformat()
            case _:
                self.text += repr(value).lower()

    def inline(self, path: Key, table: dict[str, Any]) -> None:
        """Write an inline table."""
        self.text += "{" + self.space()
        for place, (key, value) in enumerate(table.items()):
            self.text += ("," if place else "") + self.space()
            self.pair(path, (*path, key), value)
            self.text += self.space()
        self.text += "}"

    def array(self, path: Key, elements: list[Any]) -> None:
        """Write an array on one line or several, with comments."""
        several = self.draw(st.booleans())
        self.text += "["
        for place, element in enumerate(elements):
            if several:
                self.between(path)
            if isinstance(element, dict):
                self.mention((*path, place))
            self.value((*path, place), element)
            self.text += self.space() + ("," if several or place < len(elements) - 1 else "")
        if several:
            self.ending(path)
        self.text += "]"

    def string(self, text: str) -> str:
        """Return a string in one of the four notations, or in another if that cannot hold it."""
        way = self.draw(st.sampled_from(['"', "'", '"""', "'''"]))
        if way == "'" and not {"'", "\n"} & {*text}:
            return f"'{text}'"
        start = "\n" if text.startswith("\n") or self.draw(st.booleans()) else ""
        if way == "'''" and "'''" not in text:
            return f"'''{start}{text}'''"
        if way == '"""':
            plain = text.replace("\\", "\\\\").replace('"""', '""\\"')
            return f'"""{start}{plain}"""'
        return json.dumps(text)


@dataclass(frozen=True, slots=True)
class Written:
    """A text, the line of each key, and each comment with what it is inside of."""

    text: str
    lines: dict[Key, int]
    comments: dict[str, Key]


@st.composite
def policies(draw: st.DrawFn) -> Written:
    """Draw a policy in which every part stands in one of the forms that TOML has for it."""
    writer = Writer(draw)
    settings = st.dictionaries(st.sampled_from(["preset", "lambda", "k"]), VALUES, max_size=3)
    pairs: list[Pair] = [((key,), value) for key, value in draw(settings).items()]
    groups = draw(st.dictionaries(st.sampled_from(NAMES), LISTS, max_size=2))
    tables: list[Table] = [(("groups",), groups)]
    for more_pairs, more_tables in (_attributes(draw), _rules(draw)):
        pairs += more_pairs
        tables += more_tables
    for path, value in draw(st.permutations(pairs)):
        writer.between(())
        writer.pair((), path, value)
        writer.ending(path)
    for path, table in _shuffled(draw, tables):
        _section(writer, path, table)
    writer.between(())
    text = writer.text + draw(st.sampled_from(["", "\n", "# end"]))
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    return Written(text.replace("\n", newline), writer.lines, writer.comments)


def _attributes(draw: st.DrawFn) -> tuple[list[Pair], list[Table]]:
    """Draw the attributes as keys at the top, inline or dotted, or as tables."""
    entries: st.SearchStrategy[Any] = STRINGS | SETTINGS
    attributes = draw(st.dictionaries(st.sampled_from(NAMES), entries, max_size=4))
    form = draw(st.sampled_from(["inline", "dotted", "table", "table", "table"]))
    if form == "inline":
        return [(("attributes",), attributes)], []
    if form == "dotted":
        return [(("attributes", *path), value) for path, value in _dotted(draw, attributes)], []
    return [], _split(draw, attributes)


def _rules(draw: st.DrawFn) -> tuple[list[Pair], list[Table]]:
    """Draw rules, no two of one name, as tables or as an array at the top."""
    rules = draw(st.lists(RULES, max_size=3))
    for rule, name in zip(rules, ["one", "two", "three"], strict=False):
        if draw(st.booleans()):
            rule["name"] = name
    if draw(st.integers(0, 3)) == 0:
        return [(("rule",), rules)], []
    return [], [(("rule", place), rule) for place, rule in enumerate(rules)]


def _dotted(draw: st.DrawFn, table: dict[str, Any]) -> list[Pair]:
    """Return the entries of a table, some of those that are tables as dotted keys."""
    pairs: list[Pair] = []
    for name, value in table.items():
        if isinstance(value, dict) and value and draw(st.booleans()):
            pairs += [((name, key), inner) for key, inner in value.items()]
        else:
            pairs.append(((name,), value))
    return pairs


def _split(draw: st.DrawFn, attributes: dict[str, Any]) -> list[Table]:
    """Return the attributes as one table, and some of those that are tables as more tables."""
    kept = dict(attributes)
    tables: list[Table] = []
    for name, value in attributes.items():
        if isinstance(value, dict) and draw(st.booleans()):
            tables.append((("attributes", name), kept.pop(name)))
    if draw(st.booleans()) or kept:
        tables.append((("attributes",), kept))
    return tables


def _shuffled(draw: st.DrawFn, tables: list[Table]) -> Iterator[Table]:
    """Yield tables in any order, but the rules among themselves in theirs."""
    rules = iter([table for table in tables if table[0][0] == "rule"])
    for table in draw(st.permutations(tables)):
        yield next(rules) if table[0][0] == "rule" else table


def _section(writer: Writer, path: Key, table: dict[str, Any]) -> None:
    """Write the header of a table and its keys."""
    writer.between(())
    writer.mention(path)
    names = [part for part in path if isinstance(part, str)]
    marks = ("[[", "]]") if len(names) < len(path) else ("[", "]")
    writer.text += writer.space().join([marks[0], writer.key(tuple(names)), marks[1]])
    writer.ending(path)
    for inner, value in writer.draw(st.permutations(_dotted(writer.draw, table))):
        writer.between(path)
        writer.pair(path, path + inner, value)
        writer.ending(path + inner)

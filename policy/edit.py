"""Edits of a policy as text, let through only if the result, read again, says what was intended."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from functools import reduce
from operator import getitem
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import Item

from agent.errors import UsageError
from policy.toml_edit import Key, Statement, append, comments, cut, dotted, put, statements

Document = dict[str, Any]


def parsed(text: str) -> Document:
    """Return what a text says; UsageError if it is not TOML."""
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        reason = str(error)[:1].lower() + str(error)[1:]
        raise UsageError(f"the policy is not TOML: {reason}", "mend it by hand first") from None


def edited(text: str, wanted: Document, edit: Callable[[str], str]) -> str:
    """Return the edited text if it says exactly what is wanted, else raise UsageError."""
    if _says(text, wanted):
        return text
    windows = text.count("\r\n") == text.count("\n") > 0
    plain = text.replace("\r\n", "\n") if windows else text
    result = edit(plain if plain.endswith("\n") or not plain else plain + "\n")
    if windows:
        result = result.replace("\n", "\r\n")
    if not _says(result, wanted):
        raise unfit()
    return result


def unfit() -> UsageError:
    """Return the error for a text that an edit does not get right."""
    what = "the policy is written in a way that cannot be changed safely"
    return UsageError(what, "change it by hand")


def _says(text: str, wanted: Document) -> bool:
    """Tell whether a text says what is wanted; an empty list or table is as good as none."""
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError):
        return False
    return same(_full(document), _full(wanted))


def _full(document: Document) -> Document:
    """Return a document without the parts that an edit may have emptied."""
    emptied = {key for key in ("attributes", "rule") if document.get(key) in ({}, [])}
    return {key: value for key, value in document.items() if key not in emptied}


def same(one: object, other: object) -> bool:
    """Tell whether two values of TOML are alike, also in type: 1, 1.0 and true are three."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return repr(one) == repr(other) if isinstance(one, float) else one == other


Value = str | int | float | bool


Settings = Mapping[str, Value | date]


Entry = Value | date | Sequence[str]


def with_setting(text: str, key: str, value: Value) -> str:
    """Return a policy with a setting at its top; a new one stands above the first table.

    UsageError if the text is not TOML, if `key` is a table or list, or if the text cannot be
    changed without doing more than that.
    """
    wanted = parsed(text)
    if isinstance(wanted.get(key), dict | list):
        raise UsageError(f"{key!r} is no setting", "name a key that has one value")
    wanted[key] = value
    return edited(text, wanted, lambda plain: _put(plain, (key,), value))


def with_attribute(text: str, name: str, value: str | Settings) -> str:
    """Return a policy in which `[attributes]` has this for a name, and nothing else for it.

    value: "never" and the like, or settings, which become an inline table. Whatever form the
    entry had is replaced; the table is made if there is none. UsageError as in `with_setting`.
    """
    wanted = parsed(text)
    _attributes(wanted)[name] = value if isinstance(value, str) else dict(value)
    return edited(text, wanted, lambda plain: _put(plain, ("attributes", name), value))


def with_rule(text: str, rule: Mapping[str, Entry]) -> str:
    """Return a policy with a rule: instead of the one with its `name`, or as its last.

    A rule that is replaced keeps its place, and the keys that stay theirs; keys that the new one
    does not have go. UsageError as in `with_setting`, and if two rules have the name.
    """
    wanted = parsed(text)
    rules, place = _rules(wanted), _place(wanted, rule.get("name"))
    new = {key: _plain(value) for key, value in rule.items()}
    if place is None:
        path: Key = ("rule", len(rules))
        rules.append(new)
        return edited(text, wanted, lambda plain: _append(plain, path, new))
    old, rules[place] = rules[place], new
    return edited(text, wanted, lambda plain: _rewritten(plain, ("rule", place), old, new))


def without_rule(text: str, name: str) -> str:
    """Return a policy without the rule that has a name; UsageError as in `with_rule`."""
    wanted = parsed(text)
    place = _place(wanted, name)
    if place is None:
        return text
    del _rules(wanted)[place]
    return edited(text, wanted, lambda plain: _cut(plain, ("rule", place)))


def with_keys(text: str, table: Key, values: Settings) -> str:
    """Return a policy in which a table has these values, and is otherwise as it was written.

    table: where it stands, such as ("rule", 0); () is the top. UsageError as in `with_setting`.
    """
    wanted = parsed(text)
    _at(wanted, table).update(values)
    return edited(
        text,
        wanted,
        lambda plain: reduce(lambda to, key: _put(to, (*table, key), values[key]), values, plain),
    )


def without(text: str, *paths: Key) -> str:
    """Return a policy without what stands at some paths; UsageError as in `with_setting`.

    The path of a rule goes by where it stood in `text`.
    """
    wanted, last_first = parsed(text), sorted(paths, reverse=True)
    for path in last_first:
        del _at(wanted, path[:-1])[path[-1]]
    return edited(text, wanted, lambda plain: reduce(_cut, last_first, plain))


def free_name(text: str, title: str) -> str:
    """Return a name for a new rule that no other has: the title, with a number if need be."""
    taken = {rule.get("name") for rule in parsed(text).get("rule", [])}
    names = (title, *(f"{title} ({number})" for number in range(2, len(taken) + 3)))
    return next(each for each in names if each not in taken)


def toml(value: Entry | Settings) -> str:
    """Return a value as TOML, as it is written into a policy; settings as an inline table."""
    if not isinstance(value, Mapping):
        return tomlkit.item(value).as_string()
    pairs = ", ".join(_line(key, inner) for key, inner in value.items())
    return f"{{ {pairs} }}" if pairs else "{}"


def _at(document: Any, path: Key) -> Any:  # noqa: ANN401  (any TOML)
    """Return what stands at a path."""
    return reduce(getitem, path, document)


def _attributes(document: Document) -> Document:
    """Return the table of attributes, made if there is none."""
    attributes = document.setdefault("attributes", {})
    if not isinstance(attributes, dict):
        raise UsageError("'attributes' is not a table", "write it as [attributes]")
    return attributes


def _rules(document: Document) -> list[Document]:
    """Return the rules, made if there are none."""
    rules = document.setdefault("rule", [])
    if not isinstance(rules, list) or not all(isinstance(rule, dict) for rule in rules):
        raise UsageError("'rule' is not a list of tables", "write each rule as [[rule]]")
    return rules


def _place(document: Document, name: object) -> int | None:
    """Return which rule has a name, if one has."""
    named = [place for place, rule in enumerate(_rules(document)) if "name" in rule]
    places = [place for place in named if same(document["rule"][place]["name"], name)]
    if len(places) > 1:
        raise UsageError(f"{len(places)} rules are named {name!r}", "give each a name of its own")
    return places[0] if places else None


def _plain(value: Entry) -> Any:  # noqa: ANN401  (any TOML)
    """Return a value as tomllib would."""
    return value if isinstance(value, str | int | float | date) else list(value)


def _put(text: str, path: Key, value: Entry | Settings) -> str:
    """Return the text with a value at a path."""
    holder = _holder(text, path)
    if holder is None:
        return put(text, path, toml(value))
    return _changed(text, holder, path, lambda table, key: table.__setitem__(key, _item(value)))


def _cut(text: str, path: Key) -> str:
    """Return the text without what stands at a path."""
    holder = _holder(text, path)
    if holder is None:
        return cut(text, path)
    return _changed(text, holder, path, lambda table, key: table.__delitem__(key))


def _append(text: str, path: Key, rule: Document) -> str:
    """Return the text with one more rule, which will stand at a path."""
    holder = _holder(text, path)
    if holder is None:
        lines = ["[[rule]]", *(_line(key, value) for key, value in rule.items())]
        return append(text, "\n".join([*lines, ""]))
    return _changed(text, holder, path, lambda rules, _: rules.append(_item(rule)))


def _rewritten(text: str, path: Key, old: Document, new: Document) -> str:
    """Return the text with the keys of a table exchanged; one that stays the same is left alone."""
    for key in [key for key in old if key not in new]:
        text = _cut(text, (*path, key))
    for key, value in new.items():
        if key not in old or not same(old[key], value):
            text = _put(text, (*path, key), value)
    return text


def _holder(text: str, path: Key) -> Statement | None:
    """Return the key whose inline value holds what stands at a path, or would hold it."""
    keys = (each for each in statements(text) if not each.is_header and len(each.path) < len(path))
    return next((each for each in keys if path[: len(each.path)] == each.path), None)


def _changed(text: str, holder: Statement, path: Key, change: Callable[[Any, Any], None]) -> str:
    """Return the text with the inline value of `holder` changed, where `path` says."""
    before = text[holder.value : holder.end]
    try:
        whole: Any = tomlkit.value(before)
        table = reduce(getitem, path[len(holder.path) : -1], whole)
        gone = _written(table, path[-1])
        change(table, path[-1])
        after: str = whole.as_string()
        tomllib.loads(f"value = {after}")
    except (TOMLKitError, ValueError, RecursionError) as error:
        raise unfit() from error
    # Where an array gets or loses an element, tomlkit may lose the comment beside it.
    if Counter(comments(before)) - Counter(comments(gone)) - Counter(comments(after)):
        raise unfit()
    return text[: holder.value] + after + text[holder.end :]


def _written(table: Any, key: str | int) -> str:  # noqa: ANN401  (any TOML)
    """Return what stands in an inline table or array, empty if nothing does."""
    there = key in table if isinstance(key, str) else key < len(table)
    return tomlkit.item(table[key]).as_string() if there else ""


def _item(value: Entry | Settings) -> Item:
    """Return a value as an item of tomlkit."""
    return tomlkit.value(toml(value))


def _line(key: str, value: Entry) -> str:
    """Return a key and its value as TOML."""
    return f"{dotted([key])} = {toml(value)}"

"""Settings put into the text of a policy, and taken out of it, for exactly some requests. Pure."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import reduce
from operator import getitem
from typing import Any

from agent.errors import UsageError
from policy import fields
from policy.daemon import DAEMON
from policy.edit import free_name, with_attribute, with_keys, with_rule, without
from policy.fields import Findings
from policy.rules import Path, Policy, Rule
from policy.scope import TOP, Scope, check_group, is_entry, places
from policy.sections import ATTRIBUTE_KEYS, PARTS
from policy.settings import SETTINGS, Value

_NUMBER = re.compile(r"[+-]?[0-9]+")
SHORT = "disclose"  # what an entry of `[attributes]` says that is a text


def known(key: str) -> str:
    """Return the key of a setting; UsageError, naming the nearest, if it is none."""
    if key in SETTINGS:
        return key
    if key in PARTS or key in DAEMON:
        hint = "write it into the file by hand; `reticent policy check` checks it"
        raise UsageError(f"{key!r} is no setting of requests", hint)
    raise UsageError.unknown("setting", key, SETTINGS)


def value_of(key: str, text: str) -> Value:
    """Return the value that a text stands for, of the kind that a setting has; else UsageError."""
    of = SETTINGS[known(key)]
    if fields.setting(Findings(), (key,), of, text) is not None:
        return text
    return fitting(key, _plain(text))


def fitting(key: str, value: Value) -> Value:
    """Return a value that a setting can have; else UsageError."""
    found = Findings()
    if fields.setting(found, (key,), SETTINGS[known(key)], value) is None:
        (problem,) = found.problems("")
        raise UsageError(f"{key}: {problem.what}", problem.hint.removesuffix(" in quotes"))
    return value


def with_settings(text: str, policy: Policy, where: Scope, values: Mapping[str, Value]) -> str:
    """Return the text of a policy with settings for exactly some requests, comments kept.

    They go to the part that is for these already, of several to one that has such a setting; else
    to the top, to `[attributes]` or into a new rule. UsageError as in `policy.edit`.
    """
    check_group(where, policy)
    found = places(where, policy)
    if not {*values} <= {*ATTRIBUTE_KEYS}:
        found = [each for each in found if each.path[:1] != ("attributes",)]
    having = [each for each in found if {*each.settings} & {*values}]
    if where == Scope() and not having:
        return with_keys(text, TOP, values)
    if found:
        return _at(text, (having or found)[0].path, values)
    if is_entry(where, values) and where.attribute not in _document(text).get("attributes", {}):
        return with_attribute(text, str(where.attribute), _entry({}, values))
    return with_rule(text, {"name": free_name(text, where.title), **where.parts(), **values})


def without_settings(text: str, policy: Policy, where: Scope, keys: Sequence[str]) -> str:
    """Return the text without settings for exactly some requests; what is then empty goes as well.

    UsageError where one of them is not set for these, and as in `policy.edit`.
    """
    check_group(where, policy)
    found = places(where, policy)
    for key in keys:
        if not any(key in rule.settings for rule in found):
            what = f"the policy file does not set {key!r} for exactly this"
            raise UsageError(what, "`reticent policy show` says where each value comes from")
    return without(text, *(path for rule in found for path in _gone(rule, keys)))


def _at(text: str, path: Path, values: Mapping[str, Value]) -> str:
    """Return the text with settings in a part that is there."""
    there = reduce(getitem, path, _document(text))
    if isinstance(there, dict):
        return with_keys(text, path, values)
    return with_attribute(text, str(path[-1]), _entry({SHORT: there}, values))


def _entry(before: Mapping[str, Value], values: Mapping[str, Value]) -> str | dict[str, Value]:
    """Return what `[attributes]` says of a name, as a text where that can say it."""
    entry = {**before, **values}
    return str(entry[SHORT]) if [*entry] == [SHORT] else entry


def _gone(rule: Rule, keys: Sequence[str]) -> list[Path]:
    """Return the paths that go where a rule loses settings: its own, if it has no other."""
    had = [key for key in keys if key in rule.settings]
    if rule.path != TOP and {*rule.settings} == {*had}:
        return [rule.path]
    return [(*rule.path, key) for key in had]


def _document(text: str) -> Any:  # noqa: ANN401  (any TOML)
    return tomllib.loads(text)


def _plain(text: str) -> Value:
    """Return the number, or the truth value, that a text stands for; else the text."""
    if text in ("true", "false"):
        return text == "true"
    try:
        return int(text) if _NUMBER.fullmatch(text) else float(text)
    except ValueError:  # int() takes no thousands of digits
        return text

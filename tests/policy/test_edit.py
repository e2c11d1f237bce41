"""Changes of a policy that say what was intended, and leave the rest as it was written."""

import tomllib
from collections.abc import Callable
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from agent.errors import UsageError
from policy.edit import (
    Entry,
    Settings,
    same,
    with_attribute,
    with_keys,
    with_rule,
    with_setting,
    without,
    without_rule,
)
from policy.settings import Value
from policy.toml_scan import Key, statements
from tests.policy.written import LISTS, NAMES, NUMBERS, SETTINGS, STRINGS, VALUES, Written, policies

KEYS = st.sampled_from(["preset", "lambda", "k", "search", "é ü"])
NAME = st.sampled_from(NAMES)
RULE_NAME = st.sampled_from(["one", "two", "three", "neun"])
RULE = st.dictionaries(
    st.sampled_from(["name", "lambda", "k", "recipient", "query", "expires"]),
    VALUES | LISTS,
    max_size=4,
)
ODD = st.text(max_size=8)


@given(policies(), KEYS, STRINGS | NUMBERS | st.booleans())
def test_a_setting_is_set_and_nothing_else(policy: Written, key: str, value: Value) -> None:
    """Whether it was there or not."""
    result = with_setting(policy.text, key, value)
    assert_says(result, tomllib.loads(policy.text) | {key: value})
    assert_keeps_comments(policy, result, (key,))
    assert with_setting(result, key, value) == result


@given(policies(), NAME, STRINGS | SETTINGS)
def test_an_attribute_is_set_and_nothing_else(
    policy: Written, name: str, value: str | Settings
) -> None:
    """In whichever form it stood: text, inline table, dotted keys, a table of its own."""
    result = with_attribute(policy.text, name, value)
    wanted = tomllib.loads(policy.text)
    wanted["attributes"] = wanted.get("attributes", {}) | {name: value}
    assert_says(result, wanted)
    assert_keeps_comments(policy, result, ("attributes", name))
    assert with_attribute(result, name, value) == result


@given(policies(), st.data())
def test_an_attribute_is_taken_out_and_nothing_else(policy: Written, data: st.DataObject) -> None:
    """In whichever form it stood."""
    wanted = tomllib.loads(policy.text)
    assume(wanted.get("attributes"))
    name = data.draw(st.sampled_from(sorted(wanted["attributes"])))
    del wanted["attributes"][name]
    result = without(policy.text, ("attributes", name))
    assert_says(result, wanted)
    assert_keeps_comments(policy, result, ("attributes", name))


@given(policies(), RULE, RULE_NAME | st.none())
def test_a_rule_is_set_and_nothing_else(
    policy: Written, rule: dict[str, Entry], name: str | None
) -> None:
    """In the place of the one with its name, or after all others."""
    rule |= {} if name is None else {"name": name}
    if (result := unless_refused(with_rule, policy, rule)) is None:
        return
    wanted = tomllib.loads(policy.text)
    rules = wanted.setdefault("rule", [])
    place = place_of(rules, rule.get("name"))
    rules[place:] = [rule, *rules[place + 1 :]]
    assert_says(result, wanted)
    assert_keeps_comments(policy, result, ("rule", place))
    assert "name" not in rule or with_rule(result, rule) == result


@given(policies(), RULE_NAME)
def test_a_rule_is_taken_out_and_nothing_else(policy: Written, name: str) -> None:
    """The rules that are left keep their order."""
    if (result := unless_refused(without_rule, policy, name)) is None:
        return
    wanted = tomllib.loads(policy.text)
    rules = wanted.get("rule", [])
    place = place_of(rules, name)
    there = bool(rules[place : place + 1])
    del rules[place : place + 1]
    assert_says(result, wanted)
    assert_keeps_comments(policy, result, ("rule", place))
    assert there or result == policy.text


@given(policies(), st.integers(0, 3), KEYS, STRINGS | NUMBERS)
def test_a_rule_gets_a_key_and_loses_it_again(
    policy: Written, place: int, key: str, value: Value
) -> None:
    """Named or not, in whichever form it stood; a key that was there goes as well."""
    rules = tomllib.loads(policy.text).get("rule", [])
    assume(place < len(rules))

    def put(text: str, _: object) -> str:
        return with_keys(text, ("rule", place), {key: value})

    if (result := unless_refused(put, policy, None)) is None:
        return
    wanted = tomllib.loads(policy.text)
    wanted["rule"][place][key] = value
    assert_says(result, wanted)
    assert_keeps_comments(policy, result, ("rule", place, key))
    del wanted["rule"][place][key]
    again = without(result, ("rule", place, key))
    assert_says(again, wanted)
    assert_keeps_comments(policy, again, ("rule", place, key))


@given(policies())
def test_what_changes_nothing_returns_the_same_text(policy: Written) -> None:
    """Whatever stands there, set to what it is."""
    document = tomllib.loads(policy.text)
    rules = [rule for rule in document.pop("rule", []) if "name" in rule]
    attributes = document.pop("attributes", {})
    del document["groups"]
    assert all(with_rule(policy.text, rule) == policy.text for rule in rules)
    for edit, pairs in ((with_attribute, attributes), (with_setting, document)):
        assert all(edit(policy.text, *pair) == policy.text for pair in pairs.items())


@given(policies(), KEYS, NAME, SETTINGS)
def test_what_is_new_moves_no_line(
    policy: Written, key: str, name: str, settings: Settings
) -> None:
    """All lines that were there stay, in their order; an inline value is one line and changes."""
    document = tomllib.loads(policy.text)
    inline = {
        each.path[0]
        for each in statements(policy.text)
        if each.path[1:] == () and not each.is_header
    }
    if key not in document:
        assert in_order(policy.text, with_setting(policy.text, key, True))
    if "attributes" not in inline and name not in document.get("attributes", {}):
        assert in_order(policy.text, with_attribute(policy.text, name, settings))
    if "rule" not in inline:
        assert in_order(policy.text, with_rule(policy.text, settings))


def in_order(text: str, longer: str) -> bool:
    """Tell whether all lines of a text are in a longer one, in their order."""
    found = iter(longer.splitlines())
    return all(line in found for line in text.splitlines())


def unless_refused(edit: Callable[..., str], policy: Written, argument: object) -> str | None:
    """Return the edited text, or None where rules are inline tables with comments between them.

    There tomlkit may lose a comment, which is refused.
    """
    try:
        return edit(policy.text, argument)
    except UsageError:
        assert ("rule",) in policy.comments.values()
        return None


def place_of(rules: list[dict[str, Any]], name: object) -> int:
    """Return which rule has a name, else how many there are."""
    places = [place for place, rule in enumerate(rules) if same(rule.get("name"), name)]
    return places[0] if places and name is not None else len(rules)


def assert_says(text: str, wanted: dict[str, Any]) -> None:
    """Compare with what was intended; an empty table or list is as good as none."""
    found = tomllib.loads(text)
    for document in (found, wanted):
        for key in ("attributes", "rule"):
            if not document.get(key):
                document.pop(key, None)
    assert same(found, wanted)


def assert_keeps_comments(policy: Written, result: str, changed: Key) -> None:
    """Look for each comment that does not stand inside what was changed, and in its order."""
    outside = [
        comment for comment, owner in policy.comments.items() if owner[: len(changed)] != changed
    ]
    offsets = [result.find(comment) for comment in outside]
    assert offsets == sorted(offsets)
    assert -1 not in offsets


@given(ODD, ODD, ODD)
def test_any_text_may_be_a_name_or_a_value(name: str, value: str, setting: str) -> None:
    """Quotes, dots, control characters, nothing: what is written is read back."""
    text = with_attribute("", name, {"disclose": value, setting: 1.0})
    text = with_setting(with_attribute(text, f"{name}.", value), f"attributes.{setting}", value)
    text = with_rule(text, {"name": name, "query": [value, name]})
    document = tomllib.loads(text)
    assert document.pop(f"attributes.{setting}") == value
    assert document == {
        "attributes": {name: {"disclose": value, setting: 1.0}, f"{name}.": value},
        "rule": [{"name": name, "query": [value, name]}],
    }

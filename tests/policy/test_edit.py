"""Changes of a policy that say what was intended, and leave the rest as it was written."""

import tomllib
from collections.abc import Callable
from copy import deepcopy
from datetime import date
from typing import Any

import pytest
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
    without,
    without_rule,
)
from policy.settings import Value
from policy.toml_scan import Key, statements
from tests.policy.written import LISTS, NAMES, NUMBERS, SETTINGS, STRINGS, VALUES, Written, policies


def with_setting(text: str, key: str, value: Value) -> str:
    """Return a policy with a setting at its top."""
    return with_keys(text, (), {key: value})


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
    assert_edited(policy, result, tomllib.loads(policy.text) | {key: value}, (key,))
    assert with_setting(result, key, value) == result


@given(policies(), NAME, STRINGS | SETTINGS)
def test_an_attribute_is_set_and_nothing_else(
    policy: Written, name: str, value: str | Settings
) -> None:
    """In whichever form it stood: text, inline table, dotted keys, a table of its own."""
    result = with_attribute(policy.text, name, value)
    wanted = tomllib.loads(policy.text)
    wanted["attributes"] = wanted.get("attributes", {}) | {name: value}
    assert_edited(policy, result, wanted, ("attributes", name))
    assert with_attribute(result, name, value) == result


@given(policies(), st.data())
def test_an_attribute_is_taken_out_and_nothing_else(policy: Written, data: st.DataObject) -> None:
    """In whichever form it stood."""
    wanted = tomllib.loads(policy.text)
    assume(wanted.get("attributes"))
    name = data.draw(st.sampled_from(sorted(wanted["attributes"])))
    del wanted["attributes"][name]
    result = without(policy.text, ("attributes", name))
    assert_edited(policy, result, wanted, ("attributes", name))


@given(policies(), RULE, RULE_NAME | st.none())
def test_a_rule_is_set_and_nothing_else(
    policy: Written, rule: dict[str, Entry], name: str | None
) -> None:
    """In the place of the one with its name, or after all others."""
    rule |= {} if name is None else {"name": name}
    result = with_rule(policy.text, rule)
    wanted = tomllib.loads(policy.text)
    rules = wanted.setdefault("rule", [])
    place = place_of(rules, rule.get("name"))
    rules[place:] = [rule, *rules[place + 1 :]]
    assert_edited(policy, result, wanted, ("rule", place))
    assert "name" not in rule or with_rule(result, rule) == result


@given(policies(), RULE_NAME)
def test_a_rule_is_taken_out_and_nothing_else(policy: Written, name: str) -> None:
    """The rules that are left keep their order."""
    result = without_rule(policy.text, name)
    wanted = tomllib.loads(policy.text)
    rules = wanted.get("rule", [])
    place = place_of(rules, name)
    there = bool(rules[place : place + 1])
    del rules[place : place + 1]
    assert_edited(policy, result, wanted, ("rule", place))
    assert there or result == policy.text


@given(policies(), st.integers(0, 3), KEYS, STRINGS | NUMBERS)
def test_a_rule_gets_a_key_and_loses_it_again(
    policy: Written, place: int, key: str, value: Value
) -> None:
    """Named or not, in whichever form it stood; a key that was there goes as well."""
    rules = tomllib.loads(policy.text).get("rule", [])
    assume(place < len(rules))

    result = with_keys(policy.text, ("rule", place), {key: value})
    wanted = tomllib.loads(policy.text)
    wanted["rule"][place][key] = value
    assert_edited(policy, result, wanted, ("rule", place, key))
    del wanted["rule"][place][key]
    again = without(result, ("rule", place, key))
    assert_edited(policy, again, wanted, ("rule", place, key))


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


def place_of(rules: list[dict[str, Any]], name: object) -> int:
    """Return which rule has a name, else how many there are."""
    places = [place for place, rule in enumerate(rules) if same(rule.get("name"), name)]
    return places[0] if places and name is not None else len(rules)


def assert_edited(policy: Written, text: str, wanted: dict[str, Any], changed: Key) -> None:
    """Compare with what was intended, an empty table or list as good as none.

    And look for each comment that does not stand inside what was changed, in its order.
    """
    wanted, found = (
        {key: value for key, value in each.items() if value or key not in ("attributes", "rule")}
        for each in (wanted, tomllib.loads(text))
    )
    assert same(found, wanted)
    outside = [each for each, owner in policy.comments.items() if owner[: len(changed)] != changed]
    offsets = [text.find(comment) for comment in outside]
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


SALARY = 'salary.disclose = "ask"\nsalary.guard = 1\n'
TEXT = """\
# Written by hand.
preset = "strict"  # to begin with
# lambda = 5

# Who pools.
[groups]
adverts = ["ads.example"]

# Books.
[[rule]]
name = "books"  # whose name is this
recipient = "books.example"
# It is cheap.
lambda = 3

[attributes]
gender = "never"  # of course
salary.disclose = "ask"
salary.guard = 1

# Shops.
[[rule]]
name = "shops"
nothing = true

[attributes.age]
disclose = "ask"
"""


@pytest.mark.parametrize(
    ("edit", "arguments", "old", "new"),
    [
        (with_setting, ("preset", "balanced"), '"strict"  #', '"balanced"  #'),
        (with_setting, ("k", 50), "to begin with\n", "to begin with\nk = 50\n"),
        (with_attribute, ("gender", "ask"), '"never"  #', '"ask"  #'),
        (with_attribute, ("salary", {"guard": 2.5}), SALARY, "salary = { guard = 2.5 }\n"),
        (with_attribute, ("dev_*", "auto"), SALARY, f'{SALARY}"dev_*" = "auto"\n'),
        (without, (("attributes", "age"),), '\n[attributes.age]\ndisclose = "ask"\n', ""),
        (without, (("attributes", "salary"),), SALARY, ""),
        (
            with_rule,
            ({"name": "books", "recipient": "books.example", "expires": date(2027, 3, 1)},),
            "# It is cheap.\nlambda = 3\n",
            "expires = 2027-03-01\n# It is cheap.\n",
        ),
        (
            with_rule,
            ({"name": "new", "recipient": ["a.example"], "k": 5},),
            'disclose = "ask"\n',
            'disclose = "ask"\n\n[[rule]]\nname = "new"\nrecipient = ["a.example"]\nk = 5\n',
        ),
        (without_rule, ("shops",), '[[rule]]\nname = "shops"\nnothing = true\n', ""),
    ],
)
def test_examples_of_edits(
    edit: Callable[..., str], arguments: tuple[Any, ...], old: str, new: str
) -> None:
    """What changes, where it stands; the rest keeps every character."""
    head, _, tail = TEXT.rpartition(old)
    changed = head + new + tail
    assert edit(TEXT, *arguments) == changed
    windows = TEXT.replace("\n", "\r\n")
    assert edit(windows, *arguments) == changed.replace("\n", "\r\n")


AGE = with_attribute, ("age", "ask")
NO_AGE = without, (("attributes", "age"),)
NEW_K = with_setting, ("k", 5)


@pytest.mark.parametrize(
    ("edit", "text", "changed"),
    [
        # A setting stands above the tables, and above the comment on the first of them.
        (NEW_K, "", "k = 5\n"),
        (NEW_K, "# mine", "# mine\nk = 5\n"),
        (NEW_K, "# mine\n[groups]", "# mine\nk = 5\n\n[groups]\n"),
        (NEW_K, "# mine\n\n# pools\n[groups]", "# mine\n\nk = 5\n\n# pools\n[groups]\n"),
        # An attribute stands in the table that there is, or in a new one.
        (AGE, "k = 5\n[[rule]]\n", 'k = 5\n\n[attributes]\nage = "ask"\n\n[[rule]]\n'),
        (AGE, "attributes.b = 'ask'", "attributes.b = 'ask'\nattributes.age = \"ask\"\n"),
        (AGE, 'k = """\n#"""\n[b]', 'k = """\n#"""\n\n[attributes]\nage = "ask"\n\n[b]\n'),
        (AGE, "[attributes]\n\n[groups]", '[attributes]\nage = "ask"\n\n[groups]\n'),
        (AGE, "[attributes.age]\nk = 1", '[attributes]\nage = "ask"\n'),
        (AGE, "attributes = {} # none", 'attributes = {age = "ask"} # none\n'),
        (AGE, "'attributes'.age.a = 1 # x", 'attributes.age = "ask" # x\n'),
        # An inline entry goes with one comma.
        (NO_AGE, "attributes = { age = 'ask' }", "attributes = {  }\n"),
        (NO_AGE, "attributes = { age = 'ask', x = 1 }", "attributes = { x = 1 }\n"),
        (NO_AGE, "attributes = {x=1, age = 'ask', y=2}", "attributes = {x=1, y=2}\n"),
        (NO_AGE, "attributes = {age.k = 1, age.x = 'a', x = 1}", "attributes = {x = 1}\n"),
        (NO_AGE, "attributes = {x = 1 , age.k = 1, age.x = 'a' }", "attributes = {x = 1  }\n"),
    ],
)
def test_where_a_line_or_an_entry_stands(
    edit: tuple[Callable[..., str], tuple[Any, ...]], text: str, changed: str
) -> None:
    """What is there stays as it is written, comments included."""
    function, arguments = edit
    assert function(text, *arguments) == changed


def test_rules_in_an_array_stay_there() -> None:
    """With their comments; without a name, none is replaced."""
    text = "rule = [ # all\n  {name = 'a', k = 1}, # one, or two\n]\n"
    longer = with_rule(with_rule(text, {"name": "a", "k": 2}), {"k": 3})
    assert longer == "rule = [ # all\n  {name = 'a', k = 2}, { k = 3 }, # one, or two\n]\n"
    assert without(longer, ("rule", 1)) == text.replace("1", "2")
    assert without_rule(longer, "a") == "rule = [ # all\n  { k = 3 }, # one, or two\n]\n"


@pytest.mark.parametrize(
    ("edit", "arguments", "text"),
    [
        (with_setting, ("k", 1), "k = = 1"),
        (with_setting, ("k", 1), "k = 1\nk = 1"),
        (with_setting, ("k", 1), "k = " + "[" * 5000),
        (with_attribute, ("age", "never"), "attributes = 1"),
        (with_attribute, ("age", "never"), "[[attributes]]"),
        (with_rule, ({"name": "a"},), "[rule]"),
        (with_rule, ({"name": "a"},), "rule = [1]"),
        (with_rule, ({"name": "a"},), "[[rule]]\nname = 'a'\n[[rule]]\nname = 'a'\nk = 1"),
        (without_rule, ("a",), "[[rule]]\nname = 'a'\n[[rule]]\nname = 'a'"),
    ],
)
def test_examples_of_refusals(
    edit: Callable[..., str], arguments: tuple[Any, ...], text: str
) -> None:
    """No TOML, no such place, or two of them; each with what to do."""
    with pytest.raises(UsageError) as caught:
        edit(text, *arguments)
    assert caught.value.hint


@pytest.mark.parametrize("result", ["k = 1\n", "k = 1\n="])
def test_a_result_that_says_something_else_is_not_returned(
    monkeypatch: pytest.MonkeyPatch, result: str
) -> None:
    """Whatever the reason."""
    monkeypatch.setattr("policy.edit._changed", lambda *_: result)
    with pytest.raises(UsageError, match="safely"):
        with_setting("k = 1\n", "k", 2)


@pytest.mark.parametrize(
    ("one", "other"), [(1, 1.0), (1, True), (0.0, -0.0), ([1], [1, 1]), ({"a": 1}, {"b": 1})]
)
def test_values_are_compared_with_their_types(one: object, other: object) -> None:
    """Python's own comparison would let a changed type through."""
    assert same(one, deepcopy(one))
    assert not same(one, other)
    assert same(float("nan"), float("nan"))

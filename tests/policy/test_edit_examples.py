"""Edits of a policy as a person would see them: what changes where, and what is refused."""

import re
import tomllib
from collections.abc import Callable
from copy import deepcopy
from datetime import date
from typing import Any

import pytest

from agent.errors import UsageError
from policy.edit import (
    same,
    with_attribute,
    with_rule,
    with_setting,
    without,
    without_rule,
)
from policy.toml_scan import comments
from tests.house.tree import ROOT

FORMAT = (ROOT / "policy/FORMAT.md").read_text()
DOCUMENTED = re.findall(
    r"^```toml\n(.*?)^```", (ROOT / "policy/FORMAT.md").read_text(), re.MULTILINE | re.DOTALL
)

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
        (
            with_attribute,
            ("salary", {"guard": 2.5}),
            'salary.disclose = "ask"\nsalary.guard = 1\n',
            "salary = { guard = 2.5 }\n",
        ),
        (
            with_attribute,
            ("dev_*", "auto"),
            "salary.guard = 1\n",
            'salary.guard = 1\n"dev_*" = "auto"\n',
        ),
        (without, (("attributes", "age"),), '\n[attributes.age]\ndisclose = "ask"\n', ""),
        (without, (("attributes", "salary"),), 'salary.disclose = "ask"\nsalary.guard = 1\n', ""),
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


@pytest.mark.parametrize(
    ("text", "longer"),
    [
        ("", "k = 5\n"),
        ("# mine", "# mine\nk = 5\n"),
        ("# mine\n[groups]", "# mine\nk = 5\n\n[groups]\n"),
        ("# mine\n\n# who pools\n[groups]", "# mine\n\nk = 5\n\n# who pools\n[groups]\n"),
    ],
)
def test_a_new_setting_stands_above_the_tables(text: str, longer: str) -> None:
    """Not between a table and the comment on it, and not above the comment on the file."""
    assert with_setting(text, "k", 5) == longer


@pytest.mark.parametrize(
    ("text", "longer"),
    [
        ("k = 5\n[[rule]]\n", 'k = 5\n\n[attributes]\nage = "ask"\n\n[[rule]]\n'),
        ("attributes.b = 'ask'", "attributes.b = 'ask'\nattributes.age = \"ask\"\n"),
        ('k = """\n#"""\n[b]', 'k = """\n#"""\n\n[attributes]\nage = "ask"\n\n[b]\n'),
        ("[attributes]\n\n[groups]", '[attributes]\nage = "ask"\n\n[groups]\n'),
        ("[attributes.age]\nk = 1", '[attributes]\nage = "ask"\n'),
        ("attributes = {} # none", 'attributes = {age = "ask"} # none\n'),
        ("'attributes'.age.a = 1 # x", 'attributes.age = "ask" # x\n'),
    ],
)
def test_an_attribute_stands_in_the_table_there_is(text: str, longer: str) -> None:
    """Or in a new one."""
    assert with_attribute(text, "age", "ask") == longer


def test_rules_in_an_array_stay_there() -> None:
    """With their comments; without a name, none is replaced."""
    text = "rule = [ # all\n  {name = 'a', k = 1}, # one\n]\n"
    longer = with_rule(with_rule(text, {"name": "a", "k": 2}), {"k": 3})
    assert tomllib.loads(longer)["rule"] == [{"name": "a", "k": 2}, {"k": 3}]
    assert comments(longer) == ["# all", "# one"]


@pytest.mark.parametrize(
    ("edit", "arguments", "text"),
    [
        (with_setting, ("k", 1), "k = = 1"),
        (with_setting, ("k", 1), "k = 1\nk = 1"),
        (with_setting, ("k", 1), "k = " + "[" * 5000),
        (with_setting, ("rule", 1), "[[rule]]"),
        (with_setting, ("groups", "x"), "[groups]"),
        (with_attribute, ("age", "never"), "attributes = 1"),
        (with_attribute, ("age", "never"), "[[attributes]]"),
        (with_rule, ({"name": "a"},), "[rule]"),
        (with_rule, ({"name": "a"},), "rule = [1]"),
        (with_rule, ({"name": "a"},), "[[rule]]\nname = 'a'\n[[rule]]\nname = 'a'\nk = 1"),
        (without_rule, ("a",), "[[rule]]\nname = 'a'\n[[rule]]\nname = 'a'"),
        (without_rule, ("a",), "rule = [{name = 'a'}, # the first\n]"),
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
    monkeypatch.setattr("policy.edit._with_lines", lambda *_: result)
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


@pytest.mark.parametrize("text", DOCUMENTED)
def test_what_is_set_and_set_back_leaves_a_documented_policy_as_it_was(text: str) -> None:
    """The settings, attributes and rules of each example in the format's document."""
    document = tomllib.loads(text)
    for key, value in document.items():
        if not isinstance(value, dict | list):
            assert with_setting(with_setting(text, key, "other"), key, value) == text
    for name, value in document.get("attributes", {}).items():
        assert with_attribute(with_attribute(text, name, "other"), name, value) == text
    for rule in document.get("rule", []):
        if "name" in rule:
            assert with_rule(with_rule(text, rule | {"k": "other"}), rule) == text

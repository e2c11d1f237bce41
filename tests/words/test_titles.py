"""Titles in place of codes."""

import random
import tomllib
from importlib.resources import files

import pytest

from agent.decision.locale import LOCALE
from agent.model.attributes import UNSPECIFIED as CODE_0
from agent.model.attributes import Attribute
from agent.model.file import read, shipped_models
from agent.words.titles import UNSPECIFIED, fact, facts, in_order, titled, value_title

MODELS = (*map(read, shipped_models()), LOCALE)
ATTRIBUTES = [each for model in MODELS for each in model.attributes]


@pytest.mark.parametrize("attribute", ATTRIBUTES, ids=lambda each: each.name)
def test_no_value_of_the_shipped_model_reads_like_a_code(attribute: Attribute) -> None:
    """And no two values of an attribute read alike."""
    titles = [value_title(each, attribute.title) for each in attribute.values]
    assert not [each for each in titles if "_" in each or (each[:1] == "q" and each[1:].isdigit())]
    assert len({*titles}) == len(titles)


@pytest.mark.parametrize(
    ("value", "attribute", "title"),
    [
        ("lt_3", "years since learning to program", "less than 3 years"),
        ("3_5", "years since learning to program", "3 to 5 years"),
        ("20_up", "years since learning to program", "20 or more years"),
        ("lt_10", "number of people at the company", "fewer than 10 people"),
        ("10000_up", "number of people at the company", "10,000 or more people"),
        ("7", "", "7"),
        ("1", "people in the household", "1 person"),
        ("in", "state of the US", "Indiana"),
        ("in", "", "in"),
        ("15k_35k", "income of the household in a year", "$15,000 to $35,000"),
        ("professional", "kind of job", "professional (science, teaching, health, law, arts)"),
        ("professional", "highest level of education", "professional degree"),
        ("q3", "salary, in fifths from low to high", "middle fifth"),
        ("open_source", "", "open source"),
    ],
)
def test_a_value_reads_like_words(value: str, attribute: str, title: str) -> None:
    """With the unit that the attribute counts in."""
    assert value_title(value, attribute) == title


def test_a_fact_is_a_title_and_a_value() -> None:
    """By the attribute's name where its title is not known."""
    assert fact("interested in .NET", "no") == "interested in .NET: no"
    assert facts({"a": "yes", "b": "lt_3"}, {"a": "one"}) == ["one: yes", "b: less than 3"]
    assert titled(["a", "b"], {"a": "one"}) == ["one", "b"]


@pytest.mark.parametrize(
    "wanted",
    [
        ["unspecified", "lt_3", "3_5", "6_9", "10_19", "20_up"],
        ["unspecified", "lt_10", "10_99", "100_999", "1000_9999", "10000_up"],
        ["unspecified", "no", "part_time", "full_time"],
        ["unspecified", "low", "mid", "high"],
        ["unspecified", "night_early", "7am", "8am", "9am", "10am", "11am", "noon_later"],
        ["unspecified", "primary_or_none", "secondary", "some_college", "bachelor", "master"],
        ["unspecified", "q1", "q2", "q3"],
    ],
)
def test_values_stand_in_their_natural_order(wanted: list[str]) -> None:
    """Whatever order they come in."""
    shuffled = random.Random(1).sample(wanted, len(wanted))  # noqa: S311  (a shuffle of examples)
    assert in_order(shuffled) == wanted


@pytest.mark.parametrize("attribute", ATTRIBUTES, ids=lambda each: each.name)
def test_an_order_keeps_every_value(attribute: Attribute) -> None:
    """What is not specified comes first, what is other last."""
    found = in_order(attribute.values)
    assert sorted(found) == sorted(attribute.values)
    assert found[0] == UNSPECIFIED == CODE_0
    assert "other" not in found[:-1]


def test_titles_of_one_attribute_belong_to_one_that_exists() -> None:
    """By its title, and each to a value that it has."""
    known = {each.title: {*each.values} for each in ATTRIBUTES}
    path = files("agent.words") / "values.toml"
    for title, values in tomllib.loads(path.read_text("utf-8")).items():
        if title != "any":
            assert {*values} <= known[title]

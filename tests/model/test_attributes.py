"""An attribute holds together, or is not made."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import UsageError
from agent.model.attributes import LONGEST_WORD, MAX_VALUES, NAME, Attribute, is_plain
from tests.model.examples import REGION, TOWN
from tests.strategies import attribute_lists


@given(attribute_lists())
def test_the_code_of_a_value_is_its_position(attributes: tuple[Attribute, ...]) -> None:
    """In both directions."""
    for attribute in attributes:
        codes = [attribute.code(value) for value in attribute.values]
        assert codes == [*range(len(attribute.values))]


@given(st.text(max_size=4))
def test_a_name_is_short_latin_text(name: str) -> None:
    """It travels in a header and stands in a policy."""
    fields = ("title", "person", ("unspecified",))
    if NAME.fullmatch(name):
        assert Attribute(name, *fields).name == name  # type: ignore[arg-type]  # some are wrong
    else:
        with pytest.raises(ValueError, match="name"):
            Attribute(name, *fields)  # type: ignore[arg-type]  # some are wrong


CHANGES: list[tuple[dict[str, Any], str]] = [
    ({"name": "region\n"}, "does not match"),
    ({"title": ""}, "no title"),
    ({"values": ()}, "'unspecified' as first"),
    ({"values": ("north", "unspecified")}, "'unspecified' as first"),
    ({"values": ("unspecified", "north", "north")}, "twice"),
    ({"values": ("unspecified", "")}, "empty"),
    ({"values": ("unspecified", *map(str, range(MAX_VALUES)))}, "more than 256"),
    ({"refines": "region"}, "refines itself"),
    ({"sensitivity": float("nan")}, "not finite"),
    ({"sensitivity": -0.1}, "below 0"),
    ({"words": {"unspecified": "word"}}, "a word for an unknown value"),
    ({"words": {"south": "word"}}, "a word for an unknown value"),
    ({"words": {"north": "-word"}}, "a word with search syntax"),
]


def test_what_an_attribute_cannot_be() -> None:
    """One thing wrong at a time."""
    whole: dict[str, Any] = {
        "name": "region",
        "title": "Region",
        "scope": "person",
        "values": ("unspecified", "north"),
    }
    for change, problem in CHANGES:
        with pytest.raises(ValueError, match=problem):
            Attribute(**whole | change)


def test_256_values_are_not_too_many() -> None:
    """A code is one byte."""
    values = ("unspecified", *map(str, range(MAX_VALUES - 1)))
    assert Attribute("a", "A", "person", values).code("254") == 255


def test_an_unknown_value_names_the_nearest() -> None:
    """So that a slip of the pen is one edit away from being right."""
    with pytest.raises(UsageError) as caught:
        REGION.code("norht")
    assert (caught.value.what, caught.value.hint) == (
        "unknown value of region 'norht'",
        "did you mean 'north'?",
    )
    assert TOWN.code("unspecified") == 0


PLAIN = ["python", "c++", "c#", "node.js", "part-time", "machine learning", "Köln", "東京"]
STEERING = [
    *("", " ", "-python", "+c", '"c"', "site:a.example", "!g", "(c", "a|b", "a*", "a/b", "a_b"),
    *("a  b", " a", "a ", "a\n", "a\tb", "a\u200db", "\u202ea", "a OR b", "not", "And"),
    *("a b c d e", "x" * (LONGEST_WORD + 1), "e\u0301", "a&b=c", "a%20b", "#a", ".a", "a -b"),
]


def test_a_word_is_what_people_type_and_steers_no_search_engine() -> None:
    """In any script; no operators, nothing unseen, no more than a few words."""
    assert [word for word in PLAIN if not is_plain(word)] == []
    assert [word for word in STEERING if is_plain(word)] == []


@given(st.text(max_size=LONGEST_WORD + 1) | st.text(st.sampled_from('a1.+#- "-:|()'), max_size=9))
def test_a_plain_word_stays_as_it_is(word: str) -> None:
    """Its parts begin with a letter or digit, and white space is one space between them."""
    if is_plain(word):
        assert 0 < len(word) <= LONGEST_WORD
        assert word.isprintable()
        assert " ".join(word.split()) == word
        assert all(part[0].isalnum() for part in word.split())
        assert not {*word} & set("\"':|()*~&=?/\\<>@!,;_%$^[]{}`")

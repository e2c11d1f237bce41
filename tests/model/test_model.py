"""A model as a value, and what it remembers."""

import re
from dataclasses import FrozenInstanceError, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import UsageError
from agent.model import attributes, file, model, signature
from agent.model.attributes import LONGEST_WORD, MAX_VALUES, NAME, Attribute, is_plain
from agent.model.content import BLANK, FORMAT, Metadata
from agent.model.file import encode, shipped_model, shipped_models
from agent.model.model import Model, Query
from agent.model.tables import gather
from tests.model.examples import REGION, TOWN, reading_model, small_model
from tests.strategies import attribute_lists, models, populations, query_rows


@given(st.data())
def test_the_rows_of_each_query_come_back(data: st.DataObject) -> None:
    """As they were given, whatever stands before them."""
    attributes = data.draw(attribute_lists())
    people = data.draw(populations(attributes))
    given_rows = data.draw(st.lists(query_rows(attributes, people), min_size=1, max_size=4))
    model = small_model()
    tables = gather(people, given_rows, np.ones(len(given_rows)), model.tables.singles)
    queries = tuple(
        Query(
            str(place), tuple(map(str, range(rows.intents))), 1, len(rows.user), len(rows.person), 0
        )
        for place, rows in enumerate(given_rows)
    )
    model = replace(model, attributes=attributes, queries=queries, tables=tables)
    for place, expected in enumerate(given_rows):
        found = model.rows(place)
        assert {found.user.dtype, found.intent.dtype} == {np.dtype(np.intp)}
        assert found.intents == expected.intents
        for name in ("user", "intent", "person", "request"):
            assert np.array_equal(getattr(found, name), getattr(expected, name))


def test_a_model_prints_as_one_line() -> None:
    """Who it is, how much it knows, and of how many people."""
    model = small_model()
    assert repr(model) == "<Model small: 2 queries, 2 facts, about 9 people>"
    counted = replace(model.population, weights=None)
    many = replace(model.population, weights=np.array([2.4e8, 1, 1, 1]))
    for people, shown in ((counted, "4 people"), (many, "about 240 million people")):
        other = replace(model, tables=replace(model.tables, population=people))
        assert repr(other) == f"<Model small: 2 queries, 2 facts, {shown}>"


@given(models())
def test_models_are_equal_if_their_contents_are(one: Model) -> None:
    """Every field counts, down to the last number of a tensor."""
    assert one == replace(one)
    assert one != replace(one, id=one.id + "x")
    weights = one.tables.query_weights + 1.0
    assert one != replace(one, tables=replace(one.tables, query_weights=weights))
    assert one.tables != object()


def test_person_attributes_come_first() -> None:
    """Their number is the first index of a request attribute."""
    model = small_model()
    assert model.cards == (3, 4, 3)
    assert model.persons == 2
    assert model.index("working_hours") == 2


def test_an_unknown_attribute_names_the_nearest() -> None:
    """So that a slip of the pen is one edit away from being right."""
    with pytest.raises(UsageError) as caught:
        small_model().index("Regoin")
    assert caught.value.hint == "did you mean 'region'?"


def test_nothing_in_a_model_can_be_set() -> None:
    """State changes by making a new value."""
    model = small_model()
    with pytest.raises(FrozenInstanceError):
        model.id = "x"  # type: ignore[misc]  # the point
    with pytest.raises(TypeError):
        model.options["min_users"] = 3  # type: ignore[index]  # the point


def test_the_options_are_a_copy() -> None:
    """The caller's dict stays the caller's."""
    options: dict[str, str | None] = {"half": "A"}
    model = replace(small_model(), options=options)
    options["half"] = "B"
    assert model.options["half"] == "A"


@given(models())
def test_the_users_of_a_query_say_no_more_than_their_codes(model: Model) -> None:
    """Whoever has the same codes has the same number, which is that of nobody in particular."""
    codes = model.population.codes.tolist()
    ends = np.cumsum([each.users for each in model.queries])[:-1]
    steps = np.split(model.tables.rows.step, ends)
    for profile in np.concatenate([np.cumsum(each) % len(codes) for each in steps]).tolist():
        assert codes.index(codes[profile]) == profile


def test_rows_that_a_model_cannot_hold_are_refused() -> None:
    """Users out of order, and one whom the population lacks."""
    model = small_model()
    rows, population = model.rows(0), model.population
    for wrong, sentence in (
        (replace(rows, user=rows.user[::-1]), "not in the order of its users"),
        (replace(rows, person=rows.person + np.uint8(1)), "not in the population"),
    ):
        with pytest.raises(ValueError, match=sentence):
            gather(population, [wrong], np.ones(1), model.tables.singles)


PAGE = Path(file.__file__).with_name("FORMAT.md").read_text(encoding="utf-8")


def keys(heading: str) -> list[str]:
    """Return the names in the first column of the first table after a heading, in order."""
    table = PAGE.split(heading, 1)[1].split("\n\n|", 1)[1].split("\n\n", 1)[0]
    cells = [line.split("|")[1] for line in f"|{table}".splitlines()[2:]]
    return [name for cell in cells for name in re.findall(r"`([^`]+)`", cell)]


def test_the_page_names_every_key_in_order() -> None:
    """Of the metadata, an attribute and a query."""
    assert keys("\n## Metadata") == [*Metadata.__struct_fields__]
    assert keys("\nAn attribute:") == [field.name for field in fields(Attribute)]
    assert keys("\nA query:") == [field.name for field in fields(Query)]


def test_the_page_names_every_tensor() -> None:
    """The example has all of them, weights and request attributes included."""
    assert keys("\n## Tensors") == sorted(reading_model().tables.tensors())


def test_a_file_opens_with_the_bytes_of_the_page() -> None:
    """Version and digest stand where the page says."""
    block = PAGE.split("opens with these bytes", 1)[1].split("```")[1]
    (start, opening), (at, _), (after, version) = (
        line.split(maxsplit=1) for line in block.strip().splitlines()
    )
    data = encode(reading_model())
    assert data[int(start) : int(at)] == opening.encode()
    assert int(after) - int(at) == len(BLANK)
    assert data[int(after) :].startswith(version.encode())
    assert version == rf"\",\"format\":{FORMAT},"


def test_the_page_states_the_limits() -> None:
    """Every number in it that is a constant in the code."""
    for limit in (
        f"1 to {attributes.MAX_VALUES} different texts",
        f"{model.MIN_SHRINKAGE:.0e} to {model.MAX_SHRINKAGE:.0e}".replace("e-0", "e-").replace(
            "e+0", "e"
        ),
        f"{file.MIN_PEOPLE} to {file.MAX_WEIGHT:.0e}".replace("e+0", "e"),
        f"{file.MIN_WEIGHT:.0e} to {file.MAX_WEIGHT:.0e}".replace("e-0", "e-").replace("e+0", "e"),
        f"at most {file.MAX_BYTES >> 30} GiB",
        f"at most {signature.MAX_SIGNATURE_BYTES >> 10} KiB",
    ):
        assert limit in PAGE


def test_the_shipped_model_lies_in_the_package() -> None:
    """Where the wheel takes it along."""
    folder = Path(file.__file__).parent / "shipped"
    assert {*shipped_models()} == {*folder.glob("*.safetensors")}
    assert shipped_model() == shipped_models()[0]


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

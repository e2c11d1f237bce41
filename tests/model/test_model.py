"""A model as a value, and its file: the identity byte for byte, written whole or not at all."""

import os
import re
import stat
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from safetensors.numpy import load

from agent.errors import BuildError, DamagedModelError, UsageError
from agent.model import attributes, file
from agent.model.attributes import LONGEST_WORD, MAX_VALUES, Attribute, Query, is_plain
from agent.model.content import BLANK, FORMAT, Metadata
from agent.model.file import decode, encode
from agent.model.model import Model
from agent.model.tables import gather
from tests.model.examples import REGION, own_words_model, reading_model, same, small_model
from tests.strategies import attribute_lists, models, populations, query_rows

SOME = settings(max_examples=settings().max_examples // 3)


@given(st.data())
def test_the_rows_of_each_query_come_back(data: st.DataObject) -> None:
    """As they were given, whatever stands before them."""
    attributes = data.draw(attribute_lists())
    people = data.draw(populations(attributes))
    given_rows = data.draw(st.lists(query_rows(attributes, people), min_size=1, max_size=4))
    model = small_model()
    tables = gather(people, given_rows, np.ones(len(given_rows)), model.tables.singles)
    queries = tuple(
        Query(str(at), tuple(map(str, range(each.intents))), 1, len(each.user), len(each.person), 0)
        for at, each in enumerate(given_rows)
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


def test_person_attributes_come_first() -> None:
    """Their number is the first index of a request attribute."""
    model = small_model()
    assert model.cards == (3, 4, 3)
    assert model.persons == 2
    assert model.index("working_hours") == 2
    with pytest.raises(UsageError) as caught:
        model.index("Regoin")
    assert caught.value.hint == "did you mean 'region'?"


def test_the_options_of_a_model_are_its_own() -> None:
    """The caller's stay the caller's."""
    options: dict[str, str | None] = {"half": "A"}
    model = replace(small_model(), options=options)
    options["half"] = "B"
    assert model.options["half"] == "A"


@SOME
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
    """The names in the first column of the first table after a heading, in order."""
    table = PAGE.split(heading, 1)[1].split("\n\n|", 1)[1].split("\n\n", 1)[0]
    cells = [line.split("|")[1] for line in f"|{table}".splitlines()[2:]]
    return [name for cell in cells for name in re.findall(r"`([^`]+)`", cell)]


def test_the_page_names_every_key_and_every_tensor() -> None:
    """Of the metadata, an attribute and a query, in order; the example has all tensors."""
    assert keys("\n## Metadata") == [*Metadata.__struct_fields__]
    assert keys("\nAn attribute:") == [field.name for field in fields(Attribute)]
    assert keys("\nA query:") == [field.name for field in fields(Query)]
    tensors = {*reading_model().tables.tensors(), *own_words_model().tables.tensors()}
    assert keys("\n## Tensors") == sorted(tensors)


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

    def power(number: float) -> str:
        return f"{number:.0e}".replace("e-0", "e-").replace("e+0", "e")

    for limit in (
        f"1 to {attributes.MAX_VALUES} different texts",
        f"{power(attributes.MIN_SHRINKAGE)} to {power(attributes.MAX_SHRINKAGE)}",
        f"{file.MIN_PEOPLE} to {power(file.MAX_WEIGHT)}",
        f"{power(file.MIN_WEIGHT)} to {power(file.MAX_WEIGHT)}",
        f"at most {file.MAX_BYTES >> 30} GiB",
        f"at most {file.MAX_SIGNATURE_BYTES >> 10} KiB",
    ):
        assert limit in PAGE


@given(attribute_lists())
def test_the_code_of_a_value_is_its_position(attributes: tuple[Attribute, ...]) -> None:
    """In both directions."""
    for attribute in attributes:
        codes = [attribute.code(value) for value in attribute.values]
        assert codes == [*range(len(attribute.values))]
    values = ("unspecified", *map(str, range(MAX_VALUES - 1)))  # a code is one byte
    assert Attribute("a", "A", "person", values).code("254") == 255
    with pytest.raises(UsageError, match="unknown value of region 'norht'") as caught:
        REGION.code("norht")
    assert caught.value.hint == "did you mean 'north'?"


CHANGES: list[tuple[dict[str, Any], str]] = [
    *(({"name": each}, "does not match") for each in ("", "region\n", "Region", "é", "a b", "1a")),
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
    whole: dict[str, Any] = {"name": "region", "title": "Region", "scope": "person"}
    whole["values"] = ("unspecified", "north")
    for change, problem in CHANGES:
        with pytest.raises(ValueError, match=problem):
            Attribute(**whole | change)


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


MODEL = small_model()


def test_a_model_replaces_the_one_before(tmp_path: Path) -> None:
    """What `write` returns is what is read; nothing else stays in the folder."""
    path = tmp_path / "m.safetensors"
    path.write_text("the one before")
    umask = os.umask(0o000)
    try:
        written = file.write(MODEL, path)
    finally:
        os.umask(umask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600  # it holds the rows of single people
    assert same(file.read(path), written)
    assert path.read_bytes() == encode(MODEL)
    assert [*tmp_path.iterdir()] == [path]


def test_what_cannot_be_written_leaves_no_trace(tmp_path: Path) -> None:
    """A place that is none, a folder, too long a name; and a model that could not be read."""
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    for name in ("no/m.safetensors", "file/m.safetensors", "folder", "x" * 256):
        with pytest.raises(UsageError) as caught:
            file.write(MODEL, tmp_path / name)
        assert caught.value.where == str(tmp_path / name)
    for wrong in (replace(MODEL, id=""), replace(MODEL, queries=MODEL.queries[:1])):
        with pytest.raises(BuildError):
            file.write(wrong, tmp_path / "m.safetensors")
    assert {each.name for each in tmp_path.iterdir()} == {"file", "folder"}


def test_what_is_no_model_is_named(tmp_path: Path) -> None:
    """The nearest to what is missing; a folder, a pipe, a device; what is too large, or damaged."""
    (tmp_path / "so2017.safetensors").write_text("")
    with pytest.raises(UsageError) as caught:
        file.read(tmp_path / "so2071.safetensors")
    assert caught.value.what == "no such file"
    assert caught.value.hint == f"did you mean '{tmp_path / 'so2017.safetensors'}'?"
    with pytest.raises(UsageError, match="no such file"):
        file.read(tmp_path / "no" / "so2017.safetensors")
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(UsageError, match=r"not a file|is a directory"):
            file.read(path)
    path = tmp_path / "m.safetensors"
    file.write(MODEL, path)
    os.truncate(path, 2000)
    with pytest.raises(DamagedModelError) as damaged:
        file.read(path)
    assert damaged.value.where == str(path)
    os.truncate(path, file.MAX_BYTES + 1)  # a file with a hole costs nothing to make
    with pytest.raises(UsageError, match="the limit is 1073741824"):
        file.read(path)


@SOME
@given(models(), models())
@example(reading_model(), small_model())  # a part of all that a file may have
@example(own_words_model(), reading_model())  # and the rest of it
def test_reading_what_was_written_is_the_identity(model: Model, other: Model) -> None:
    """Everything survives; the same content gives the same bytes and digest, another another."""
    data = encode(model)
    opened = decode(data)
    assert same(opened, model)
    assert data == encode(model) == encode(opened) == encode(replace(model, digest="x"))
    assert len(opened.digest) == 64
    assert (opened.digest == decode(encode(other)).digest) == (data == encode(other))
    assert data != encode(other) or same(model, other)


@SOME
@given(models())
def test_a_model_is_a_plain_safetensors_file(model: Model) -> None:
    """The library alone finds the same tensors, each of the smallest type."""
    found, expected = load(encode(model)), model.tables.tensors()
    assert found.keys() == expected.keys()
    for name, tensor in found.items():
        assert np.array_equal(tensor, expected[name])
        if tensor.dtype != np.float64:
            assert tensor.dtype == np.min_scalar_type(tensor.max(initial=0))


@SOME
@given(models())
def test_no_tensor_of_an_opened_model_can_be_changed(model: Model) -> None:
    """A value does not change under those who share it."""
    opened = decode(encode(model))
    people, rows, singles = opened.population, opened.tables.rows, opened.tables.singles
    arrays = [people.codes, opened.tables.query_weights]
    arrays += [each for kinds in people.requests for each in kinds]
    arrays += [rows.users, rows.intent, rows.request, rows.step]
    arrays += [singles.utilities, singles.costs]
    arrays += [] if people.weights is None else [people.weights]
    for part in map(opened.rows, range(len(opened.queries))):
        arrays += [part.user, part.intent, part.person, part.request]
    assert [array for array in arrays if array.flags.writeable] == []


def test_strides_do_not_matter() -> None:
    """A tensor that is a view of another is written as the numbers it shows."""
    tables = MODEL.tables
    wide = np.repeat(tables.query_weights, 2)[::2]
    people = replace(tables.population, codes=np.asfortranarray(tables.population.codes))
    strided = replace(MODEL, tables=replace(tables, query_weights=wide, population=people))
    assert encode(strided) == encode(MODEL)


def test_numbers_are_written_as_the_format_says() -> None:
    """A shrinkage of 20 is 20.0; what JSON does not have would be read as "none"."""
    first = replace(MODEL.queries[0], shrinkage=20)
    assert encode(replace(MODEL, queries=(first, *MODEL.queries[1:]))) == encode(MODEL)
    for number in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match="not finite"):
            encode(replace(MODEL, validation={"bits": number}))

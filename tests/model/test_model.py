"""A model as a value, and what it remembers."""

from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import UsageError
from agent.model.model import Model, Query
from agent.model.tables import gather
from tests.model.examples import small_model
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

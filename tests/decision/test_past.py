"""What is known of the person who made the requests of a history."""

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from agent.decision.replay import MOST_PEOPLE, Codes, PastRequest, worlds_of
from agent.model.model import Model
from tests.decision.histories import MODELS, QUERIES, START, models, people, told
from tests.decision.made import CARDS, NAMES, PERSONS


@given(models, people, st.data())
def test_people_stand_for_the_person_whom_they_are_like(
    model: Model, person: Codes, data: st.DataObject
) -> None:
    """As few as there are, and never more than MOST_PEOPLE; anybody, where there is nobody."""
    history = data.draw(told(person))
    said = {name for past in history for name, _ in past.disclosed if name in NAMES[:PERSONS]}
    fitting = model.anonymity_set((model.index(name), person[name]) for name in said).people
    worlds = worlds_of(history, model)
    assert worlds.alike == (fitting > 0)
    assert len(worlds.rows) == min(fitting or model.population.people, MOST_PEOPLE)
    for row in worlds.rows if worlds.alike else ():
        assert {name: row[name] for name in said} == {name: person[name] for name in said}
    assert worlds == worlds_of(history, model)


def test_a_person_like_nobody_is_replayed_with_anybody() -> None:
    """What is known of the person holds in each of the worlds."""
    model = MODELS[0]
    seen = set(map(tuple, model.population.codes.tolist()))
    codes = min(set(product(*map(range, CARDS[:PERSONS]))) - seen)
    disclosed = tuple(zip(NAMES, codes, strict=False))
    worlds = worlds_of([PastRequest(START, "a.example", QUERIES[0], None, disclosed)], model)
    assert not worlds.alike
    assert len(worlds.rows) == MOST_PEOPLE
    assert all(worlds.code_at(0, name) == code for name, code in disclosed)


def test_a_value_is_looked_up_near_by() -> None:
    """This request, then the profile, then the last request before, then the first after."""
    values: list[dict[str, int]] = [{}, {"age": 1}, {}, {"age": 2}, {}]
    history = [PastRequest(START, "a.example", "", None, tuple(each.items())) for each in values]
    worlds = worlds_of(history, MODELS[0])
    assert [worlds.code_at(place, "age") for place in range(5)] == [1, 1, 1, 2, 2]
    assert worlds.code_at(0, "job") is None
    worlds = worlds_of(history, MODELS[0], {"age": 0, "job": 1})
    assert [worlds.code_at(place, "age") for place in range(5)] == [0, 1, 0, 2, 0]
    assert (worlds.code_at(0, "job"), worlds.code_at(0, "region")) == (1, 0)


def test_people_are_spaced_evenly_and_agree_with_the_latest_values() -> None:
    """Who stands for the person depends on the history alone."""
    model = MODELS[0]
    names, codes = NAMES[:PERSONS], model.population.codes.tolist()
    assert len(codes) == 2 * MOST_PEOPLE
    everybody = [dict(zip(names, row, strict=True)) for row in codes]
    assert [*worlds_of([], model).rows] == everybody[::2]
    moved = [
        PastRequest(START, "a.example", "", None, (("region", region), ("hours", 1)))
        for region in (1, 2)
    ]
    assert {row["region"] for row in worlds_of(moved, model).rows} == {2}

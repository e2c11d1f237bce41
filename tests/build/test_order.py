"""The order of people, users and rows says nothing about who they were."""

from collections.abc import Sequence

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.build.build import model_of
from agent.model.encoding import encode
from agent.model.model import Model
from tests.build.worlds import QUIET, World, options, source, worlds

pytestmark = QUIET
FEW = settings(max_examples=10)  # each builds two models


def model(world: World) -> Model:
    """Return the model of small tables."""
    return model_of(source(world), options(shrinkage=20.0), lambda _what, _share: None)


@FEW
@given(world=worlds(), data=st.data())
def test_names_of_users_and_order_of_rows_change_no_number(
    world: World, data: st.DataObject
) -> None:
    """Nobody can tell from a model in which order the tables were, or how users were called."""
    header, *users = world.users
    names = data.draw(st.permutations([row[0] for row in users]), "names")
    renamed = dict(zip((row[0] for row in users), names, strict=True))
    shuffled = World(
        users=(header, *_renamed(data.draw(st.permutations(users), "users"), renamed)),
        events=(
            world.events[0],
            *_renamed(data.draw(st.permutations(world.events[1:]), "events"), renamed),
        ),
    )
    one, other = model(world), model(shuffled)
    assert one.tables == other.tables
    assert one.attributes == other.attributes
    assert one.options == other.options
    for mine, theirs in zip(one.queries, other.queries, strict=True):
        # who is in which half depends on the names, and so do the figures of validation
        assert (mine.text, mine.intents, mine.rows) == (theirs.text, theirs.intents, theirs.rows)


@FEW
@given(world=worlds())
def test_the_same_tables_give_the_same_bytes(world: World) -> None:
    """Whatever DuckDB's threads do."""
    assert encode(model(world)) == encode(model(world))


@FEW
@given(world=worlds())
def test_no_user_and_no_person_keeps_a_place_of_the_table(world: World) -> None:
    """People are in order of their codes, and so are the users of each query."""
    built = model(world)
    assert _ascending(built.population.codes.tolist())
    for query in range(len(built.queries)):
        rows = built.rows(query)
        assert _ascending(rows.person.tolist())
        assert np.all(np.diff(rows.user) >= 0)
        asked = np.column_stack([rows.user, rows.intent, rows.request]).tolist()
        assert _ascending(asked)


def _renamed(rows: Sequence[tuple[str, ...]], names: dict[str, str]) -> list[tuple[str, ...]]:
    return [(names.get(row[0], row[0]), *row[1:]) for row in rows]


def _ascending(rows: list[list[int]]) -> bool:
    return rows == sorted(rows)

"""The order of people, users and rows says nothing about who they were."""

from collections.abc import Sequence

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.build.build import model_of
from agent.model.file import encode
from agent.model.model import Model
from tests.build.worlds import QUIET, World, options, source, worlds

pytestmark = QUIET
FEW = settings(max_examples=5)  # each builds three models


def model(world: World) -> Model:
    """Return the model of small tables."""
    return model_of(source(world), options(shrinkage=20.0), lambda _what, _share: None)


@FEW
@given(world=worlds(), data=st.data())
def test_a_model_does_not_tell_how_users_were_called_or_ordered(
    world: World, data: st.DataObject
) -> None:
    """The same tables give the same bytes; other names and another order change no number."""
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
    assert encode(one) == encode(model(world))
    assert one.tables == other.tables
    assert one.attributes == other.attributes
    assert one.options == other.options
    for mine, theirs in zip(one.queries, other.queries, strict=True):
        # who is in which half depends on the names, and so do the figures of validation
        assert (mine.text, mine.intents, mine.rows) == (theirs.text, theirs.intents, theirs.rows)
    # People are in order of their codes, and so are the users of each query.
    assert _ascending(one.population.codes.tolist())
    for query in range(len(one.queries)):
        rows = one.rows(query)
        assert _ascending(rows.person.tolist())
        assert np.all(np.diff(rows.user) >= 0)
        assert _ascending(np.column_stack([rows.user, rows.intent, rows.request]).tolist())


def _renamed(rows: Sequence[tuple[str, ...]], names: dict[str, str]) -> list[tuple[str, ...]]:
    return [(names.get(row[0], row[0]), *row[1:]) for row in rows]


def _ascending(rows: list[list[int]]) -> bool:
    return rows == sorted(rows)

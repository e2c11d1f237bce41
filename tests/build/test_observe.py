"""What is counted is what the tables hold."""

import ibis
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.build.observe import observe
from agent.errors import BuildError
from tests.build import naive
from tests.build.worlds import QUIET, STRANGER, World, observed, options, source, worlds

pytestmark = QUIET
FEW = settings(max_examples=15)  # each asks a database a dozen questions


@FEW
@given(world=worlds(), min_users=st.integers(1, 3))
def test_the_queries_are_those_of_the_tables(world: World, min_users: int) -> None:
    """Every row of every query with enough users, linked by user, and no other row."""
    expected = naive.queries(world, min_users)
    if not expected:
        with pytest.raises(BuildError, match="no query has events from at least"):
            observed(world, min_users=min_users)
        return
    seen = observed(world, min_users=min_users)
    assert [query.text for query in seen.queries] == sorted(expected)
    for query in seen.queries:
        assert naive.users_of(query, seen) == expected[query.text]
        assert list(query.intents) == sorted(set(query.intents))


@FEW
@given(world=worlds())
def test_the_population_is_everybody(world: World) -> None:
    """Everybody is in it, with the counts of their request attributes over all queries."""
    seen = observed(world)
    persons = seen.population.persons
    people = [
        (
            naive.words(codes, seen, 0)[:persons],
            tuple(
                tuple((attribute.values[v], int(table[y, v])) for v in np.flatnonzero(table[y]))
                for attribute, table in zip(
                    seen.attributes[persons:], seen.population.request_counts, strict=True
                )
            ),
        )
        for y, codes in enumerate(seen.population.codes)
    ]
    in_words = sorted((codes, tuple(tuple(sorted(c)) for c in counts)) for codes, counts in people)
    assert in_words == naive.population(world)


@FEW
@given(world=worlds(), min_users=st.integers(1, 3))
def test_every_event_is_used_or_counted_as_dropped(world: World, min_users: int) -> None:
    """What is dropped plus what is kept is everything."""
    try:
        seen = observed(world, min_users=min_users)
    except BuildError:
        return
    dropped = dict(seen.dropped)
    queries = dropped.pop("thin_queries")
    kept = sum(len(query.rows.user) for query in seen.queries)
    assert kept + sum(dropped.values()) == len(world.events) - 1
    assert queries == len(naive.queries(world, 1)) - len(seen.queries)


@FEW
@given(world=worlds())
def test_a_user_of_a_query_is_the_person_of_the_population(world: World) -> None:
    """The links that validation uses lead to the same codes, and are one to one."""
    seen = observed(world)
    profiles = {row[0]: tuple(map(naive.value, row[1:])) for row in world.users[1:]}
    for user, codes in zip(seen.users, seen.population.codes, strict=True):
        assert naive.words(codes, seen, 0) == profiles[user]
    for query in seen.queries:
        assert np.array_equal(seen.population.codes[query.people], query.rows.person)
        assert len(set(query.people)) == len(query.people)
    assert sorted(seen.users) == sorted(row[0] for row in world.users[1:])


@FEW
@given(world=worlds())
def test_another_backend_sees_the_same(world: World) -> None:
    """The same expressions, run by Polars."""
    ours, theirs = observed(world), observe(source(world, ibis.polars.connect()), options())
    assert ours.attributes == theirs.attributes
    assert ours.dropped == theirs.dropped
    assert ours.users == theirs.users
    assert [query.text for query in ours.queries] == [query.text for query in theirs.queries]
    for one, other in zip(ours.queries, theirs.queries, strict=True):
        assert one.intents == other.intents
        for name in ("user", "intent", "person", "request"):
            assert np.array_equal(getattr(one.rows, name), getattr(other.rows, name))


def test_each_reason_to_drop_an_event_is_counted_once() -> None:
    """A stranger without query and intent is a stranger."""
    world = World(
        users=(("user", "p0"), ("1", "a")),
        events=(
            ("user", "query", "intent"),
            ("1", "editor", "vim"),
            (STRANGER, "", ""),
            ("", "editor", "vim"),
            ("1", " ", ""),
            ("1", "editor", ""),
        ),
    )
    expected = {"unknown_user": 2, "no_query": 1, "no_intent": 1}
    assert observed(world).dropped == expected | {"thin_queries": 0, "thin_rows": 0}

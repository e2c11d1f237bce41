"""What is counted is what the tables hold, of everybody or of one half of the users."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from agent.build import canonical
from agent.build import observe as observe_module
from agent.build.observe import HALF_KEY, Observations, in_half_a, user_hashes
from agent.build.options import AttributeNote
from agent.errors import BuildError
from tests.build import naive
from tests.build.worlds import QUIET, STRANGER, World, few, observed, worlds

pytestmark = QUIET
FEW = few(2)
USERS = st.lists(st.text(max_size=6), max_size=30, unique=True)


@FEW
@given(world=worlds(), most=st.integers(1, 6))
def test_a_large_query_keeps_all_rows_of_some_users(world: World, most: int) -> None:
    """Not more than there is room for, whoever they are, and the same ones every time."""
    assume(naive.queries(world, 1))
    whole = observed(world, min_users=1)
    with pytest.MonkeyPatch.context() as patch:
        for module in (canonical, observe_module):
            patch.setattr(module, "MOST_ROWS", most)
        seen = [observed(world, min_users=1) for _ in range(2)]
    for query, again, full in zip(*(each.queries for each in (*seen, whole)), strict=True):
        rows = query.rows
        assert np.array_equal(rows.user, again.rows.user)
        assert query.events == len(full.rows.user)
        assert len(rows.user) <= most or len(rows.person) == 1
        assert (len(rows.user) == len(full.rows.user)) == (query.events <= most)
        sizes = dict(zip(full.people.tolist(), np.bincount(full.rows.user).tolist(), strict=True))
        kept = dict(zip(query.people.tolist(), np.bincount(rows.user).tolist(), strict=True))
        assert kept.items() <= sizes.items()
        found = naive.users_of(query, seen[0])
        assert Counter(found) <= Counter(naive.users_of(full, whole))


@FEW
@given(world=worlds(), most=st.integers(1, 6))
def test_of_too_many_people_some_stand_for_all(world: World, most: int) -> None:
    """As if those who drew the smallest marks were the users, and each stood for as many."""
    header, *users = world.users
    assume(len(users) > most)
    ranks = np.argsort(user_hashes([row[0] for row in users]))
    part = replace(world, users=(header, *(users[each] for each in ranks[:most])))
    columns = (*header[1:], *world.events[0][3:])
    known = {each: AttributeNote(values=("a", "b")) for each in columns}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(observe_module, "MOST_PEOPLE", most)
        if not naive.queries(part, 1):
            with pytest.raises(BuildError, match="no query has events from at least"):
                observed(world, attributes=known)
            return
        seen = observed(world, attributes=known)
    expected = observed(part, attributes=known)
    assert (seen.users, seen.sampled_from) == (expected.users, len(users))
    assert np.array_equal(seen.population.codes, expected.population.codes)
    assert seen.population.weights is not None
    assert seen.population.weights.tolist() == [len(users) / most] * most
    for kinds, others in zip(seen.population.requests, expected.population.requests, strict=True):
        assert np.array_equal(kinds.counts[kinds.of_row], others.counts[others.of_row])
    everything = {query.text: query.events for query in observed(world).queries}
    for query, other in zip(seen.queries, expected.queries, strict=True):
        assert (query.text, query.intents) == (other.text, other.intents)
        assert query.events == everything[query.text]
        for name in ("user", "intent", "person", "request"):
            assert np.array_equal(getattr(query.rows, name), getattr(other.rows, name))


@FEW
@given(world=worlds(), most=st.integers(1, 4))
def test_the_most_frequent_queries_are_kept(world: World, most: int) -> None:
    """Of equals the first by their texts; what the others had is dropped, and their share said."""
    assume(naive.queries(world, 1))
    whole, seen = observed(world), observed(world, most_queries=most)
    order = sorted(whole.queries, key=lambda query: (-query.events, query.text))
    kept, rare = order[:most], order[most:]
    assert [query.text for query in seen.queries] == sorted(query.text for query in kept)
    assert seen.dropped["rare_queries"] == len(rare)
    assert seen.dropped["rare_rows"] == sum(query.events for query in rare)
    everything = sum(query.events for query in order)
    assert seen.share == sum(query.events for query in kept) / everything
    assert whole.share == 1


@FEW
@given(world=worlds(), min_users=st.integers(1, 3))
def test_what_is_counted_is_what_the_tables_hold(world: World, min_users: int) -> None:
    """Every row of every query with enough users, linked by user; everybody; and what is dropped.

    The links that validation uses lead to the same codes, and are one to one.
    """
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
        assert np.array_equal(seen.population.codes[query.people], query.rows.person)
        assert len(set(query.people)) == len(query.people)
    assert naive.people_of(seen) == naive.population(world)
    profiles = {row[0]: tuple(map(naive.value, row[1:])) for row in world.users[1:]}
    for user, codes in zip(seen.users, seen.population.codes, strict=True):
        assert naive.words(codes, seen, 0) == profiles[user]
    assert sorted(seen.users) == sorted(profiles)
    dropped = dict(seen.dropped)
    assert dropped.pop("thin_queries") == len(naive.queries(world, 1)) - len(seen.queries)
    kept = sum(len(query.rows.user) for query in seen.queries)
    assert kept + sum(dropped.values()) == len(world.events) - 1


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


def observed_or_none(world: World, half: str) -> Observations | None:
    """Return what the tables hold about one half, None if that makes no model."""
    try:
        return observed(world, half=half)
    except BuildError:
        return None


@FEW
@given(world=worlds())
def test_the_halves_part_the_users(world: World) -> None:
    """Every user is in one of two models, and neither knows of the other's rows."""
    halves = [observed_or_none(world, half) for half in "AB"]
    seen = [half for half in halves if half is not None]
    users = [user for half in seen for user in half.users]
    assert len(users) == len(set(users))
    for half in seen:
        own = set(half.users)
        alone = World(
            users=(world.users[0], *(row for row in world.users[1:] if row[0] in own)),
            events=(world.events[0], *(row for row in world.events[1:] if row[0] in own)),
        )
        expected = naive.queries(alone, 1)
        assert {q.text: naive.users_of(q, half) for q in half.queries} == expected
        strangers = {row[0] for row in world.events[1:]} - {row[0] for row in world.users[1:]}
        unknown = sum(row[0] in strangers for row in world.events[1:])
        kept = sum(len(query.rows.user) for query in half.queries)
        assert half.dropped["unknown_user"] == unknown
        assert kept + sum(half.dropped.values()) == len(alone.events) - 1 + unknown
    if len(seen) == len(halves):
        assert sorted(users) == sorted(row[0] for row in world.users[1:])


@given(users=USERS, more=USERS)
def test_a_user_stays_in_the_half(users: list[str], more: list[str]) -> None:
    """Whoever else is there, and in whatever order."""
    together = [*more, *(user for user in users if user not in more)]
    half = dict(zip(together, in_half_a(together, HALF_KEY), strict=True))
    assert [half[user] for user in users] == in_half_a(users, HALF_KEY).tolist()


def test_keys_split_independently() -> None:
    """A model of half A can be validated by splitting half A."""
    users = [str(number) for number in range(10_000)]
    one, other = in_half_a(users, b"one"), in_half_a(users, b"other")
    for share in (one.mean(), other.mean(), (one == other).mean()):
        assert abs(share - 0.5) < 0.025  # five standard deviations
    assert np.array_equal(one, in_half_a(users, b"one"))

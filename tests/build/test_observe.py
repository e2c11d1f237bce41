"""What is counted is what the tables hold, of everybody or of one half of the users."""

from collections import Counter

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


def restricted(world: World, users: set[str], *, strangers: bool) -> World:
    """The world of some users; ``strangers``: with the events of all who are none of its users."""
    everybody = {row[0] for row in world.users[1:]}
    return World(
        users=(world.users[0], *(row for row in world.users[1:] if row[0] in users)),
        events=(
            world.events[0],
            *(
                row
                for row in world.events[1:]
                if row[0] in users or (strangers and row[0] not in everybody)
            ),
        ),
    )


def same_rows(seen: Observations, expected: Observations) -> None:
    """Compare people and queries, but for weights and how many events there were."""
    assert seen.users == expected.users
    assert np.array_equal(seen.population.codes, expected.population.codes)
    for kinds, others in zip(seen.population.requests, expected.population.requests, strict=True):
        assert np.array_equal(kinds.counts[kinds.of_row], others.counts[others.of_row])
    for query, other in zip(seen.queries, expected.queries, strict=True):
        assert (query.text, query.intents) == (other.text, other.intents)
        for name in ("user", "intent", "person", "request"):
            assert np.array_equal(getattr(query.rows, name), getattr(other.rows, name))


def noted(world: World) -> dict[str, AttributeNote]:
    """Notes by which every attribute has the same values, whoever is left out."""
    names = (*world.users[0][1:], *world.events[0][3:])
    return dict.fromkeys(names, AttributeNote(values=("a", "b")))


@FEW
@given(world=worlds(), most=st.integers(1, 6))
def test_of_too_many_people_some_stand_for_all(world: World, most: int) -> None:
    """As if those who drew the smallest hashes were the users, and each stood for as many."""
    names = [row[0] for row in world.users[1:]]
    assume(len(names) > most)
    chosen = {names[each] for each in np.argsort(user_hashes(names))[:most]}
    part = restricted(world, chosen, strangers=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(observe_module, "MOST_PEOPLE", most)
        if not naive.queries(part, 1):
            with pytest.raises(BuildError, match="no query has events from at least"):
                observed(world)
            return
        seen = observed(world, attributes=noted(world))
    same_rows(seen, observed(part, attributes=noted(world)))
    assert seen.sampled_from == len(names)
    assert seen.population.weights is not None
    assert seen.population.weights.tolist() == [len(names) / most] * most
    everything = {query.text: query.events for query in observed(world).queries}
    assert {query.text: query.events for query in seen.queries}.items() <= everything.items()


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


@FEW
@given(world=worlds())
def test_the_halves_part_the_users(world: World) -> None:
    """Every user is in one of two models, and neither knows of the other's rows."""
    names = [row[0] for row in world.users[1:]]
    in_a = in_half_a(names, HALF_KEY)
    for half, mine in (("A", in_a), ("B", ~in_a)):
        own = {name for name, is_own in zip(names, mine.tolist(), strict=True) if is_own}
        alone = restricted(world, own, strangers=True)
        if not naive.queries(alone, 1):
            with pytest.raises(BuildError):
                observed(world, half=half)
            continue
        seen = observed(world, half=half, attributes=noted(world))
        expected = observed(alone, attributes=noted(world))
        same_rows(seen, expected)
        assert seen.dropped == expected.dropped


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

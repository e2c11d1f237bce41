"""Half A and half B are everybody, and nobody is in both."""

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from agent.build.observe import HALF_KEY, Observations, in_half_a
from agent.errors import BuildError
from tests.build import naive
from tests.build.worlds import QUIET, World, observed, worlds

pytestmark = QUIET
USERS = st.lists(st.text(max_size=6), max_size=30, unique=True)


def observed_or_none(world: World, half: str) -> Observations | None:
    """Return what the tables hold about one half, None if that makes no model."""
    try:
        return observed(world, half=half)
    except BuildError:
        return None


@settings(max_examples=15)
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
    assume(len(seen) == len(halves))
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

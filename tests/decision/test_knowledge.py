"""What a recipient holds: a fold over what it, and whoever it pools with, was told."""

import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.decision.request import LATEST, WEEK, Knowledge
from tests.decision.events import Forgotten, Told, knowledge_of

NOW = datetime(2027, 3, 8, 12, tzinfo=UTC)
POOLS = {"a.test": "@ads", "www.b.test": "@ads", "shop.example": "shop.example"}
SITES = ("a.test", "b.test", "shop.example")
HOSTS = st.sampled_from(sorted(POOLS))
QUERIES = st.none() | st.integers(0, 2)
CODES = st.dictionaries(st.sampled_from(["age", "region", "job"]), st.integers(0, 2), max_size=3)
Events = Sequence[Told | Forgotten]


@st.composite
def histories(draw: st.DrawFn) -> list[Told | Forgotten]:
    """Draw what happened, in order, around the last seven days."""
    hours = sorted(draw(st.lists(st.integers(-200, 5), max_size=10)))
    return [
        Forgotten(NOW + timedelta(hours=each), draw(st.frozensets(st.sampled_from(SITES))))
        if draw(st.integers(0, 5)) == 0
        else Told(
            NOW + timedelta(hours=each), draw(HOSTS), tuple(draw(CODES).items()), draw(QUERIES)
        )
        for each in hours
    ]


def known(events: Events, pool: str = "@ads", now: datetime = NOW) -> Knowledge:
    """Return what a pool holds."""
    return knowledge_of(events, pool, POOLS.__getitem__, now)


def own(events: Events, group: str = "@ads") -> list[Told | Forgotten]:
    """Return what the members of the group were told, and who was made to forget."""
    return [each for each in events if isinstance(each, Forgotten) or POOLS[each.host] == group]


def since_forgotten(events: Events) -> list[Told]:
    """Return what each of them was told after the last time that it was made to forget."""
    return [
        event
        for place, event in enumerate(events)
        if isinstance(event, Told) and event in own(events)
        if not any(
            isinstance(later, Forgotten) and event.host.removeprefix("www.") in later.sites
            for later in events[place:]
        )
    ]


def mentions(events: Events, name: str) -> list[int]:
    """Return the codes that an attribute was told with, in order, and not forgotten."""
    return [dict(each.codes)[name] for each in since_forgotten(events) if name in dict(each.codes)]


@given(histories())
def test_the_latest_value_counts(events: Events) -> None:
    """Of all that was told to one which was not made to forget since, and of nothing else."""
    latest = {name: mentions(events, name)[-1:] for name in ("age", "region", "job")}
    assert known(events).codes == tuple(sorted((n, c[0]) for n, c in latest.items() if c))


@given(histories())
def test_what_is_new_within_seven_days_is_recent(events: Events) -> None:
    """New is what the group did not hold just before, or held with another value."""
    new = [
        (name, place)
        for place, event in enumerate(events)
        if isinstance(event, Told) and event in own(events)
        if event.at > NOW - timedelta(days=7)  # also where a clock was set back since
        for name, code in event.codes
        if mentions(events[:place], name)[-1:] != [code]
    ]
    assert known(events).recent == len(new)


@given(histories())
def test_other_pools_do_not_matter(events: Events) -> None:
    """Whatever they were told or forgot, and whenever."""
    assert known(events) == known(own(events))
    others = own(events, "shop.example")
    assert known(others) == Knowledge()
    assert known(events, "shop.example") == known(others, "shop.example")


@given(histories(), st.randoms(use_true_random=False))
def test_members_are_one(events: Events, rng: random.Random) -> None:
    """Which member of a group was told makes no difference, but to who is made to forget."""
    both = {"a.test", "b.test"}
    same = [each for each in own(events) if isinstance(each, Told) or each.sites >= both]
    moved = [
        replace(each, host=rng.choice(["a.test", "www.b.test"])) if isinstance(each, Told) else each
        for each in same
    ]
    assert known(moved) == known(same)


@given(histories())
def test_a_group_holds_what_its_members_hold(events: Events) -> None:
    """Each for itself; so nothing that a site holds is lost in the group that it is put into."""
    alone = [dict(knowledge_of(events, host, str, NOW).codes) for host in POOLS]
    together = dict(knowledge_of(events, "all", lambda _: "all", NOW).codes)
    assert together.keys() == {name for each in alone for name in each}
    assert all(any(each.get(name) == code for each in alone) for name, code in together.items())


@given(histories(), CODES, QUERIES)
def test_one_more_answer(events: Events, codes: dict[str, int], query: int | None) -> None:
    """It adds what it says to what was held, and to what is recent what of it is new."""
    before = known(events)
    after = known([*events, Told(NOW, "a.test", tuple(codes.items()), query)])
    assert after.queries == before.with_query(query).queries
    assert after.codes == before.with_facts(codes).codes
    assert after.recent == before.recent + len(codes.items() - dict(before.codes).items())
    again = known([*events, *[Told(NOW, "www.b.test", tuple(codes.items()), query)] * 2])
    assert again == after.with_query(query)


@given(histories())
def test_who_forgets_has_still_been_told(events: Events) -> None:
    """What the others were told is held, and the week's count stays."""
    after = known([*events, Forgotten(NOW, frozenset({"b.test", "shop.example"}))])
    rest = [each for each in events if not isinstance(each, Told) or each.host == "a.test"]
    assert after == replace(known(rest), recent=known(events).recent)


def test_only_the_latest_requests_of_a_site_count() -> None:
    """Of each site for itself."""
    many = [Told(NOW, "a.test", (), place // LATEST) for place in range(2 * LATEST - 1)]
    events = [Told(NOW, "www.b.test", (), 2), *many]
    assert known(events).queries == ((0, 1), (1, LATEST - 1), (2, 1))
    after = known([*events, Forgotten(NOW, frozenset(SITES))])
    assert after == Knowledge(recent=known(events).recent)


@given(histories(), st.integers(0, 400))
def test_a_week_only_passes(events: Events, hours: int) -> None:
    """Time alone takes nothing from what is held, and in the end all from what is recent."""
    happened = [each for each in events if each.at <= NOW]
    before, later = known(happened), known(happened, now=NOW + timedelta(hours=hours))
    assert later.codes == before.codes
    assert later.recent <= before.recent
    assert known(happened, now=NOW + WEEK).recent == 0


@pytest.mark.parametrize(
    ("hours", "recent"), [(-168, 0), (-167.99, 1), (-1, 1), (0, 1), (30, 1), (-1000, 0)]
)
def test_the_seven_days(hours: float, recent: int) -> None:
    """Not the moment a week ago, and what a clock set back left in the future; all stays known."""
    events = [Told(NOW + timedelta(hours=hours), "shop.example", (("age", 1),))]
    assert known(events, "shop.example") == Knowledge((("age", 1),), recent)

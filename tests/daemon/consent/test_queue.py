"""What waits, as a value."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.daemon.reviews import (
    EXPIRES,
    HOUR,
    MOST_REVIEWS,
    Waiting,
    expired,
    queued,
    settled,
)
from agent.errors import UsageError
from agent.wire.policy import Review
from tests.daemon.office import MODEL, TEXT, open_office
from tests.decision.made import OTHER_NAMES, elsewhere

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
Kind = Literal["ask", "offer"]
NAMES = ("salary", "gender", "job")
STEPS = st.sampled_from([0, 1, 10, 45, 60, 600, 24 * 60, -30]).map(lambda n: timedelta(minutes=n))
KINDS: tuple[Kind, ...] = ("ask", "ask", "offer")
SOME = st.lists(st.sampled_from(NAMES), min_size=1, unique=True)


def review(pool: str, names: list[str], at: datetime, kind: Kind = "ask") -> Review:
    """Return a review that has no number yet."""
    return Review(id=0, kind=kind, at=at, recipient=pool, pool=pool, names=names)


@st.composite
def streams(draw: st.DrawFn) -> list[Review]:
    """Draw reviews in the order of their arrival, with a clock that may be set back."""
    at, made = START, []
    for _ in range(draw(st.integers(0, 30))):
        at += draw(STEPS)
        kind = draw(st.sampled_from(KINDS))
        made.append(review(draw(st.sampled_from("ab")), draw(SOME), at, kind))
    return made


def alike(one: Review) -> tuple[str, str, frozenset[str]]:
    """Return what reviews have in common that are one to the user."""
    return one.kind, one.pool, frozenset(one.names if one.kind == "ask" else ())


def shown(one: Review) -> tuple[object, ...]:
    """Return what reviews of one number have in common: all that a verdict is about."""
    return one.kind, one.pool, frozenset(one.names)


@given(streams(), st.integers(0, 3))
def test_what_waits_is_what_was_met_within_a_day(stream: list[Review], hourly: int) -> None:
    """Once each, in the order of the last time, under a number that stays while it is the same."""
    waiting, oracle = Waiting(), dict[tuple[str, str, frozenset[str]], Review]()
    numbers: set[int] = set()
    for each in stream:
        before = {shown(one): one.id for one in expired(waiting, each.at).reviews.values()}
        waiting, new = queued(expired(waiting, each.at), each, hourly, each.at)
        oracle = {key: one for key, one in oracle.items() if each.at - one.at < EXPIRES}
        oracle.pop(alike(each), None)
        oracle[alike(each)] = each
        found = [*waiting.reviews.values()]
        assert [(alike(one), one.at, one.names) for one in found] == [
            (key, one.at, one.names) for key, one in oracle.items()
        ]
        own = found[-1].id
        assert own == before.get(shown(each), own)
        assert (own in numbers) == (shown(each) in before)
        numbers.add(own)
        assert shown(each) in before or new == found[-1]


@given(streams(), st.integers(0, 3))
def test_no_hour_has_more_prompts_than_the_policy_allows(stream: list[Review], hourly: int) -> None:
    """Whatever is asked, and each is told as new when it becomes one."""
    stream = sorted(stream, key=lambda each: each.at)
    waiting, told = Waiting(), list[tuple[datetime, tuple[str, str, frozenset[str]]]]()
    for each in stream:
        waiting = expired(waiting, each.at)
        before = {one.id for one in waiting.reviews.values() if one.prompted}
        waiting, new = queued(waiting, each, hourly, each.at)
        prompted = {one.id for one in waiting.reviews.values() if one.prompted}
        if prompted - before:
            assert new is not None
            assert prompted - before == {new.id}
            told.append((each.at, alike(each)))
        within = [what for at, what in told if each.at - at < HOUR]
        assert len(within) <= hourly
        there = {alike(one) for one in waiting.reviews.values() if one.prompted}
        spent = {what for what in within if what[0] == "offer"}
        assert len(within) == hourly or alike(each) in {*there, *spent}


def test_offers_that_change_all_the_time_leave_prompts_for_others() -> None:
    """A recipient that makes up another list for each page is prompted once within an hour."""
    waiting, prompts = Waiting(), 0
    for number in range(6):
        at = START + timedelta(minutes=number)
        waiting, new = queued(waiting, review("a", [f"n{number}"], at, "offer"), 3, at)
        assert new is not None
        prompts += new.prompted
    assert prompts == 1
    waiting, new = queued(waiting, review("b", ["job"], at), 3, at)
    assert new is not None
    assert new.prompted
    later = at + HOUR
    _, new = queued(waiting, review("a", ["other"], later, "offer"), 3, later)
    assert new is not None
    assert new.prompted


@pytest.mark.parametrize(("kind", "other"), [("ask", "offer"), ("offer", "ask")])
def test_the_oldest_goes_where_there_are_too_many(kind: Kind, other: Kind) -> None:
    """Of its own kind, so that offers push out nothing that is ruled `ask`."""
    most = MOST_REVIEWS[kind]
    waiting, _ = queued(Waiting(), review("x", ["job"], START, other), 6, START)
    for number in range(most + 3):
        waiting, _ = queued(waiting, review(f"r{number}", ["job"], START, kind), 6, START)
    pools = [each.pool for each in waiting.reviews.values()]
    assert pools == ["x", *(f"r{number}" for number in range(3, most + 3))]


@given(streams(), st.data())
def test_what_is_settled_goes_and_the_rest_stays(stream: list[Review], data: st.DataObject) -> None:
    """A review loses the names that were ruled on, and is gone when it has no other."""
    waiting = Waiting()
    for each in stream:
        waiting, _ = queued(waiting, each, 6, each.at)
    if not waiting.reviews:
        return
    own = data.draw(st.sampled_from([*waiting.reviews.values()]))
    names = frozenset(data.draw(SOME))
    left = settled(waiting, own.id, names)
    others = [each for each in waiting.reviews.values() if each.id != own.id]
    assert [each for each in left.reviews.values() if each.id != own.id] == others
    rest = [each.names for each in left.reviews.values() if each.id == own.id]
    kept = [name for name in own.names if name not in names]
    there = alike(own)[:2] == ("ask", own.pool) and frozenset(kept) in {
        frozenset(each.names) for each in others if each.kind == "ask" and each.pool == own.pool
    }
    assert rest == ([] if not kept or there else [kept])
    assert [*settled(waiting, own.id).reviews.values()] == others


def test_a_number_that_nothing_has_is_said() -> None:
    """Numbers are not used again."""
    waiting, _ = queued(Waiting(), review("a", ["job"], START), 6, START)
    waiting = settled(waiting, 1)
    for call in (waiting.find, lambda number: settled(waiting, number)):
        with pytest.raises(UsageError, match="number 1"):
            call(1)
    again, _ = queued(waiting, review("a", ["job"], START), 6, START)
    assert again.find(2).names == ["job"]


def test_what_waits_follows_a_model_that_comes_later(tmp_path: Path) -> None:
    """A rule on what that one calls a fact is on what waits, too."""
    office = open_office(tmp_path)
    before = office.review("s1.example").names
    office.models = MODEL, elsewhere(MODEL)
    [still] = office.consent.reviews(office.now)
    assert still.names == before
    assert still.more_bits is not None
    closed = f'[attributes]\n{OTHER_NAMES[before[0]]} = "never"\n'
    office.path.write_text(TEXT.replace("[groups]", f"{closed}[groups]", 1))
    assert [each.names for each in office.consent.reviews(office.now)] == [before[1:]]

"""What the ledger does not have, and how many requests in a minute."""

from collections import deque
from datetime import datetime, timedelta
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.daemon.handle import handle
from agent.daemon.request_log import (
    MOST_POOLS,
    MOST_SILENT,
    RECORDED,
    ROOM,
    Asker,
    Rates,
    Silent,
    SilentRequests,
)
from agent.vault.profile import Profile
from agent.wire.decide import Answer, Ask, Summary
from tests.worlds.people import MONDAY, OPEN, SECOND, SHOP, living

QUIET = Answer(code="blocked")
CAP = 3
MINUTE = timedelta(minutes=1)
POLICY = f"""{OPEN}page_requests_per_minute = {CAP}
[groups]
adverts = ["a.test", "b.test"]
[[rule]]
recipient = "silent.test"
page_requests_per_minute = 0
"""
POOLS = {
    "www.shop.example": "shop.example",
    "shop.example": "shop.example",
    "a.test": "@adverts",
    "b.test": "@adverts",
    "silent.test": "silent.test",
}
ASKERS: tuple[Asker, ...] = get_args(Asker)
RECORDING = [each for each in ASKERS if each != "draft"]  # what is drafted is not recorded
TOO_MANY = "too many from pages"
AT_CAP: dict[Asker, str] = {"page": TOO_MANY, "assistant": "too many", "draft": "too many"}


def waits(count: int) -> Answer:
    """Return an answer beside which so many attributes wait."""
    summary = Summary(
        headline="h",
        pool="p",
        model="m",
        utility_bits=0.0,
        people_left=1.0,
        waiting=count,
        pending=[f"{each}" for each in range(count)],
    )
    return Answer(code="answered", summary=summary)


def ask(query: str, asked: list[str] | None = None) -> Ask:
    """Return a request of a shop."""
    return Ask(query=query, recipient="shop.example", asked=asked)


@given(st.lists(st.tuples(st.sampled_from([1, 40, ROOM // 3]), st.booleans()), max_size=8))
def test_the_latest_are_kept_for_which_there_is_room(sizes: list[tuple[int, bool]]) -> None:
    """In their order, each under a number that no other has, also once all is forgotten."""
    kept, numbers, expected = SilentRequests(), [], deque[str]()
    for at, (size, cleared) in enumerate(sizes):
        query = f"{at}" * size
        numbers.append(kept.silent(ask(query), QUIET, at, MONDAY))
        expected.append(query)
        while sum(len(each) + len("shop.example") for each in expected) > ROOM:
            expected.popleft()
        assert [each.ask.query for each in kept] == [*expected]
        if cleared:
            kept.clear()
            expected.clear()
            assert [*kept] == []
    assert numbers == [-1 - at for at in range(len(sizes))]


def test_there_are_never_too_many() -> None:
    """Neither of those that carried nothing, nor of what waited beside an entry."""
    kept = SilentRequests()
    for entry in range(1, MOST_SILENT + 3):
        kept.silent(ask("q"), QUIET, entry, MONDAY)
        kept.recorded(entry, waits(2))
    assert [each.number for each in kept] == [*range(-3, -MOST_SILENT - 3, -1)]
    assert [kept.waiting(entry) for entry in (1, 2, 3, MOST_SILENT + 2)] == [
        set(),
        set(),
        *[{"0", "1"}] * 2,
    ]


def test_what_was_asked_takes_room_too() -> None:
    """A program that names much pushes out others, and no more than there is room for is kept."""
    kept = SilentRequests()
    kept.silent(ask("first" * 100), QUIET, 0, MONDAY)
    kept.silent(ask("second", ["n" * 200] * (ROOM // 200 - 1)), QUIET, 0, MONDAY)
    assert [each.ask.query for each in kept] == ["second"]
    kept.silent(ask("third", ["n" * (ROOM + 1)]), QUIET, 0, MONDAY)
    assert [*kept] == []


def test_what_is_remembered_shows_no_query() -> None:
    """In a log or a report of a defect."""
    kept = SilentRequests()
    number = kept.silent(ask("a query"), waits(3), 7, MONDAY)
    [found] = kept
    assert found == Silent(number, 7, MONDAY, ask("a query"), "answered", frozenset("012"))
    assert "query" not in repr(found)


def asked(host: str) -> Ask:
    """Return a request of a query that the model knows."""
    return Ask(query=SHOP.query, recipient=host)


@given(
    steps=st.lists(
        st.tuples(st.sampled_from(sorted(POOLS)), st.sampled_from(ASKERS), st.integers(0, 40)),
        max_size=25,
    )
)
def test_pages_and_assistants_lead_to_a_recipient_so_often_in_a_minute(
    steps: list[tuple[str, Asker, int]],
) -> None:
    """Each of the two, whatever else is asked; nobody else is refused, least of all the user.

    Nor does it help to start a second assistant, or to ask for another host of the same group.
    """
    agent, vault = living(POLICY)
    now, times = MONDAY, dict[tuple[Asker, str], list[datetime]]()
    for host, by, seconds in steps:
        now += timedelta(seconds=seconds)
        before = vault.ledger.count
        code = handle(asked(host), now, agent, by).code
        lately = [each for each in times.get((by, POOLS[host]), []) if now - each < MINUTE]
        full = len(lately) >= (0 if host == "silent.test" else CAP)
        assert code == (AT_CAP[by] if by in AT_CAP and full else "answered")
        if code != "answered":
            assert vault.ledger.count == before
        elif by in AT_CAP:
            times.setdefault((by, POOLS[host]), []).append(now)


@given(steps=st.lists(st.tuples(st.sampled_from(RECORDING), st.integers(0, 40)), max_size=25))
def test_the_door_records_so_much_in_a_minute(steps: list[tuple[Asker, int]]) -> None:
    """The user, and all others; commands without a limit."""
    most: dict[Asker, int] = {"user": 2, "page": 3, "program": 3, "assistant": 3}
    agent, vault = living(f"{OPEN}page_requests_per_minute = 1000\n")
    now, times = MONDAY, dict[str, list[datetime]]()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("agent.daemon.request_log.RECORDED", most)
        for by, seconds in steps:
            now += timedelta(seconds=seconds)
            before = vault.ledger.count
            kind = "user" if by == "user" else "command" if by == "command" else "others"
            lately = [each for each in times.get(kind, []) if now - each < MINUTE]
            answer = handle(SHOP, now, agent, by)
            if by in most and len(lately) >= most[by]:
                assert (answer.code, answer.attributes, answer.id) == ("too many", {}, None)
                assert vault.ledger.count == before
            else:
                assert answer.code == "answered"
                times.setdefault(kind, []).append(now)
            assert (answer.id is not None) == (vault.ledger.count > before)


def test_a_request_too_many_does_not_open_the_profile(monkeypatch: pytest.MonkeyPatch) -> None:
    """The caps come first, also where the terms protect this user alone."""
    agent, _ = living(f'{OPEN}protect = "me"\npage_requests_per_minute = 0\n')
    for name in ("codes", "values", "reveal"):
        monkeypatch.delattr(Profile, name)
    assert handle(SHOP, MONDAY, agent, "page").code == TOO_MANY
    with pytest.raises(AttributeError, match="codes"):
        handle(SHOP, MONDAY, agent, "user")


def test_what_records_nothing_is_not_counted() -> None:
    """A program may ask about any number of queries that the model does not know."""
    agent, vault = living(OPEN)
    for _ in range(RECORDED["program"] + 1):
        assert handle(Ask(query="?", recipient="shop.example"), MONDAY, agent, "program").id is None
    assert handle(SHOP, MONDAY, agent, "program").id == 1
    assert vault.ledger.count == 1


def test_no_honest_use_meets_the_caps() -> None:
    """For a minute: ten sites at the cap of their pages, an assistant and the user beside them.

    The assistant asks four times a second, the user searches every second.
    """
    agent, _ = living(OPEN)
    asking: list[tuple[float, str, Asker]] = [
        *((2.0 * number, f"{site}.example", "page") for number in range(30) for site in range(10)),
        *((0.25 * number, "assistant.example", "program") for number in range(240)),
        *((1.0 * number, "search.example", "user") for number in range(60)),
    ]
    for seconds, host, by in sorted(asking):
        now = MONDAY + timedelta(seconds=seconds)
        assert handle(asked(host), now, agent, by).code == "answered"


def test_a_clock_that_is_set_back_refuses_nobody_for_long() -> None:
    """What was counted in a future that is no longer ahead is forgotten."""
    agent, _ = living(POLICY)
    for _ in range(CAP):
        assert handle(SHOP, MONDAY, agent, "page").code == "answered"
    assert handle(SHOP, MONDAY - SECOND, agent, "page").code == TOO_MANY
    assert handle(SHOP, MONDAY - timedelta(days=4), agent, "page").code == "answered"


def test_once_it_is_locked_nothing_says_who_was_asked() -> None:
    """Counts have the names of recipients, and times."""
    agent, _ = living(POLICY)
    handle(SHOP, MONDAY, agent, "page")
    assert agent.rates.is_capped("page", "shop.example", 1, MONDAY)
    agent.lock()
    assert not agent.rates.is_capped("page", "shop.example", 1, MONDAY)


def test_there_are_so_many_counts() -> None:
    """A program that speaks for pages of ever other hosts fills no memory."""
    rates = Rates()
    for number in range(MOST_POOLS + 1):
        assert not rates.is_capped("page", f"{number}.example", 1, MONDAY)
    assert rates.is_capped("page", f"{MOST_POOLS}.example", 1, MONDAY)
    assert not rates.is_capped("page", "0.example", 1, MONDAY)

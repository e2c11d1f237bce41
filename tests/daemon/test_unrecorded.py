"""What is remembered of requests that the ledger has nothing of, or not all."""

from collections import deque

from hypothesis import given
from hypothesis import strategies as st

from agent.daemon.request_log import MOST_SILENT, ROOM, Silent, SilentRequests
from agent.wire.decide import Answer, Ask, Summary
from tests.daemon.doubles import MONDAY

QUIET = Answer(code="blocked")


def waits(count: int) -> Answer:
    """Return an answer beside which so many attributes wait."""
    summary = Summary(
        headline="h", pool="p", model="m", utility_bits=0.0, people_left=1.0, waiting=count
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
    assert [kept.waiting(entry) for entry in (1, 2, 3, MOST_SILENT + 2)] == [0, 0, 2, 2]


def test_what_was_asked_takes_room_too() -> None:
    """A program that names much pushes out others, and no more than there is room for is kept."""
    kept = SilentRequests()
    kept.silent(ask("first" * 100), QUIET, 0, MONDAY)
    kept.silent(ask("second", ["n" * 200] * (ROOM // 200 - 1)), QUIET, 0, MONDAY)
    assert [each.ask.query for each in kept] == ["second"]
    kept.silent(ask("third", ["n" * (ROOM + 1)]), QUIET, 0, MONDAY)
    assert [*kept] == []


def test_nothing_that_waits_takes_no_room() -> None:
    """Nor does what has no figures."""
    kept = SilentRequests()
    kept.recorded(1, waits(1))
    for entry in range(2, MOST_SILENT + 5):
        kept.recorded(entry, waits(0))
        kept.recorded(entry, QUIET)
    assert kept.waiting(1) == 1
    kept.clear()
    assert kept.waiting(1) == 0


def test_what_is_remembered_shows_no_query() -> None:
    """In a log or a report of a defect."""
    kept = SilentRequests()
    number = kept.silent(ask("a query"), waits(3), 7, MONDAY)
    [found] = kept
    assert found == Silent(number, 7, MONDAY, ask("a query"), "answered", 3)
    assert "query" not in repr(found)

"""The journal: each choice once, with both ranks, and nothing of who chose."""

import json
import logging
from datetime import UTC, datetime
from io import StringIO
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples.search_service.journal import KEPT, Journal, Shown

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
PAGE = Shown("git\n\ud800", told=True, ranks={7: (1, 3), 9: (2, 1)})


def journal(file: StringIO | None) -> Journal:
    """Return a journal at noon that numbers its pages."""
    numbers = count()
    return Journal(file, clock=lambda: NOON, name=lambda: str(next(numbers)))


def test_a_line_says_both_ranks_and_nothing_else() -> None:
    """One object of JSON, whatever was searched for."""
    file = StringIO()
    book = journal(file)
    assert book.chosen(book.shown(PAGE), 7)
    (line,) = file.getvalue().splitlines()
    assert json.loads(line) == {
        "time": "2026-11-21T12:00:00+00:00",
        "query": "git\n\ud800",
        "rank": 1,
        "rank_without": 3,
        "header": True,
    }


@given(st.lists(st.tuples(st.sampled_from(["0", "1", "2", ""]), st.integers(6, 10))))
def test_each_result_of_a_page_is_taken_once(choices: list[tuple[str, int]]) -> None:
    """A page that was not shown, and a result that was not on it, count for nothing."""
    file = StringIO()
    book = journal(file)
    assert [book.shown(PAGE), book.shown(PAGE)] == ["0", "1"]
    taken = [choice for choice in choices if book.chosen(*choice)]
    shown = {(name, result) for name in ("0", "1") for result in PAGE.ranks}
    assert set(taken) == shown & {*choices}
    assert len(taken) == len(set(taken)) == len(file.getvalue().splitlines())


def test_it_forgets_the_oldest_pages() -> None:
    """What it holds does not grow for ever."""
    book = journal(None)
    names = [book.shown(PAGE) for _ in range(KEPT + 1)]
    assert not book.chosen(names[0], 7)
    assert book.query(names[0]) == ""
    assert book.chosen(names[1], 7)
    assert book.query(names[1]) == PAGE.query


def test_names_of_pages_cannot_be_told_from_others() -> None:
    """They are drawn, and long."""
    book = Journal()
    names = {book.shown(PAGE) for _ in range(100)}
    assert len(names) == 100
    assert min(map(len, names)) >= 16


def test_a_full_disk_is_said_and_stops_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """The page is shown all the same."""

    class Full(StringIO):
        def write(self, _text: str) -> int:
            raise OSError(28, "No space left on device")

    book = journal(Full())
    with caplog.at_level(logging.WARNING):
        assert book.chosen(book.shown(PAGE), 7)
    assert caplog.messages == ["a choice could not be written: no space left on device"]

"""`reticent requests recipients`: a table of who holds what, and how that went."""

import sys
from io import BytesIO, TextIOWrapper

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.cli.printing import BAR_COLUMNS, sparkline
from agent.errors import LockedError
from agent.tui.charts import BARS
from agent.wire.records import Recipient
from tests.cli.conftest import Run
from tests.cli.daemon import HOSTILE, LONG, RECIPIENTS, changed
from tests.wire.fake import FakeDaemon, says


@pytest.mark.usefixtures("fake")
def test_the_table_says_who_holds_what_and_how_few_are_left(run: Run) -> None:
    """With the numbers beside the bars; of a group, by way of whom it was told."""
    ran = run("requests", "recipients")
    assert (ran.code, ran.err) == (0, "")
    head, *lines = ran.out.splitlines()
    assert head == "2 recipients know something about you."
    assert "how many of the 60 people in the model do so" in " ".join(ran.out.split())
    [weather] = [line for line in lines if "weather.example" in line]
    assert weather.split() == [
        *("weather.example", "1,204", "hobby,", "region"),
        *("60", sparkline([60, 24, 20], 60), "20"),
    ]
    said = " ".join(ran.out.split())
    assert "@adverts: " in said
    assert "more.example" in said
    assert "(blocked)" in said
    assert "nothing" in said
    assert max(map(len, ran.out.splitlines())) <= 80


def test_what_is_not_the_same_of_all_is_not_said_of_them(run: Run, fake: FakeDaemon) -> None:
    """As the number of people of two models; one alone is one."""
    other = changed(RECIPIENTS[0], people=61)
    fake.handlers["recipients"] = says([other, RECIPIENTS[1]])
    assert "in the model" not in run("requests", "recipients").out
    fake.handlers["recipients"] = says([other])
    assert run("requests", "recipients").out.startswith("1 recipient knows something about you.\n")
    fake.handlers["recipients"] = says([])
    assert run("requests", "recipients").out == "Nobody knows anything about you.\n"


def test_nothing_steers_the_terminal(run: Run, fake: FakeDaemon) -> None:
    """A name may be of a model of anybody's; a long one fits."""
    hostile = changed(RECIPIENTS[0], pool=LONG, sites=[LONG], held=[HOSTILE, LONG])
    fake.handlers["recipients"] = says([hostile])
    ran = run("requests", "recipients")
    assert "\x1b" not in ran.out
    assert max(map(len, ran.out.splitlines())) <= 80


@pytest.mark.usefixtures("fake")
def test_the_object_has_the_messages(run: Run) -> None:
    """As openapi.json describes them."""
    found = run("requests", "recipients", "--json").record["recipients"]
    assert msgspec.convert(found, list[Recipient]) == RECIPIENTS


def test_a_locked_vault_is_an_error(run: Run, fake: FakeDaemon) -> None:
    """In the daemon's words."""

    def locked() -> None:
        raise LockedError

    fake.handlers["recipients"] = locked
    assert "locked" in run("requests", "recipients").refusal(code=1)[0]


@given(st.lists(st.integers(0, 20_000), max_size=60), st.integers(0, 20_000))
def test_a_line_has_a_bar_for_each_number_there_is_room_for(numbers: list[int], most: int) -> None:
    """Never taller for fewer people; the first and the last are always there."""
    line = sparkline(numbers, most)
    assert len(line) == min(len(numbers), BAR_COLUMNS)
    heights = [BARS.index(sparkline([each], most)) for each in sorted(numbers)]
    assert heights == sorted(heights)
    if numbers:
        assert line[0] == sparkline(numbers[:1], most)
        assert line[-1] == sparkline(numbers[-1:], most)


def test_one_person_is_the_lowest_bar_and_all_the_highest() -> None:
    """Whatever the model's size is."""
    for most in (2, 60, 18_991):
        assert sparkline([0, 1, most], most) == BARS[0] * 2 + BARS[-1]


def test_a_terminal_without_bars_gets_the_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rather than the names of characters."""
    monkeypatch.setattr(sys, "stdout", TextIOWrapper(BytesIO(), encoding="ascii"))
    assert sparkline([60, 20], 60) == ""

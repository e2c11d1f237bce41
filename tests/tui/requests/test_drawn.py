"""An item as lines: exactly so wide, whatever is in it, each state with a sign of its own."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from agent.tui.screens.requests_list import (
    ROOMY,
    SIGNS,
    WAITS,
    Item,
    Title,
    cells,
    column_heads,
    height,
    lines,
    when,
)
from agent.tui.virtual_list import Part
from agent.wire.decide import Code
from agent.wire.policy import Review
from agent.wire.records import Handled
from agent.words.outcomes import WHY_NOTHING
from tests.tui.requests.values import AT, handled, review

OUTSIDE = st.text(st.sampled_from("a語\x1b\n[b]é."), min_size=1, max_size=90)


@st.composite
def items(draw: st.DrawFn) -> Item:
    """Draw an item, with anything in it that comes from outside."""
    given: dict[str, Any] = {
        "recipient": draw(OUTSIDE),
        "query": draw(st.one_of(st.just(""), OUTSIDE)),
    }
    kind = draw(st.sampled_from(["title", "review", *SIGNS]))
    if kind == "title":
        return Title("waiting", draw(OUTSIDE))
    if kind == "review":
        return review(names=[draw(OUTSIDE)], more_bits=draw(st.floats(-9, 9)), **given)
    return handled(kind=kind, disclosed=[draw(OUTSIDE)], people_left=None, **given)


@given(items(), st.integers(52, 200))
def test_a_line_has_exactly_so_many_columns(item: Item, width: int) -> None:
    """And there are as many lines as are counted."""
    found = lines(item, width, AT)
    assert len(found) == height(item, width)
    for line in found:
        assert cell_len("".join(part.text for part in line)) == width
        assert all(part.text.isprintable() for part in line)


@given(st.integers(52, 200))
def test_the_heads_stand_over_the_columns(width: int) -> None:
    """Numbers end where their heads do; where an item has two lines there are none."""
    text = column_heads(width)
    assert bool(text) == (width >= ROOMY)
    if text:
        shown = " " + "".join(part.text for part in lines(handled(), width, AT)[0])
        for head, number in (("bits", "0.250"), ("people", "310")):
            assert text.index(head) + len(head) == shown.index(number) + len(number)


def test_each_state_has_a_sign_and_words_of_its_own() -> None:
    """Nobody needs a colour."""
    found = [
        cells(review(), AT),
        *(cells(handled(kind=kind, code="unknown query"), AT) for kind in SIGNS),
    ]
    assert found[0].sign == WAITS
    assert len({each.sign for each in found}) == len(found)
    assert len({each.names for each in found}) == len(found)


@pytest.mark.parametrize("code", Code.__args__)  # type: ignore[attr-defined]  # of the literal
def test_each_reason_for_nothing_is_said(code: Code) -> None:
    """In words, not by its code."""
    assert cells(handled(kind="nothing", code=code), AT).names == f"nothing: {WHY_NOTHING[code]}"


def test_a_time_is_as_short_as_the_day_allows() -> None:
    """Today the time, this year the day, else the month."""
    assert when(AT, AT) == "09:15"
    assert when(AT - timedelta(days=1), AT) == "1 Mar"
    assert when(AT - timedelta(days=400), AT) == "2025-01"


def test_an_unknown_number_is_no_number() -> None:
    """Nothing is shown for it."""
    part = lines(handled(kind="nothing", utility_bits=None, people_left=None), 60, AT)
    assert "bits" not in "".join(each.text for line in part for each in line)
    assert part[0][-1] == Part(" " * 14)


@pytest.mark.parametrize("width", [60, 100])
@pytest.mark.parametrize("item", [review(pool="@a"), handled(pool="@a")], ids=["review", "past"])
def test_who_shares_what_it_is_told_is_seen_before_a_word(
    item: Review | Handled, width: int
) -> None:
    """The group stands beside the recipient; one that shares with nobody stands alone."""
    assert "shop.example @a" in "".join(part.text for part in lines(item, width, AT)[0])
    assert "@" not in cells(review(), AT).recipient

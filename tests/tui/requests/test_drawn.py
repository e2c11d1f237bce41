"""An item as lines: exactly so wide, whatever is in it, each state with a sign of its own."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from agent.tui.screens.requests_list import SIGNS, Item, Title, lines, outcome, when
from agent.wire.decide import Code
from agent.wire.policy import Review
from agent.wire.records import Handled
from agent.words.outcomes import WHY_NOTHING
from tests.tui.requests.values import AT, handled, review

OUTSIDE = st.text(st.sampled_from("a語\x1b\n[b]é."), min_size=1, max_size=90)
TITLES = {"region": "region of the world"}


@st.composite
def items(draw: st.DrawFn) -> Item:
    """Draw an item, with anything in it that comes from outside."""
    given: dict[str, Any] = {
        "recipient": draw(OUTSIDE),
        "query": draw(st.one_of(st.just(""), OUTSIDE)),
    }
    kind = draw(st.sampled_from(["title", *SIGNS]))
    if kind == "title":
        return Title("waiting", draw(OUTSIDE))
    if kind == "waiting":
        return review(names=[draw(OUTSIDE)], **given)
    return handled(kind=kind, disclosed=[draw(OUTSIDE)], people_left=None, **given)


@given(items(), st.integers(40, 200))
def test_a_line_has_exactly_so_many_columns(item: Item, width: int) -> None:
    """A title is one, anything else two."""
    found = lines(item, width, AT)
    assert len(found) == (1 if isinstance(item, Title) else 2)
    for line in found:
        assert cell_len("".join(part.text for part in line)) == width
        assert all(part.text.isprintable() for part in line)


def test_each_state_has_a_sign_and_words_of_its_own() -> None:
    """Nobody needs a colour."""
    found: list[Review | Handled] = [
        review(),
        *(handled(kind=kind, code="unknown query") for kind in SIGNS if kind != "waiting"),
    ]
    assert len({lines(each, 80, AT)[0][0].text for each in found}) == len(found)
    assert len({outcome(each) for each in found}) == len(found)


def test_what_happened_is_said_in_words_and_by_titles() -> None:
    """The verdict, and how many people still look alike."""
    sent = handled(disclosed=["a", "b", "c", "d"], people_left=1_800, waiting=1)
    assert outcome(sent) == "Sent 4 facts; about 1,800 people still look like you; 1 fact waiting"
    waits = review(names=["region"])
    assert outcome(waits, TITLES) == "Waits for your approval: region of the world"
    assert outcome(review(kind="offer", names=["a", "b"])) == "Asks for a and b"


@pytest.mark.parametrize("code", Code.__args__)  # type: ignore[attr-defined]  # of the literal
def test_each_reason_for_nothing_is_said(code: Code) -> None:
    """In words, not by its code."""
    assert outcome(handled(kind="nothing", code=code)) == f"Sent nothing: {WHY_NOTHING[code]}"


def test_a_time_is_as_short_as_the_day_allows() -> None:
    """Today the time, this year the day, else the month."""
    assert when(AT, AT) == "09:15"
    assert when(AT - timedelta(days=1), AT) == "1 Mar"
    assert when(AT - timedelta(days=400), AT) == "2025-01"


@pytest.mark.parametrize("item", [review(pool="@a"), handled(pool="@a")], ids=["review", "past"])
def test_who_shares_what_it_learns_is_seen_before_a_decision(item: Review | Handled) -> None:
    """The group stands beside the recipient; one that shares with nobody stands alone."""
    assert "shop.example @a" in "".join(part.text for part in lines(item, 60, AT)[0])
    assert "@" not in "".join(part.text for part in lines(review(), 60, AT)[0])

"""The list of requests: what stands in it, in which order, and how it is drawn."""

from datetime import timedelta
from operator import itemgetter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from rich.cells import cell_len

from agent.tui.screens.requests_view import (
    ONLY,
    SIGNS,
    Item,
    Title,
    Wanted,
    arranged,
    key_of,
    lines,
    merged,
    outcome,
    repeats,
    when,
)
from agent.wire.policy import Review
from agent.wire.state import Handled
from tests.tui.values import AT, handled, review

KINDS = st.sampled_from(["disclosed", "nothing", "forgotten"])
HOSTS = st.sampled_from(["a.example", "b.example", "shop.example"])
NUMBERED = st.tuples(st.integers(-30, 60).filter(bool), HOSTS)


@st.composite
def pasts(draw: st.DrawFn) -> list[Handled]:
    """Draw requests, oldest first."""
    return [
        handled(number, kind=draw(KINDS), recipient=host, pool=host, at=AT + timedelta(minutes=at))
        for at, (number, host) in enumerate(
            draw(st.lists(NUMBERED, unique_by=itemgetter(0), max_size=30))
        )
    ]


@given(pasts(), st.integers(0, 5), st.sampled_from([*ONLY]), st.sampled_from(["", "shop", "B.EX"]))
def test_all_that_fits_and_nothing_else_stands_there_once(
    past: list[Handled], waiting: int, only: str, text: str
) -> None:
    """And each part has its title, with what waits counted over all."""
    reviews = [review(number, recipient="b.example", pool="b.example") for number in range(waiting)]
    wanted = Wanted(text, only)  # type: ignore[arg-type]  # drawn from its values
    found = arranged(reviews, past, wanted)
    assert len({key_of(each) for each in found}) == len(found)
    shown = [each for each in found if not isinstance(each, Title)]
    both: list[Review | Handled] = [*reviews, *past]
    for each in both:
        kind = "waiting" if isinstance(each, Review) else each.kind
        kind = "nothing" if kind == "forgotten" else kind
        fits = only in ("all", kind) and text.casefold() in each.recipient
        assert (each in shown) == fits
    assert shown == sorted(shown, key=lambda each: isinstance(each, Handled))
    answered = [each.at for each in shown if isinstance(each, Handled)]
    assert answered == sorted(answered, reverse=True)
    titles = [each for each in found if isinstance(each, Title)]
    assert [each for each in titles if each.key == "waiting"] == [
        Title(
            "waiting",
            f"{waiting} {'waits' if waiting == 1 else 'wait'} for your approval",
        )
    ] * any(isinstance(each, Review) for each in shown)


@given(pasts(), st.integers(0, 30), st.integers(1, 30))
def test_the_latest_are_taken_to_what_is_known(past: list[Handled], known: int, most: int) -> None:
    """Where they overlap; else something may be missing, and all is asked for."""
    before = {each.number: each for each in past[:known]}
    latest = past[-most:]
    found = merged(before, latest)
    if any(each in latest for each in past[:known]):
        assert found is not None
        assert [*found.values()] == past
        assert all(found[number].number == number for number in found)
    else:
        assert found is None


def test_a_request_that_is_another_under_its_number_is_not_taken_for_it() -> None:
    """A daemon that began anew counts anew what carried nothing."""
    assert merged({-1: handled(-1, kind="nothing")}, [handled(-1, query="other")]) is None


@pytest.mark.parametrize("text", ["gender", "EDITOR shop", "shop.ex", "@shops"])
def test_words_are_sought_in_all_that_is_said_of_it(text: str) -> None:
    """All of them, anywhere, whatever their case."""
    found = arranged([review(pool="@shops")], [], Wanted(text))
    assert len(found) == 2
    assert arranged([review(pool="@shops")], [], Wanted(f"{text} zzz")) == ()


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
    assert "waiting" not in outcome(replace(sent, settled=1))
    waits = review(names=["region"])
    assert outcome(waits, TITLES) == "Waits for your approval: region of the world"
    assert outcome(review(kind="offer", names=["a", "b"])) == "Asks for a and b"


def test_facts_that_were_all_sent_before_are_sent_again() -> None:
    """To those who pool them; not after a word that they forgot, nor where people became fewer."""
    kinds = ("disclosed", "disclosed", "nothing", "disclosed", "forgotten", "disclosed")
    past = [
        handled(n, kind=kind, people_left=300 if n == 4 else 310) for n, kind in enumerate(kinds, 1)
    ]
    assert repeats(past) == {2}
    assert repeats([past[0], handled(2, pool="@shops"), handled(3, disclosed=["gender"])]) == set()
    assert outcome(past[1], again={2}).startswith("Sent 1 fact again; about 310")


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

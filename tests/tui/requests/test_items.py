"""What stands in the list: all that fits, what waits on top, latest first, nothing twice."""

from datetime import timedelta
from operator import itemgetter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.tui.screens.requests_list import (
    ONLY,
    Title,
    Wanted,
    arranged,
    key_of,
    merged,
)
from agent.wire.policy import Review
from agent.wire.records import Handled
from tests.tui.requests.values import AT, handled, review

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

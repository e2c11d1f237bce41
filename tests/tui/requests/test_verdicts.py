"""The user's word as messages: exactly what was shown, for as long and for whom it was said."""

from hypothesis import given
from hypothesis import strategies as st

from agent.tui.screens.requests_trial import (
    SPANS,
    Change,
    Ruling,
    Span,
    Trial,
    overrides,
    result,
    rulings,
    spans,
    verdict,
)
from agent.wire.policy import Ruled
from tests.tui.requests.values import handled, review

NAMES = st.frozensets(st.sampled_from("abcdef"))


@given(NAMES, NAMES, st.sampled_from(SPANS))
def test_what_is_added_goes_along_and_what_is_dropped_stays(
    add: frozenset[str], drop: frozenset[str], span: Span
) -> None:
    """Each name in one message; what waits in a review is not among them."""
    words = overrides(Trial(handled(), Change(add, drop)), span)
    said = {each.disclose: frozenset(each.names) for each in words}
    assert said == {key: names for key, names in (("always", add), ("never", drop)) if names}
    assert all((each.lasting, each.about, each.days) == span[:1] + span[1:] for each in words)
    asked = Trial(review(names=["a", "b"]), Change(add))
    found = [name for each in overrides(asked, span) for name in each.names]
    assert found == sorted(add - {"a", "b"})


def test_all_that_may_be_chosen_is_different_and_says_for_whom() -> None:
    """This recipient first; an offer has nothing for once, and is about its recipient alone."""
    found = spans("shop.example")
    assert len({text for text, _ in found}) == len({span for _, span in found}) == 8
    assert all("everyone" in text for text, span in found if span.about == "everyone")
    of_review = rulings(review())
    assert len({text for text, _ in of_review}) == len({each for _, each in of_review}) == 16
    of_offer = [ruling for _, ruling in rulings(review(kind="offer"))]
    assert {each.span.lasting for each in of_offer} == {"days", "always"}
    assert {each.span.about for each in of_offer} == {"recipient"}


def test_a_verdict_is_on_what_was_shown() -> None:
    """Its names and its pool, so that it is none on what stands there later."""
    message = verdict(review(pool="@a"), Ruling("deny", Span("days", "everyone", 7)), ["gender"])
    assert (message.decided, message.lasting, message.about) == ("deny", "days", "everyone")
    assert (message.days, message.names, message.pool) == (7, ["gender"], "@a")


def test_what_still_wins_is_said() -> None:
    """With the rule that does."""
    ruled = Ruled(written="mine", without_effect=["a"], decided_by=["guards"])
    assert result("Done.", ruled).splitlines() == [
        "Done.",
        "Written into your policy as 'mine'.",
        "No effect on a: 'guards' still wins.",
    ]

"""The user's word as messages: exactly what was shown, for as long and for whom it was said."""

from hypothesis import given
from hypothesis import strategies as st

from agent.tui.screens.requests_trial import (
    ALWAYS,
    ONCE,
    SPANS,
    Change,
    Ruling,
    Span,
    Trial,
    outcome,
    overrides,
    rulings,
    settled,
    spans,
    tells,
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


def test_a_word_is_said_back_in_a_sentence() -> None:
    """What, to whom, and for how long; of an offer what it then gets."""
    yes, no = Ruling("approve", ALWAYS), Ruling("deny", ONCE)
    assert settled(review(), yes, ["gender"]) == "gender may leave to shop.example, always."
    assert settled(review(), no, ["gender"]) == (
        "gender does not leave to shop.example, once, with the next request."
    )
    offer = review(kind="offer")
    assert "may get a and b and nothing else" in settled(offer, yes, ["a", "b"])
    week = Ruling("deny", Span("days", days=7))
    assert settled(offer, week, ["a"]) == "shop.example gets nothing, for 7 days."
    [word] = overrides(
        Trial(handled(), Change(drop=frozenset("a"))), Span("until restart", "everyone")
    )
    assert tells(word) == "a does not leave to everyone, until the daemon restarts."


def test_what_still_wins_is_said() -> None:
    """With the rule that does, as far as it is known."""
    ruled = Ruled(written="mine", without_effect=["a", "b"], decided_by=["guards"])
    assert outcome("Done.", ruled).splitlines() == [
        "Done.",
        "Your policy says so: mine.",
        "Without effect on a: guards still wins.",
        "Without effect on b: another rule still wins.",
    ]
    blocked = Ruled(written=None, without_effect=["a"], decided_by=["refused"], blocked=True)
    assert outcome("Done.", blocked) == ("Done.\nNothing leaves all the same: blocked by refused.")
    assert outcome("Done.", Ruled(written=None, without_effect=[])) == "Done."

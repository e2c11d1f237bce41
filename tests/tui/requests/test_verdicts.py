"""The user's word as messages: exactly what was shown, for as long and for whom it was said."""

from hypothesis import given
from hypothesis import strategies as st

from agent.tui.screens.requests_trial import SPANS, Change, Trial, choices, overrides, result
from agent.wire.policy import Ruled, Verdict
from tests.tui.requests.values import handled, review

NAMES = st.frozensets(st.sampled_from("abcdef"))


@given(NAMES, NAMES, st.sampled_from(SPANS))
def test_what_is_added_goes_along_and_what_is_dropped_stays(
    add: frozenset[str], drop: frozenset[str], span: Verdict
) -> None:
    """Each name in one message; what waits in a review is not among them."""
    words = overrides(Trial(handled(), Change(add, drop)), span)
    said = {each.disclose: frozenset(each.names) for each in words}
    assert said == {key: names for key, names in (("always", add), ("never", drop)) if names}
    wanted = (span.lasting, span.about, span.days)
    assert all((each.lasting, each.about, each.days) == wanted for each in words)
    asked = Trial(review(names=["a", "b"]), Change(add))
    found = [name for each in overrides(asked, span) for name in each.names]
    assert found == sorted(add - {"a", "b"})


def test_all_that_may_be_chosen_is_different_and_says_for_whom() -> None:
    """This recipient first; an offer has nothing for once, and is about its recipient alone."""
    for subject, count in ((handled(), 8), (review(), 16), (review(kind="offer"), 4)):
        found = choices(subject)
        assert len({text for text, _ in found}) == len({repr(each) for _, each in found}) == count
        assert all("everyone" in text for text, each in found if each.about == "everyone")
    of_offer = [each for _, each in choices(review(kind="offer"))]
    assert {each.lasting for each in of_offer} == {"days", "always"}
    assert {each.about for each in of_offer} == {"recipient"}


def test_what_still_wins_is_said() -> None:
    """With the rule that does."""
    ruled = Ruled(written="mine", without_effect=["a"], decided_by=["guards"])
    assert result("Done.", ruled).splitlines() == [
        "Done.",
        "Written into your policy as 'mine'.",
        "No effect on a: 'guards' still wins.",
    ]

"""A request in sentences that are true to what the daemon says, the verdict first."""

import pytest

from agent.tui.screens.requests_trial import (
    Change,
    Trial,
    begun,
    changed,
    headline,
    hint,
    meaning,
)
from agent.wire.policy import Review
from agent.wire.records import Handled
from agent.words.outcomes import LIMITS
from tests.tui.requests.values import AT, handled, review, row, weighed, weight


def trial(subject: Handled | Review, **given: object) -> Trial:
    """Return a request with the daemon's answer."""
    return Trial(subject, Change(), weighed(**given))


def test_the_verdict_comes_first() -> None:
    """What waits, what was offered, what sent nothing and what was forgotten, by titles."""
    assert headline(trial(handled(pool="@shops")), AT) == (
        "Sent 1 fact to shop.example (and @shops): the region; about 310 people still look like "
        "you.\nRequest of 09:15 for “editor”."
    )
    nothing = handled(-1, kind="nothing", code="unknown query", disclosed=[])
    assert headline(begun(nothing), AT).startswith("Sent nothing to shop.example: the model does")
    assert "having forgotten everything" in headline(begun(handled(kind="forgotten")), AT)
    assert headline(begun(review(names=["a", "b"])), AT).startswith("Send a and b to shop.example")
    offer = review(kind="offer", names=["a"], search="https://b.example/?q={query}")
    assert "asks for a for searches at https://b.example/" in headline(begun(offer), AT)


def test_what_it_means_is_said_in_few_words() -> None:
    """What would be sent without approval, or today; whom the recipient sees."""

    def said(trial: Trial) -> str:
        return " ".join(meaning(trial))

    waits = "Without your approval it would get the region. To it, about 18,991 people still look "
    assert said(trial(review())).startswith(waits)
    nothing = handled(-1, kind="nothing")
    assert said(trial(nothing)).startswith("Today it would get the region.")
    assert said(trial(nothing, rows=[])) == "Disclose region."
    assert said(begun(handled())) == said(trial(handled())) == ""
    assert said(trial(handled(), decided=["gender"])) == "Today it would get the gender."
    blocked = said(trial(review(pool="@shops"), code="blocked"))
    assert blocked.startswith("shop.example (and @shops) is blocked")


def test_a_change_says_what_it_would_do() -> None:
    """In people; in bits only on demand."""
    after = weight("region", "gender", utility_bits=0.37, cost_bits=0.12, people_left=12.0)
    tried = Trial(handled(), Change(add=frozenset({"gender"})), weighed(weighed=after))
    people = "about 12 people still look like you, 310 without this."
    assert changed(tried) == f"With the gender: serves you better; {people}"
    assert (
        changed(tried, figures=True)
        == f"With the gender: serves you better (+0.120 bits); {people}"
    )
    both = Change(add=frozenset("b"), drop=frozenset("a"))
    assert changed(Trial(handled(), both)) == "With b and without a: computing …"
    assert changed(trial(handled())) == ""


def test_withholding_what_it_knows_gains_nothing() -> None:
    """Which is said where it is tried, and not of what it does not know."""
    rows = [row("region", inside=True, held=True), row("gender", inside=True)]
    for name in ("region", "gender"):
        said = changed(Trial(handled(), Change(drop=frozenset({name})), weighed(rows=rows)))
        assert ("It already knows the region" in said) == (name == "region")


@pytest.mark.parametrize("limit", [*LIMITS, "new"])
def test_a_limit_that_breaks_is_said_with_what_it_means(limit: str) -> None:
    """By its key in the policy, too; an unknown one by its key alone."""
    change = Change(add=frozenset({"gender"}))
    tried = changed(Trial(handled(), change, weighed(weighed=weight(breaks=limit))))
    assert limit in tried
    assert LIMITS.get(limit, "This breaks new.") in tried


def test_the_keys_that_make_it_hold_are_those_of_what_it_is() -> None:
    """An offer has none for once."""
    assert "o yes, once" in hint(review())
    assert "once" not in hint(review(kind="offer"))
    assert "o once" in hint(handled())

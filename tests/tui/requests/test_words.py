"""A request in sentences that are true to what the daemon says, and no more than that."""

import pytest

from agent.tui.screens.requests_trial import (
    EXACT,
    LIKELY,
    LIMITS,
    UNPROVEN,
    Change,
    Trial,
    begun,
    changed,
    figures,
    headline,
    hint,
    listed,
    proof,
)
from agent.wire.decide import Line
from agent.wire.policy import Review
from agent.wire.records import Handled
from tests.tui.requests.values import AT, handled, review, row, weighed, weight


def trial(subject: Handled | Review, **given: object) -> Trial:
    """Return a request that was weighed."""
    return Trial(subject, Change(), weighed(**given))


def test_the_headline_says_to_whom_and_what_left() -> None:
    """What waits, what was offered, what carried nothing and what was forgotten, each in words."""
    assert headline(begun(handled(pool="@shops")), AT) == (
        "Entry 1: shop.example, and so @shops, 09:15, for “editor”\nTold: region."
    )
    nothing = handled(-1, kind="nothing", code="unknown query", disclosed=[])
    assert "Told nothing: the model does not cover this request." in headline(begun(nothing), AT)
    assert "forgot what it held" in headline(begun(handled(kind="forgotten")), AT)
    assert headline(begun(review(names=["a", "b", "c"])), AT) == (
        "Review 1: shop.example waits for your word on a, b and c, asked last for “editor”."
    )
    assert "can use a." in headline(begun(review(kind="offer", names=["a"])), AT)
    offer = review(kind="offer", names=["a"], search="https://b.example/?q={query}")
    assert "can use a in searches at https://b.example/?q={query}." in headline(begun(offer), AT)


def test_the_cost_is_how_many_people_are_left() -> None:
    """Those who were counted after the answer, not those who were expected."""
    said = figures(trial(handled(people_left=5156)))
    assert "It helped by 0.250 bits; at today's prices it costs 0.100." in said
    changed_since = figures(trial(handled(utility_bits=0.5)))
    assert "by 0.500 bits; at today's prices it helps by 0.250 and costs 0.100." in changed_since
    assert "1 of 18,991 people, then 1 of 5,156 people." in said
    assert "then 1 of 310 people." in figures(trial(handled(people_left=None)))
    assert figures(begun(handled())) == ""
    assert "then unlike anybody in the model." in figures(trial(handled(people_left=0)))
    assert figures(trial(handled(), rows=[])) == "Disclose region."


def test_what_waits_says_what_leaves_without_a_word() -> None:
    """And what carried nothing says what today would bring."""
    assert "Without your word region would leave." in figures(trial(review()))
    asked = "When it was asked: +0.125 bits, about 155 people left."
    assert figures(trial(review())).startswith(asked)
    assert "When it was asked" not in figures(trial(review(more_bits=None)))
    blocked = figures(trial(review(pool="@shops"), code="blocked"))
    assert "shop.example, and so @shops is blocked" in blocked
    assert "Today it would get region." in figures(trial(handled(-1, kind="nothing")))
    assert figures(trial(handled(-1, kind="nothing"), rows=[])) == "Disclose region."


def test_that_nothing_is_better_is_said_only_where_it_was_enumerated() -> None:
    """Or, with its condition, where the bound is reached; else nothing is claimed."""
    assert proof(trial(handled(), proof="enumerated")) == EXACT
    reached = [Line(label="proven", text="no better set exists if gains shrink")]
    assert proof(trial(handled(), proof="if-submodular", lines=reached)) == LIKELY
    assert proof(trial(handled(), proof="none", lines=reached)) == UNPROVEN
    assert proof(trial(handled(), proof="if-submodular")) == UNPROVEN
    assert proof(trial(handled(), proof="none")) == UNPROVEN
    assert proof(trial(handled(), proof="if-submodular", lines=[])) == UNPROVEN
    assert proof(trial(handled(), proof="a new one")) == UNPROVEN
    assert proof(trial(handled(), code="unknown query", proof="enumerated")) == ""
    assert EXACT in proof(trial(handled(), proof="enumerated", decided=["gender"]))
    assert "Today it would be gender." in proof(trial(handled(), decided=["gender"]))


def test_a_change_says_what_it_would_do() -> None:
    """In bits and in people, and which limit it breaks."""
    after = weight("region", "gender", utility_bits=0.37, cost_bits=0.12, people_left=12.0)
    tried = Trial(handled(), Change(add=frozenset({"gender"})), weighed(weighed=after))
    assert changed(tried) == (
        "With gender: +0.120 bits of help, +0.020 bits of cost, about 310 -> 12 people left."
    )
    both = Change(add=frozenset("b"), drop=frozenset("a"))
    assert changed(Trial(handled(), both)) == "with b and without a: weighing …"
    assert changed(trial(handled())) == ""


def test_keeping_back_what_it_knows_wins_nothing_back() -> None:
    """Which is said where it is tried, and not of what it does not know."""
    rows = [row("region", inside=True, held=True), row("gender", inside=True)]
    for name in ("region", "gender"):
        said = changed(Trial(handled(), Change(drop=frozenset({name})), weighed(rows=rows)))
        assert ("It knows region already" in said) == (name == "region")


@pytest.mark.parametrize("limit", LIMITS)
def test_a_limit_that_breaks_is_said_with_what_it_means(limit: str) -> None:
    """By its key in the policy, too; one that nobody knows, by its key alone."""
    change = Change(add=frozenset({"gender"}))
    tried = Trial(handled(), change, weighed(weighed=weight(breaks=limit)))
    assert f"breaks the limit {limit}: {LIMITS[limit]}." in changed(tried)
    strange = Trial(handled(), change, weighed(weighed=weight(breaks="new")))
    assert changed(strange).endswith("breaks the limit new.")


def test_the_keys_that_make_it_hold_are_those_of_what_it_is() -> None:
    """An offer has none for once."""
    assert "o yes, once" in hint(review())
    assert "once" not in hint(review(kind="offer"))
    assert "o once" in hint(handled())


@pytest.mark.parametrize(
    ("names", "said"), [([], "nothing"), (["a"], "a"), (["a", "b", "c"], "a, b and c")]
)
def test_names_stand_as_a_sentence_has_them(names: list[str], said: str) -> None:
    """None is nothing."""
    assert listed(names) == said

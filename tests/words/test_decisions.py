"""The sentences about a decision say what it says, and no more."""

from typing import Any

import pytest
from msgspec.structs import replace

from agent.decision.values import (
    CountedAmong,
    Decision,
    Figures,
    Guarded,
    Outcome,
    Pending,
    Reading,
    Request,
)
from agent.words.decisions import (
    ASSUMED,
    at_least,
    carried,
    difference,
    fitting,
    guessing,
    headline,
    lines,
    proven,
    settled,
)
from agent.words.outcomes import WHY_NOTHING

TITLES = {"region": "region of the world"}
MEASURES = {
    "maxprob": "1 guess in 20 is right; before, 1 in 60",
    "k-anonymity": "5.0% of the people blend in with fewer than 100; before, 1.7%",
    "entropy": "0.050 bits of who you are; before, 0.017",
    "log-maxprob": "0.05000; before, 0.01667",
}


def reason(name: str = "region", **given: Any) -> Outcome:  # noqa: ANN401  (of the message)
    """Return an attribute that is worth it."""
    usual: dict[str, Any] = {
        "title": TITLES.get(name, name),
        "disclosed": True,
        "reason": "worth it",
        "rule": None,
        "gain_bits": 0.5,
        "cost_bits": 0.1,
    }
    return Outcome(name=name, **{**usual, **given})


FIGURES = Figures(
    names=("region",),
    utility=0.986,
    objective=0.816,
    identifiability=1 / 20,
    identifiability_cost=1 / 20 - 1 / 60,
    people=60,
    people_left=20.0,
)


def decided(**given: Any) -> Decision:  # noqa: ANN401  (of the value)
    """Return a decision that sends the region; ``left``: people, after it."""
    left = given.pop("left", 20.0)
    usual: dict[str, Any] = {
        "code": "answered",
        "mode": "dynamic",
        "request": Request("weather"),
        "read_as": Reading(query="weather", title="weather", probability=0.876, model="village"),
        "disclosed": ("region",),
        "figures": replace(FIGURES, people_left=left),
        "outcomes": (reason(),),
        "algorithm": "lls",
        "metric": "maxprob",
        "metric_k": 100,
        "trade_off": 5.12,
        "evaluations": 7,
        "among": CountedAmong(people="people", count=60, estimated=True),
    }
    return Decision(**{**usual, **given})


def silent(**given: Any) -> Decision:  # noqa: ANN401  (of the value)
    """Return a decision that sends nothing."""
    return decided(**{"disclosed": (), "left": 60.0, **given})


def waits(*names: str) -> dict[str, Any]:
    """Return that attributes wait, which bring a quarter of a bit."""
    more = replace(FIGURES, utility=FIGURES.utility + 0.25, people_left=5.5)
    return {"pending": Pending(names=names, figures=more)}


NO: dict[str, Any] = {"disclosed": False, "gain_bits": None, "cost_bits": None}
KNOWN: dict[str, Any] = {
    "outcomes": (reason(reason="known to the recipient"),),
    "left": 60.0,
}


@pytest.mark.parametrize(
    ("case", "sentence"),
    [
        (decided(), "Send 1 fact (region of the world); about 20 people still look like you."),
        (
            decided(**KNOWN),
            (
                "Send nothing new, and again 1 fact (region of the world); about 60 "
                "people look like you, as before."
            ),
        ),
        (
            decided(**waits("hobby")),
            (
                "Send 1 fact (region of the world); about 20 people still look like you; hobby "
                "waits for your approval."
            ),
        ),
        (silent(code="blocked"), f"Send nothing: {WHY_NOTHING['blocked']}."),
        (silent(code="unknown query"), f"Send nothing: {WHY_NOTHING['unknown query']}."),
        (
            decided(code="recognised", **KNOWN),
            (
                "Send nothing new, and again 1 fact (region of the world): "
                f"{WHY_NOTHING['recognised']}."
            ),
        ),
        (silent(outcomes=()), "Send nothing: your rules allow nothing."),
        (
            silent(outcomes=(reason(disclose="ask", reason="waits for you"),), **waits("a", "b")),
            (
                "Send nothing: your rules allow nothing without asking; a and b wait for your "
                "approval."
            ),
        ),
        (
            silent(outcomes=(reason(reason="not set", **NO),)),
            "Send nothing: you have set none of the facts that may be sent.",
        ),
        (
            silent(outcomes=(reason(reason="would break a limit", limit="k"),)),
            "Send nothing: what would help enough would break the limit k.",
        ),
        (silent(mode="planned"), "Send nothing: nothing helps enough in the long run."),
        (
            silent(mode="standing"),
            "Send nothing: nothing in the set for every request may be sent now.",
        ),
        (silent(), "Send nothing: nothing helps enough."),
    ],
)
def test_the_verdict_comes_first(case: Decision, sentence: str) -> None:
    """Each status and each reason for silence has its own."""
    assert headline(case) == sentence


@pytest.mark.parametrize(
    ("case", "said"),
    [
        (decided(proof="enumerated", bound=1.0, certified=1.0), "no better set is permitted"),
        (
            decided(proof="if-submodular", bound=1.0, certified=1.0),
            f"no better set exists; {ASSUMED}",
        ),
        (decided(), "a better set may exist: no bound was computed"),
        (
            decided(node_limit_hit=True),
            "a better set may exist: the search reached its node limit first",
        ),
        (decided(metric="entropy"), "a better set may exist: the cost entropy has no bound"),
        (
            decided(guarded=(Guarded(name="a", title="a", bits=0.1, best_guess=0.5),)),
            "a better set may exist: there is no bound while a fact is kept secret",
        ),
        (
            decided(violations=1),
            (
                "a better set may exist: the bound assumes diminishing returns, which did not hold "
                "here"
            ),
        ),
        (
            decided(mode="planned", proof="enumerated", bound=1.0, certified=1.0),
            "a good plan, grown fact by fact; a better one may exist",
        ),
        (
            decided(mode="standing"),
            (
                "not known for this request: the set was chosen for the average query and a "
                "recipient that knows nothing"
            ),
        ),
    ],
)
def test_no_more_is_claimed_than_is_proven(case: Decision, said: str) -> None:
    """Each proof with its condition; of a standing set nothing is claimed for one request."""
    assert proven(case) == said


def test_a_share_of_the_optimum_is_never_rounded_up() -> None:
    """It is a lower bound."""
    assert at_least(0.999) == "at least 99 % as good as the best set"
    half = decided(proof="if-submodular", bound=1.632, certified=0.5)
    assert proven(half).startswith(
        "at least 50 % as good as the best set, which is worth 1.632 bits at most; this assumes"
    )


@pytest.mark.parametrize(
    ("case", "said"),
    [
        (decided(mode="standing"), "chosen once for all queries, before anything was known"),
        (decided(mode="planned"), "no single addition improves the plan"),
        (decided(algorithm="exhaustive"), "every set was tried"),
        (decided(algorithm="greedy"), "no single addition improves it"),
        (
            decided(outcomes=(reason(disclose="always"),)),
            "no single addition or removal of the others improves it",
        ),
    ],
)
def test_what_the_search_makes_sure_of(case: Decision, said: str) -> None:
    """It depends on the algorithm."""
    assert settled(case) == said


@pytest.mark.parametrize(("metric", "said"), MEASURES.items())
def test_each_cost_has_a_phrase(metric: str, said: str) -> None:
    """With its unit, before and after."""
    assert guessing(decided(metric=metric)) == said


def test_people_are_those_of_the_model() -> None:
    """Before and after; the latter is an expectation."""
    assert fitting(0, 0) == "nobody in the model matches what it knows"
    assert fitting(60, 60).endswith("and as many after this answer")
    assert fitting(60, 20) == "matches 60 people now, about 20 after this answer"
    survey = CountedAmong(people="people of the survey", count=90, estimated=False)
    of_them = "matches 60 of the 90 people of the survey now, about 20 after this answer"
    assert fitting(60, 20, survey) == of_them


def test_the_rest_follows_in_lines() -> None:
    """What was read and what waits first, the figures last."""
    case = decided(
        mode="planned",
        **waits("hobby"),
        outcomes=(
            reason(reason="in the plan", serves=("w", "x", "y", "z")),
            reason("age", reason="guarded", rule="me", **NO),
            reason("b", disclosed=False, disclose="always"),
        ),
        guarded=(Guarded(name="age", title="age", bits=0.25, best_guess=0.5),),
        rules={"shops": ("lambda = 5",)},
    )
    found = {each.label: each.text for each in lines(case)}
    assert [*found] == [
        *("read as", "helps", "costs", "waits for you", "plan", "always"),
        *("kept secret, so never sent", "objective", "identifiability", "people", "secret: age"),
        *("search", "how good", "because"),
    ]
    assert found["costs"] == "a 3.33 % higher chance that one guess finds you"
    assert (
        found["waits for you"]
        == "hobby: +0.250 bits more useful, about 5.5 people expected to be left"
    )
    assert found["plan"] == "region of the world for 'w', 'x', 'y' and 1 more"
    assert found["always"] == "b: would break a limit, so not sent"
    assert found["kept secret, so never sent"] == "age (me)"
    assert found["objective"] == (
        "0.816 bits = 0.986 gained - 5.12 x 0.0333 identifiability - 0.000 guarded"
    )
    assert found["because"] == "shops: lambda = 5"


def test_a_request_that_was_not_read_has_a_hint() -> None:
    """Unless a rule blocks it; without a query there is nothing to read."""
    labels = [each.label for each in lines(silent(code="unknown query", read_as=None))]
    assert labels == ["read as", "hint", "people"]
    assert [each.label for each in lines(silent(code="blocked", read_as=None))][:1] == ["read as"]
    assert "read as" not in {
        each.label for each in lines(silent(request=Request(""), read_as=None))
    }


def weight(*names: str, left: float = 20.0, **given: Any) -> Figures:  # noqa: ANN401  (of the message)
    """Return a set."""
    return Figures(
        names=names,
        utility=0.1 * len(names),
        objective=0.1 * len(names),
        people=60,
        people_left=left,
        **given,
    )


def test_a_change_is_one_sentence() -> None:
    """What it adds and drops, what that brings, and which limit it breaks."""
    said = difference(
        weight("a"),
        weight("b", "c", left=5.0, breaks="k"),
        {},
        informed=True,
    )
    assert said == (
        "With b and c and without a: +0.100 bits more useful; about 5 people still look like "
        "you, instead of 20; this breaks the limit k: fewer people would look like you than you "
        "allow."
    )
    same = difference(weight("a"), weight("a", "b"), {}, informed=False)
    assert same.startswith("With b: how much it helps is unknown; ")
    assert same.endswith(", as before.")
    assert difference(weight("a"), weight("a"), {}, informed=True) == ""


def test_a_request_of_the_past_has_the_figures_of_today() -> None:
    """Where it sent anything that the model has."""
    said = carried(weight("a"), TITLES, people_left=18, informed=True)
    assert said == (
        "It sent a; about 18 people still look like you. By today's rules: 0.100 bits more useful."
    )
    assert carried(weight(), TITLES, people_left=60, informed=True) == (
        "None of what was sent is in this model."
    )

"""The sentences about a decision say what it says, and no more."""

from dataclasses import replace

import pytest

from agent.decision.context import Status
from agent.decision.decide import Decision, Evidence, Figures, decide
from agent.decision.request import Knowledge, Request
from agent.decision.terms import Limits, Terms
from agent.decision.words import fitting, guessing, headline, proven, settled
from agent.tradeoff.anonymity_set import METRICS, Metric
from tests.cli.examples import PEOPLE, cli_model

COAST = Knowledge((("region", 1),))
LAST = Knowledge((("shoe_size", 1), ("region", 1)))  # one person only
NOBODY = Knowledge((("shoe_size", 1), ("region", 3)))


def decided(query: str = "weather", knowledge: Knowledge = COAST, **demands: object) -> Decision:
    """Return a decision on the village."""
    return decide(Request(query), replace(Terms(), **demands), knowledge, cli_model())  # type: ignore[arg-type]  # of any field


PAST = decided(limits=Limits(k=PEOPLE))  # the coast has fewer people than that


@pytest.mark.parametrize(
    ("decision", "sentence"),
    [
        (decided(knowledge=Knowledge()), "Disclose region: "),
        (decided(), "Disclose nothing new, and region again: "),
        (decided("music"), "Disclose hobby, and region again: "),
        (decided(nothing=True), "Disclose nothing: a rule blocks this request."),
        (decided("knees"), "Disclose nothing: the model does not know this query"),
        (
            decided(knowledge=LAST),
            "Disclose nothing new, and region again: only one person fits what the recipient",
        ),
        (
            decided(knowledge=NOBODY),
            "Disclose nothing new, and region again: nobody in the model fits what the recipient",
        ),
        (PAST, "Disclose nothing new, and region again: what the recipient knows is past a limit"),
        (
            decided(knowledge=Knowledge(), limits=Limits(k=PEOPLE)),
            "Disclose nothing: what would help enough would break the limit k.",
        ),
        (
            decided(knowledge=Knowledge(), trade_off=1e6, limits=Limits(k=PEOPLE)),
            "Disclose nothing: nothing helps more than it costs.",
        ),
        (
            decided(knowledge=Knowledge(), trade_off=1e6),
            "Disclose nothing: nothing helps more than it costs.",
        ),
        (
            decided(knowledge=Knowledge(), allowed=frozenset()),
            "Disclose nothing: nothing may leave.",
        ),
    ],
)
def test_the_headline_names_what_leaves_and_why_not_more(decision: Decision, sentence: str) -> None:
    """Each status and each reason for silence has its own."""
    assert headline(decision).startswith(sentence)
    assert headline(decision).endswith(".")


def test_what_is_sent_again_leaves_as_many_people_as_before() -> None:
    """The recipient learns nothing by it."""
    assert headline(decided()).endswith("and all 20 people who look like you still do.")


@pytest.mark.parametrize(
    ("evidence", "demands", "words"),
    [
        (
            Evidence(proof="enumerated", bound=1.0, certified=1.0),
            {},
            ["no permitted set is better"],
        ),
        (
            Evidence(proof="if-submodular", bound=1.0, certified=0.4),
            {},
            ["at least 40% of the best", "bound 1.000", "if gains shrink", "loose"],
        ),
        (
            Evidence(proof="if-submodular", bound=1.0, certified=1.0),
            {},
            ["no better set exists if gains shrink", "which is not proven"],
        ),
        (
            Evidence(proof="if-submodular", bound=1.0, certified=0.999),
            {},
            ["at least 99% of the best"],
        ),
        (Evidence(violations=2), {}, ["no bound", "a gain grew"]),
        (Evidence(node_limit_hit=True), {}, ["no bound", "limit of nodes"]),
        (Evidence(), {"metric": "entropy"}, ["no bound", "for the cost entropy"]),
        (Evidence(), {"guards": (("hobby", 1.0),)}, ["no bound", "guarded"]),
    ],
)
def test_what_is_proven_is_said_with_its_condition(
    evidence: Evidence, demands: dict[str, object], words: list[str]
) -> None:
    """And only an enumeration is without one (DESIGN.md 2.5)."""
    terms = replace(Terms(), **demands)  # type: ignore[arg-type]  # of any field
    said = proven(replace(decided(), evidence=evidence, terms=terms))
    assert [word for word in words if word not in said] == []
    assert ("which is not proven" in said) == (evidence.proof == "if-submodular")
    assert ("no permitted set is better" in said) == (evidence.proof == "enumerated")


@pytest.mark.parametrize("allowed", [frozenset(), frozenset({"region"})])
def test_what_compared_nothing_does_not_claim_to_have_seen_it(allowed: frozenset[str]) -> None:
    """Of an empty set, or of a single attribute, no gain was seen to shrink."""
    said = proven(decided(knowledge=Knowledge(), allowed=allowed))
    assert said.startswith("no better set exists if gains shrink")
    assert "on the way" not in said


@pytest.mark.parametrize("algorithm", ["lls", "greedy", "exact", "exhaustive"])
@pytest.mark.parametrize("knowledge", [Knowledge(), COAST, LAST, NOBODY])
def test_a_standing_set_claims_nothing_for_this_request(
    algorithm: str, knowledge: Knowledge
) -> None:
    """It was chosen for all queries, before anything was known."""
    decision = decided(knowledge=knowledge, mode="standing", algorithm=algorithm)
    terms = Terms(mode="standing", algorithm=algorithm)  # type: ignore[arg-type]  # of any field
    assert settled(terms) == "chosen once for all queries, before anything was known"
    said = proven(decision)
    assert "for the average query and a recipient that knows nothing" in said
    if knowledge != Knowledge():
        assert said.startswith("nothing for this request: ")
    if decision.status == "decided":
        assert "bits better served on average" in headline(decision)


def test_a_standing_set_that_may_not_leave_says_so() -> None:
    """Whatever each of its attributes would be worth alone."""
    decision = decided(knowledge=Knowledge(), mode="standing", trade_off=1e6)
    assert headline(decision) == (
        "Disclose nothing: nothing in the set for all queries may leave now."
    )


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("knowledge", [Knowledge(), COAST, LAST, NOBODY])
def test_the_level_before_is_that_without_the_answer(metric: Metric, knowledge: Knowledge) -> None:
    """Of every cost, also where nobody is left."""
    decision = decided(knowledge=knowledge, metric=metric)
    said = guessing(decision.figures, 100)
    before = guessing(replace(decision.figures, identifiability_cost=0.0), 100)
    assert "; before, " in said
    if not decision.figures.identifiability_cost:
        assert said == before


def test_the_people_are_counted_before_and_after() -> None:
    """The latter in expectation, unless nobody is lost or nobody was there."""
    said = [fitting(decided(knowledge=each).figures) for each in (Knowledge(), COAST, NOBODY)]
    assert said == [
        "60 fit what is known, and about 20 will fit the answer too",
        "20 fit what is known, and all of them will fit the answer too",
        "nobody in the model fits what is known",
    ]


def test_certainty_has_words() -> None:
    """One guess in one."""
    figures: Figures = decided(knowledge=LAST).figures
    assert guessing(figures, 100) == "1 guess in 1 is right; before, 1 in 1"


def test_a_greedy_search_does_not_claim_what_a_local_one_does() -> None:
    """It never tried to remove anything."""
    assert settled(Terms(algorithm="greedy")) == "no single addition improves it"
    assert settled(Terms()) == "no single addition or removal improves it"
    assert settled(Terms(algorithm="exhaustive")) == "every set was tried"


def test_the_statuses_above_are_all() -> None:
    """A new one needs its sentence."""
    blocked = decided(nothing=True)
    seen = {decided(), decided("knees"), decided(knowledge=LAST), decided(knowledge=NOBODY), PAST}
    seen.add(blocked)
    assert {each.status for each in seen} == set(Status.__args__)  # type: ignore[attr-defined]  # of the literal

"""What is said of a decision is what it decided: real decisions on a village."""

from dataclasses import replace
from typing import get_args

import pytest

from agent.daemon.worded import worded
from agent.decision.context import Status
from agent.decision.decide import Decision, decide
from agent.decision.request import Knowledge, Request
from agent.decision.terms import Limits, Terms
from agent.tradeoff.anonymity_set import METRICS, Metric
from agent.tradeoff.search import Evidence
from agent.words.decisions import Decided, fitting, guessing, headline, proven, settled
from agent.words.outcomes import WHY_NOTHING
from tests.cli.examples import PEOPLE, cli_model

MODEL = cli_model()
NOTHING = Knowledge()
COAST = Knowledge((("region", 1),))
LAST = Knowledge((("shoe_size", 1), ("region", 1)))  # one person only
NOBODY = Knowledge((("shoe_size", 1), ("region", 3)))
AGAIN = "Send nothing new, and again 1 fact (Region)"


def decided(query: str = "weather", knowledge: Knowledge = COAST, **demands: object) -> Decision:
    """Return a decision on the village."""
    return decide(Request(query), replace(Terms(), **demands), knowledge, MODEL)  # type: ignore[arg-type]  # of any field


def said(decision: Decision) -> Decided:
    """Return it as sentences take it."""
    return worded(decision, MODEL)


PAST = decided(limits=Limits(k=PEOPLE))  # the coast has fewer people than that


@pytest.mark.parametrize(
    ("decision", "sentence"),
    [
        (decided(knowledge=NOTHING), "Send 1 fact (Region); about 20 people still look like you."),
        (decided(), f"{AGAIN}; all 20 people who looked like you still do."),
        (decided("music"), "Send 1 fact (Hobby), and again 1 fact (Region); about "),
        (decided(nothing=True), f"Send nothing: {WHY_NOTHING['blocked']}."),
        (decided("knees"), f"Send nothing: {WHY_NOTHING['unknown query']}."),
        (decided(knowledge=LAST), f"{AGAIN}: {WHY_NOTHING['recognised']}."),
        (decided(knowledge=NOBODY), f"{AGAIN}: {WHY_NOTHING['outside the model']}."),
        (PAST, f"{AGAIN}: {WHY_NOTHING['past a limit already']}."),
        (
            decided(knowledge=NOTHING, limits=Limits(k=PEOPLE)),
            "Send nothing: what would help enough would break the limit k.",
        ),
        (
            decided(knowledge=NOTHING, trade_off=1e6, limits=Limits(k=PEOPLE)),
            "Send nothing: nothing helps more than it costs.",
        ),
        (
            decided(knowledge=NOTHING, allowed=frozenset()),
            "Send nothing: your rules allow nothing.",
        ),
        (
            decided(knowledge=NOTHING, mode="standing", trade_off=1e6),
            "Send nothing: nothing in the set for every request may be sent now.",
        ),
    ],
)
def test_the_verdict_is_true_to_the_decision(decision: Decision, sentence: str) -> None:
    """Each status and each reason for silence has its own."""
    assert headline(said(decision)).startswith(sentence)
    assert headline(said(decision)).endswith(".")


def test_every_status_is_covered_above() -> None:
    """A new one needs its sentence."""
    blocked = decided(nothing=True)
    seen = {decided(), decided("knees"), decided(knowledge=LAST), decided(knowledge=NOBODY), PAST}
    assert {each.status for each in (*seen, blocked)} == {*get_args(Status)}


@pytest.mark.parametrize(
    "evidence",
    [
        Evidence(proof="enumerated", bound=1.0, value=1.0),
        Evidence(proof="if-submodular", bound=1.0, value=0.4),
        Evidence(proof="if-submodular", bound=1.0, value=1.0),
        Evidence(),
    ],
)
def test_what_is_proven_is_said_with_its_condition(evidence: Evidence) -> None:
    """And only an enumeration is without one (DESIGN.md 2.5)."""
    text = proven(said(replace(decided(), evidence=evidence)))
    assert ("which is not proven" in text) == (evidence.proof == "if-submodular")
    assert ("no better set is permitted" in text) == (evidence.proof == "enumerated")


@pytest.mark.parametrize("allowed", [frozenset(), frozenset({"region"})])
def test_what_compared_nothing_does_not_claim_to_have_seen_it(allowed: frozenset[str]) -> None:
    """Of an empty set, or of a single attribute, no gain was seen to shrink."""
    text = proven(said(decided(knowledge=NOTHING, allowed=allowed)))
    assert text.startswith("no better set exists, provided")
    assert "along the way" not in text


@pytest.mark.parametrize("algorithm", ["lls", "greedy", "exact", "exhaustive"])
@pytest.mark.parametrize("knowledge", [NOTHING, COAST, LAST, NOBODY])
def test_a_standing_set_claims_nothing_for_this_request(
    algorithm: str, knowledge: Knowledge
) -> None:
    """It was chosen for all queries, before anything was known."""
    decision = said(decided(knowledge=knowledge, mode="standing", algorithm=algorithm))
    assert settled(decision) == "chosen once for all queries, before anything was known"
    assert "for the average query and a recipient that knows nothing" in proven(decision)
    if knowledge != NOTHING:
        assert proven(decision).startswith("nothing for this request: ")


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("knowledge", [NOTHING, COAST, LAST, NOBODY])
def test_the_level_before_is_that_without_the_answer(metric: Metric, knowledge: Knowledge) -> None:
    """Of every cost, also where nobody is left."""
    decision = said(decided(knowledge=knowledge, metric=metric))
    assert "; before, " in guessing(decision)
    if not decision.added_level:
        assert guessing(decision) == guessing(replace(decision, added_level=0.0))


def test_the_people_are_counted_before_and_after() -> None:
    """The latter in expectation, unless nobody is lost or nobody was there."""
    counts = [said(decided(knowledge=each)) for each in (NOTHING, COAST, NOBODY)]
    assert [fitting(each.people, each.people_left)[:2] for each in counts] == ["60", "20", "no"]


def test_a_reason_names_the_rule_behind_it() -> None:
    """Unless the header had no room: then that is the reason."""
    full = worded(decided(knowledge=NOTHING), MODEL, frozenset({"hobby"}))
    reasons = {each.name: each.reason for each in full.outcomes}
    assert (reasons["region"], reasons["hobby"]) == ("worth it", "no room in the header")

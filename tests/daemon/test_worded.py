"""What is said of a decision is what it decided: real decisions on a village."""

from dataclasses import replace
from typing import get_args

import pytest

from agent.daemon.worded import worded
from agent.decision.context import Status
from agent.decision.decide import Decision, decide
from agent.decision.request import Knowledge, Request
from agent.decision.terms import Limits, Terms
from agent.words.decisions import Decided, proven
from tests.cli.examples import PEOPLE, cli_model

MODEL = cli_model()
NOTHING = Knowledge()
COAST = Knowledge((("region", 1),))
LAST = Knowledge((("shoe_size", 1), ("region", 1)))  # one person only
NOBODY = Knowledge((("shoe_size", 1), ("region", 3)))


def decided(query: str = "weather", knowledge: Knowledge = COAST, **demands: object) -> Decision:
    """Return a decision on the village."""
    return decide(Request(query), replace(Terms(), **demands), knowledge, MODEL)  # type: ignore[arg-type]  # of any field


def said(decision: Decision) -> Decided:
    """Return it as sentences take it."""
    return worded(decision, MODEL)


PAST = decided(limits=Limits(k=PEOPLE))  # the coast has fewer people than that


def test_every_status_is_covered_above() -> None:
    """A new one needs its sentence."""
    blocked = decided(nothing=True)
    seen = {decided(), decided("knees"), decided(knowledge=LAST), decided(knowledge=NOBODY), PAST}
    assert {each.status for each in (*seen, blocked)} == {*get_args(Status)}


@pytest.mark.parametrize("allowed", [frozenset(), frozenset({"region"})])
def test_what_compared_nothing_does_not_claim_to_have_seen_it(allowed: frozenset[str]) -> None:
    """Of an empty set, or of a single attribute, no gain was seen to shrink."""
    text = proven(said(decided(knowledge=NOTHING, allowed=allowed)))
    assert text.startswith("no better set exists; this assumes")
    assert "along the way" not in text


def test_a_reason_names_the_rule_behind_it() -> None:
    """Unless the header had no room: then that is the reason."""
    full = worded(decided(knowledge=NOTHING), MODEL, frozenset({"hobby"}))
    reasons = {each.name: each.reason for each in full.outcomes}
    assert (reasons["region"], reasons["hobby"]) == ("worth it", "no room in the header")


def test_the_objective_is_the_sum_that_is_said() -> None:
    """Each of its terms is what its name says."""
    guards, sensitivity = (("hobby", 0.05),), (("region", 0.125),)
    found = said(decided(knowledge=NOTHING, guards=guards, sensitivity=sensitivity))
    terms = found.trade_off * found.identifiability_cost + found.guard + found.sensitivity
    assert found.objective == pytest.approx(found.utility - terms)
    assert (found.disclosed, found.sensitivity) == (("region",), 0.125)

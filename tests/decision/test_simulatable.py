"""The theorem of DESIGN.md 2.6: what is left out says nothing, as an equality of sets."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agent.decision.decide import decide
from agent.decision.knowledge import Knowledge
from agent.decision.terms import Limits, Terms
from agent.decision.values import Request
from agent.model.model import Model
from tests.decision.made import NAMES, PERSONS, made_model
from tests.decision.transcripts import Person, Step, holds

STREAM = [
    Request("python today"),
    Request("restaurants today", asked=("age", "hours", "region")),
    Request("something else"),
    Request("python today"),
    Request("restaurants today"),
]
PERSON = NAMES[:PERSONS]
Set = Sequence[frozenset[str] | None]
ALL: Set = (None,) * len(STREAM)
AVAILABLE = st.frozensets(st.sampled_from(NAMES))
TERMS = {
    "default": Terms(),
    "generous": Terms(trade_off=0.05),
    "free": Terms(trade_off=0.0),
    "k": Terms(trade_off=0.1, limits=Limits(k=3)),
    "k with a tolerated share": Terms(trade_off=0.1, limits=Limits(k=5, max_violations=0.2)),
    "risk": Terms(trade_off=0.1, limits=Limits(max_risk=0.2)),
    "guarded": Terms(trade_off=0.1, guards=(("job", 1.0),)),
    "standing": Terms(trade_off=0.05, mode="standing", limits=Limits(k=2)),
    "planned": Terms(trade_off=0.05, mode="planned", limits=Limits(k=2)),
    "planned and guarded": Terms(
        trade_off=0.05, mode="planned", guards=(("job", 0.1),), limits=Limits(per_request=2)
    ),
    "log-maxprob": Terms(trade_off=0.01, metric="log-maxprob"),
}


def transcript(person: Person, terms: Terms, model: Model, names: Set = ALL) -> list[Step]:
    """Return what a person's agent answers to the stream, one recipient that remembers.

    ``names``: which attributes are set at each step.
    """
    values = dict(zip(NAMES, (*person, 1), strict=True))  # asked within hours: the same for all
    known, queries = Knowledge(), Counter[int]()
    steps: list[Step] = []
    for request, available in zip(STREAM, names, strict=True):
        decision = decide(request, replace(terms, available=available), known, model)
        codes = {name: values[name] for name in decision.disclosed}
        steps.append(Step(decision.code, decision.disclosed, tuple(codes.values())))
        known = known.with_facts({name: code for name, code in codes.items() if name != "hours"})
        query = model.match(request.query)
        queries.update([] if query is None or not codes else [query])
        known = replace(known, queries=tuple(sorted(queries.items())))
    return steps


@pytest.mark.parametrize("terms", TERMS.values(), ids=TERMS.keys())
@settings(max_examples=12)
@given(st.lists(AVAILABLE, min_size=len(STREAM), max_size=len(STREAM)), st.integers(1, 2))
@example(ALL, 1)
@example(ALL, 2)
def test_which_attributes_are_set_is_all_that_absence_can_say(
    terms: Terms, names: Set, seed: int
) -> None:
    """At every step the people with this transcript are the people with the disclosed values.

    With all attributes set, or some set and unset at any time: only those leave.
    """
    model = made_model(seed, people=30)
    people = sorted({tuple(row) for row in model.population.codes.tolist()})
    said = {person: transcript(person, terms, model, names) for person in people}
    assert holds(said)
    for steps in said.values():
        for (_, carried, _), available in zip(steps, names, strict=True):
            assert available is None or available.issuperset(carried)


@pytest.mark.parametrize("terms", TERMS.values(), ids=TERMS.keys())
@given(AVAILABLE, st.integers(1, 2), st.sampled_from(STREAM), st.data())
def test_what_is_not_set_is_as_if_ruled_never(
    terms: Terms, available: frozenset[str], seed: int, request_: Request, data: st.DataObject
) -> None:
    """The same set, in the same order, at the same figures."""
    model, held = made_model(seed, people=30), data.draw(st.sets(st.sampled_from(PERSON)))
    known = Knowledge(tuple((name, 1) for name in sorted(held)))
    one = decide(request_, replace(terms, available=available), known, model)
    never = terms.excluded | frozenset(NAMES) - available
    other = decide(request_, replace(terms, excluded=never), known, model)
    assert (one.disclosed, one.figures) == (other.disclosed, other.figures)
    assert (one.pending, one.proof) == (other.pending, other.proof)
    reasons = {each.name for each in one.outcomes if each.reason == "not set"}
    guarded = {name for name, _ in terms.guards}
    assert not one.outcomes or reasons == {*NAMES} - available - guarded


def test_something_is_said_at_all() -> None:
    """The theorem above is not about silence: free terms disclose, and people differ."""
    model = made_model(1, people=30)
    people = {tuple(row) for row in model.population.codes.tolist()}
    answers = {tuple(transcript(person, TERMS["generous"], model)) for person in people}
    assert len(answers) > 1

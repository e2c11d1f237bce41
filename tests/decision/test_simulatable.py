"""The theorem of DESIGN.md 2.6: what is left out says nothing, as an equality of sets."""

from collections.abc import Sequence

import pytest

from agent.decision.decide import decide
from agent.decision.request import Knowledge, Request
from agent.decision.terms import Limits, Terms
from agent.model.model import Model
from tests.decision.made import NAMES, PERSONS, made_model

Person = tuple[int, ...]
Step = tuple[str, tuple[str, ...], tuple[int, ...]]  # status, names in order, values

STREAM = [
    Request("python today"),
    Request("restaurants today", asked=frozenset({"age", "region", "hours"})),
    Request("something else"),
    Request("python today"),
    Request("restaurants today"),
]
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


def transcript(person: Person, terms: Terms, model: Model) -> list[Step]:
    """Return what a person's agent answers to the stream, one recipient that remembers."""
    values = dict(zip(NAMES, (*person, 1), strict=True))  # asked within hours: the same for all
    known = Knowledge()
    steps: list[Step] = []
    for request in STREAM:
        decision = decide(request, terms, known, model)
        codes = {name: values[name] for name in decision.disclosed}
        steps.append((decision.status, decision.disclosed, tuple(codes.values())))
        known = known.learns({name: code for name, code in codes.items() if name != "hours"})
        if codes:
            known = known.hears(model.match(request.query))
    return steps


def disclosed(steps: Sequence[Step]) -> dict[str, int]:
    """Return the person attributes that a transcript names, with their values."""
    return {
        name: code
        for _, names, codes in steps
        for name, code in zip(names, codes, strict=True)
        if name in NAMES[:PERSONS]
    }


@pytest.mark.parametrize("terms", TERMS.values(), ids=TERMS.keys())
@pytest.mark.parametrize("seed", [1, 2])
def test_whoever_agrees_with_what_was_said_would_have_said_the_same(
    terms: Terms, seed: int
) -> None:
    """At every step the people with this transcript are the people with the disclosed values."""
    model = made_model(seed, people=30)
    people = sorted({tuple(row) for row in model.population.codes.tolist()})
    said = {person: transcript(person, terms, model) for person in people}
    for person in people:
        for step in range(len(STREAM) + 1):
            told = disclosed(said[person][:step])
            same = {other for other in people if said[other][:step] == said[person][:step]}
            agree = {
                other
                for other in people
                if all(other[NAMES.index(name)] == code for name, code in told.items())
            }
            assert same == agree


def test_something_is_said_at_all() -> None:
    """The theorem above is not about silence: free terms disclose, and people differ."""
    model = made_model(1, people=30)
    people = {tuple(row) for row in model.population.codes.tolist()}
    answers = {tuple(transcript(person, TERMS["generous"], model)) for person in people}
    assert len(answers) > 1

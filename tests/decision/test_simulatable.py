"""The theorem of DESIGN.md 2.6: what is left out says nothing, as an equality of sets."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
PERSON = NAMES[:PERSONS]
Set = Sequence[frozenset[str] | None]
ALL: Set = [None] * len(STREAM)
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
    known = Knowledge()
    steps: list[Step] = []
    for request, available in zip(STREAM, names, strict=True):
        decision = decide(request, replace(terms, available=available), known, model)
        codes = {name: values[name] for name in decision.disclosed}
        steps.append((decision.status, decision.disclosed, tuple(codes.values())))
        known = known.with_facts({name: code for name, code in codes.items() if name != "hours"})
        if codes:
            known = known.with_query(model.match(request.query))
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
    assert_holds({person: transcript(person, terms, model) for person in people})


def assert_holds(said: Mapping[Person, Sequence[Step]]) -> None:
    """Fail where the people with a transcript are not the people with its values."""
    for steps in said.values():
        for step in range(len(STREAM) + 1):
            told = disclosed(steps[:step])
            same = {other for other in said if said[other][:step] == steps[:step]}
            agree = {
                other
                for other in said
                if all(other[NAMES.index(name)] == code for name, code in told.items())
            }
            assert same == agree


@pytest.mark.parametrize("terms", TERMS.values(), ids=TERMS.keys())
@settings(max_examples=12)
@given(st.lists(AVAILABLE, min_size=len(STREAM), max_size=len(STREAM)), st.integers(1, 2))
def test_which_attributes_are_set_is_all_that_absence_can_say(
    terms: Terms, names: list[frozenset[str]], seed: int
) -> None:
    """Set and unset at any time: only those leave, and the rest is as if ruled `never`."""
    model = made_model(seed, people=30)
    people = sorted({tuple(row) for row in model.population.codes.tolist()})
    said = {person: transcript(person, terms, model, names) for person in people}
    assert_holds(said)
    for steps in said.values():
        for (_, carried, _), available in zip(steps, names, strict=True):
            assert available.issuperset(carried)


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
    assert (one.pending, one.evidence) == (other.pending, other.evidence)
    reasons = {each.name for each in one.candidates if each.reason == "not set"}
    guarded = {name for name, _ in terms.guards}
    assert not one.candidates or reasons == {*NAMES} - available - guarded


@pytest.mark.parametrize("terms", TERMS.values(), ids=TERMS.keys())
def test_whoever_has_set_nothing_discloses_nothing(terms: Terms) -> None:
    """But what is set for each request, if it has a source."""
    model = made_model(1, people=30)
    person = tuple(model.population.codes[0].tolist())
    for names in (frozenset[str](), frozenset({"hours"})):
        steps = transcript(person, terms, model, [names] * len(STREAM))
        assert all(names.issuperset(carried) for _, carried, _ in steps)


def test_something_is_said_at_all() -> None:
    """The theorem above is not about silence: free terms disclose, and people differ."""
    model = made_model(1, people=30)
    people = {tuple(row) for row in model.population.codes.tolist()}
    answers = {tuple(transcript(person, TERMS["generous"], model)) for person in people}
    assert len(answers) > 1

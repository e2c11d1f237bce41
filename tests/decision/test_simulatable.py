"""The theorem of DESIGN.md 2.6: what is left out says nothing, as an equality of sets."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agent.decision.context import Context, Limits, Terms
from agent.decision.decide import decide as decide_context
from agent.decision.knowledge import Knowledge
from agent.decision.values import Decision, Request
from agent.model.model import Model
from agent.model.reading import Candidate, Interpretation
from tests.decision.made import CACHE, NAMES, PERSONS, decide, judged, made_model
from tests.decision.transcripts import Person, Step, holds

TEXT = Request("what might that be")
# How each text is read: one that is known, which the model matches, means its query for sure.
STREAM: Sequence[tuple[Request, Interpretation | None]] = [
    (Request("python today"), None),
    (TEXT, Interpretation((Candidate(0, 0.7), Candidate(1, 0.2)), 0.4)),
    (Request("restaurants today", asked=("age", "hours", "region")), None),
    (TEXT, Interpretation((Candidate(1, 0.4),))),
    (Request("something else"), None),
    (TEXT, Interpretation((Candidate(1, 0.45), Candidate(0, 0.35)), 0.4)),
    (Request("python today"), None),
    (Request("restaurants today"), None),
]
PERSON = NAMES[:PERSONS]
Set = Sequence[frozenset[str] | None]
ALL: Set = (None,) * len(STREAM)
AVAILABLE = st.frozensets(st.sampled_from(NAMES))
SOME = settings(max_examples=settings().max_examples // 4)
TERMS = {
    "default": Terms(),
    "generous": Terms(trade_off=0.05),
    "free": Terms(trade_off=0.0),
    "k": Terms(trade_off=0.1, limits=Limits(k=3)),
    "k with a tolerated share": Terms(trade_off=0.1, limits=Limits(k=5, violations=0.2)),
    "risk": Terms(trade_off=0.1, limits=Limits(risk=0.2)),
    "guarded": Terms(trade_off=0.1, guards=(("job", 1.0),)),
    "standing": Terms(trade_off=0.05, mode="standing", limits=Limits(k=2)),
    "planned": Terms(trade_off=0.05, mode="planned", limits=Limits(k=2)),
    "planned and guarded": Terms(
        trade_off=0.05,
        mode="planned",
        guards=(("job", 0.1),),
        limits=Limits(attributes_per_request=2),
    ),
    "log-maxprob": Terms(trade_off=0.01, metric="log-maxprob"),
    "asked and always": Terms(trade_off=0.05, ask=frozenset({"age"}), always=frozenset({"job"})),
    "forgets": Terms(trade_off=0.05, memory="forgets", limits=Limits(new_facts_per_week=2)),
}
IN_TEST = ("generous", "k", "guarded", "standing", "planned", "asked and always")
CASES = [
    pytest.param(terms, id=name, marks=() if name in IN_TEST else pytest.mark.soak)
    for name, terms in TERMS.items()
]
Decisions = dict[tuple[int, Terms, Knowledge], Decision]

JUDGED = 3  # the seed of a model of topics


@cache
def few_people(seed: int) -> Model:
    model = made_model(seed, people=30)
    return judged(model, seed) if seed == JUDGED else model


def transcript(
    person: Person, terms: Terms, model: Model, decisions: Decisions, names: Set = ALL
) -> list[Step]:
    """Return what a person's agent answers to the stream, one recipient that remembers.

    ``names``: which attributes are set at each step; ``decisions``: those of everybody so far.
    """
    values = dict(zip(NAMES, (*person, 1), strict=True))  # asked within hours: the same for all
    known, queries = Knowledge(), Counter[int]()
    steps: list[Step] = []
    for place, (request, reading) in enumerate(STREAM):
        basis = place, replace(terms, available=names[place]), known
        if basis not in decisions:
            context = Context(request, *basis[1:], model, reading=reading, cache=CACHE)
            decisions[basis] = decide_context(context)
        decision = decisions[basis]
        codes = {name: values[name] for name in decision.disclosed}
        steps.append(Step(decision.code, decision.disclosed, tuple(codes.values())))
        new = {name: code for name, code in codes.items() if name != "hours"}
        recent = known.recent + len(new.keys() - known.names)
        query = model.texts.find(request.query)
        read_as = reading or (None if query is None else Interpretation.exact(query))
        for each in read_as.accepted if read_as and codes else ():
            queries[each.query] += each.probability  # type: ignore[assignment]
        asked = tuple(sorted(queries.items()))
        known = replace(known.with_facts(new), recent=recent, queries=asked)
    return steps


@pytest.mark.parametrize("terms", CASES)
@SOME
@given(st.lists(AVAILABLE, min_size=len(STREAM), max_size=len(STREAM)), st.integers(1, JUDGED))
@example(ALL, 1)
@example(ALL, 2)
@example(ALL, JUDGED)
def test_which_attributes_are_set_is_all_that_absence_can_say(
    terms: Terms, names: Set, seed: int
) -> None:
    """At every step the people with this transcript are the people with the disclosed values.

    With all attributes set, or some set and unset at any time: only those leave.
    """
    model, decisions = few_people(seed), Decisions()
    people = sorted({tuple(row) for row in model.population.codes.tolist()})
    said = {person: transcript(person, terms, model, decisions, names) for person in people}
    assert holds(said)
    for steps in said.values():
        for (_, carried, _), available in zip(steps, names, strict=True):
            assert available is None or available.issuperset(carried)
    if (terms, names, seed) == (TERMS["generous"], ALL, 1):  # it is not about silence
        assert len({*map(tuple, said.values())}) > 1


@given(
    st.sampled_from([*TERMS.values()]),
    AVAILABLE,
    st.integers(1, JUDGED),
    st.sampled_from([request for request, _ in STREAM]),
    st.sets(st.sampled_from(PERSON)),
)
def test_what_is_not_set_is_as_if_ruled_never(
    terms: Terms, available: frozenset[str], seed: int, asked: Request, held: set[str]
) -> None:
    """The same set, in the same order, at the same figures."""
    model = few_people(seed)
    known = Knowledge(tuple((name, 1) for name in sorted(held)))
    one = decide(asked, replace(terms, available=available), known, model)
    never = terms.excluded | frozenset(NAMES) - available
    other = decide(asked, replace(terms, excluded=never), known, model)
    assert (one.disclosed, one.figures) == (other.disclosed, other.figures)
    assert (one.pending, one.proof) == (other.pending, other.proof)
    reasons = {each.name for each in one.outcomes if each.reason == "not set"}
    guarded = {name for name, _ in terms.guards}
    assert not one.outcomes or reasons == {*NAMES} - available - guarded

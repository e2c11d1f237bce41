"""A fact that the deciding model lacks never makes a limit laxer, whatever order models came in."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import permutations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.decision.context import prepare
from agent.decision.knowledge import Holdings, Knowledge, knowledge_in, share_of
from agent.decision.terms import Limits, Terms
from agent.decision.values import Request
from agent.model.attributes import UNSPECIFIED, Attribute
from agent.model.concepts import Concepts, Meaning, meaning_of
from agent.model.model import Model
from agent.tradeoff.tables import Population
from tests.decision.drawn import QUERIES, World, model_of, worlds
from tests.decision.made import NAMES, PERSONS

NOW = datetime(2027, 3, 8, 12, tzinfo=UTC)
MANY = settings(max_examples=2 * settings().max_examples)
SETS = range(1 << len(NAMES))
VALUES = (UNSPECIFIED, "a", "b")


@st.composite
def others(draw: st.DrawFn, name: str, decides: Model) -> Model:
    """Draw a model with a fact or two that the deciding one lacks, and one that it shares."""
    shared = decides.attributes[draw(st.integers(0, PERSONS - 1))]
    lacking = draw(st.lists(st.sampled_from(["town", "pet"]), min_size=1, unique=True))
    own = tuple(Attribute(each, each.title(), "person", VALUES) for each in lacking)
    rows = draw(st.integers(4, 30))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    columns = [rng.integers(0, len(each.values), rows) for each in (shared, *own)]
    weights = draw(st.sampled_from([None, rng.uniform(1, 9, rows)]))
    people = Population(np.stack(columns, axis=1).astype(np.uint8), weights)
    tables = replace(decides.tables, population=people)
    return replace(decides, id=name, attributes=(shared, *own), tables=tables)


@st.composite
def told(draw: st.DrawFn) -> tuple[World, Sequence[Model], Sequence[Meaning]]:
    """Draw a world, the models beside its own, and facts of theirs that the recipient holds."""
    world = draw(worlds())
    beside = [draw(others(name, world.model)) for name in ("one", "two")[: draw(st.integers(1, 2))]]
    known = {each.concept for model in beside for each in model.attributes[1:]}
    facts = [Meaning(each, draw(st.sampled_from(VALUES[1:]))) for each in sorted(known)]
    return world, beside, facts


def knowledge(world: World, installed: Sequence[Model], facts: Sequence[Meaning]) -> Knowledge:
    """Return what the recipient of a world holds when it was told facts beside, from the ledger."""
    values = {each.name: each.values for each in world.model.attributes}
    own = [meaning_of(name, values[name][code], world.model) for name, code in world.known.codes]
    found = Holdings[str]()
    found.add_facts(NOW, "shop.example", [*own, *facts])
    concepts = Concepts(installed)
    codes = knowledge_in(found, world.model, NOW, concepts=concepts)
    assert codes.share == share_of([*own, *facts], world.model, concepts)
    return replace(world.known, codes=codes.codes, share=codes.share)


def feasible(world: World) -> set[int]:
    """Return the sets that its limits allow."""
    objective = world.objective()
    return {mask for mask in SETS if objective.feasible(mask)}


@MANY
@given(worlds(), st.floats(0, 1), st.floats(0, 1))
def test_the_fewer_share_the_rest_the_fewer_sets_are_allowed(
    world: World, share: float, other: float
) -> None:
    """From 1, where the model has all that is held, to 0, where nobody fits."""
    worlds_ = [
        world._replace(known=replace(world.known, share=each))
        for each in (min(share, other), max(share, other), 1.0)
    ]
    fewest, fewer, all_ = map(feasible, worlds_)
    assert fewest <= fewer <= all_


@given(worlds(), st.floats(0, 1))
def test_the_rest_makes_no_guard_cheaper(world: World, share: float) -> None:
    """It is independent of a guarded fact, given what the model has: the guard costs the same."""
    few = world._replace(known=replace(world.known, share=share))
    one, other = world.prepared().anonymity_set, few.prepared().anonymity_set
    for guarded in range(PERSONS):
        for mask in SETS:
            assert one.guard_bits(guarded, mask) == other.guard_bits(guarded, mask)


def test_a_fact_that_few_share_forbids_what_was_allowed() -> None:
    """Of 40 people a hundredth: whoever is left would be recognised by anything more."""
    terms = Terms(trade_off=0.0, limits=Limits(k=5))
    world = World(model_of(0), Request(QUERIES[0]), terms, Knowledge(), {})
    few = world._replace(known=Knowledge(share=0.01))
    assert feasible(few) < feasible(world)
    assert world.decided().disclosed
    assert not few.decided().disclosed


@MANY
@given(told())
def test_a_fact_that_the_model_lacks_makes_no_limit_laxer(
    drawn: tuple[World, Sequence[Model], Sequence[Meaning]],
) -> None:
    """What is decided beside it would be allowed without it; and in any order of the models."""
    world, beside, facts = drawn
    without = feasible(world)
    first: World | None = None
    for installed in permutations((world.model, *beside)):
        found = world._replace(known=knowledge(world, installed, facts))
        assert found.known.codes == world.known.codes
        first = found if first is None else first
        assert found.known.share == first.known.share <= 1
    assert first is not None
    decision = first.decided()
    assert feasible(first) <= without
    if world.terms.memory == "remembers":
        assert world.mask(decision.disclosed) in without
    plain = prepare(world.context()).anonymity_set
    assert prepare(first.context()).anonymity_set.people <= plain.people * (1 + 1e-9)

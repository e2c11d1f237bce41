"""The trade-off curve by name: at each lambda it is what `decide` discloses."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from agent.decision.cache import Cache
from agent.decision.context import Context
from agent.decision.decide import decide_context
from agent.decision.knowledge import Knowledge
from agent.decision.terms import Terms
from agent.decision.values import Curve, Request
from agent.decision.what_if import advanced, curve_of, curve_steps
from agent.errors import UsageError
from tests.decision.drawn import QUERIES, World, model_of, worlds

ROUNDING = 1e-9


def curve_in(world: World) -> Curve:
    """Return the curve of a drawn request."""
    return curve_of(world.context())


@given(worlds())
def test_the_curve_is_what_decide_discloses(world: World) -> None:
    """At both ends of every step, with its figures at the lower one; the present one included."""
    curve = curve_in(world)
    for step in curve.points:
        for trade_off in (step.least, step.most):
            decision = world.under(trade_off=trade_off).decided()
            assert set(step.figures.names) == set(decision.disclosed)
            assert curve.code == decision.code
            if trade_off == step.least:
                figures = structs.replace(decision.figures, names=step.figures.names)
                assert step.figures == figures
    here = curve.points[curve.present]
    assert here.least <= world.terms.trade_off <= here.most
    assert curve.knee is None or not curve.points[curve.knee].beaten


@settings(max_examples=settings().max_examples // 4)
@given(worlds(), worlds(), st.booleans())
def test_what_is_decided_between_two_steps_changes_nothing(
    world: World, other: World, forgets: bool
) -> None:
    """Of the curve, nor of that decision; also where the cache is cleared in between."""
    cache, context = Cache(), other.context()
    alone = decide_context(replace(context, cache=Cache()))
    steps = curve_steps(replace(world.context(), cache=cache))
    found = None
    while found is None:
        assert decide_context(replace(context, cache=cache)) == alone
        if forgets:
            cache.clear()
        found = advanced(steps)
    assert found == curve_in(world)


def test_a_curve_of_all_queries_needs_none() -> None:
    """In standing mode the query changes nothing."""
    model, terms = model_of(3), Terms(mode="standing")
    nameless = curve_of(Context(Request(""), terms, Knowledge(), model))
    assert nameless.read_as is None
    assert (
        nameless.points == curve_of(Context(Request(QUERIES[0]), terms, Knowledge(), model)).points
    )


def test_a_request_without_a_curve() -> None:
    """Where no set is looked for there is nothing to vary."""
    model, known = model_of(3), Knowledge()
    with pytest.raises(UsageError, match="does not know this query"):
        curve_of(Context(Request("knee pain"), Terms(), known, model))
    with pytest.raises(UsageError, match="lets nothing leave"):
        curve_of(Context(Request(QUERIES[0]), Terms(nothing=True), known, model))
    unknown = curve_of(
        Context(Request("knee pain"), Terms(unknown_queries="standing"), known, model)
    )
    assert unknown.read_as is None

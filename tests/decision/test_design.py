"""What a service should ask for: laws of the plan, the standing set and the curve together."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.decision.cache import Cache
from agent.decision.choice import LEAST, uses_of
from agent.decision.decide import decide
from agent.decision.knowledge import Knowledge
from agent.decision.studies import design_of, recommended
from agent.decision.terms import Terms
from agent.decision.values import Request
from agent.model.model import Model
from agent.tradeoff.tables import subsets, union
from tests.decision.drawn import model_of
from tests.decision.made import made_model

CACHE = Cache()

ROUNDING = 1e-9
models = st.integers(0, 7).map(model_of)
trade_offs = st.sampled_from([0.0, 0.01, 0.1, 1.0, 5.12, 100.0])


def mask(names: tuple[str, ...], model: Model) -> int:
    """Return a set of names as a mask."""
    return union(model.index(each) for each in names)


@settings(max_examples=20)
@given(models, trade_offs)
def test_the_standing_set_is_what_decide_sends_to_everybody(model: Model, trade_off: float) -> None:
    """With its utility and its identifiability; and it is asked for, as the plan is."""
    made = design_of(model, trade_off)
    terms = Terms(mode="standing", trade_off=trade_off, unknown_queries="standing")
    decision = decide(Request(""), terms, Knowledge(), model)
    assert made.standing.names == decision.disclosed
    assert made.standing.utility_bits == pytest.approx(decision.figures.utility, abs=ROUNDING)
    assert made.standing.identifiability == decision.figures.identifiability
    assert {*made.asked.names} == {*made.plan, *made.standing.names}
    assert made.asked.names == recommended(model, trade_off)


@settings(max_examples=20)
@given(models, trade_offs)
def test_what_a_request_uses_is_some_subset_of_what_is_asked_for(
    model: Model, trade_off: float
) -> None:
    """So no more than the best subset by query, and no less than none."""
    made, weights = design_of(model, trade_off), model.tables.query_weights
    best = [
        max(
            uses_of(query, model, CACHE).value(each)
            for each in subsets(mask(made.asked.names, model))
        )
        for query in range(len(model.queries))
    ]
    assert -ROUNDING <= made.asked.utility_bits <= weights @ best / weights.sum() + ROUNDING


@settings(max_examples=20)
@given(models, trade_offs)
def test_not_asking_for_the_others_has_a_price(model: Model, trade_off: float) -> None:
    """What is free of charge helps as much, but for what is too little for a plan."""
    made = design_of(model, trade_off)
    assert made.everything.utility_bits >= made.asked.utility_bits - LEAST * len(model.attributes)
    assert all(one.gain_bits >= other.gain_bits for one, other in pairwise(made.attributes))
    assert {each.name for each in made.attributes} == {each.name for each in model.attributes}
    for each in made.attributes:
        assert bool(each.queries) == (each.gain_bits > 0)
        assert {*each.queries} <= {query.text for query in model.queries}
        assert each.identifiability_added is None or each.identifiability_added >= -ROUNDING


@settings(max_examples=20)
@given(models, trade_offs)
def test_the_curve_grows_by_one_attribute_at_a_time(model: Model, trade_off: float) -> None:
    """From nothing to all; who is asked more is never found less often."""
    curve = design_of(model, trade_off).curve
    assert curve[0].names == ()
    assert curve[0].utility_bits == 0
    assert {*curve[-1].names} == {each.name for each in model.attributes}
    utility = CACHE.mean_utility(model)
    for before, after in pairwise(curve):
        assert after.names[:-1] == before.names
        assert after.identifiability >= before.identifiability - ROUNDING
        value = utility.value(mask(after.names, model))
        assert after.utility_bits == pytest.approx(value, abs=ROUNDING)


def test_what_costs_too_much_is_not_asked_for() -> None:
    """At a price that nothing is worth nothing is asked for; where it is free, what helps is."""
    model = made_model(1, queries=5)
    dear, free = design_of(model, 1e6), design_of(model, 0.0)
    assert dear.asked.names == dear.plan == dear.standing.names == ()
    assert dear.asked.utility_bits == 0
    assert {"age", "gender"} <= {*free.asked.names}  # of which the intents are made
    assert free.asked.utility_bits > 0.1
    assert dear.everything == free.everything

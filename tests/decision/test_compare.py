"""What changed from a model to the next, either way round, and which promises were kept."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.decision.decide import decide
from agent.decision.knowledge import Knowledge
from agent.decision.studies import compare_models
from agent.decision.terms import Terms
from agent.decision.values import Request
from agent.model.model import Model
from agent.tradeoff.tables import QueryRows
from tests.build import naive
from tests.decision.drawn import model_of
from tests.decision.made import elsewhere

models = st.builds(
    lambda seed, other: (elsewhere if other else replace)(model_of(seed)),
    st.integers(0, 5),
    st.booleans(),
)
trade_offs = st.sampled_from([0.0, 0.1, 5.12])


@settings(max_examples=20)
@given(models, models, trade_offs)
def test_what_came_one_way_went_the_other(one: Model, other: Model, trade_off: float) -> None:
    """Nothing comes, goes or changes from a model to itself."""
    forth, back = compare_models(one, other, trade_off), compare_models(other, one, trade_off)
    same = compare_models(one, one, trade_off)
    for came, went in (
        ("new_queries", "gone_queries"),
        ("new_attributes", "gone_attributes"),
        ("help_now", "no_longer_help"),
    ):
        assert sorted(getattr(forth, came)) == sorted(getattr(back, went))
        assert sorted(getattr(forth, went)) == sorted(getattr(back, came))
        assert getattr(same, came) == ()
    assert forth.models == back.models[::-1]
    changes = {each.query: each.change_bits for each in forth.queries}
    assert changes == {each.query: -each.change_bits for each in back.queries}
    assert {each.new_results for each in same.queries} <= {0.0}


@settings(max_examples=20)
@given(models, trade_offs)
def test_the_best_set_is_what_decide_discloses(model: Model, trade_off: float) -> None:
    """To a recipient that knows nothing."""
    terms, found = Terms(trade_off=trade_off), compare_models(model, model, trade_off)
    for change in found.queries:
        decision = decide(Request(change.query), terms, Knowledge(), model)
        assert change.best[0] == change.best[1]
        assert change.best[0].names == decision.disclosed
        assert change.best[0].utility_bits == decision.figures.utility
    standing = decide(Request(""), replace(terms, unknown_queries="standing"), Knowledge(), model)
    assert found.models[0].standing.names == standing.disclosed


@settings(max_examples=20)
@given(st.integers(0, 5), st.integers(0, 5), st.integers(0, 1))
def test_a_promise_is_kept_by_the_rows_of_the_new_model(seed: int, other: int, query: int) -> None:
    """Scored row by row; results are the same by their names, whatever their codes."""
    old, plain = model_of(seed), model_of(other)
    backwards = tuple(replace(each, intents=each.intents[::-1]) for each in plain.queries)
    found = compare_models(old, replace(plain, queries=backwards), 0.1)
    change = next(each for each in found.queries if each.query == old.queries[query].text)
    first, second = old.rows(query), plain.rows(query)
    rows = QueryRows(
        user=np.concatenate([first.user, second.user + len(first.person)]),
        intent=np.concatenate([first.intent, 3 - second.intent]),
        person=np.vstack([first.person, second.person]),
        request=np.vstack([first.request, second.request]),
        intents=4,
    )
    trained = [at < len(first.user) for at in range(len(rows.user))]
    mask = sum(1 << old.index(name) for name in change.best[0].names)
    expected = naive.heldout(rows, trained, old.queries[query].shrinkage, mask)
    assert change.kept_bits == pytest.approx(expected, abs=1e-9)


def test_means_are_by_new_request() -> None:
    """Of the queries whose facts both models have; where there is none, nothing can be said."""
    found = compare_models(model_of(1), model_of(2), 0.1)
    total = sum(each.asked[1] for each in found.queries)
    assert total == pytest.approx(1)
    kept = sum((each.kept_bits or 0.0) * each.asked[1] for each in found.queries)
    assert found.kept_bits == pytest.approx(kept)
    uses = {name for each in found.queries for name in each.best[0].names}
    assert {each.name for each in found.attributes if each.queries[0]} == uses
    assert compare_models(model_of(1), elsewhere(model_of(1)), 0.1).kept_bits is None

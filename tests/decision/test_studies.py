"""Studies: what changed between models, and what a person's answers come to."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.decision.context import Terms
from agent.decision.knowledge import Knowledge
from agent.decision.studies import IMPROVEMENTS, calibrated, compare_models
from agent.decision.values import Request
from agent.errors import UsageError
from agent.model.model import Model
from agent.tradeoff.tables import QueryRows
from tests.build import naive
from tests.decision.made import NAMES, decide, elsewhere, made_model, model_of

SOME = settings(max_examples=settings().max_examples // 10)


models = st.builds(
    lambda seed, other: (elsewhere if other else replace)(model_of(seed)),
    st.integers(0, 5),
    st.booleans(),
)
trade_offs = st.sampled_from([0.0, 0.1, 5.12])


@SOME
@given(models, models, trade_offs)
def test_what_came_one_way_went_the_other(one: Model, other: Model, trade_off: float) -> None:
    """Nothing comes, goes or changes from a model to itself."""
    forth, back = compare_models(one, other, trade_off), compare_models(other, one, trade_off)
    same = compare_models(one, one, trade_off)
    for came, went in (
        ("new_queries", "gone_queries"),
        ("new_attributes", "gone_attributes"),
    ):
        assert sorted(getattr(forth, came)) == sorted(getattr(back, went))
        assert sorted(getattr(forth, went)) == sorted(getattr(back, came))
        assert getattr(same, came) == ()
    assert forth.models == back.models[::-1]
    changes = {each.query: each.change_bits for each in forth.queries}
    assert changes == {each.query: -each.change_bits for each in back.queries}
    assert {each.new_results for each in same.queries} <= {0.0}


@SOME
@given(models, trade_offs)
def test_the_best_set_is_what_decide_discloses(model: Model, trade_off: float) -> None:
    """To a recipient that knows nothing."""
    terms, found = Terms(trade_off=trade_off), compare_models(model, model, trade_off)
    for change in found.queries:
        decision = decide(Request(change.query), terms, Knowledge(), model)
        assert change.old == change.new == decision.figures


@SOME
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
    mask = sum(1 << old.index(name) for name in change.old.names)
    expected = naive.heldout(rows, trained, old.queries[query].shrinkage, mask)
    assert change.kept_bits == pytest.approx(expected, abs=1e-9)


def test_means_are_by_new_request() -> None:
    """Of the queries whose facts both models have; where there is none, nothing can be said."""
    found = compare_models(model_of(1), model_of(2), 0.1)
    assert sum(each.share for each in found.queries) == pytest.approx(1)
    kept = sum((each.kept_bits or 0.0) * each.share for each in found.queries)
    assert found.kept_bits == pytest.approx(kept)
    assert compare_models(model_of(1), elsewhere(model_of(1)), 0.1).kept_bits is None


MODEL = made_model(2)
AGE, *_ = NAMES
WANTED = {text: None if text == "never" else np.log2(x) for text, x in IMPROVEMENTS.items()}
SAID = st.sampled_from([*IMPROVEMENTS])


@given(
    st.dictionaries(st.sampled_from(NAMES), SAID, min_size=1),
    st.dictionaries(st.sampled_from(["1", "10", "100", "10000"]), SAID),
)
def test_answers_are_bits_and_lambda_is_nearest_to_them(
    sensitivity: dict[str, str], one_of: dict[str, str]
) -> None:
    """Log2 of the factor; the line of least squares through the origin, where a price is."""
    found = calibrated({"sensitivity": sensitivity, "one_of": one_of}, MODEL)
    assert found.sensitivity == {name: WANTED[said] for name, said in sensitivity.items()}
    assert found.one_of == {people: WANTED[said] for people, said in one_of.items()}
    priced = [(1 / int(k), bits) for k, bits in found.one_of.items() if bits is not None]
    assert (found.trade_off is None) == (not priced)

    def off(price: float) -> float:
        return sum((bits - price * cost) ** 2 for cost, bits in priced)

    if found.trade_off is not None:
        best = off(found.trade_off)
        assert best <= min(off(found.trade_off * 0.99), off(found.trade_off * 1.01))
        assert found.error_bits == pytest.approx((best / len(priced)) ** 0.5)


def test_what_is_no_answer() -> None:
    """Each is refused with what is wrong."""
    cases: list[tuple[dict[str, object], str]] = [
        ({"sensitivity": {"aeg": "25%"}}, "unknown attribute 'aeg'"),
        ({"sensitivity": {AGE: "25"}}, "unknown improvement '25'"),
        ({"sensitivity": {AGE: 2.0}}, "unknown improvement '2.0'"),
        ({"one_of": {"0": "25%"}}, "is not a number of people"),
        ({"one_of": {"²": "25%"}}, "is not a number of people"),
        ({"one_of": {"12345678901": "25%"}}, "is not a number of people"),
        ({"one_of": 3}, "'one_of' is not a table"),
        ({"oen_of": {}}, "unknown key 'oen_of'"),
        ({"one_of": {}}, "no question is answered"),
    ]
    for answers, error in cases:
        with pytest.raises(UsageError, match=error):
            calibrated(answers, MODEL)

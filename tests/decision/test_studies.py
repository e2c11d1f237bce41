"""Studies: what a service should ask for, what changed between models, what answers come to."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.decision.cache import Cache
from agent.decision.calibration import (
    IMPROVEMENTS,
    SCALE,
    PersonAnswers,
    answers_of,
    calibrated,
)
from agent.decision.choice import LEAST, uses_of
from agent.decision.knowledge import Knowledge
from agent.decision.studies import compare_models, design_of, recommended
from agent.decision.terms import Terms
from agent.decision.values import Request
from agent.errors import UsageError
from agent.model.model import Model
from agent.tradeoff.tables import QueryRows, subsets, union
from tests.build import naive
from tests.decision.made import NAMES, decide, elsewhere, made_model, model_of

CACHE = Cache()

ROUNDING = 1e-9
SOME = settings(max_examples=settings().max_examples // 5)
models = st.integers(0, 7).map(model_of)
trade_offs = st.sampled_from([0.0, 0.01, 0.1, 1.0, 5.12, 100.0])


def mask(names: tuple[str, ...], model: Model) -> int:
    """Return a set of names as a mask."""
    return union(model.index(each) for each in names)


@SOME
@given(models, trade_offs)
def test_the_standing_set_is_what_decide_sends_to_everybody(model: Model, trade_off: float) -> None:
    """With its utility and its identifiability; and it is asked for, as the plan is."""
    made = design_of(model, trade_off)
    terms = Terms(mode="standing", trade_off=trade_off, unknown_queries="standing")
    decision = decide(Request(""), terms, Knowledge(), model)
    assert made.standing.names == decision.disclosed
    assert made.standing.utility == pytest.approx(decision.figures.utility, abs=ROUNDING)
    assert made.standing.identifiability == decision.figures.identifiability
    assert {*made.asked.names} == {*made.plan, *made.standing.names}
    assert made.asked.names == recommended(model, trade_off)


@SOME
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
    assert -ROUNDING <= made.asked.utility <= weights @ best / weights.sum() + ROUNDING


@SOME
@given(models, trade_offs)
def test_not_asking_for_the_others_has_a_price(model: Model, trade_off: float) -> None:
    """What is free of charge helps as much, but for what is too little for a plan."""
    made = design_of(model, trade_off)
    assert made.everything.utility >= made.asked.utility - LEAST * len(model.attributes)
    assert all(one.gain_bits >= other.gain_bits for one, other in pairwise(made.attributes))
    assert {each.name for each in made.attributes} == {each.name for each in model.attributes}
    for each in made.attributes:
        assert bool(each.queries) == (each.gain_bits > 0)
        assert {*each.queries} <= {query.text for query in model.queries}
        assert each.identifiability_added is None or each.identifiability_added >= -ROUNDING


@SOME
@given(models, trade_offs)
def test_the_curve_grows_by_one_attribute_at_a_time(model: Model, trade_off: float) -> None:
    """From nothing to all; who is asked more is never found less often."""
    curve = design_of(model, trade_off).curve
    assert curve[0].names == ()
    assert curve[0].utility == 0
    assert {*curve[-1].names} == {each.name for each in model.attributes}
    utility = CACHE.mean_utility(model)
    for before, after in pairwise(curve):
        assert after.names[:-1] == before.names
        assert after.identifiability >= before.identifiability - ROUNDING
        value = utility.value(mask(after.names, model))
        assert after.utility == pytest.approx(value, abs=ROUNDING)


def test_what_costs_too_much_is_not_asked_for() -> None:
    """At a price that nothing is worth nothing is asked for; where it is free, what helps is."""
    model = made_model(1, queries=5)
    dear, free = design_of(model, 1e6), design_of(model, 0.0)
    assert dear.asked.names == dear.plan == dear.standing.names == ()
    assert dear.asked.utility == 0
    assert {"age", "gender"} <= {*free.asked.names}  # of which the intents are made
    assert free.asked.utility > 0.1
    one, other = dear.everything, free.everything
    assert (one.names, one.utility, one.identifiability) == (
        other.names,
        other.utility,
        other.identifiability,
    )


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
        ("help_now", "no_longer_help"),
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
        assert change.best[0] == change.best[1]
        assert change.best[0].names == decision.disclosed
        assert change.best[0].utility == decision.figures.utility
    standing = decide(Request(""), replace(terms, unknown_queries="standing"), Knowledge(), model)
    assert found.standing[0].names == standing.disclosed


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
    mask = sum(1 << old.index(name) for name in change.best[0].names)
    expected = naive.heldout(rows, trained, old.queries[query].shrinkage, mask)
    assert change.kept_bits == pytest.approx(expected, abs=1e-9)


def test_means_are_by_new_request() -> None:
    """Of the queries whose facts both models have; where there is none, nothing can be said."""
    found = compare_models(model_of(1), model_of(2), 0.1)
    total = sum(each.share for each in found.queries)
    assert total == pytest.approx(1)
    kept = sum((each.kept_bits or 0.0) * each.share for each in found.queries)
    assert found.kept_bits == pytest.approx(kept)
    assert compare_models(model_of(1), elsewhere(model_of(1)), 0.1).kept_bits is None


MODEL = made_model(2)
AGE, REGION, *_ = NAMES
FACTORS = st.sampled_from([*IMPROVEMENTS.values()])
LEVELS = st.integers(1, len(SCALE))
EVERY: dict[str, Mapping[str, object]] = {
    "improvement": dict.fromkeys(SCALE, "100%"),
    "sensitivity": {},
    "one_of": {},
}


def people() -> st.SearchStrategy[list[PersonAnswers]]:
    """Draw the answers of a few people, each with an improvement for every level."""
    one = st.builds(
        PersonAnswers,
        improvement=st.fixed_dictionaries(dict.fromkeys(range(1, 6), FACTORS)),
        sensitivity=st.dictionaries(st.sampled_from(NAMES), LEVELS),
        one_of=st.dictionaries(st.sampled_from([1, 10, 100, 10_000]), LEVELS),
    )
    return st.lists(one, min_size=1, max_size=4)


def laddered() -> Model:
    """Return the model, in which the region tells the age more exactly."""
    age, region, *rest = MODEL.attributes
    return replace(MODEL, attributes=(age, replace(region, refines=AGE), *rest))


@given(people())
def test_a_price_is_the_median_of_what_is_wanted(said: list[PersonAnswers]) -> None:
    """Log2 of the factor, person by person, for every attribute that somebody answered."""
    found = calibrated(said, MODEL)
    assert {*found.sensitivity} == {name for each in said for name in each.sensitivity}
    for name, bits in found.sensitivity.items():
        wanted = [
            np.log2(each.improvement[each.sensitivity[name]])
            for each in said
            if name in each.sensitivity
        ]
        assert bits == (None if np.isinf(np.median(wanted)) else np.median(wanted))


@given(people())
def test_the_ladder_is_used_where_two_of_its_steps_have_a_price(said: list[PersonAnswers]) -> None:
    """Else being one of so many; without a ladder always."""
    assert calibrated(said, MODEL).source == "one_of"
    found = calibrated(said, laddered())
    priced = all(found.sensitivity.get(name) is not None for name in (AGE, REGION))
    assert (found.source == "precision") == priced
    if found.source == "one_of":
        assert [each.identifiability * int(each.name) for each in found.pairs] == [1.0] * len(
            found.pairs
        )


@given(people())
def test_answers_are_checked_to_be_what_they_are(said: list[PersonAnswers]) -> None:
    """As texts they are read back whole, unless nothing is said."""
    names = {factor: text for text, factor in IMPROVEMENTS.items()}
    for each in said:
        texts: dict[str, Mapping[str, object]] = {
            "improvement": {str(key): names[factor] for key, factor in each.improvement.items()},
            "sensitivity": each.sensitivity,
            "one_of": {str(key): level for key, level in each.one_of.items()},
        }
        if each.sensitivity or each.one_of:
            assert answers_of(texts, MODEL) == each
        else:
            with pytest.raises(UsageError, match="no question is answered"):
                answers_of(texts, MODEL)


@pytest.mark.parametrize(
    ("question", "said", "error"),
    [
        ("sensitivity", {"aeg": 1}, "unknown attribute 'aeg'"),
        ("sensitivity", {AGE: 6}, "of age is not a whole number from 1 to 5"),
        ("sensitivity", {AGE: True}, "of age is not a whole number"),
        ("one_of", {"0": 1}, "is not a number of people"),
        ("one_of", {"²": 1}, "is not a number of people"),
        ("one_of", {"12345678901": 1}, "is not a number of people"),
        ("improvement", {"6": "25%"}, "unknown sensitivity '6'"),
        ("improvement", {"1": "25"}, "unknown improvement '25'"),
        ("improvement", {"1": 2.0}, "the improvement for 1 is not text"),
    ],
)
def test_what_is_no_answer(question: str, said: dict[str, object], error: str) -> None:
    """Whatever it came in."""
    with pytest.raises(UsageError, match=error):
        answers_of({**EVERY, question: said}, MODEL)


def test_a_level_without_an_improvement() -> None:
    """The first that is missing is named."""
    answered: dict[str, Mapping[str, object]] = {"sensitivity": {AGE: 3}, "one_of": {"10": 2}}
    said = {**answered, "improvement": {"1": "25%"}}
    with pytest.raises(UsageError, match="for sensitivity 2"):
        answers_of(said, MODEL)

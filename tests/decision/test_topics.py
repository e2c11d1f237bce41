"""Topics: their utility is that of the formula, and a text carries what helps it alone."""

from dataclasses import replace
from math import isclose, prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.decision.cache import Cache
from agent.decision.choice import utility_of
from agent.decision.context import Context, Terms
from agent.decision.decide import decide
from agent.decision.knowledge import Knowledge
from agent.decision.values import Decision, Request
from agent.errors import UsageError
from agent.model.model import Model
from agent.model.reading import LEAST_CHANCE, LEAST_TOPIC, Candidate, Interpretation
from agent.tradeoff.coverage import Judged
from agent.tradeoff.tables import members
from policy.settings import Mode
from tests.decision.made import NAMES, PERSONS, judged, made_model

MODES: tuple[Mode, ...] = ("dynamic", "planned")

BITS = (0.0, 0.02, 0.05, 0.12, 0.3, 0.6)
LEVELS = dict(zip(BITS, (0.15, 0.15, 0.2, 0.3, 0.4, 0.5), strict=True))
LEFT = 0.1


@st.composite
def models(draw: st.DrawFn) -> Model:
    """Draw a model of five topics, whose facts are of any sensitivity."""
    model = judged(made_model(7, queries=5), draw(st.integers(0, 99)))
    bits = st.sampled_from(BITS)
    return replace(
        model, attributes=tuple(replace(e, sensitivity=draw(bits)) for e in model.attributes)
    )


@st.composite
def readings(draw: st.DrawFn) -> Interpretation:
    """Draw up to three topics, the likeliest first."""
    topics = draw(st.lists(st.integers(0, 4), min_size=1, max_size=3, unique=True))
    shares = draw(st.lists(st.floats(0.02, 1), min_size=len(topics), max_size=len(topics)))
    sizes = sorted((share / max(1.0, sum(shares)) for share in shares), reverse=True)
    return Interpretation(
        tuple(map(Candidate, topics, sizes)), 0.0, draw(st.sampled_from([0.4, 1]))
    )


def formula(model: Model, shares: dict[int, float], mask: int) -> float:
    """Compute sum of pi_t b_t (1 - prod of (1 - x_tf)), plainly."""
    figures, bits = model.tables.judged, 0.0
    assert figures is not None
    for topic, share in shares.items():
        whole = float(figures.totals[topic])
        weights = (float(figures.weights[topic, each]) for each in members(mask) if each < PERSONS)
        left = prod(LEFT ** (weight / whole) for weight in weights) if whole else 1.0
        bits += share * model.queries[topic].bits * (1 - left)
    return bits


@given(models(), readings(), st.integers(0, 31))
def test_a_reading_has_the_utility_of_its_topics(
    model: Model, reading: Interpretation, mask: int
) -> None:
    """All that it may mean count at once, without prices, and drawn to no mean."""
    shares = {each.query: each.probability for each in reading.candidates}
    uses = utility_of(reading, model, Cache())
    assert isclose(uses.value(mask), formula(model, shares, mask), abs_tol=1e-6)
    assert uses.submodular
    mean = dict.fromkeys(range(5), 0.2)
    assert isclose(
        Cache().mean_utility(model).value(mask), formula(model, mean, mask), abs_tol=1e-6
    )
    alone = Cache().utility(model, 3).value(mask)
    assert isclose(alone, formula(model, {3: 1.0}, mask), abs_tol=1e-6)


@given(models(), readings())
def test_a_text_carries_what_is_likely_to_help_it(model: Model, reading: Interpretation) -> None:
    """By the level of the model, whatever the user's price; what always leaves is exempt."""
    figures = model.tables.judged
    assert figures is not None
    allowed = {
        name
        for at, name in enumerate(NAMES[:PERSONS])
        if sum(e.probability * float(figures.likely[e.query, at]) for e in reading.candidates)
        >= LEVELS[model.attributes[at].sensitivity]
    }
    held = Knowledge(codes=(("age", 1), ("region", 1)))
    for mode in MODES:
        terms = Terms(trade_off=0.0, mode=mode, sensitivity=tuple((each, 0.0) for each in NAMES))
        context = Context(Request("?"), terms, held, model, reading=reading, cache=Cache())
        decision = decide(context)
        assert {*decision.disclosed} <= allowed
        for each in decision.outcomes:
            assert (each.reason == "hardly helps") == (each.name not in allowed)
        always = replace(context, terms=replace(terms, always=frozenset({"job"})))
        assert "job" in decide(always).disclosed


def one_each(weights: tuple[float, ...]) -> Model:
    """Return a model in which each of the first facts is decisive for one topic, and no other."""
    model = judged(made_model(7, people=300, queries=len(weights)), 0)
    grades = np.eye(len(weights), PERSONS, dtype=np.float32)
    tables = replace(
        model.tables,
        judged=Judged(grades, grades.sum(axis=1), grades),
        query_weights=np.array(weights),
    )
    queries = tuple(replace(each, bits=1.0) for each in model.queries)
    return replace(model, tables=tables, queries=queries)


def test_a_fact_that_is_held_is_sent_where_it_helps() -> None:
    """Free as it is, it is of no use to another topic; and it says so."""
    model = one_each((1.0, 1.0, 1.0, 1.0))
    for mode in MODES:
        assert asked(model, 0, mode, Knowledge()).disclosed == ("age",)
        second = asked(model, 1, mode, Knowledge(codes=(("age", 1),), queries=((0, 1.0),)))
        assert second.disclosed == ("region",)
        [age] = [each for each in second.outcomes if each.name == "age"]
        assert age.held
        assert age.reason == "hardly helps"


def test_a_plan_tells_what_it_has_only_where_it_helps() -> None:
    """What another topic needs is planned for that one, and is sent when it is asked for."""
    decision = asked(one_each((1.0, 9.0)), 0, "planned", Knowledge())
    assert decision.disclosed == ("age",)
    assert {e.name: e.reason for e in decision.outcomes}["region"] == "hardly helps"


def asked(model: Model, topic: int, mode: Mode, known: Knowledge) -> Decision:
    terms = Terms(trade_off=0.01, mode=mode)
    reading = Interpretation.exact(topic)
    return decide(Context(Request("?"), terms, known, model, reading=reading, cache=Cache()))


def test_a_request_that_nothing_personal_helps_carries_nothing() -> None:
    """Whatever it is about."""
    model = one_each((1.0, 1.0))
    for chance, facts in ((LEAST_CHANCE, ("age",)), (LEAST_CHANCE - 0.01, ())):
        reading = Interpretation((Candidate(0, 1.0),), LEAST_TOPIC, chance)
        context = Context(Request("?"), Terms(trade_off=0.01), Knowledge(), model, reading=reading)
        assert decide(context).disclosed == facts


def test_rows_that_nobody_sent_are_refused() -> None:
    """Whatever studies rows says in one sentence why it cannot."""
    with pytest.raises(UsageError, match="judged"):
        one_each((1.0, 1.0)).rows(0)

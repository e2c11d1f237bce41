"""The engine, from any thread, and its cache: computed once, forgotten when cleared."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

import agent
from agent.decision.cache import SIZES, Cache, Recent
from agent.decision.engine import Engine
from agent.decision.values import Topics
from agent.errors import ReticentError, UsageError
from policy.read import preset, read
from tests.model.examples import small_model

TEXT, SITE = "nursing jobs without night shifts", "search.example"


@pytest.fixture(scope="module")
def engine() -> Engine:
    return agent.open()


def test_the_face_has_its_names_and_no_other() -> None:
    """Each can be imported, and each value prints in a line."""
    assert all(getattr(agent, name) is not None for name in agent.__all__)
    assert issubclass(UsageError, agent.ReticentError)
    engine = agent.open("so2017")
    assert repr(engine) == "<Engine: so2017>"
    assert len(repr(engine.models[0])) < 100


def test_the_surest_model_decides_and_knows_facts_by_any_models_name(engine: Engine) -> None:
    """`gender` of the one model is `sex` of the other."""
    by_sex, by_gender = (
        engine.decide(TEXT, SITE, knows={name: "female"}) for name in ("sex", "gender")
    )
    assert by_sex.model == "everyday"
    assert by_sex == by_gender
    assert by_sex.figures.people < engine.decide(TEXT, SITE).figures.people
    assert "sex" not in engine.decide(TEXT, SITE, never=["sex"]).share
    assert agent.decide(TEXT, SITE, knows={"sex": "female"}) == by_sex


def test_a_text_is_read_as_topics(engine: Engine) -> None:
    """By the model that decides, the likeliest first; a name or a phrasing for sure."""
    sure = Topics(
        model=engine.decide(TEXT).model, topics=(("version_control", 1),), chance=1, understood=True
    )
    assert engine.read("hi, version controls?") == sure
    for text in ("which editor for rust", "thirty-two degrees in kelvin"):
        decision, found = engine.decide(text, SITE), engine.read(text)
        assert found.topics == tuple((each.query, each.probability) for each in decision.readings)
        assert found.understood == (decision.read_as is not None)
        assert found.model == decision.model


def test_a_policy_names_the_model_that_decides(engine: Engine) -> None:
    """As if that had been opened alone, whatever the world calls a fact."""
    text = "which editor for rust"
    rules = '[[rule]]\nrecipient = "search.example"\npopulation = "{}"\n'
    policy, knows = read(rules.format("so2017"), "test", preset), {"sex": "female"}
    alone = agent.open("so2017").decide(text, SITE, policy=policy, knows=knows, never=["gender"])
    routed = engine.decide(text, SITE, policy=policy, knows=knows, never=["sex", "diet"])
    assert routed == alone
    assert routed.model == "so2017"
    assert "gender" not in routed.share
    assert engine.decide(text, "other.example", policy=policy).model == "everyday"
    with pytest.raises(UsageError):
        engine.decide(text, SITE, policy=read(rules.format("none"), "test", preset))


def test_what_cannot_be_is_refused(engine: Engine) -> None:
    """With what is wrong and a hint."""
    refused: list[dict[str, Any]] = [
        *(
            {"anonymity_price": -1.0},
            {"anonymity_price": float("nan")},
            {"anonymity_price": "1"},
            {"at_least": 0},
            {"at_least": "5"},
            {"colour": "red"},
        ),
        *({"algorithm": "guess"}, {"metric": "guess"}, {"policy": "no such file"}),
        *({"mode": "guess"}, {"memory": "guess"}, {"knows": {"sex": 44}}),
        *({"never": ["shoe_size"]}, {"ask": ["shoe_size"]}),
        *({"knows": {"shoe_size": "44"}}, {"knows": {"sex": "44"}}),
    ]
    for named in refused:
        with pytest.raises(ReticentError) as caught:
            engine.decide(TEXT, SITE, **named)
        assert caught.value.hint


def test_a_batch_is_one_decision_after_the_other(engine: Engine) -> None:
    """Each as if it were the first to its recipient, whatever threads ask meanwhile."""
    texts = [TEXT, "version control", "no such thing"] * 3
    alone = [agent.open().decide(text, SITE) for text in texts[:3]]
    with ThreadPoolExecutor(4) as threads:
        found = threads.map(lambda text: engine.decide(text, SITE), texts)
    assert [*found] == alone * 3


def test_a_result_is_computed_once_for_a_model() -> None:
    """An equal model is another one, and nobody's results are another key's; cleared, all go."""
    cache, model = Cache(), small_model()
    assert cache.utility(model, 1) is cache.utility(model, 1)
    assert cache.mean_utility(model) is cache.mean_utility(model)
    assert cache.utility(model, 1) is not cache.utility(replace(model), 1)
    people = cache.anonymity_set(model, [(1, 2), (0, 1)])
    assert people is cache.anonymity_set(model, ((0, 1), (1, 2)))
    assert cache.anonymity_set(model) is not cache.anonymity_set(model, [(0, 1)])
    before = cache.anonymity_set(model), cache.get(model, "key", object), cache.read(model, "x")
    cache.clear()
    after = cache.anonymity_set(model), cache.get(model, "key", object), cache.read(model, "x")
    assert all(new is not old for new, old in zip(after[:2], before[:2], strict=True))
    assert after[2] == before[2]


def test_the_least_recently_used_goes_first() -> None:
    """However many are asked for."""
    cache, model = Cache(), small_model()
    first = cache.anonymity_set(model, [(0, 0)])
    others = [[(0, region), (1, town)] for region in range(2) for town in range(4)]
    assert len(others) == SIZES["anonymity sets"]
    for each in others:
        cache.anonymity_set(model, each)
    assert cache.anonymity_set(model, [(0, 0)]) is not first
    recent = Recent[int, object](2)
    kept = recent.get(1, object)
    for key in (2, 1, 3):
        recent.get(key, object)
    assert recent.get(1, object) is kept


def test_the_mean_weighs_the_queries() -> None:
    """Two parts of the first, one of the second, before what each owes to luck."""
    cache, model = Cache(), small_model()
    priced = [cache.utility(model, query).value(0b11) for query in (0, 1)]
    singles = replace(model.tables.singles, prices=None)
    model = replace(model, tables=replace(model.tables, singles=singles))
    each = [cache.utility(model, query).value(0b11) for query in (0, 1)]
    assert cache.mean_utility(model).value(0b11) == pytest.approx((2 * each[0] + each[1]) / 3)
    assert priced == pytest.approx([each[0] - 1 / 32, each[1] - 7 / 32])


def test_the_best_fact_of_a_survey_leaves_at_balanced() -> None:
    """For its best question, among the people of the US: its bits are worth judged ones."""
    engine = agent.open("everyday", "so2017")
    survey = engine.models[1]
    bits = survey.tables.singles.utilities
    query, fact = divmod(int(bits.argmax()), bits.shape[1])
    text = survey.queries[query].text
    for mode in ("dynamic", "planned"):
        decision = engine.decide(text, SITE, anonymity_price=0.5, mode=mode)
        assert survey.attributes[fact].name in decision.disclosed
        assert decision.figures.people > 2e8
        assert decision.figures.people_left > 100_000

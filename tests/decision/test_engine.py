"""The engine: names and values in, names out; nothing said that cannot be, from any thread."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import agent
from agent.decision.engine import Engine
from agent.errors import ReticentError, UsageError

TEXT, SITE = "find work as a nurse", "search.example"


@pytest.fixture(scope="module")
def engine() -> Engine:
    """Return an engine for the shipped models."""
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
    assert by_sex.model == "atus"
    assert by_sex == by_gender
    assert by_sex.figures.people < engine.decide(TEXT, SITE).figures.people
    assert "sex" not in engine.decide(TEXT, SITE, never=["sex"]).share
    assert agent.decide(TEXT, SITE, knows={"sex": "female"}) == by_sex


@pytest.mark.parametrize(
    "named",
    [
        {"price": -1.0},
        {"price": float("nan")},
        {"algorithm": "guess"},
        {"metric": "guess"},
        {"at_least": 0},
        {"never": ["shoe_size"]},
        {"ask": ["shoe_size"]},
        {"knows": {"shoe_size": "44"}},
        {"knows": {"sex": "44"}},
        {"colour": "red"},
        {"policy": "no such file"},
    ],
)
def test_what_cannot_be_is_refused(engine: Engine, named: Mapping[str, Any]) -> None:
    """With what is wrong and a hint."""
    with pytest.raises(ReticentError) as caught:
        engine.decide(TEXT, SITE, **named)
    assert caught.value.hint


def test_a_batch_is_one_decision_after_the_other(engine: Engine) -> None:
    """Each as if it were the first to its recipient, whatever threads ask meanwhile."""
    texts = [TEXT, "version control", "no such thing"] * 3
    alone = [agent.open().decide(text, SITE) for text in texts[:3]]
    assert engine.decide_many(texts, SITE) == alone * 3
    with ThreadPoolExecutor(4) as threads:
        found = threads.map(lambda text: engine.decide(text, SITE), texts)
    assert [*found] == alone * 3

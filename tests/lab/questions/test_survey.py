"""Answers to the paper's questions, and the calibration of 7.2 from them."""

from math import inf, isfinite, log2

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from agent.decision.calibration import IMPROVEMENTS
from agent.errors import UsageError
from agent.lab.questions.survey import (
    AGE,
    ATTRIBUTES,
    IMPROVEMENT,
    LEVEL_NAMES,
    LOCATION,
    LOCATIONS,
    ONE_OF,
    QUESTIONS,
    WILLING,
    Question,
    Reply,
    calibrated_by,
    made_replies,
)

OFFERED = [*IMPROVEMENTS]
IN_ORDER = dict(zip(LEVEL_NAMES, OFFERED, strict=True))
TICKS = st.fixed_dictionaries(dict.fromkeys(LEVEL_NAMES, st.sampled_from(OFFERED)))
RATED = st.dictionaries(st.sampled_from(LOCATIONS), st.integers(1, 5))
REPLIES = st.lists(
    st.builds(lambda ticks, rated: Reply({IMPROVEMENT: ticks, LOCATION: rated}), TICKS, RATED),
    min_size=1,
    max_size=6,
)
COSTS = st.dictionaries(st.sampled_from(LOCATIONS), st.floats(1e-3, 1), min_size=1)


def test_the_bits_grow_with_the_improvement() -> None:
    """As offered (6.3): log2 of the factor (7.2), doubling is one bit, fourfold two, never all."""
    costs = {"city": 1.0}
    replies = [
        Reply({IMPROVEMENT: dict.fromkeys(LEVEL_NAMES, each), LOCATION: {"city": 3}})
        for each in OFFERED
    ]
    bits = [calibrated_by([each], LOCATION, costs).pairs[0].bits for each in replies]
    assert bits == [log2(1.25), log2(1.5), 1.0, 2.0, inf]
    assert bits == sorted(bits)


@given(COSTS, st.integers(1, 4), st.floats(0.1, 50))
def test_a_planted_trade_off_comes_back(
    costs: dict[str, float], people: int, trade_off: float
) -> None:
    """Where what people want is among what is offered, to the last digit."""
    levels = {thing: 1 + place % 4 for place, thing in enumerate(costs)}
    exact = {
        thing: log2(IMPROVEMENTS[OFFERED[level - 1]]) / trade_off for thing, level in levels.items()
    }
    replies = [Reply({IMPROVEMENT: IN_ORDER, LOCATION: levels})] * people
    found = calibrated_by(replies, LOCATION, exact).fit
    assert found is not None
    assert found.trade_off == pytest.approx(trade_off)
    assert found.error == pytest.approx(0, abs=1e-9)


@given(REPLIES, COSTS)
def test_it_is_the_least_squares_of_numpy_over_medians(
    replies: list[Reply], costs: dict[str, float]
) -> None:
    """Person by person, median by median, through the origin."""
    pairs = []
    for thing, cost in costs.items():
        wanted = [
            np.log2(IMPROVEMENTS[each.to(IMPROVEMENT)[str(each.to(LOCATION)[thing])]])
            for each in replies
            if thing in each.to(LOCATION)
        ]
        if wanted and isfinite(np.median(wanted)):
            pairs.append((cost, float(np.median(wanted))))
    found = calibrated_by(replies, LOCATION, costs)
    assert [(each.cost, each.bits) for each in found.pairs if isfinite(each.bits)] == pairs
    assert (found.fit is None) == (not pairs)
    assume(pairs)
    x, y = np.array(pairs).T
    assert found.fit is not None
    assert found.fit.trade_off == pytest.approx(np.linalg.lstsq(x[:, None], y)[0][0])


@given(st.lists(st.floats(0.25, 3), min_size=1, max_size=6), st.floats(0.5, 40), st.integers(0, 99))
def test_made_answers_give_back_their_trade_off_but_for_the_steps_offered(
    wanted: list[float], trade_off: float, seed: int
) -> None:
    """Steps are an octave wide at most, so a tick is off by √2; the rest is for chance."""
    costs = {thing: bits / trade_off for thing, bits in zip(LOCATIONS, wanted, strict=False)}
    replies = made_replies(costs, 101, seed, trade_off)
    assert replies == made_replies(costs, 101, seed, trade_off)
    found = calibrated_by(replies, LOCATION, costs).fit
    if found is not None:
        assert 1 / 1.6 < found.trade_off / trade_off < 1.6


def test_made_answers_are_less_sensitive_where_less_is_told() -> None:
    """Each of them, for each person."""
    costs = dict(zip(LOCATIONS, (0.001, 0.05, 0.1, 0.2, 0.4, 1.0), strict=True))
    for reply in made_replies(costs, 50, 1):
        levels = [reply.to(LOCATION)[thing] for thing in LOCATIONS]
        assert levels == sorted(levels)
    with pytest.raises(UsageError, match="lambda cannot be inf"):
        made_replies(costs, 1, 1, inf)


@pytest.mark.parametrize(
    ("question", "answers", "error"),
    [
        (IMPROVEMENT, {"6": "25%"}, "unknown answer to improvement '6'"),
        (IMPROVEMENT, {"1": "30%"}, "unknown improvement '30%'"),
        (LOCATION, {"cty": 1}, "unknown answer to location 'cty'"),
        (LOCATION, {"city": 0}, "level of city in location is not from 1 to 5"),
        (AGE, {"1 year": 6}, "level of 1 year in age"),
        (ATTRIBUTES, {"DAGE": True}, "level of DAGE"),
        (WILLING, {"DXYZ": True}, "unknown answer to willing"),
        (ONE_OF, {"7": 1}, "unknown answer to one_of"),
    ],
)
def test_what_is_no_answer(question: Question, answers: dict[str, object], error: str) -> None:
    """What was not asked, and what nobody could tick."""
    with pytest.raises(UsageError, match=error):
        Reply({question: answers})


def test_what_cannot_be_calibrated() -> None:
    """Nobody, and a thing that nobody was asked about."""
    with pytest.raises(UsageError, match="nobody has answered"):
        calibrated_by([], LOCATION, {"city": 1.0})
    with pytest.raises(UsageError, match="unknown answer to age 'city'"):
        calibrated_by([Reply({})], AGE, {"city": 1.0})


def test_every_question_can_be_answered() -> None:
    """And no answer can be changed afterwards."""
    for question in QUESTIONS:
        thing = question.things[0]
        answer = {"level": 1, "yes": True, "improvement": "4x"}[question.scale]
        given = Reply({question: {thing: answer}}).to(question)
        assert given == {thing: answer}
        with pytest.raises(TypeError):
            given[thing] = answer  # type: ignore[index]

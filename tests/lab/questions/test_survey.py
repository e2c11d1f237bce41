"""Answers to the paper's questions, and the calibration of 7.2 from them."""

from math import inf, isfinite, log2

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from agent.decision.calibration import IMPROVEMENTS, Answers, aligned
from agent.errors import UsageError
from agent.lab.questions.survey import LOCATIONS, made_answers

OFFERED = [*IMPROVEMENTS.values()]
IN_ORDER = dict(enumerate(OFFERED, start=1))
TICKS = st.fixed_dictionaries(dict.fromkeys(IN_ORDER, st.sampled_from(OFFERED)))
RATED = st.dictionaries(st.sampled_from(LOCATIONS), st.integers(1, 5))
ANSWERS = st.lists(st.builds(Answers, TICKS, RATED, st.just({})), min_size=1, max_size=6)
COSTS = st.dictionaries(st.sampled_from(LOCATIONS), st.floats(1e-3, 1), min_size=1)


def test_the_bits_grow_with_the_improvement() -> None:
    """As offered (6.3): log2 of the factor (7.2), doubling is one bit, fourfold two, never all."""
    costs = {"city": 1.0}
    answers = [Answers(dict.fromkeys(IN_ORDER, each), {"city": 3}, {}) for each in OFFERED]
    bits = [aligned([each], costs).pairs[0].bits for each in answers]
    assert bits == [log2(1.25), log2(1.5), 1.0, 2.0, inf]
    assert bits == sorted(bits)


@given(COSTS, st.integers(1, 4), st.floats(0.1, 50))
def test_a_planted_trade_off_comes_back(
    costs: dict[str, float], people: int, trade_off: float
) -> None:
    """Where what people want is among what is offered, to the last digit."""
    levels = {thing: 1 + place % 4 for place, thing in enumerate(costs)}
    exact = {thing: log2(OFFERED[level - 1]) / trade_off for thing, level in levels.items()}
    found = aligned([Answers(IN_ORDER, levels, {})] * people, exact).fit
    assert found is not None
    assert found.trade_off == pytest.approx(trade_off)
    assert found.error == pytest.approx(0, abs=1e-9)


@given(ANSWERS, COSTS)
def test_it_is_the_least_squares_of_numpy_over_medians(
    answers: list[Answers], costs: dict[str, float]
) -> None:
    """Person by person, median by median, through the origin."""
    pairs = []
    for thing, cost in costs.items():
        wanted = [
            np.log2(each.improvement[each.sensitivity[thing]])
            for each in answers
            if thing in each.sensitivity
        ]
        if wanted and isfinite(np.median(wanted)):
            pairs.append((cost, float(np.median(wanted))))
    found = aligned(answers, costs)
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
    answers = made_answers(costs, 101, seed, trade_off)
    assert answers == made_answers(costs, 101, seed, trade_off)
    found = aligned(answers, costs).fit
    if found is not None:
        assert 1 / 1.6 < found.trade_off / trade_off < 1.6


def test_made_answers_are_less_sensitive_where_less_is_told() -> None:
    """Each of them, for each person."""
    costs = dict(zip(LOCATIONS, (0.001, 0.05, 0.1, 0.2, 0.4, 1.0), strict=True))
    for each in made_answers(costs, 50, 1):
        levels = [each.sensitivity[thing] for thing in LOCATIONS]
        assert levels == sorted(levels)
    with pytest.raises(UsageError, match="lambda cannot be inf"):
        made_answers(costs, 1, 1, inf)

"""What people got and what it cost them, with intervals of the same people for everything."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.decision.context import Limits, Terms
from agent.lab.attack.criteria import WANTED, FrontierLine, promises, ratios
from agent.lab.attack.outcome import Resamples, StrategyOutcome, quantile, realised
from agent.lab.attack.services import Service, learn
from agent.lab.attack.simulation import SILENT, people_of, received
from agent.lab.attack.strategies import EVERYTHING, FAMILIES, LEDGER, NOTHING, PAPERS, Strategy
from agent.lab.attack.study import EVERY
from agent.model.model import Model
from agent.model.tables import gather
from agent.tradeoff.grouping import row_columns
from agent.tradeoff.tables import Indexes, members
from tests.decision.made import CARDS
from tests.lab.worlds import model, others, paper_model, walker

VALUES = st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=30).map(np.array)
COUNTS = st.lists(st.integers(1, 99), min_size=1, max_size=30).map(np.array)
PEOPLE = people_of(others(), 12, 9, 1)
SERVICE = Service(paper_model(1), 1)
LEARNT = [learn(paper_model(1), query, 1) for query in range(2)]
FEW = settings(max_examples=10)


@FEW
@given(VALUES, COUNTS, st.floats(-5, 5), st.floats(0.1, 10))
def test_an_interval_moves_with_its_values(
    values: np.ndarray, counts: np.ndarray, shift: float, scale: float
) -> None:
    """It lies within the values; what is so many times another is so in each resample."""
    resamples = Resamples(len(values), 1)
    one, other = resamples.mean(values), resamples.mean(scale * values + shift)
    assert other == pytest.approx([scale * each + shift for each in one], abs=1e-6)
    assert values.min() - 1e-9 <= one.low <= one.high <= values.max() + 1e-9
    assert Resamples(len(counts), 1).ratio(scale * counts, counts) == pytest.approx([scale] * 3)
    may_be_nothing = np.array([1.0, -1.0, 1.0])
    assert Resamples(3, 1).ratio(may_be_nothing, may_be_nothing) is None


@given(COUNTS, st.sampled_from([0.01, 0.05, 0.5]))
def test_a_quantile_is_somebodys(values: np.ndarray, share: float) -> None:
    """At most such a share of the people has less, and more than it with the next."""
    found = quantile(values, share)
    assert (values < found).mean() <= share <= (values <= found).mean()


def test_nineteen_of_twenty_intervals_hold_the_truth() -> None:
    """Of the mean of 100 people, over forty draws of them."""
    draw, right = np.random.default_rng(3), 0
    for seed in range(40):
        _, low, high = Resamples(100, seed).mean(draw.exponential(size=100))
        right += low <= 1 <= high
    assert 33 <= right <= 40


def test_each_request_is_scored_by_what_it_carries() -> None:
    """As if it were the only one: the service remembers nothing; nothing carried brings nothing."""
    service = Service(model(), 1)
    for strategy in (NOTHING, EVERYTHING, LEDGER[0]):
        traces = [walker(strategy)(each) for each in PEOPLE]
        found = realised(service, PEOPLE, traces)
        assert [each.shape for each in found] == [(12, 9)] * 2
        assert all(each.any() == (strategy is not NOTHING) for each in found)
        for person, trace, *figures in zip(PEOPLE, traces, *found, strict=True):
            rows = zip(person.requests, trace.sent, *figures, strict=True)
            for asked, mask, bits, carried in rows:
                codes = np.array([(*person.codes, *asked.request)], np.uint8)
                scores = service.scores(asked.query, received(codes, [mask]))[0]
                assert bits == pytest.approx(scores[asked.intent])
                assert carried == mask.bit_count()


CROWD = 40
RESAMPLES = Resamples(CROWD, 1)


def line(seed: int, points: int = 4, success: float = 0.1) -> FrontierLine:
    """Points that bring the more the more they give away, of people who differ."""
    draw = np.random.default_rng(seed)
    level = np.linspace(1, 2, points)[:, None]
    utility = level + draw.normal(0, 0.1, (points, CROWD))
    return FrontierLine(utility, success * np.exp(level + draw.normal(0, 0.3, (points, CROWD))))


def flat(utility: list[float], success: list[float]) -> FrontierLine:
    """Points of people who are all alike."""
    everybody = np.ones(CROWD)
    return FrontierLine(np.outer(utility, everybody), np.outer(success, everybody))


@settings(max_examples=3)
@given(st.integers(0, 99), st.integers(100, 199), st.floats(0.01, 100))
def test_a_multiple_is_found_everywhere(seed: int, other: int, times: float) -> None:
    """At each utility, surely; and a ratio turned around is its inverse, its interval too."""
    one, two = line(seed), line(other, 6)
    found = ratios(FrontierLine(one.utility, times * one.success), one, RESAMPLES)
    assert len(found) >= 4
    for _, ratio in found:
        assert ratio == pytest.approx([times] * 3)
    there, back = ratios(one, two, RESAMPLES), ratios(two, one, RESAMPLES)
    for (utility, each), (same, its) in zip(there, back, strict=True):
        assert utility == same
        assert each == pytest.approx((1 / its.mean, 1 / its.high, 1 / its.low))


def test_lines_are_compared_at_every_point_that_both_reach() -> None:
    """In any order of the points; between them the logarithm of the success is linear."""
    one, other = flat([3, 1], [0.3, 0.1]), flat([2, 5], [0.2, 0.5])
    assert [utility for utility, _ in ratios(one, other, RESAMPLES)] == [2, 3]
    assert ratios(flat([1, 2], [0.1, 0.2]), flat([3, 4], [0.1, 0.2]), RESAMPLES) == []
    ((_, ratio),) = ratios(flat([1.5], [0.05]), flat([1, 2], [0.01, 1]), RESAMPLES)
    assert ratio == pytest.approx([0.5] * 3)


def test_strategies_are_told_apart_and_a_family_differs_in_lambda_alone() -> None:
    """By name as by value; so that a family's points lie on one line: ascending, with no limits."""
    assert len({strategy.name for strategy in EVERY}) == len(set(EVERY)) == len(EVERY)
    for family in FAMILIES.values():
        prices = [strategy.trade_off for strategy in family if strategy.trade_off is not None]
        assert prices == sorted(set(prices))
        assert len(prices) == len(family)
        for strategy in family:
            assert strategy.changed(Terms()).limits == Limits()
            assert strategy.changed(Terms(ask=frozenset({"gender"}))).excluded == frozenset()
    assert PAPERS.trade_off == 5.12


def test_what_a_strategy_names_is_what_it_changes() -> None:
    """The rest stays the preset's; where nobody answers, what waits for the user does not leave."""
    gender, race = frozenset({"gender"}), frozenset({"race"})
    terms = Terms(ask=gender, excluded=race, trade_off=3.0, limits=Limits(k=7))
    plain = Strategy(name="as it is").changed(terms)
    assert plain == replace(terms, ask=frozenset(), excluded=gender | race)
    yes = Strategy(name="yes", answered=True).changed(terms)
    assert yes == replace(terms, ask=frozenset())
    other = Strategy(name="other", trade_off=5.0, protect="me", memory="forgets", mode="standing")
    mine = replace(plain, limits=Limits(k=7, protect="me"), trade_off=5.0)
    assert other.changed(terms) == replace(mine, memory="forgets", mode="standing")


def ended(utility: float, *left: int) -> StrategyOutcome:
    """The outcome of people after one request; ``left``: as many as agree with each."""
    one = np.ones((len(left), 1))
    return StrategyOutcome(np.array(left)[:, None], utility * one, one)


def test_a_criterion_is_met_at_its_end() -> None:
    """One guess in a thousand, a thousand people left, nine tenths of the utility."""
    for ours, met in (
        (ended(0.91, 1000, 1000), [True, True, True]),
        (ended(0.89, 1000, 1000), [True, True, False]),
        (ended(0.91, 999, 999), [False, False, True]),
        (ended(0.91, 999, 9000), [False, False, True]),  # the worse end of each interval counts
    ):
        found = promises("x", WANTED, (ours, ended(1.0, 1, 1)), 0, Resamples(2, 0))
        assert [each.met for each in found] == met


MASKS = st.integers(0, 2 ** len(CARDS) - 1)
CODES = st.tuples(*(st.integers(0, card - 1) for card in CARDS))


def _wanting(model: Model, changed: Callable[[Indexes], Indexes]) -> Model:
    """The model with other intents of the rows of each query."""
    rows = [model.rows(each) for each in range(len(model.queries))]
    wanted = [replace(each, intent=changed(each.intent)) for each in rows]
    tables = model.tables
    made = gather(model.population, wanted, tables.query_weights, tables.singles)
    return replace(model, tables=replace(tables, rows=made.rows))


@given(CODES, CODES, MASKS, st.lists(st.tuples(CODES, MASKS), min_size=1, max_size=5))
def test_a_service_sees_what_a_request_says_alone(
    one: tuple[int, ...],
    other: tuple[int, ...],
    mask: int,
    requests: list[tuple[tuple[int, ...], int]],
) -> None:
    """Who agrees on what is told is served alike, whoever else asks; the prior where it is none."""
    silent = received(np.array([[0, 2, 7]], np.uint8), [0b011])
    assert silent.tolist() == [[1, 3, SILENT]]  # not specified is told too
    told = set(members(mask))
    same = tuple((one if each in told else other)[each] for each in range(len(one)))
    every = [(one, mask), (same, mask), (one, 0), *requests]
    codes = np.array([each for each, _ in every], np.uint8)
    said = received(codes, [mask for _, mask in every])
    for query in range(2):
        scores = SERVICE.scores(query, said)
        chances = LEARNT[query].chances(said)
        assert (chances > 0).all()
        assert chances.sum(axis=1) == pytest.approx(np.ones(len(said)))
        assert scores == pytest.approx(np.log2(chances / LEARNT[query].prior))
        assert (scores[0] == scores[1]).all()
        assert not scores[2].any()
        alone = [SERVICE.scores(query, said[each : each + 1])[0] for each in range(len(said))]
        assert scores == pytest.approx(np.array(alone), abs=1e-12)


def gained(model: Model) -> float:
    """Mean bits of what people wanted whom the service has not seen."""
    other, service = paper_model(2), Service(model, 1)
    found = []
    for query in range(len(other.queries)):
        rows = other.rows(query)
        said = row_columns(rows, other.cards).codes.T + 1
        scores = service.scores(query, said.astype(np.intp))
        found.append(scores[np.arange(len(said)), rows.intent].mean())
    return float(np.mean(found))


def test_it_gains_on_people_it_has_not_seen() -> None:
    """Where attributes help; where they say nothing, noise earns nothing, nor one intent alone."""
    assert gained(paper_model(1)) > 0.02
    assert gained(_wanting(paper_model(1), np.random.default_rng(5).permutation)) < 0.01
    said = received(np.array([[1, 2, 0, 1, 1]], np.uint8), [0b11111])
    alone = Service(_wanting(paper_model(1), np.zeros_like), 1)
    assert np.isfinite(alone.scores(0, said)).all()

"""What people got, and intervals of the same people for everything."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.decision.terms import Limits, Terms
from agent.lab.attack.criteria import FrontierLine, ratios
from agent.lab.attack.outcome import Resamples, quantile, realised
from agent.lab.attack.services import Service, practice_sets
from agent.lab.attack.simulation import SILENT, people_of, received
from agent.lab.attack.strategies import (
    ANSWERED,
    CONSTANT,
    EVERYTHING,
    FAMILIES,
    NOTHING,
    OWN,
    PAPERS,
    RANDOM,
    SHIPPED,
    Strategy,
)
from agent.model.model import Model
from agent.model.tables import gather
from agent.tradeoff.grouping import row_columns
from agent.tradeoff.tables import Indexes, members
from tests.decision.made import CARDS
from tests.lab.worlds import model, others, paper_model, walker

VALUES = st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=30).map(np.array)
COUNTS = st.lists(st.integers(1, 99), min_size=1, max_size=30).map(np.array)
PEOPLE = people_of(others(), 12, 9, 1)
SERVICE = Service(model(), 1)


@settings(max_examples=30)
@given(VALUES, st.floats(-5, 5), st.floats(0.1, 10))
def test_an_interval_moves_with_its_values(values: np.ndarray, shift: float, scale: float) -> None:
    """It holds its mean where nobody differs, and lies within the values."""
    resamples = Resamples(len(values), 1)
    one, other = resamples.mean(values), resamples.mean(scale * values + shift)
    assert other == pytest.approx([scale * each + shift for each in one], abs=1e-6)
    assert values.min() - 1e-9 <= one.low <= one.high <= values.max() + 1e-9


@settings(max_examples=30)
@given(COUNTS, st.floats(0.1, 10))
def test_ratios_are_paired(values: np.ndarray, scale: float) -> None:
    """What is so many times another is so in each resample."""
    found = Resamples(len(values), 1).ratio(scale * values, values)
    assert found == pytest.approx([scale] * 3)


def test_no_ratio_to_what_may_be_nothing() -> None:
    """As a resample of few people has it."""
    values = np.array([1.0, -1.0, 1.0])
    assert Resamples(3, 1).ratio(values, values) is None


@settings(max_examples=30)
@given(COUNTS, st.sampled_from([0.01, 0.05, 0.5]))
def test_a_quantile_is_somebodys(values: np.ndarray, share: float) -> None:
    """At most such a share of the people has less, and more than it with the next."""
    found = quantile(values, share)
    assert (values < found).mean() <= share <= (values <= found).mean()


@pytest.mark.parametrize(
    ("draws", "least", "most"), [(40, 33, 40), pytest.param(200, 176, 196, marks=pytest.mark.soak)]
)
def test_nineteen_of_twenty_intervals_hold_the_truth(draws: int, least: int, most: int) -> None:
    """Of the mean of 100 people, over many draws of them."""
    draw, held = np.random.default_rng(3), 0
    for seed in range(draws):
        _, low, high = Resamples(100, seed).mean(draw.exponential(size=100))
        held += low <= 1 <= high
    print(f"{held} of {draws} intervals hold the truth")  # noqa: T201  (for the soak)
    assert least <= held <= most


def test_nothing_disclosed_brings_nothing() -> None:
    """Not a bit, and results in the order that everybody gets."""
    bits, reciprocal, carried = realised(
        SERVICE, PEOPLE, [walker(NOTHING)(each) for each in PEOPLE]
    )
    assert not bits.any()
    assert not carried.any()
    assert bits.shape == reciprocal.shape == (12, 9)
    best = [int(np.argmax(SERVICE.prior(query))) for query in range(len(model().queries))]
    for row, person in zip(reciprocal, PEOPLE, strict=True):
        for place, asked in zip(row, person.requests, strict=True):
            assert (place == 1) == (asked.intent == best[asked.query])


def test_each_request_is_scored_by_what_it_carries() -> None:
    """As if it were the only one: the service remembers nothing."""
    for strategy in (EVERYTHING, *RANDOM[:2]):
        traces = [walker(strategy)(each) for each in PEOPLE]
        found = realised(SERVICE, PEOPLE, traces)
        for person, trace, *figures in zip(PEOPLE, traces, *found, strict=True):
            rows = zip(person.requests, trace.sent, *figures, strict=True)
            for asked, mask, bits, reciprocal, carried in rows:
                codes = np.array([(*person.codes, *asked.request)], np.uint8)
                scores = SERVICE.scores(asked.query, received(codes, [mask]))[0]
                assert bits == pytest.approx(scores[asked.intent])
                chances = 2**scores * SERVICE.prior(asked.query)
                least = (chances > chances[asked.intent]).sum()
                assert least < 1 / reciprocal <= (chances >= chances[asked.intent] - 1e-12).sum()
                assert carried == mask.bit_count()


CROWD = 40
RESAMPLES = Resamples(CROWD, 1)


def line(seed: int, points: int = 4, success: float = 0.1) -> FrontierLine:
    """Return points that bring the more the more they give away, of people who differ."""
    draw = np.random.default_rng(seed)
    level = np.linspace(1, 2, points)[:, None]
    utility = level + draw.normal(0, 0.1, (points, CROWD))
    return FrontierLine(utility, success * np.exp(level + draw.normal(0, 0.3, (points, CROWD))))


def flat(utility: list[float], success: list[float]) -> FrontierLine:
    """Return points of people who are all alike."""
    everybody = np.ones(CROWD)
    return FrontierLine(np.outer(utility, everybody), np.outer(success, everybody))


@settings(max_examples=3)
@given(st.integers(0, 99), st.floats(0.01, 100))
def test_a_multiple_is_found_everywhere(seed: int, times: float) -> None:
    """A line that gives away so many times as much does so at each utility, surely."""
    one = line(seed)
    found = ratios(FrontierLine(one.utility, times * one.success), one, RESAMPLES)
    assert len(found) >= 4
    for _, ratio in found:
        assert ratio == pytest.approx([times] * 3)


@settings(max_examples=3)
@given(st.integers(0, 99), st.integers(100, 199))
def test_a_ratio_turned_around_is_its_inverse(seed: int, other: int) -> None:
    """Its interval too."""
    one, two = line(seed), line(other, 6)
    there, back = ratios(one, two, RESAMPLES), ratios(two, one, RESAMPLES)
    for (utility, each), (same, its) in zip(there, back, strict=True):
        assert utility == same
        assert each == pytest.approx((1 / its.mean, 1 / its.high, 1 / its.low))


def test_no_overlap_no_ratio() -> None:
    """Utilities that do not meet are not compared."""
    low, high = flat([1, 2], [0.1, 0.2]), flat([3, 4], [0.1, 0.2])
    assert ratios(low, high, RESAMPLES) == []


def test_between_points_the_logarithm_is_linear() -> None:
    """Halfway from 1 to 1/100 is 1/10."""
    ((_, ratio),) = ratios(flat([1.5], [0.05]), flat([1, 2], [0.01, 1]), RESAMPLES)
    assert ratio == pytest.approx([0.5] * 3)


def test_lines_are_compared_at_every_point_of_both() -> None:
    """Of those that both reach, the order of the points does not matter."""
    one, other = flat([3, 1], [0.3, 0.1]), flat([2, 5], [0.2, 0.5])
    assert [utility for utility, _ in ratios(one, other, RESAMPLES)] == [2, 3]


EVERY = (*CONSTANT, *SHIPPED, *ANSWERED, *OWN, *(w for f in FAMILIES.values() for w in f))
names = st.frozensets(st.sampled_from(("gender", "race", "salary")))
terms = st.builds(
    Terms,
    ask=names,
    excluded=names,
    trade_off=st.floats(0, 100),
    limits=st.builds(Limits, k=st.integers(1, 50)),
)


def test_tables_tell_them_apart_by_name() -> None:
    """And a dictionary by value."""
    assert len({strategy.name for strategy in EVERY}) == len(set(EVERY)) == len(EVERY)


def test_a_family_differs_in_lambda_alone() -> None:
    """So that its points lie on one line: ascending, with no limits and the same candidates."""
    for family in FAMILIES.values():
        prices = [strategy.trade_off for strategy in family if strategy.trade_off is not None]
        assert prices == sorted(set(prices))
        assert len(prices) == len(family)
        for strategy in family:
            assert strategy.changed(Terms()).limits == Limits()
            assert strategy.changed(Terms(ask=frozenset({"gender"}))).excluded == frozenset()
    assert PAPERS.trade_off == 5.12


@given(terms)
def test_who_says_nothing_else_changes_nothing_else(terms: Terms) -> None:
    """But that nobody answers: what would wait for the user does not leave."""
    changed = Strategy(name="as it is").changed(terms)
    assert changed.ask == frozenset()
    assert changed.excluded == terms.excluded | terms.ask
    assert (changed.trade_off, changed.limits) == (terms.trade_off, terms.limits)
    answered = Strategy(name="yes", answered=True).changed(terms)
    assert answered.excluded == terms.excluded


@given(terms, st.floats(0, 100))
def test_what_a_way_names_is_what_it_changes(terms: Terms, trade_off: float) -> None:
    """The rest stays the preset's."""
    strategy = Strategy(
        name="other", trade_off=trade_off, protect="me", memory="forgets", mode="standing"
    )
    changed = strategy.changed(terms)
    assert (changed.trade_off, changed.memory, changed.mode) == (trade_off, "forgets", "standing")
    assert (changed.limits.protect, changed.limits.k) == ("me", terms.limits.k)
    assert changed.algorithm == terms.algorithm


MASKS = st.integers(0, 2 ** len(CARDS) - 1)
CODES = st.tuples(*(st.integers(0, card - 1) for card in CARDS))


def _without_signal(model: Model) -> Model:
    """Return the model with its intents in another order."""
    return _wanting(model, np.random.default_rng(5).permutation)


def _wanting(model: Model, changed: Callable[[Indexes], Indexes]) -> Model:
    """Return the model with other intents of the rows of each query."""
    rows = [model.rows(each) for each in range(len(model.queries))]
    wanted = [replace(each, intent=changed(each.intent)) for each in rows]
    tables = model.tables
    made = gather(model.population, wanted, tables.query_weights, tables.singles)
    return replace(model, tables=replace(tables, rows=made.rows))


@pytest.fixture(scope="module")
def service() -> Service:
    """Make a service of a small model."""
    return Service(paper_model(1), 1)


@given(CODES, MASKS)
def test_chances_are_chances(service: Service, codes: tuple[int, ...], mask: int) -> None:
    """All above 0, with sum 1; the prior where nothing is said."""
    said = received(np.array([codes, codes], np.uint8), [mask, 0])
    for query in range(2):
        scores = service.scores(query, said)
        assert np.isfinite(scores).all()
        chances = 2.0 ** scores[0] * service.prior(query)
        assert chances.sum() == pytest.approx(1)
        assert (scores[1] == 0).all()


@given(CODES, CODES, MASKS)
def test_what_is_not_said_changes_nothing(
    service: Service, one: tuple[int, ...], other: tuple[int, ...], mask: int
) -> None:
    """Two who agree on what is told are served alike."""
    told = set(members(mask))
    same = [(one if each in told else other)[each] for each in range(len(one))]
    scores = service.scores(0, received(np.array([one, same], np.uint8), [mask, mask]))
    assert (scores[0] == scores[1]).all()


@given(st.lists(st.tuples(CODES, MASKS), min_size=1, max_size=5))
def test_many_requests_are_served_as_one_by_one(
    service: Service, requests: list[tuple[tuple[int, ...], int]]
) -> None:
    """Nobody's chances depend on who else asks."""
    codes = np.array([each for each, _ in requests], np.uint8)
    said = received(codes, [mask for _, mask in requests])
    together = service.scores(0, said)
    alone = [service.scores(0, said[each : each + 1])[0] for each in range(len(said))]
    assert together == pytest.approx(np.array(alone), abs=1e-12)


def test_what_is_heard() -> None:
    """The code and one of what is told: not specified is told too."""
    said = received(np.array([[0, 2, 7]], np.uint8), [0b011])
    assert said.tolist() == [[1, 3, SILENT]]


@settings(max_examples=20)
@given(st.integers(0, 1000))
def test_practice_sets_are_small_or_groups(seed: int) -> None:
    """With few attributes: any set, and everything among them."""
    sets = practice_sets(paper_model(1), 400, np.random.default_rng(seed))
    assert {len(CARDS), 0} <= set(sets.sum(axis=1).tolist())


def gained(model: Model) -> float:
    """Mean bits of what people wanted whom the service has not seen."""
    other, service = paper_model(2), Service(model, 1)
    found = []
    for query in range(len(other.queries)):
        rows = other.rows(query)
        said = np.stack([each.codes for each in row_columns(rows, other.cards).each], axis=1) + 1
        scores = service.scores(query, said.astype(np.intp))
        found.append(scores[np.arange(len(said)), rows.intent].mean())
    return float(np.mean(found))


def test_it_gains_on_people_it_has_not_seen() -> None:
    """Where attributes help; where they say nothing, noise earns nothing."""
    assert gained(paper_model(1)) > 0.02
    assert gained(_without_signal(paper_model(1))) < 0.01


def test_an_intent_alone_is_no_reason_to_fail() -> None:
    """A query of which everybody wants the same is served by the prior."""
    model = _wanting(paper_model(1), np.zeros_like)
    said = received(np.array([[1, 2, 0, 1, 1]], np.uint8), [0b11111])
    assert np.isfinite(Service(model, 1).scores(0, said)).all()

"""Figs. 6 to 13: laws of what is measured, and when it is said to have the paper's shape."""

from dataclasses import replace
from itertools import count
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.build.log_schema import BY_LABEL, DEMOGRAPHIC, TABLE_1, TOPIC
from agent.lab.charts import StudyFinding
from agent.lab.paper import comparison, orders
from agent.lab.paper.orders import Along, reached, steps
from agent.lab.paper.subject import STATED, K, Subject, cost_alone, groups_of
from agent.model.attributes import Attribute
from agent.tradeoff.measures import METRICS, Metric
from agent.tradeoff.objective import Parts
from agent.tradeoff.search import maximise
from agent.tradeoff.study import Violations
from agent.tradeoff.tables import members
from agent.tradeoff.tradeoff_curve import Point, beaten
from agent.tradeoff.utility import Estimator
from tests.build.worlds import QUIET
from tests.lab.worlds import NAMES, paper_model, paper_subject

pytestmark = QUIET

SEEDS = st.integers(0, 9)
ESTIMATORS: tuple[Estimator, ...] = ("plugin", "louo")


def masks(subject: Subject, order: Along) -> list[int]:
    indexes = [subject.model.index(name) for name in order.names]
    return [sum(1 << each for each in indexes[:n]) for n in range(1, len(indexes) + 1)]


@given(SEEDS, st.sampled_from(ESTIMATORS))
def test_utility_along_the_order_is_that_of_its_sets(seed: int, estimator: Estimator) -> None:
    """Weighed over the queries; the first is the best alone; without a prior it never falls."""
    bare = orders.utility_order(Subject.of(paper_model(seed), "plugin", 0.0))
    assert sorted(bare.names) == sorted(NAMES)
    assert all(gain >= -1e-9 for gain in steps(bare.curves[orders.BITS]))
    subject = paper_subject(seed, estimator)
    order = orders.utility_order(subject)
    curve, weights = order.curves[orders.BITS], subject.model.tables.query_weights
    for mask, bits in zip(masks(subject, order), curve, strict=True):
        values = [each.value(mask) for each in subject.utilities]
        assert bits == pytest.approx(values @ weights / weights.sum(), abs=1e-9)
    singles = [subject.utility_alone().utility(1 << each) for each in range(len(NAMES))]
    assert curve[0] == max(singles)


@given(SEEDS)
def test_cost_grows_along_its_order_and_ends_with_everything(seed: int) -> None:
    """Maxprob never falls; each step is the cheapest there is."""
    model = paper_model(seed)
    order, subject = orders.cost_order(model), paper_subject(seed, "louo")
    cost = cost_alone(model)
    assert {*order.curves} == {*orders.METRICS}
    curve = order.curves["maxprob"]
    assert all(gain >= -1e-12 for gain in steps(curve))
    for place, mask in enumerate(masks(subject, order)):
        others = [each for each in range(len(NAMES)) if not mask >> each & 1]
        before = mask & ~(1 << model.index(order.names[place]))
        dearer = [cost.identifiability_cost(before | 1 << each) for each in others]
        assert all(curve[place] <= each + 1e-12 for each in dearer)
    crowd = subject.fresh().crowd
    for name, values in order.curves.items():
        metric: Metric = next(each for each in METRICS if each == name)
        whole = crowd.identifiability((1 << len(NAMES)) - 1, metric, K)
        assert values[-1] == pytest.approx(whole - crowd.identifiability(0, metric, K))


@given(SEEDS, st.sampled_from(ESTIMATORS), st.floats(0.1, 20))
def test_the_calibrated_objective_is_utility_less_cost(
    seed: int, estimator: Estimator, trade_off: float
) -> None:
    """At every step of its order."""
    found = orders.calibrated_order(paper_subject(seed, estimator), trade_off)
    for value, utility, cost in zip(*found.curves.values(), strict=True):
        assert value == pytest.approx(utility - cost, abs=1e-9)
    assert [*found.curves] == [orders.OBJECTIVE, orders.UTILITY, orders.COST]


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=9))
def test_steps_add_up_and_a_share_is_reached_where_it_is(values: list[float]) -> None:
    """And never where nothing is above 0."""
    assert sum(steps(tuple(values))) == pytest.approx(values[-1], abs=1e-9)
    place = reached(tuple(values), 0.5)
    assert (place == 0) == (max(values) <= 0)
    if place:
        assert values[place - 1] >= max(values) / 2
        assert all(each < max(values) / 2 for each in values[: place - 1])


def test_fig_6_levels_off_and_its_returns_diminish() -> None:
    """On the way up, by gains that grow; the rule that was given up, and the prior, stand there."""
    assert orders.bumps((3.0, 5.0, 6.0, 6.0)) == orders.bumps((3.0, 5.0, 1.0, 0.5, 2.0)) == 0
    assert orders.bumps((1.0, 1.0, 4.0)) == pytest.approx(3 / 4)
    level, again = (
        Along(("a", "b", "c"), {orders.BITS: curve})
        for curve in ((1.9, 1.92, 1.92), (4.0, 2.0, 3.0))
    )
    page = orders.utility_finding({"plugin": level, "louo": level}, "made")
    assert [each.met for each in page.criteria[:2]] == [True, True]
    assert "0.1 rows, chosen after" in " ".join(page.text)
    claim = orders.utility_finding({"louo": again}, "made").criteria[1]
    assert claim.met is True
    assert "0.0% of the greatest utility on the way up, and to 75.0% along" in claim.result


def point(trade_off: float, cost: float, worth: float) -> Point:
    parts = Parts(worth, cost, 0.0, 0.0, worth - trade_off * cost)
    return Point(trade_off, trade_off, int(trade_off * 64), parts, "none")


@settings(max_examples=8)
@given(st.integers(0, 9), st.floats(0.1, 50))
def test_no_set_on_the_curve_is_better_than_the_best(seed: int, present: float) -> None:
    """Nor worse than a third of it at its own lambda; a knee is one that no other set beats."""
    subject = paper_subject(seed, "plugin")
    found = orders.curve_of(subject, present)
    for each in found.points:
        best = maximise(subject.objective(each.least), "exhaustive").value
        assert best / 3 <= each.parts.objective <= best + 1e-9
    assert found.points[-1].mask == 0
    if found.knee is not None:
        assert not beaten(found.points)[found.points.index(found.knee)]


def drawn(*points: Point) -> StudyFinding:
    """Fig. 8a of such a curve."""
    return orders.curve_finding({"plugin": orders.SubjectCurve(points, 1.0)}, "made")


def test_the_knee_is_found_and_compared() -> None:
    """Four fifths of the utility for a twentieth of the cost, at lambda 4; elsewhere; and none."""
    first, last = point(0.5, 1.0, 2.0), point(64.0, 0.0, 0.0)
    finding = drawn(first, point(4.0, 0.05, 1.6), last)
    assert [each.met for each in finding.criteria] == [True, True]
    (mark,) = finding.chart.panels[0].marks
    assert (mark.x, mark.y) == (0.05, 1.6)
    assert [each.met for each in drawn(first, point(50.0, 0.5, 1.9), last).criteria] == [False] * 2
    assert [each.met for each in drawn(first).criteria] == [False]
    # A set that another beats is drawn, but no part of the line.
    beaten_too = drawn(first, point(1.0, 0.5, 1.0), point(4.0, 0.05, 1.6))
    line, others = beaten_too.chart.panels[0].series
    assert (line.x, line.y) == ((0.05, 1.0), (1.6, 2.0))
    assert (others.x, others.y, others.names) == ((0.5,), (1.0,), ("λ = 1",))


@given(st.integers(0, 9), st.floats(0.1, 50))
def test_the_optimised_set_is_no_worse_than_a_heuristic(seed: int, trade_off: float) -> None:
    """On models where local search finds the best; each set's terms add up."""
    scores = comparison.heuristics(paper_subject(seed, "plugin"), trade_off)
    assert [each.name for each in scores] == ["optimised", "demographics", "topics"]
    assert scores[1].attributes == ("gender", "region")
    assert scores[2].attributes == ("int_sql", "dev_web")
    for each in scores:
        assert each.objective == pytest.approx(each.utility - each.cost, abs=1e-9)
        assert each.cost == pytest.approx(trade_off * each.identifiability, abs=1e-9)
        assert each.objective <= scores[0].objective + 1e-9


def test_groups_of_table_1_are_the_papers() -> None:
    """By its labels, whatever else the model has."""
    model = paper_model(0)
    attributes = tuple(
        Attribute(each.name, each.title, each.scope, ("unspecified", "no", "yes"))
        for each in sorted(TABLE_1, key=lambda each: each.scope)
    )
    found = {
        group.name: {attributes[each].name for each in members(group.mask)}
        for group in groups_of(replace(model, attributes=attributes))
    }
    assert found == {
        "demographics": {each.name for each in DEMOGRAPHIC},
        "topics": {each.name for each in TOPIC},
        "search statistics": {BY_LABEL[each].name for each in STATED["search statistics"].labels},
    }


def scored(name: str, utility: float, cost: float) -> comparison.Scored:
    """A set of which only what it brings and costs is known."""
    return comparison.Scored(name, (), utility, cost, cost, "made")


PAPERS = (
    scored("optimised", 1.4, 0.57),
    scored("search statistics", 0.8, 0.23),
    scored("demographics", 0.95, 0.65),
    scored("topics", 1.3, 3.03),
)


def test_the_papers_own_numbers_have_the_papers_shape() -> None:
    """Every claim of Fig. 11; and each has its number on the page."""
    page = comparison.heuristics_finding({"plugin": PAPERS}, 5.12, "made")
    assert [each.met for each in page.criteria] == [True] * 5
    said = " ".join(each.wanted for each in page.criteria)
    for number in ("0.83", "1.4", "0.57", "0.8", "0.3", "0.95", "-1.73"):
        assert number in said
    below = scored("search statistics", 0.8, 0.6)  # 0.2 bits: below demographics
    above = scored("topics", 1.3, 1.2)  # 0
    for scores, other in (  # of its own claim, or of the order of scores
        ((PAPERS[0], below, *PAPERS[2:]), {4}),
        ((*PAPERS[:3], above), {3}),
    ):
        claims = comparison.heuristics_finding({"plugin": scores}, 5.12, "made").criteria
        assert {n for n, each in enumerate(claims) if each.met is False} == other


def test_running_times_are_the_clocks() -> None:
    """A clock that ticks once per look gives every run one second."""
    ticks = count()
    found = comparison.running(paper_subject(0, "plugin"), 5.12, 0, lambda: float(next(ticks)))
    assert [*found.seconds.values()] == [1.0] * 4
    assert found.sets == sum(comb(len(NAMES), each) for each in range(1, len(NAMES) + 1))
    assert found.each == pytest.approx(1 / comparison.PROBES)
    assert found.years == pytest.approx(found.sets * found.each / comparison.YEAR)
    eager, lazy, local, lazy_local = found.evaluations.values()
    assert lazy <= eager == sum(range(1, len(NAMES) + 1))
    assert 0 < lazy_local <= local


@settings(max_examples=5)
@given(st.integers(0, 9), st.integers(0, 99))
def test_every_metric_is_measured_on_the_same_triples(seed: int, chance: int) -> None:
    """As many as were asked for, and the page calls the same what violates seldom."""
    shapes = comparison.cost_shapes(paper_model(seed), chance)
    assert [each.name for each in shapes] == ["C, maxprob", "C, log-maxprob", "C, k-anonymity"]
    assert all(each.violations.pairs == comparison.COST_TRIPLES for each in shapes)
    assert all(each.mean_gain > 0 for each in shapes)
    page = comparison.shape_finding(shapes, "made")
    seldom = [each.violations.share <= comparison.FEW for each in shapes]
    assert [each.met for each in page.criteria] == seldom
    whole = comparison.utility_shape(paper_subject(seed, "louo"), chance)
    assert (whole.name, whole.violations.pairs) == ("U, louo", comparison.UTILITY_TRIPLES)
    found = comparison.Shape("U, louo", Violations(60, 15, 0.1, 0.01), 0.2)
    assert "25% of the triples under louo" in comparison.shape_sentence([found])

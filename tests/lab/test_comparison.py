"""Figs. 11 to 14: sets that are compared, how long a search takes, shapes and samples."""

from dataclasses import replace
from itertools import count
from math import comb, log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.build.log_schema import BY_LABEL, DEMOGRAPHIC, TABLE_1, TOPIC
from agent.decision.cache import Cache
from agent.lab.paper import assumptions, comparison
from agent.lab.paper.assumptions import (
    DELTA,
    EXACT,
    SAMPLED,
    Estimates,
    cost_estimates,
    sampled_cost,
    sampled_utility,
    sampling_finding,
    utility_estimates,
)
from agent.lab.paper.orders import Along
from agent.lab.paper.subject import Options, groups_of
from agent.model.attributes import Attribute
from agent.tradeoff.study import Violations, sampling_error
from agent.tradeoff.tables import members
from tests.lab.worlds import NAMES, paper_model, paper_subject

MANY = 40_000
SURE = 1e-9  # the chance that a right estimate fails a test
EVERYTHING = (1 << len(NAMES)) - 1


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
    persons = [each for each in TABLE_1 if each.scope == "person"]
    others = [each for each in TABLE_1 if each.scope == "request"]
    attributes = tuple(
        Attribute(each.name, each.title, each.scope, ("unspecified", "no", "yes"))
        for each in (*persons, *others)
    )
    found = {
        group.name: {attributes[each].name for each in members(group.mask)}
        for group in groups_of(replace(model, attributes=attributes))
    }
    assert found == {
        "demographics": {each.name for each in DEMOGRAPHIC},
        "topics": {each.name for each in TOPIC},
        "search statistics": {
            BY_LABEL[each].name for each in comparison.STATED["search statistics"].labels
        },
    }


def scored(name: str, utility: float, cost: float) -> comparison.Scored:
    """Return a set of which only what it brings and costs is known."""
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
    assert [each.same for each in page.claims] == [True] * 5
    said = " ".join(each.published for each in page.claims)
    for each in ("0.83", "1.4", "0.57", "0.8", "0.3", "0.95", "-1.73"):
        assert each in said


@pytest.mark.parametrize(
    ("place", "changed", "other"),
    [
        (1, scored("search statistics", 0.8, 0.6), {4}),  # 0.2 bits: below demographics
        (3, scored("topics", 1.3, 1.2), {3}),  # above 0
    ],
)
def test_a_set_that_fares_otherwise_is_another_shape(
    place: int, changed: comparison.Scored, other: set[int]
) -> None:
    """Of its own claim, or of the order of scores."""
    scores = (*PAPERS[:place], changed, *PAPERS[place + 1 :])
    claims = comparison.heuristics_finding({"plugin": scores}, 5.12, "made").claims
    assert {n for n, each in enumerate(claims) if each.same is False} == other


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
    shapes = assumptions.cost_shapes(paper_model(seed), 7, chance)
    assert [each.name for each in shapes] == ["C, maxprob", "C, log-maxprob", "C, k-anonymity"]
    assert all(each.violations.pairs == assumptions.COST_TRIPLES for each in shapes)
    assert all(each.mean_gain > 0 for each in shapes)
    found = assumptions.shape_finding(shapes, "made")
    assert [each.same for each in found.claims] == [
        each.violations.share <= assumptions.FEW for each in shapes
    ]
    whole = assumptions.utility_shape(paper_subject(seed, "louo"), chance)
    assert (whole.name, whole.violations.pairs) == ("U, louo", assumptions.UTILITY_TRIPLES)


@given(st.integers(1, 500), st.data())
def test_the_interval_of_a_share_holds_it(many: int, data: st.DataObject) -> None:
    """It stays within 0 and 1, turns over with the share, and shrinks as more is seen."""
    some = data.draw(st.integers(0, many))
    low, high = assumptions.interval(some, many)
    assert 0 <= low <= some / many <= high <= 1
    other_low, other_high = assumptions.interval(many - some, many)
    assert (low, high) == pytest.approx((1 - other_high, 1 - other_low))
    wide_low, wide_high = assumptions.interval(4 * some, 4 * many)
    assert wide_high - wide_low < high - low
    assert assumptions.interval(0, 0) == (0.0, 1.0)


def test_what_violates_is_said_in_a_sentence() -> None:
    """As the run finds it, by estimator."""
    found = assumptions.Shape("U, louo", Violations(60, 15, 0.1, 0.01), 0.2)
    assert "25% of the triples under louo" in assumptions.shape_sentence([found])


@given(st.integers(0, 9), st.integers(0, 1000), st.integers(1, EVERYTHING))
def test_many_rows_estimate_utility_within_the_lemma(seed: int, chance: int, mask: int) -> None:
    """At a width that a right estimate leaves once in a billion times."""
    subject = paper_subject(seed, "plugin")
    sampled = sampled_utility(subject, Options(samples=MANY, seed=chance))(mask)
    width = sampling_error(MANY, SURE, log2(3), two_sided=True)
    assert sampled == pytest.approx(subject.utility_alone().utility(mask), abs=width)


@given(st.integers(0, 9), st.integers(0, 1000), st.integers(1, EVERYTHING >> 1))
def test_many_people_estimate_cost_within_the_lemma(seed: int, chance: int, mask: int) -> None:
    """The losses in [0, 1], over attributes of the person."""
    model, options = paper_model(seed), Options(samples=MANY, seed=chance, k=7)
    width = sampling_error(MANY, SURE, two_sided=True)
    for metric in ("maxprob", "k-anonymity"):
        exact = Cache().anonymity_set(model).identifiability(mask, metric, options.k)
        assert sampled_cost(model, options)(mask, metric) == pytest.approx(exact, abs=width)


def test_the_same_seed_draws_the_same_sample_of_a_set() -> None:
    """And another seed another one."""
    subject = paper_subject(3, "plugin")
    values = [sampled_utility(subject, Options(samples=50, seed=each))(7) for each in (1, 1, 2)]
    assert values[0] == values[1] != values[2]


def test_only_the_papers_estimator_is_sampled() -> None:
    """Lemma 4.2 says nothing of the other."""
    with pytest.raises(ValueError, match="plugin"):
        sampled_utility(paper_subject(3, "louo"), Options())


def test_the_estimates_go_along_the_orders() -> None:
    """Exact beside sampled, for every prefix; request attributes are not sampled for cost."""
    subject, options = paper_subject(3, "plugin"), Options(samples=2000, k=7)
    utility, costs = utility_estimates(subject, options), cost_estimates(subject.model, options)
    assert sorted(utility.values.names) == sorted(NAMES)
    for each in costs:
        assert sorted(each.values.names) == sorted(NAMES[:-1])
        assert np.mean([error <= each.error for error in each.errors]) >= 1 - DELTA
    page = sampling_finding((utility, *costs), options.samples, "made")
    assert [each.same for each in page.claims] == [True, True, True]


def test_an_estimate_that_is_off_is_called_so() -> None:
    """More often than the lemma allows."""
    off = Estimates("maxprob", Along(("a", "b"), {EXACT: (0.1, 0.2), SAMPLED: (0.5, 0.2)}), 0.05)
    assert [each.same for each in sampling_finding((off,), 10, "made").claims] == [False]

"""Figs. 11 and 12, and the check of shapes: sets that are compared, and how long a search takes."""

from dataclasses import replace
from itertools import count
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.build.log.attributes import BY_LABEL, DEMOGRAPHIC, TABLE_1, TOPIC
from agent.lab.paper import heuristics, running, shape
from agent.lab.paper.groups import STATISTICS, groups_of
from agent.lab.paper.places import Places
from agent.model.attributes import Attribute
from agent.tradeoff.sets import members
from tests.lab.paper.made import NAMES, made_model, made_subject


@given(st.integers(0, 9), st.floats(0.1, 50))
def test_the_optimised_set_is_no_worse_than_a_heuristic(seed: int, trade_off: float) -> None:
    """On models where local search finds the best; each set's terms add up."""
    scores = heuristics.heuristics(made_subject(seed, "plugin"), trade_off)
    assert [each.name for each in scores] == ["optimised", "demographics", "topics"]
    assert scores[1].attributes == ("gender", "region")
    assert scores[2].attributes == ("int_sql", "dev_web")
    for each in scores:
        assert each.objective == pytest.approx(each.utility - each.cost, abs=1e-9)
        assert each.cost == pytest.approx(trade_off * each.identifiability, abs=1e-9)
        assert each.objective <= scores[0].objective + 1e-9


def test_groups_of_table_1_are_the_papers() -> None:
    """By its labels, whatever else the model has."""
    model = made_model(0)
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
        "search statistics": {BY_LABEL[each].name for each in STATISTICS},
    }


def test_addresses_stand_beside_the_groups() -> None:
    """What they would bring and cost, without sensitivity."""
    places = Places({"city": 0.2, "zip code": 0.5}, {"city": 1.0, "zip code": 1.5})
    whole, half = heuristics.addresses(places, 4.0)
    assert (whole.name, whole.utility, whole.cost, whole.objective) == (
        "whole address",
        1.5,
        2,
        -0.5,
    )
    assert half.name == "half address"
    assert half.objective == pytest.approx(0.2)


def test_running_times_are_the_clocks() -> None:
    """A clock that ticks once per look gives every run one second."""
    ticks = count()
    found = running.running(made_subject(0, "plugin"), 5.12, 0, lambda: float(next(ticks)))
    assert found.seconds == (1.0,) * 4
    assert found.sets == sum(comb(len(NAMES), each) for each in range(1, len(NAMES) + 1))
    assert found.each == pytest.approx(1 / running.PROBES)
    assert found.years == pytest.approx(found.sets * found.each / running.YEAR)
    eager, lazy, local, lazy_local = found.evaluations
    assert lazy <= eager == sum(range(1, len(NAMES) + 1))
    assert 0 < lazy_local <= local


@given(st.integers(0, 9), st.integers(0, 99))
def test_every_metric_is_measured_on_the_same_triples(seed: int, chance: int) -> None:
    """As many as were asked for, and the page calls the same what violates seldom."""
    shapes = shape.cost_shapes(made_model(seed), 7, chance)
    assert [each.name for each in shapes] == ["C, maxprob", "C, log-maxprob", "C, k-anonymity"]
    assert all(each.violations.pairs == shape.COST_TRIPLES for each in shapes)
    assert all(each.mean_gain > 0 for each in shapes)
    found = shape.finding(shapes, "made")
    assert [each.same for each in found.claims] == [
        each.violations.share <= shape.FEW for each in shapes
    ]


def test_the_shape_of_utility_is_that_of_the_estimator() -> None:
    """As many triples as were asked for."""
    found = shape.utility_shape(made_subject(0, "louo"), 0)
    assert found.name == "U, louo"
    assert found.violations.pairs == shape.UTILITY_TRIPLES

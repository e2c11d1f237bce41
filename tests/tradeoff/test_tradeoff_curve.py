"""The trade-off curve and its knee."""

from dataclasses import replace
from itertools import pairwise
from math import hypot

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.tradeoff.objective import DisclosureObjective, Parts
from agent.tradeoff.search import ALGORITHMS, Algorithm, Proof, maximise
from agent.tradeoff.tables import subsets
from agent.tradeoff.tradeoff_curve import Point, beaten, curve, grid, knee, merged
from tests.tradeoff.worlds import ESTIMATORS, SHRINKAGES, known, rich_worlds, settings_for

ROUNDING = 1e-9
FEW = (0.0, 0.05, 0.3, 1.0, 2.0, 5.12, 30.0, 400.0)
FIGURES = st.integers(0, 8).map(float)


@st.composite
def priced(draw: st.DrawFn) -> DisclosureObjective:
    """Draw an objective with everything."""
    world = draw(rich_worlds())
    utility = world.utility(draw(st.sampled_from(ESTIMATORS)), draw(SHRINKAGES))
    crowd = world.anonymity_set(draw(known(world)))
    return DisclosureObjective(utility, crowd, draw(settings_for(world)))


def point(worth: float, cost: float) -> Point:
    """Return a point of which only these matter."""
    return Point(1.0, 1.0, 1, Parts(worth, cost, 0.0, 0.0, 0.0), "none")


CURVES = st.lists(st.builds(point, FIGURES, FIGURES), max_size=7)


@pytest.mark.parametrize("algorithm", ["exhaustive", "exact"])
@settings(max_examples=40)
@given(objective=priced())
def test_cost_and_worth_fall_where_every_set_is_the_best(
    objective: DisclosureObjective, algorithm: Algorithm
) -> None:
    """Weakly, with knowledge, guards, limits, any metric; the best by a look at every set."""
    points = curve(objective, FEW, algorithm)
    assert all(each.proof == "enumerated" for each in points)
    for before, after in pairwise(points):
        assert after.cost <= before.cost + ROUNDING
        assert after.worth <= before.worth + ROUNDING
    for each in points:
        for trade_off in (each.least, each.most):
            there = objective.at(trade_off)
            best = max(map(there.value, filter(there.feasible, subsets(there.candidates))))
            assert each.worth - trade_off * each.cost == pytest.approx(best, abs=ROUNDING)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@settings(max_examples=20)
@given(objective=priced())
def test_the_curve_holds_what_the_search_chooses(
    objective: DisclosureObjective, algorithm: Algorithm
) -> None:
    """At each lambda of the grid once, equal neighbours merged, whatever the search."""
    points = curve(objective, FEW, algorithm)
    assert points == curve(objective, FEW, algorithm)
    for trade_off in FEW:
        [found] = [each for each in points if each.least <= trade_off <= each.most]
        there = objective.at(trade_off)
        assert found.mask == maximise(there, algorithm).mask
        assert there.feasible(found.mask)
    assert (points[0].least, points[-1].most) == (FEW[0], FEW[-1])
    for before, after in pairwise(points):
        assert before.most < after.least
        assert before.mask != after.mask
    for each in points:
        assert each.parts == objective.at(each.least).parts(each.mask)


def test_a_merged_point_claims_the_weakest_proof() -> None:
    """What is proven at one lambda says nothing about the next."""
    proofs: list[Proof] = ["enumerated", "if-submodular", "none", "enumerated"]
    chosen = [replace(point(0, 0), least=i, most=i, proof=each) for i, each in enumerate(proofs)]
    for count, expected in ((1, "enumerated"), (2, "if-submodular"), (4, "none")):
        [found] = merged(chosen[:count])
        assert (found.least, found.most, found.proof) == (0, count - 1, expected)


@given(st.floats(0, 1e9))
def test_the_grid_has_the_present_lambda(present: float) -> None:
    """In ascending order, each once, beginning with 0."""
    found = grid(present)
    assert present in found
    assert list(found) == sorted(set(found))
    assert found[0] == 0
    assert {1 / 64, 1.0, 2.0, 4.0, 65536.0} <= set(found)


@given(CURVES)
def test_a_beaten_point_has_one_that_beats_it(points: list[Point]) -> None:
    """Of any points some are unbeaten, and each other one is beaten by one of those."""
    out = beaten(points)
    kept = [each for each, lost in zip(points, out, strict=True) if not lost]
    assert bool(kept) == bool(points)
    for each, lost in zip(points, out, strict=True):
        pairs = {(one.worth, one.cost) for one in kept if one.worth >= each.worth}
        assert lost == any(
            cost <= each.cost and (worth, cost) != (each.worth, each.cost) for worth, cost in pairs
        )


@given(CURVES)
def test_the_knee_is_farthest_from_the_chord(points: list[Point]) -> None:
    """By the distance to a line in the unit square; among points above it that nothing beats."""
    kept = [each for each, out in zip(points, beaten(points), strict=True) if not out]
    found = knee(points)
    ends = sorted({(each.cost, each.worth) for each in kept})
    if len(ends) < 3:
        assert found is None
        return
    (left, low), (right, high) = ends[0], ends[-1]

    def distance(each: Point) -> float:
        across, up = (each.cost - left) / (right - left), (each.worth - low) / (high - low)
        return (up - across) / hypot(1, 1)

    farthest = max(map(distance, kept))
    if farthest <= ROUNDING:
        assert found is None
    else:
        assert found is not None
        assert points[found] in kept
        assert distance(points[found]) == pytest.approx(farthest)


def test_an_example_of_a_knee() -> None:
    """Of two equally high ones the cheaper; a beaten point counts for nothing."""
    steps = [point(10, 10), point(3, 9), point(8, 4), point(6, 2), point(0, 0)]
    assert beaten(steps) == (False, True, False, False, False)
    assert knee(steps) == 3
    assert knee([point(2, 2), point(1, 1), point(0, 0)]) is None
    assert knee([]) is None

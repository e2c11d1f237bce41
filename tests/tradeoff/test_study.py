"""Studies: violations as they are defined, and the trade-off curve."""

from dataclasses import replace
from itertools import pairwise
from math import hypot

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.tradeoff.objective import DisclosureObjective, Parts
from agent.tradeoff.search import ALGORITHMS, Algorithm, Proof, maximise
from agent.tradeoff.study import random_pairs, submodularity, supermodularity
from agent.tradeoff.tables import subsets
from agent.tradeoff.tradeoff_curve import Point, beaten, curve, grid, knee, merged
from tests.tradeoff.worlds import Tabulated, all_pairs, objectives, submodular


@given(submodular())
def test_submodular_functions_have_no_violation(function: Tabulated) -> None:
    """And their negatives are supermodular."""
    pairs = all_pairs(function.everything)
    found = submodularity(function.value, pairs)
    assert (found.pairs, found.violating, found.largest, found.mean) == (len(pairs), 0, 0, 0)
    assert supermodularity(lambda mask: -function.value(mask), pairs).violating == 0


def test_the_square_of_the_size_is_supermodular_only() -> None:
    """Each attribute adds 2|B - A| more to B than to A."""
    pairs = all_pairs(0b111)
    found = submodularity(lambda mask: mask.bit_count() ** 2.0, pairs)
    assert found.pairs == found.violating == len(pairs) == 15
    assert found.share == 1.0
    assert found.largest == 4.0
    assert found.mean == pytest.approx((12 * 2 + 3 * 4) / 15)
    assert supermodularity(lambda mask: mask.bit_count() ** 2.0, pairs).violating == 0


@given(objectives(), st.integers(0, 6), st.integers(0, 2**32 - 1))
def test_random_pairs_are_pairs_of_feasible_sets(
    objective: DisclosureObjective, largest: int, seed: int
) -> None:
    """Only what a search may meet: A in B, V outside, all of B and V feasible, in the cap."""
    pairs = random_pairs(objective, 30, largest, np.random.default_rng(seed))
    assert len(pairs) <= 30
    for smaller, larger, attribute in pairs:
        reached = larger | 1 << attribute
        assert smaller & ~larger == 0
        assert smaller != larger
        assert not larger >> attribute & 1
        assert reached & ~objective.candidates == 0
        assert objective.feasible(larger)
        assert objective.feasible(reached)
        assert reached.bit_count() <= largest
    assert pairs == random_pairs(objective, 30, largest, np.random.default_rng(seed))


ROUNDING = 1e-9
FEW = (0.0, 0.05, 0.3, 1.0, 2.0, 5.12, 30.0, 400.0)
FIGURES = st.integers(0, 8).map(float)


def point(worth: float, cost: float) -> Point:
    """A point of which only these matter."""
    return Point(1.0, 1.0, 1, Parts(worth, cost, 0.0, 0.0, 0.0), "none")


CURVES = st.lists(st.builds(point, FIGURES, FIGURES), max_size=7)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@settings(max_examples=30)
@given(objective=objectives())
def test_the_curve_holds_what_the_search_chooses(
    objective: DisclosureObjective, algorithm: Algorithm
) -> None:
    """At each lambda of the grid once, equal neighbours merged, whatever the search.

    Cost and worth fall, weakly, where every set is the best of all.
    """
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
    if algorithm not in ("exhaustive", "exact"):
        return
    assert all(each.proof == "enumerated" for each in points)
    for before, after in pairwise(points):
        assert after.cost <= before.cost + ROUNDING
        assert after.worth <= before.worth + ROUNDING
    for each in points:
        for trade_off in (each.least, each.most):
            there = objective.at(trade_off)
            best = max(map(there.value, filter(there.feasible, subsets(there.candidates))))
            assert each.worth - trade_off * each.cost == pytest.approx(best, abs=ROUNDING)


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
    assert {1 / 8, 1.0, 2.0, 4.0, 65536.0} <= set(found)


@given(CURVES)
def test_a_beaten_point_has_one_that_beats_it(points: list[Point]) -> None:
    """Of any points some are unbeaten, and each other one is beaten by one of those."""
    out = beaten(points)
    unbeaten = [each for each, lost in zip(points, out, strict=True) if not lost]
    assert bool(unbeaten) == bool(points)
    for each, lost in zip(points, out, strict=True):
        pairs = {(one.worth, one.cost) for one in unbeaten if one.worth >= each.worth}
        assert lost == any(
            cost <= each.cost and (worth, cost) != (each.worth, each.cost) for worth, cost in pairs
        )


@given(CURVES)
def test_the_knee_is_farthest_from_the_chord(points: list[Point]) -> None:
    """By the distance to a line in the unit square; among points above it that nothing beats."""
    unbeaten = [each for each, out in zip(points, beaten(points), strict=True) if not out]
    found = knee(points)
    ends = sorted({(each.cost, each.worth) for each in unbeaten})
    if len(ends) < 3:
        assert found is None
        return
    (left, low), (right, high) = ends[0], ends[-1]

    def distance(each: Point) -> float:
        across, up = (each.cost - left) / (right - left), (each.worth - low) / (high - low)
        return (up - across) / hypot(1, 1)

    farthest = max(map(distance, unbeaten))
    if farthest <= ROUNDING:
        assert found is None
    else:
        assert found is not None
        assert points[found] in unbeaten
        assert distance(points[found]) == pytest.approx(farthest)

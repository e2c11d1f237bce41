"""Ratios at equal utility."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.lab.attack.criteria import FrontierLine, ratios
from agent.lab.attack.outcome import Resamples

PEOPLE = 40
RESAMPLES = Resamples(PEOPLE, 1)


def line(seed: int, points: int = 4, success: float = 0.1) -> FrontierLine:
    """Return points that bring the more the more they give away, of people who differ."""
    draw = np.random.default_rng(seed)
    level = np.linspace(1, 2, points)[:, None]
    utility = level + draw.normal(0, 0.1, (points, PEOPLE))
    return FrontierLine(utility, success * np.exp(level + draw.normal(0, 0.3, (points, PEOPLE))))


def flat(utility: list[float], success: list[float]) -> FrontierLine:
    """Return points of people who are all alike."""
    everybody = np.ones(PEOPLE)
    return FrontierLine(np.outer(utility, everybody), np.outer(success, everybody))


@settings(max_examples=8)
@given(st.integers(0, 99), st.floats(0.01, 100))
def test_a_multiple_is_found_everywhere(seed: int, times: float) -> None:
    """A line that gives away so many times as much does so at each utility, surely."""
    one = line(seed)
    found = ratios(FrontierLine(one.utility, times * one.success), one, RESAMPLES)
    assert len(found) >= 4
    for each in found:
        assert each.ratio == pytest.approx([times] * 3)


@settings(max_examples=8)
@given(st.integers(0, 99), st.integers(100, 199))
def test_a_ratio_turned_around_is_its_inverse(seed: int, other: int) -> None:
    """Its interval too."""
    one, two = line(seed), line(other, 6)
    there, back = ratios(one, two, RESAMPLES), ratios(two, one, RESAMPLES)
    for each, its in zip(there, back, strict=True):
        assert each.utility == its.utility
        inverse = (1 / its.ratio.mean, 1 / its.ratio.high, 1 / its.ratio.low)
        assert each.ratio == pytest.approx(inverse)


def test_no_overlap_no_ratio() -> None:
    """Utilities that do not meet are not compared."""
    low, high = flat([1, 2], [0.1, 0.2]), flat([3, 4], [0.1, 0.2])
    assert ratios(low, high, RESAMPLES) == ()


def test_between_points_the_logarithm_is_linear() -> None:
    """Halfway from 1 to 1/100 is 1/10."""
    (found,) = ratios(flat([1.5], [0.05]), flat([1, 2], [0.01, 1]), RESAMPLES)
    assert found.ratio == pytest.approx([0.5] * 3)


def test_lines_are_compared_at_every_point_of_both() -> None:
    """Of those that both reach, the order of the points does not matter."""
    one, other = flat([3, 1], [0.3, 0.1]), flat([2, 5], [0.2, 0.5])
    assert [each.utility for each in ratios(one, other, RESAMPLES)] == [2, 3]

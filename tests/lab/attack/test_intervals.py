"""Intervals: of the same people for everything."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.lab.attack.outcome import DRAWS, Resamples, quantile

VALUES = st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=30).map(np.array)
COUNTS = st.lists(st.integers(1, 99), min_size=1, max_size=30).map(np.array)


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


def test_nineteen_of_twenty_intervals_hold_the_truth() -> None:
    """Of the mean of 100 people, over 200 draws of them."""
    draw = np.random.default_rng(3)
    held = 0
    for seed in range(200):
        _, low, high = Resamples(100, seed).mean(draw.exponential(size=100))
        held += low <= 1 <= high
    assert 0.88 <= held / 200 <= 0.98


def test_means_keep_what_else_there_is() -> None:
    """A line per person, as wide as it likes."""
    values = np.arange(24).reshape(4, 3, 2)
    assert Resamples(4, 1).means(values).shape == (DRAWS, 3, 2)

"""Draws whose shares come out as published."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from agent.lab.synth.world import apportioned, by_rank, chances, drawn, top_share, within

WEIGHTS = arrays(np.float64, st.integers(1, 20), elements=st.floats(0.01, 100))
SCORES = arrays(np.float64, st.integers(1, 60), elements=st.floats(-5, 5))
SHARES = st.lists(st.floats(0.01, 1), min_size=1, max_size=5)
SEEDS = st.integers(0, 2**32)


@given(WEIGHTS, st.integers(0, 500), st.integers(0, 5))
def test_all_is_apportioned_in_proportion(
    weights: NDArray[np.float64], spare: int, least: int
) -> None:
    """The parts add up, each to within one of its share above the least."""
    total = spare + least * len(weights)
    parts = apportioned(weights, total, least)
    assert parts.sum() == total
    assert np.all(np.abs(parts - least - weights / weights.sum() * spare) < 1 + 1e-9)
    assert np.all(parts >= least)


@given(SCORES, SHARES)
def test_labels_follow_the_scores(scores: NDArray[np.float64], shares: list[float]) -> None:
    """Each label is as common as it should be, and no lower one has a higher score."""
    labels = by_rank(scores, shares)
    assert np.array_equal(
        np.bincount(labels, minlength=len(shares)), apportioned(shares, len(scores))
    )
    for label in range(1, len(shares)):
        below, above = scores[labels < label], scores[labels >= label]
        assert below.max(initial=-np.inf) <= above.min(initial=np.inf)


@given(SCORES, st.floats(0, 1), SEEDS)
def test_the_highest_are_chosen(scores: NDArray[np.float64], share: float, seed: int) -> None:
    """As many as wanted, as far as there are so many, and none above them is left out."""
    among = np.random.default_rng(seed).random(len(scores)) < 0.6
    chosen = top_share(scores, share, among)
    assert chosen.sum() == min(round(share * len(scores)), among.sum())
    assert not np.any(chosen & ~among)
    left = scores[among & ~chosen]
    assert scores[chosen].min(initial=np.inf) >= left.max(initial=-np.inf)


@given(SCORES, st.floats(0.01, 0.99))
def test_chances_have_the_mean_and_keep_the_order(
    logits: NDArray[np.float64], share: float
) -> None:
    """Who was likelier stays so."""
    found = chances(logits, share)
    assert found.mean() == pytest.approx(share, abs=1e-9)
    order = np.argsort(logits)
    assert np.all(np.diff(found[order]) >= 0)


@given(SEEDS, st.integers(1, 6))
def test_what_cannot_be_is_not_drawn(seed: int, columns: int) -> None:
    """A column of no weight never comes, and the others as often as they weigh."""
    generator = np.random.default_rng(seed)
    logits = np.tile(np.concatenate([[-np.inf], np.zeros(columns)]), (2_000, 1))
    counts = np.bincount(drawn(logits, generator), minlength=columns + 1)
    assert counts[0] == 0
    assert np.all(np.abs(counts[1:] / 2_000 - 1 / columns) < 0.08)


@given(SEEDS, st.lists(st.integers(1, 5), min_size=1, max_size=20))
def test_everybody_draws_of_their_own(seed: int, items: list[int]) -> None:
    """Also where the weights differ by orders of magnitude."""
    generator = np.random.default_rng(seed)
    owner = np.repeat(np.arange(len(items)), items)
    weights = np.exp(generator.normal(scale=5, size=len(owner)))
    of = generator.integers(len(items), size=200)
    assert np.array_equal(owner[within(weights, owner, of, generator)], of)

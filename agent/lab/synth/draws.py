"""Chance with a fixed outcome: draws whose shares come out as published, whatever the seed."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Flags = NDArray[np.bool_]

_HALVINGS, _WIDEST = 60, 40.0


class Arrays:
    """A value made of arrays, which nobody can write to once it is made."""

    __slots__ = ()

    def __post_init__(self) -> None:
        """Close every array."""
        for each in fields(self):  # type: ignore[arg-type]
            getattr(self, each.name).setflags(write=False)


def apportioned(weights: Floats | Sequence[float], total: int, least: int = 0) -> Ints:
    """Return whole numbers, float64 ``weights`` > 0 in proportion, that add up to ``total``.

    Each is ``least`` or more; what is left by rounding goes to the largest remainders.
    """
    shares = np.asarray(weights, dtype=np.float64)
    exact = shares / shares.sum() * (total - least * len(shares))
    whole = np.floor(exact).astype(np.int64)
    short = total - least * len(shares) - int(whole.sum())
    whole[np.argsort(whole - exact, kind="stable")[:short]] += 1
    found: Ints = whole + least
    return found


def by_rank(scores: Floats, shares: Sequence[float]) -> Ints:
    """Return a label per score: 0 for the lowest ones, so many as ``shares`` says, and so on."""
    counts = apportioned(shares, len(scores))
    labels = np.empty(len(scores), dtype=np.int64)
    labels[np.argsort(scores, kind="stable")] = np.repeat(np.arange(len(counts)), counts)
    return labels


def top_share(scores: Floats, share: float, among: Flags) -> Flags:
    """Return who has the highest scores of those ``among``, so many as are ``share`` of all."""
    order = np.argsort(np.where(among, -scores, np.inf), kind="stable")
    chosen = np.zeros(len(scores), dtype=np.bool_)
    chosen[order[: min(round(share * len(scores)), int(among.sum()))]] = True
    return chosen


def chances(logits: Floats, share: float) -> Floats:
    """Return probabilities whose mean is ``share``: the logistic of logits, all moved alike."""
    low, high = -_WIDEST, _WIDEST
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if _logistic(logits + middle).mean() < share:
            low = middle
        else:
            high = middle
    return _logistic(logits + low)


def drawn(logits: Floats, generator: np.random.Generator) -> Ints:
    """Return one column per row of (rows, columns) logits, drawn by their softmax."""
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    sums = weights.cumsum(axis=1)
    points = generator.random((len(logits), 1)) * sums[:, -1:]
    column: Ints = np.minimum((sums <= points).sum(axis=1), logits.shape[1] - 1)
    return column


def within(weights: Floats, owner: Ints, of: Ints, generator: np.random.Generator) -> Ints:
    """Return for each owner in ``of`` one of their own items, drawn by ``weights`` > 0.

    ``owner``: of each item, ascending; everybody in ``of`` has an item.
    """
    sums = np.concatenate([[0.0], weights.cumsum()])
    first, last = (np.searchsorted(owner, of, side) for side in ("left", "right"))
    points = sums[first] + generator.random(len(of)) * (sums[last] - sums[first])
    found: Ints = np.clip(np.searchsorted(sums, points, "right") - 1, first, last - 1)
    return found


def _logistic(logits: Floats) -> Floats:
    return 1 / (1 + np.exp(-logits))

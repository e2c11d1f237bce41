"""Leave-one-user-out scores of the rows of a query, for one set of request attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from agent.tradeoff.sets import singleton

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from agent.tradeoff.cells import Counts
    from agent.tradeoff.layout import Layout

    Indexes = NDArray[np.intp]
    Floats = NDArray[np.float64]

NUDGE_BITS = 50  # rows times 2**-50: more than rounding takes from a count, less than shows
SCORE_BITS = 6  # a row's score is below 2**6 bits


class Scoring:
    """Mean scores log2 P-u(x|g)/p0-u(x) of the rows of a layout.

    P-u(x|g) = (c(g,x) - n_u(g,x) + beta p0-u(x)) / (c(g) - n_u(g) + beta). Source: DESIGN.md 2.1.
    Each score is rounded to a multiple of a power of two, so small that their sum is exact: it
    is the same whatever order the cells are in, and by which path they were reached.
    """

    def __init__(self, layout: Layout, shrinkage: float) -> None:
        """Score the rows of a layout; ``shrinkage``: beta, in rows."""
        self.layout, self._shrinkage = layout, shrinkage
        kinds = layout.kinds
        self._total = len(kinds.of_row)
        nudge = 2.0 ** (self._total.bit_length() - NUDGE_BITS)
        # What the formula adds to the counts of a pair and of a group, one per kind.
        self._pair_pull = _never_whole(shrinkage * layout.prior - kinds.same, nudge)
        self._group_pull = _never_whole(shrinkage - kinds.own.astype(np.float64), nudge)
        self._quantum = 1.5 * 2.0 ** (SCORE_BITS + self._total.bit_length())
        rows_of_kind = np.bincount(kinds.of_row, minlength=len(kinds.intent))
        self.limit = float(-(np.log2(layout.prior) * rows_of_kind).sum()) / self._total
        """Bits that no utility exceeds: the entropy of the prior, -mean log2 p0-u(x)."""

    def value(self, mask: int) -> float:
        """Return the mean score in bits when a set that is not empty divides the rows."""
        merged = self.layout.merged(mask)
        if merged is not None:
            return self._means(merged)[0]
        last = self.layout.divisions.last_step(mask)
        return self.extensions(mask & ~singleton(last), [last])[0]

    def extensions(self, mask: int, attributes: Sequence[int]) -> list[float]:
        """Return the mean score in bits for ``mask`` with each of these attributes added."""
        batches = self.layout.beside(mask, attributes)
        return [score for counts in batches for score in self._means(counts)]

    def ceiling(self, mask: int) -> float:
        """Return a bound, in bits, on the mean score for every subset of ``mask``.

        The empirical conditional entropy H(X|A) bounds the scores of single rows (Gibbs). Where
        a user has several rows the scores of a group can sum to Z > 1; log2 Z is at most
        log2 (c - 1 + beta p) / (c - n + beta), with n the most rows of one user and p the sum
        over x of the largest p0-u(x). That is added.
        """
        cells = self.layout.divisions[mask]
        pairs = np.add.reduceat(np.bincount(cells.row), cells.pairs)
        sizes = np.add.reduceat(pairs, cells.groups)
        entropy = (sizes * np.log2(sizes)).sum() - (pairs * np.log2(pairs)).sum()
        excess = (sizes * self._excess(sizes)).sum()
        return self.limit + float(excess - entropy) / self._total

    def _excess(self, sizes: Indexes) -> Floats:
        """Return the bits per row by which groups of these sizes can beat their entropy."""
        kinds = self.layout.kinds
        most = int(kinds.own_total.max())
        peaks = np.zeros(int(kinds.intent.max()) + 1)
        np.maximum.at(peaks, kinds.intent, self.layout.prior)
        spread = max(0.0, most - 1 + self._shrinkage * (float(peaks.sum()) - 1))
        return np.log2(1 + spread / (np.maximum(sizes, most) - most + self._shrinkage))

    def _means(self, counts: Counts) -> list[float]:
        """Return the mean score in bits for each attribute that was counted."""
        scores = counts.pair + self._pair_pull.take(counts.kind)
        others = counts.group + self._group_pull.take(counts.kind)
        others *= self.layout.prior.take(counts.kind)
        scores /= others
        np.log2(scores, out=scores)
        scores += self._quantum
        scores -= self._quantum
        scores *= counts.rows
        means: list[float] = (np.add.reduceat(scores, counts.first) / self._total).tolist()
        return means


def _never_whole(pulls: Floats, nudge: float) -> Floats:
    """Nudge whole numbers, by less than shows in a score: with a count they must not give 0."""
    return np.where(pulls == np.rint(pulls), pulls + nudge, pulls)

"""Leave-one-user-out scores of the rows of a query, for one set of request attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from agent.tradeoff.cells import Cells, Counts, count, merge, split, undivided
from agent.tradeoff.divisions import Divisions
from agent.tradeoff.kinds import kinds_of
from agent.tradeoff.sets import singleton

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from agent.tradeoff.columns import Columns
    from agent.tradeoff.tables import QueryRows

    Indexes = NDArray[np.intp]
    Floats = NDArray[np.float64]

BATCH = 1 << 13  # cells, times attributes, counted in one go: what a cache holds
KEPT = 8  # divisions remembered, 8 bytes a row each
NUDGE_BITS = 50  # rows times 2**-50: more than rounding takes from a count, less than shows
SCORE_BITS = 6  # a row's score is below 2**6 bits


class _Division(NamedTuple):
    """Cells, and what the formula adds for the kind of each (float64, one per cell)."""

    cells: Cells
    pair_pull: Floats  # beta p0-u(x) - n_u(g,x)
    group_pull: Floats  # beta - n_u(g)
    prior: Floats  # p0-u(x)


class Scoring:
    """Scores log2 P-u(x|g)/p0-u(x) of the rows, and the cells they are computed in.

    P-u(x|g) = (c(g,x) - n_u(g,x) + beta p0-u(x)) / (c(g) - n_u(g) + beta), with
    p0-u(x) = (c(x) - n_u(x) + 1/2) / (M - n_u + K/2). Source: DESIGN.md 2.1.
    Each score is rounded to a multiple of a power of two, so small that their sum is exact: it
    is the same whatever order the cells are in, and by which path they were reached.
    """

    def __init__(self, rows: QueryRows, columns: Columns, request: int, shrinkage: float) -> None:
        """Prepare the rows of a query; ``request``: the request attributes that divide them."""
        self._columns, self._shrinkage = columns, shrinkage
        self._kinds = kinds = kinds_of(rows, request)
        self._total = len(rows.intent)
        frequency = np.bincount(rows.intent, minlength=rows.intents)
        others = frequency[kinds.intent] - kinds.same_total
        self._prior = (others + 0.5) / (self._total - kinds.own_total + rows.intents / 2)
        nudge = 2.0 ** (self._total.bit_length() - NUDGE_BITS)
        self._pair_pull = _never_whole(shrinkage * self._prior - kinds.same, nudge)
        self._group_pull = _never_whole(shrinkage - kinds.own.astype(np.float64), nudge)
        self._quantum = 1.5 * 2.0 ** (SCORE_BITS + self._total.bit_length())
        self._persons = (1 << rows.persons) - 1
        self.divisions = Divisions(self._with_pulls(undivided(kinds)), self._divide, KEPT)
        rows_of_kind = np.bincount(kinds.of_row, minlength=len(kinds.intent))
        self.limit = float(-(np.log2(self._prior) * rows_of_kind).sum()) / self._total
        """Bits that no utility exceeds: the entropy of the prior, -mean log2 p0-u(x)."""

    def value(self, mask: int) -> float:
        """Return the mean score in bits when a set that is not empty divides the rows.

        One person attribute less than the focus only merges groups. (A request attribute less
        would also change what belongs together when a user is left out.)
        """
        focus = self.divisions.focus
        if self.divisions.merges_focus(mask) and not (focus ^ mask) & ~self._persons:
            finer = self.divisions[focus]
            groups = self._columns.groups(finer.cells.sample, mask)
            sums = self._sums(finer, merge(finer.cells, self._kinds, groups))
            return float(sums.sum()) / self._total
        last = self.divisions.last_step(mask)
        return self.extensions(mask & ~singleton(last), [last])[0]

    def extensions(self, mask: int, attributes: Sequence[int]) -> list[float]:
        """Return the mean score in bits for ``mask`` with each of these attributes added."""
        division = self.divisions[mask]
        batch = max(1, BATCH // len(division.cells.kind))
        scores: list[float] = []
        for first in range(0, len(attributes), batch):
            columns = [self._columns.column(each) for each in attributes[first : first + batch]]
            sums = self._sums(division, count(division.cells, columns))
            starts = np.cumsum([0, *(column.card for column in columns[:-1])])
            scores.extend((np.add.reduceat(sums, starts) / self._total).tolist())
        return scores

    def _divide(self, parent: _Division, attribute: int) -> _Division:
        column = self._columns.column(attribute)
        return self._with_pulls(split(parent.cells, self._kinds, column))

    def _with_pulls(self, cells: Cells) -> _Division:
        kind = cells.kind
        return _Division(cells, self._pair_pull[kind], self._group_pull[kind], self._prior[kind])

    def ceiling(self, mask: int) -> float:
        """Return a bound, in bits, on the mean score for every subset of ``mask``.

        The empirical conditional entropy H(X|A) bounds the scores of single rows (Gibbs). Where
        a user has several rows the scores of a group can sum to Z > 1; log2 Z is at most
        log2 (c - 1 + beta p) / (c - n + beta), with n the most rows of one user and p the sum
        over x of the largest p0-u(x). That is added.
        """
        cells = self.divisions[mask].cells
        pairs = np.add.reduceat(np.bincount(cells.row), cells.pairs)
        sizes = np.add.reduceat(pairs, cells.groups)
        entropy = (sizes * np.log2(sizes)).sum() - (pairs * np.log2(pairs)).sum()
        excess = (sizes * self._excess(sizes)).sum()
        return self.limit + float(excess - entropy) / self._total

    def _excess(self, sizes: Indexes) -> NDArray[np.float64]:
        """Return the bits per row by which groups of these sizes can beat their entropy."""
        most = int(self._kinds.own_total.max())
        peaks = np.zeros(int(self._kinds.intent.max()) + 1)
        np.maximum.at(peaks, self._kinds.intent, self._prior)
        spread = max(0.0, most - 1 + self._shrinkage * (float(peaks.sum()) - 1))
        return np.log2(1 + spread / (np.maximum(sizes, most) - most + self._shrinkage))

    def _sums(self, division: _Division, counts: Counts) -> Floats:
        """Return the sum of the scores, in bits, of the rows with each value in ``counts``."""
        scores = counts.pair + division.pair_pull
        others = counts.group + division.group_pull
        others *= division.prior
        scores /= others
        np.abs(scores, out=scores)  # negative only where there is no row to be scored
        np.log2(scores, out=scores)
        scores += self._quantum
        scores -= self._quantum
        scores *= counts.rows
        sums: Floats = scores.sum(axis=1)
        return sums


def _never_whole(pulls: Floats, nudge: float) -> Floats:
    """Nudge whole numbers, by less than shows in a score: with a count they must not give 0."""
    return np.where(pulls == np.rint(pulls), pulls + nudge, pulls)

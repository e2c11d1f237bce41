"""The plug-in utility of the paper: entropy of smoothed counts (2.1 and 7.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from agent.tradeoff.columns import row_columns
from agent.tradeoff.partitions import Partitions
from agent.tradeoff.sets import singleton

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from agent.tradeoff.tables import QueryRows

    Floats = NDArray[np.float64]


class PlugIn:
    """U(A) = H(P(.|0)) - sum over groups g of c(g)/M H(P(.|g)), as a set function.

    P(x|g) = (c(g,x) + beta p0(x)) / (c(g) + beta) with p0(x) = (c(x) + 1/2) / (M + K/2).
    Non-negative gains (and submodular gains under Thm 3.1) only at beta = 0.
    """

    def __init__(self, rows: QueryRows, groups: Partitions, shrinkage: float) -> None:
        """Take a query's rows, and their partitions.

        ``shrinkage`` is beta >= 0, in rows; ValueError otherwise.
        """
        if not shrinkage >= 0:
            message = f"a shrinkage is not negative: {shrinkage}"
            raise ValueError(message)
        self._rows, self._shrinkage = rows, shrinkage
        self.monotone = shrinkage == 0
        self._groups = groups
        counts = np.bincount(rows.intent, minlength=rows.intents)
        prior = (counts + 0.5) / (len(rows.intent) + rows.intents / 2)
        self._pull = shrinkage * prior
        self._prior_entropy = float(_entropies(prior[np.newaxis, :])[0])
        self.limit = float(_entropies((counts + self._pull)[np.newaxis, :])[0])

    @classmethod
    def of(cls, rows: QueryRows, cards: Sequence[int], shrinkage: float) -> PlugIn:
        """Return the utility for the rows of one query."""
        return cls(rows, Partitions(row_columns(rows, cards)), shrinkage)

    def at(self, shrinkage: float) -> PlugIn:
        """Return the same rows' utility at another shrinkage; the partitions are shared."""
        return PlugIn(self._rows, self._groups, shrinkage)

    def value(self, mask: int) -> float:
        """Return U(A) in bits."""
        if not mask:
            return 0.0
        # summed in the order of the rows: the same for every path that leads to the set
        return self.limit - float(self._entropy_left(mask).mean())

    def removed(self, mask: int, rows: NDArray[np.intp]) -> Floats:
        """Return the bits that the answer to A removes for each of these rows; U is their mean.

        A row is scored against the counts of all rows: so may a sample be (paper 4.2, 7.1).
        """
        return self.limit - self._entropy_left(mask)[rows]

    def extensions(self, mask: int, attributes: Sequence[int]) -> list[float]:
        """Return U(A u {V}) in bits for each V in ``attributes``, none of them in A."""
        return [self.value(mask | singleton(each)) for each in attributes]

    def ceiling(self, mask: int) -> float:
        """Return a bound, in bits, on U of every subset of A; it needs no submodularity.

        Smoothing mixes a group's distribution with the prior, and entropy is concave: no group
        has less than the smaller of its empirical entropy and the prior's, and min(., const)
        of a concave function only falls as groups are refined.
        """
        counts, labels = self._counts(mask)
        entropies = _entropies(counts)
        if self._shrinkage > 0:
            entropies = np.minimum(entropies, self._prior_entropy)
        return self.limit - float(entropies[labels].mean())

    def focus(self, mask: int) -> None:
        """Make the neighbours of ``mask`` quick to evaluate; the answers stay the same."""
        self._groups.dense.focus = mask

    def forget(self) -> None:
        """Drop remembered partitions; the answers stay the same."""
        self._groups.dense.forget()

    def _entropy_left(self, mask: int) -> Floats:
        """Return H(P(.|g)) of each row's group, in bits."""
        counts, labels = self._counts(mask)
        return _entropies(counts + self._pull)[labels]

    def _counts(self, mask: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return c(g, x), shape (groups, K), and each row's group."""
        labels, groups = self._groups.dense[mask]
        cells = labels * self._rows.intents + self._rows.intent
        counts = np.bincount(cells, minlength=groups * self._rows.intents)
        return counts.reshape(groups, self._rows.intents), labels


def _entropies(masses: NDArray[np.number]) -> Floats:
    """Return the entropy, in bits, of each row of masses once it is divided by its sum."""
    share = masses / masses.sum(axis=1, keepdims=True)
    logs = np.log2(share, out=np.zeros_like(share), where=share > 0)
    entropies: Floats = -(share * logs).sum(axis=1)
    return entropies

"""Figures of sets that were computed before: of one attribute, of two, and of the sets near some.

A search asks for one set with each other attribute added, so figures are kept by rows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from agent.tradeoff.sets import members, singleton, union
from agent.tradeoff.tables import Floats, Indexes


class Stored:
    """A figure of some sets, such as U in bits, at hand without a count."""

    def __init__(
        self,
        singles: Floats | None = None,
        both: Floats | None = None,
        rows: Mapping[int, Floats] | None = None,
    ) -> None:
        """Take the figure of each attribute, of two, and of sets with each attribute added.

        ``singles``: float64, shape (n,); ``both``: float64, shape (n(n-1)/2,), in the order of
        ``sets.pairs``; ``rows``: by set A, float64, shape (n,), the figure of A u {V} for each V,
        that of A where V is in A. None for what is not known.
        """
        self.singles, self.both = singles, both
        self.rows = dict(rows or {})
        """By set, what is known beside pairs."""

    @cached_property
    def matrix(self) -> Floats | None:
        """The figure of two attributes, symmetric, that of one on the diagonal; None if unknown."""
        if self.singles is None or self.both is None:
            return None
        return square(self.singles, self.both)

    def row(self, mask: int) -> Floats | None:
        """Return the figure of A u {V} for each V, float64, shape (n,); None where it is not known.

        It is not to be written to.
        """
        if not mask and self.singles is not None:
            return self.singles
        if mask and not mask & (mask - 1) and self.matrix is not None:
            found: Floats = self.matrix[mask.bit_length() - 1]
            return found
        return self.rows.get(mask)

    def get(self, mask: int) -> float | None:
        """Return the figure of a set that is not empty, None where it is not known."""
        if mask in self.rows:
            return float(self.rows[mask][mask.bit_length() - 1])
        for each in members(mask):
            row = Stored.row(self, mask ^ singleton(each))  # one that is known already
            if row is not None:
                return float(row[each])
        return None


@dataclass(slots=True)
class Row:
    """A figure of a set with each attribute added, NaN where not known; ``done``: where it is."""

    figures: Floats
    done: int = 0

    def add(self, attributes: Sequence[int], figures: Sequence[float]) -> None:
        """Take the figure of the set with each of these attributes added."""
        self.figures[[*attributes]] = figures
        self.done |= union(attributes)


@cache
def above_diagonal(count: int) -> tuple[Indexes, Indexes]:
    """Return where in a matrix two of ``count`` attributes are, in the order of ``sets.pairs``."""
    rows, columns = np.triu_indices(count, 1)
    return rows, columns


def square(singles: Floats, both: Floats) -> Floats:
    """Return figures of one and two attributes as a symmetric matrix, shape (n, n)."""
    return np.concatenate([singles, both]).take(places(len(singles)))


@cache
def places(count: int) -> Indexes:
    """Return where figures of one and two of ``count`` attributes are in their matrix."""
    matrix = np.diag(np.arange(count))
    upper = above_diagonal(count)
    matrix[upper] = matrix.T[upper] = count + np.arange(len(upper[0]))
    return matrix


def weighted(parts: Sequence[Stored], weights: Sequence[float]) -> Stored:
    """Return the weighted sum of figures of the sets that all of these know."""

    def total(figures: Sequence[Floats | None]) -> Floats | None:
        known = [each for each in figures if each is not None]
        if len(known) < len(figures):
            return None
        whole = known[0] * weights[0]
        for each, weight in zip(known[1:], weights[1:], strict=True):
            whole += each * weight
        return whole

    found = Stored(total([each.singles for each in parts]), total([each.both for each in parts]))
    for mask in set[int].intersection(*({*each.rows} for each in parts)):
        row = total([each.rows[mask] for each in parts])
        if row is not None:
            found.rows[mask] = row
    return found

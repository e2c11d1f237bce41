"""Utility: bits of click entropy that a set of attributes removes for a query (paper 2.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np

from agent.tradeoff.louo import LeaveOneUserOut
from agent.tradeoff.plugin import PlugIn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from agent.tradeoff.tables import QueryRows

Estimator = Literal["louo", "plugin"]


class Utility(Protocol):
    """A utility as a set function, in bits; U of the empty set is 0."""

    @property
    def limit(self) -> float:
        """No set has more, in bits."""
        ...

    @property
    def monotone(self) -> bool:
        """Whether a superset never has less (then Thm 4.5 holds at every set)."""
        ...

    def value(self, mask: int) -> float:
        """Return U(A) in bits."""
        ...

    def extensions(self, mask: int, attributes: Sequence[int]) -> list[float]:
        """Return U(A u {V}) in bits for each V in ``attributes``, none of them in A."""
        ...

    def ceiling(self, mask: int) -> float:
        """Return a bound, in bits, on U of every subset of A; it needs no submodularity."""
        ...

    def focus(self, mask: int) -> None:
        """Make the neighbours of ``mask`` quick to evaluate; the answers stay the same."""
        ...

    def forget(self) -> None:
        """Drop remembered partitions; the answers stay the same."""
        ...


class QueryUtility(Utility, Protocol):
    """The utility for one query."""

    def at(self, shrinkage: float) -> QueryUtility:
        """Return the same rows' utility at another shrinkage; what is counted is shared."""
        ...


def query_utility(
    rows: QueryRows, cards: Sequence[int], estimator: Estimator, shrinkage: float
) -> QueryUtility:
    """Return the utility for one query.

    ``cards``: how many values each attribute has; ``shrinkage``: the weight beta >= 0 of the
    prior, in rows (above 0 for ``louo``). Source: paper 2.1 and 7.1; DESIGN.md 2.1.
    """
    if estimator == "louo":
        return LeaveOneUserOut.of(rows, cards, shrinkage)
    return PlugIn.of(rows, cards, shrinkage)


class MeanUtility:
    """The utility averaged over queries: the a-priori case (paper 9.5.1)."""

    def __init__(self, utilities: Sequence[Utility], weights: NDArray[np.float64]) -> None:
        """Take one utility per query, and float64 weights > 0 of the same length."""
        self._utilities = tuple(utilities)
        self._weights: list[float] = (weights / weights.sum()).tolist()
        self.limit = self._mean([each.limit for each in self._utilities])
        self.monotone = all(each.monotone for each in self._utilities)

    def value(self, mask: int) -> float:
        """Return the weighted mean of U(A), in bits."""
        return self._mean([each.value(mask) for each in self._utilities])

    def extensions(self, mask: int, attributes: Sequence[int]) -> list[float]:
        """Return the mean U(A u {V}) in bits for each V in ``attributes``, none of them in A."""
        each_query = [each.extensions(mask, attributes) for each in self._utilities]
        return [self._mean([each[i] for each in each_query]) for i in range(len(attributes))]

    def ceiling(self, mask: int) -> float:
        """Return a bound on the mean U of every subset of A, in bits."""
        return self._mean([each.ceiling(mask) for each in self._utilities])

    def focus(self, mask: int) -> None:
        """Make the neighbours of ``mask`` quick to evaluate; the answers stay the same."""
        for each in self._utilities:
            each.focus(mask)

    def forget(self) -> None:
        """Drop remembered partitions; the answers stay the same."""
        for each in self._utilities:
            each.forget()

    def _mean(self, values: Sequence[float]) -> float:
        return float(sum(w * v for w, v in zip(self._weights, values, strict=True)))


HELPS_NOTHING = MeanUtility((), np.zeros(0))  # 0 for every set: of what is only priced

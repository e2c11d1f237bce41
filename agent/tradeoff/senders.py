"""How likely it is that each of some people sent a request, and with what request attributes."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from agent.tradeoff.sets import members

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from agent.tradeoff.tables import Population

    Floats = NDArray[np.float64]

PRIOR_ROWS = 5  # weight of the overall share in P_j(v|y), in rows


class Senders:
    """P(a, y|d) over the people y who agree with knowledge d (DESIGN.md 2.2)."""

    def __init__(self, population: Population, rows: NDArray[np.intp]) -> None:
        """Take the table, and which rows of it agree."""
        self._population, self._rows = population, rows
        self._requested = ~((1 << population.persons) - 1)
        self._shares: dict[int, Floats] = {}

    def even(self, mask: int) -> bool:
        """Say whether all people who agree on ``mask`` are equally likely."""
        return self._population.weights is None and not mask & self._requested

    def prior(self) -> Floats:
        """Return P(y|d), float64, shape (people,)."""
        weights = self._population.weights
        if weights is None:
            return np.full(len(self._rows), 1 / max(len(self._rows), 1))
        mine: Floats = weights[self._rows]
        shares: Floats = mine / mine.sum()
        return shares

    def peak(self, some: NDArray[np.bool_]) -> float:
        """Return max P(y|d, some) for bool, shape (people,): 1 where nobody is left to be it."""
        weights = self._population.weights
        if weights is None:
            return 1 / max(int(np.count_nonzero(some)), 1)
        mine: Floats = weights[self._rows[some]]
        total = float(mine.sum())
        return float(mine.max()) / total if total > 0 else 1.0

    def joint(self, mask: int) -> Iterator[Floats]:
        """Yield P(y|d) times the product of P_j(a_j|y), for each combination of request values."""
        requested = members(mask >> self._population.persons)
        shares = [self._request_shares(each) for each in requested]
        for combination in product(*(range(len(each)) for each in shares)):
            mass = self.prior()
            for share, value in zip(shares, combination, strict=True):
                mass = mass * share[value]
            yield mass

    def _request_shares(self, request: int) -> Floats:
        """Return P_j(v|y) = (n_yv + 5 P_j(v)) / (n_y + 5), shape (values of j, people)."""
        if request in self._shares:
            return self._shares[request]
        table = self._population.request_counts[request]
        overall = table.sum(axis=0, dtype=np.float64)
        counts = table[self._rows].astype(np.float64)
        rows = counts.sum(axis=1, keepdims=True)
        shares = (counts + PRIOR_ROWS * overall / overall.sum()) / (rows + PRIOR_ROWS)
        self._shares[request] = np.ascontiguousarray(shares.T)
        return self._shares[request]

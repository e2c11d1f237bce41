"""Smoothed counts: what those wanted who said the same (DESIGN.md 2.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from agent.lab.attack.services.hearing import SILENT, prior
from agent.tradeoff.columns import row_columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.lab.attack.services.hearing import Floats, Heard
    from agent.tradeoff.tables import QueryRows


class Counts:
    """P(x|g) = (c(g,x) + beta p0(x)) / (c(g) + beta), g all rows that agree with what is said."""

    def __init__(self, rows: QueryRows, cards: Sequence[int], pull: float) -> None:
        """Take a query's rows; ``pull``: beta, in rows, above 0."""
        self._said = row_columns(rows, cards)
        self._intent, self._intents = rows.intent, rows.intents
        self._pull = pull * prior(rows)

    def chances(self, heard: Heard) -> Floats:
        """Return P(x|.) as a service does; each different request is counted once."""
        different, places = np.unique(heard, axis=0, return_inverse=True)
        counted = np.array([self._counted(each) for each in different])
        masses = counted.reshape(len(different), self._intents) + self._pull
        chances: Floats = masses / masses.sum(axis=1, keepdims=True)
        return chances[places.reshape(-1)]

    def _counted(self, heard: Heard) -> Floats:
        agree = np.ones(self._said.items, dtype=bool)
        for each in np.flatnonzero(heard != SILENT).tolist():
            agree &= self._said.column(each).codes == heard[each] - 1
        return np.bincount(self._intent[agree], minlength=self._intents).astype(np.float64)

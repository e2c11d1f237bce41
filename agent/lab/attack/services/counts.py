"""Smoothed counts: what those wanted who said the same, drawn to those who said a little less."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from agent.lab.attack.services.hearing import SILENT, prior
from agent.tradeoff.grouping import row_columns
from agent.tradeoff.utility import query_utility

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.lab.attack.services.hearing import Floats, Heard
    from agent.tradeoff.tables import QueryRows


class Counts:
    """P(x|g) = (c(g,x) + beta P(x|g')) / (c(g) + beta), g all rows that agree with what is said.

    g' are those who agree with all but the least useful of it, and in the end p0: few people who
    agree in everything count for little. What no attribute alone tells is not listened to.
    """

    def __init__(self, rows: QueryRows, cards: Sequence[int], pull: float) -> None:
        """Take a query's rows; ``pull``: beta, in rows, above 0."""
        self._said = row_columns(rows, cards)
        self._intent, self._intents = rows.intent, rows.intents
        self._pull, self._prior = pull, prior(rows)
        alone = np.array(query_utility(rows, cards, "louo", pull).extensions(0, range(len(cards))))
        useful = np.flatnonzero(alone > 0)
        self._order: list[int] = useful[np.argsort(-alone[useful], kind="stable")].tolist()

    def chances(self, heard: Heard) -> Floats:
        """Return P(x|.) as a service does; each different request is counted once."""
        different, places = np.unique(heard[:, self._order], axis=0, return_inverse=True)
        counted = [self._counted(each) for each in different]
        return np.array(counted).reshape(-1, self._intents)[places.reshape(-1)]

    def _counted(self, heard: Heard) -> Floats:
        """Return P(x|.) for what is said of the useful attributes, in their order."""
        chances, agree = self._prior, np.arange(self._said.items)
        for place in np.flatnonzero(heard != SILENT).tolist():
            codes = self._said.column(self._order[place]).codes
            agree = agree[codes[agree] == heard[place] - 1]
            counts = np.bincount(self._intent[agree], minlength=self._intents)
            chances = (counts + self._pull * chances) / (len(agree) + self._pull)
        return chances

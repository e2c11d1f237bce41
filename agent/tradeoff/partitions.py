"""Partitions of items into groups that agree on a set of attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from agent.tradeoff.columns import Grouping
from agent.tradeoff.divisions import Divisions
from agent.tradeoff.numbering import SPARSE, number
from agent.tradeoff.presence import Presence
from agent.tradeoff.sets import singleton
from agent.tradeoff.tally import tally

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from agent.tradeoff.columns import Columns

KEPT = 24  # partitions remembered, 8 bytes an item each


class Partitions:
    """The partitions of the same items by different sets of attributes.

    Labels depend on the path by which a partition came about; whatever is computed from them
    must not (counts are integers, and floats are added in the order of the items or sorted).
    """

    def __init__(self, columns: Columns) -> None:
        """Take the attributes of the items."""
        self._columns = columns
        start = Grouping(np.zeros(columns.items, dtype=np.intp), 1)
        self.dense = Divisions(start, self._split, KEPT)
        """The partition by each set, every label in use."""
        self._presence: Presence | None = None

    def of(self, mask: int) -> Grouping:
        """Return the partition by ``mask``; not every label need be in use."""
        if not mask:
            return self.dense[0]
        if self.dense.merges_focus(mask):
            finer = self.dense[self.dense.focus]
            sample = np.empty(finer.size, dtype=np.intp)
            sample[finer.labels] = np.arange(len(finer.labels))
            return Grouping(self._columns.groups(sample, mask)[finer.labels], finer.size)
        last = singleton(self.dense.last_step(mask))
        finer = self._columns.refined(self.dense[mask & ~last], last)
        return finer if finer.size <= SPARSE * len(finer.labels) else self.dense[mask]

    def beside(self, mask: int, attributes: Sequence[int]) -> list[NDArray[np.intp]]:
        """Return, for ``mask`` with each of these attributes added, the sizes of the groups.

        Intp, zeros among them, in any shape: values by groups of ``mask``.
        """
        labels, size = self.dense[mask]
        return tally(labels, size, [self._columns.column(each) for each in attributes])

    def classes_beside(self, mask: int) -> list[int]:
        """Return how many groups there are with each attribute added to ``mask``."""
        if self._presence is None:
            self._presence = Presence(self._columns.all())
        return self._presence.classes(self.dense[mask])

    def _split(self, parent: Grouping, attributes: int) -> Grouping:
        """Refine by more attributes and renumber the labels in use 0, 1, 2 and so on."""
        numbers, used = number(*self._columns.refined(parent, attributes))
        return Grouping(numbers, len(used))

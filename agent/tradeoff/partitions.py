"""Partitions of items into groups that agree on a set of attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from agent.tradeoff.divisions import Divisions
from agent.tradeoff.numbering import number
from agent.tradeoff.tally import tally

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from agent.tradeoff.columns import Columns

KEPT = 24  # partitions remembered, 8 bytes an item each


class Grouping(NamedTuple):
    """Which group each item is in: ``labels`` (intp, shape (items,)) lie in 0..size-1."""

    labels: NDArray[np.intp]
    size: int


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

    def of(self, mask: int) -> Grouping:
        """Return the partition by ``mask``; not every label need be in use."""
        if not mask:
            return self.dense[0]
        if self.dense.merges_focus(mask):
            finer = self.dense[self.dense.focus]
            sample = np.empty(finer.size, dtype=np.intp)
            sample[finer.labels] = np.arange(len(finer.labels))
            return Grouping(self._columns.groups(sample, mask)[finer.labels], finer.size)
        last = self.dense.last_step(mask)
        return self._refined(self.dense[mask & ~(1 << last)], last)

    def beside(self, mask: int, attributes: Sequence[int]) -> list[NDArray[np.intp]]:
        """Return, for ``mask`` with each of these attributes added, the sizes of the groups.

        Intp, zeros among them, in any shape: values by groups of ``mask``.
        """
        labels, size = self.dense[mask]
        return tally(labels, size, [self._columns.column(each) for each in attributes])

    def _refined(self, parent: Grouping, attribute: int) -> Grouping:
        column, card = self._columns.column(attribute)
        labels = parent.labels * card
        labels += column
        return Grouping(labels, parent.size * card)

    def _split(self, parent: Grouping, attribute: int) -> Grouping:
        """Refine by one attribute and renumber the labels in use 0, 1, 2 and so on."""
        numbers, used = number(*self._refined(parent, attribute))
        return Grouping(numbers, len(used))

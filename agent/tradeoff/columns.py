"""The attribute codes of many items, a column per attribute."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from agent.tradeoff.numbering import number
from agent.tradeoff.sets import members

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from agent.tradeoff.tables import QueryRows

    Indexes = NDArray[np.intp]
    Codes = NDArray[np.unsignedinteger]

EVERY = slice(None)
KEYS = 1 << 48  # combined codes stay below this


class Column(NamedTuple):
    """One attribute: its codes, unsigned, shape (items,), all below ``card``."""

    codes: Codes
    card: int


class Grouping(NamedTuple):
    """Which group each item is in: ``labels`` (intp, shape (items,)) lie in 0..size-1."""

    labels: Indexes
    size: int


class Columns:
    """Codes by attribute and item, and how many values each attribute has."""

    def __init__(self, codes: Codes, cards: Sequence[int]) -> None:
        """Take the codes, one contiguous row per attribute, shape (attributes, items)."""
        self._codes, self._cards = codes, cards
        self.items = codes.shape[1]

    def column(self, attribute: int) -> Column:
        """Return one attribute."""
        return Column(self._codes[attribute], self._cards[attribute])

    def all(self) -> list[Column]:
        """Return every attribute."""
        return [self.column(attribute) for attribute in range(len(self._codes))]

    def groups(self, items: Indexes, mask: int) -> Indexes:
        """Number the groups by ``mask`` that these items are in, 0, 1, 2 and so on."""
        undivided = Grouping(np.zeros(len(items), dtype=np.intp), 1)
        return number(*self.refined(undivided, mask, items)).numbers

    def refined(self, groups: Grouping, mask: int, items: Indexes | slice = EVERY) -> Grouping:
        """Divide groups of these items by more attributes; many labels may be out of use."""
        labels, size = groups
        for attribute in members(mask):
            card = self._cards[attribute]
            if size * card > KEYS:
                labels, used = number(labels, size)
                size = len(used)
            labels = labels * card
            labels += self._codes[attribute, items]
            size *= card
        return Grouping(labels, size)


def row_columns(rows: QueryRows, cards: Sequence[int]) -> Columns:
    """Lay the users' person attributes out by row, beside the request attributes."""
    person = np.ascontiguousarray(rows.person.T).take(rows.user, axis=1)
    return Columns(np.concatenate([person, rows.request.T]) if rows.request.size else person, cards)

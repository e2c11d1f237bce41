"""Which values occur in a group at all: a bit for each value of each attribute."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from agent.tradeoff.numbering import stable_order

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from agent.tradeoff.columns import Column, Grouping

BITS = 8  # of a byte
BYTES = 8  # of a word


class Presence:
    """For each item one bit per value of each attribute, set where the item has that value.

    The bits of a group's items, or-ed together, count the values that occur in it: all
    attributes in one pass over the items, where counting the items takes a pass for a few.
    """

    def __init__(self, columns: Sequence[Column]) -> None:
        """Take the attributes of the items; each gets whole bytes."""
        planes = [plane for column in columns for plane in _planes(column)]
        padding = -len(planes) % BYTES
        bits = np.zeros((len(planes) + padding, len(columns[0].codes)), dtype=np.uint8)
        for row, plane in zip(bits, planes, strict=False):
            row[:] = plane
        words = np.ascontiguousarray(bits.T).view(np.uint64)
        self._words = np.ascontiguousarray(words.T)
        ends = np.cumsum([_bytes(column.card) for column in columns])
        self._first_bits = BITS * np.concatenate([[0], ends[:-1]])

    def classes(self, grouping: Grouping) -> list[int]:
        """Return, for each attribute, how many classes the groups are divided into by it.

        Every label of ``grouping`` must be in use.
        """
        order = stable_order(grouping.labels)
        sizes = np.bincount(grouping.labels, minlength=grouping.size)
        first = np.cumsum(sizes) - sizes
        groups = [np.bitwise_or.reduceat(word.take(order), first) for word in self._words]
        present = np.unpackbits(np.stack(groups, axis=1).view(np.uint8), axis=1, bitorder="little")
        by_value = present.sum(axis=0, dtype=np.intp)
        classes: list[int] = np.add.reduceat(by_value, self._first_bits).tolist()
        return classes


def _bytes(card: int) -> int:
    return -(-card // BITS)


def _planes(column: Column) -> list[NDArray[np.uint8]]:
    """Return the bytes of an attribute, each of shape (items,), for eight of its values."""
    shifts = [
        column.codes - column.codes.dtype.type(BITS * at) for at in range(_bytes(column.card))
    ]
    # A code below or above the eight values becomes a shift that leaves nothing.
    return [np.left_shift(np.uint8(1), np.minimum(each, BITS).astype(np.uint8)) for each in shifts]

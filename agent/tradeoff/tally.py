"""Counting items by group and by the values of several attributes, in few passes over them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from agent.tradeoff.columns import Column

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Indexes = NDArray[np.intp]
    Codes = NDArray[np.unsignedinteger]

BYTE = 255  # a bundle's codes are bytes, and so is every number of values they are made with


def tally(labels: Indexes, size: int, columns: Sequence[Column]) -> list[Indexes]:
    """Count items by value and group: for each attribute a table of shape (values, size).

    ``labels``: intp, shape (items,), the group of each item, below ``size``. Attributes that
    have few values are bundled: their joint table is counted, and summed up for each of them.
    """
    tables: dict[int, Indexes] = {}
    spare = len(labels) // max(1, size)  # so many more counts cost less than a pass over items
    for bundle in bundles(columns, min(spare, BYTE)):
        marginals = _marginals(labels, size, [columns[place] for place in bundle])
        tables.update(zip(bundle, marginals, strict=True))
    return [tables[place] for place in range(len(columns))]


def joint(bundle: Sequence[Column]) -> Column:
    """Return several attributes as one, whose value is the combination of theirs."""
    codes, card = bundle[0]
    for column in bundle[1:]:
        codes = np.multiply(codes, column.card, dtype=np.uint8) + column.codes
        card *= column.card
    return Column(codes, card)


def keys(labels: Indexes, size: int, codes: Codes) -> Indexes:
    """Return code * size + label for each item."""
    combined = np.multiply(codes, size, dtype=np.intp)
    combined += labels
    return combined


def bundles(columns: Sequence[Column], most: int) -> list[list[int]]:
    """Bundle the places of attributes, smallest first, up to ``most`` combinations of values."""
    found: list[list[int]] = []
    combinations = 0
    for place in sorted(range(len(columns)), key=lambda each: columns[each].card):
        combinations *= columns[place].card
        if not 0 < combinations <= most:
            found.append([])
            combinations = columns[place].card
        found[-1].append(place)
    return found


def _marginals(labels: Indexes, size: int, bundle: Sequence[Column]) -> list[Indexes]:
    """Count the items by value and group for each attribute of a bundle, in one pass."""
    codes, card = joint(bundle)
    counts = np.bincount(keys(labels, size, codes), minlength=card * size)
    table = counts.reshape(*(column.card for column in bundle), size)
    axes = range(len(bundle))
    return [table.sum(axis=tuple(other for other in axes if other != own)) for own in axes]

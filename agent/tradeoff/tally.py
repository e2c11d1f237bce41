"""Counting items by group and by the values of several attributes, in few passes over them."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

from agent.tradeoff.columns import Column

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Indexes = NDArray[np.intp]
    Codes = NDArray[np.unsignedinteger]
    Labels = TypeVar("Labels", Indexes, NDArray[np.uint16])

SMALL = 1 << 16  # keys below this are made in 16 bits, four times as many at once
BYTE = 255  # a bundle's codes are bytes, and so is every number of values they are made with


def tally(labels: Indexes, size: int, columns: Sequence[Column]) -> list[Indexes]:
    """Count items by value and group: for each attribute a table of shape (values, size).

    ``labels``: intp, shape (items,), the group of each item, below ``size``. Attributes that
    have few values are bundled: their joint table is counted, and summed up for each of them.
    """
    tables: dict[int, Indexes] = {}
    short = labels.astype(np.uint16)  # of use only where the labels fit
    spare = len(labels) // max(1, size)  # so many more counts cost less than a pass over items
    for bundle in bundles(columns, min(spare, BYTE)):
        parts = [columns[place] for place in bundle]
        codes, card = joint(parts)
        small = size * card < SMALL
        items = keys(short, size, codes) if small else keys(labels, size, codes)
        counts = np.bincount(items, minlength=card * size)
        marginals = _marginals(counts.reshape(*(part.card for part in parts), size))
        tables.update(zip(bundle, marginals, strict=True))
    return [tables[place] for place in range(len(columns))]


def joint(bundle: Sequence[Column]) -> Column:
    """Return several attributes as one, whose value is the combination of theirs."""
    codes, card = bundle[0]
    for column in bundle[1:]:
        codes = np.multiply(codes, column.card, dtype=np.uint8) + column.codes
        card *= column.card
    return Column(codes, card)


def keys(labels: Labels, size: int, codes: Codes) -> Labels:
    """Return code * size + label for each item, in the type of the labels."""
    combined = np.multiply(codes, size, dtype=labels.dtype)
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


def _marginals(table: Indexes) -> list[Indexes]:
    """Sum a table of shape (values of each attribute ..., groups) up for each attribute."""
    axes = range(table.ndim - 1)
    if len(axes) == 1:
        return [table]
    return [table.sum(axis=tuple(other for other in axes if other != own)) for own in axes]

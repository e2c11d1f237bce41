"""Numbering the keys in use 0, 1, 2 and so on."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Indexes = NDArray[np.intp]

SPARSE = 12  # keys may span so many times their number before sorting them is quicker


class Numbered(NamedTuple):
    """``numbers``: for each item, the number of its key; ``keys``: the keys, ascending."""

    numbers: Indexes
    keys: Indexes


def number(keys: Indexes, size: int) -> Numbered:
    """Number keys, intp, shape (items,), all from 0 to below ``size``, in ascending order."""
    if size > SPARSE * len(keys) + SPARSE:
        used, numbers = np.unique(keys, return_inverse=True)
        return Numbered(numbers, used)
    present = np.zeros(size, dtype=bool)
    present[keys] = True
    used = np.flatnonzero(present)
    numbers = np.empty(size, dtype=np.intp)
    numbers[used] = np.arange(len(used))
    return Numbered(numbers[keys], used)


def multiplicity(keys: Indexes, size: int) -> Indexes:
    """Return, for each item, how many items have its key; arguments as for ``number``."""
    numbers = number(keys, size).numbers
    return np.bincount(numbers)[numbers]


def stable_order(numbers: Indexes) -> Indexes:
    """Return the stable ascending order; NumPy sorts 16-bit integers in linear time."""
    small = numbers.max(initial=0) <= np.iinfo(np.uint16).max
    return np.argsort(numbers.astype(np.uint16) if small else numbers, kind="stable")

"""Sets of attributes as integers: bit i says that attribute i is in the set."""

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

EMPTY = 0


def singleton(attribute: int) -> int:
    """Return the set of this attribute alone."""
    return 1 << attribute


def union(attributes: Iterable[int]) -> int:
    """Return the set of these attributes."""
    mask = EMPTY
    for attribute in attributes:
        mask |= 1 << attribute
    return mask


def members(mask: int) -> Iterator[int]:
    """Yield the attributes of a set in ascending order."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


def mask_array(mask: int, count: int) -> NDArray[np.bool_]:
    """Return which of ``count`` attributes are in a set, bool, shape (count,)."""
    found: NDArray[np.bool_] = mask_arrays([mask], count)[0]
    return found


def mask_arrays(masks: Iterable[int], count: int) -> NDArray[np.bool_]:
    """Return which of ``count`` attributes are in each of these sets, bool, shape (sets, count)."""
    size, every = (count + 7) // 8, (1 << count) - 1
    data = b"".join([(mask & every).to_bytes(size, "little") for mask in masks])
    bits = np.frombuffer(data, np.uint8).reshape(-1, size)
    return np.unpackbits(bits, axis=1, count=count, bitorder="little").view(bool)


def pairs(count: int) -> list[int]:
    """Return the sets of two of ``count`` attributes: {0, 1}, {0, 2}, ..., {1, 2} and so on."""
    return [1 << one | 1 << other for one in range(count) for other in range(one + 1, count)]


def subsets(mask: int) -> Iterator[int]:
    """Yield every subset of a set, the empty one first, in ascending order."""
    subset = EMPTY
    while True:
        yield subset
        if subset == mask:
            return
        subset = (subset - mask) & mask

"""Codes in as few bits as their number of values needs: 1, 2, 4, 8, 16 or 32 (FORMAT.md)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]

BYTE = 8  # bits


def width(values: int) -> int:
    """Return how many bits a code takes, of so many values."""
    bits = 1
    while values > 1 << bits:
        bits *= 2
    return bits


def size(count: int, values: int) -> int:
    """Return how many bytes so many codes take, of so many values each."""
    bits = width(values)
    return count * bits // BYTE if bits >= BYTE else -(-count // (BYTE // bits))


def pack(codes: NDArray[np.integer], values: int) -> Bytes:
    """Return codes, one after the other, each below ``values``, as bytes.

    Of codes shorter than a byte, the first of those that share one lie in its lowest bits, and
    those that follow each other lie in bytes that do: so they are apart again in a few steps.
    """
    bits = width(values)
    if bits >= BYTE:
        return np.ascontiguousarray(codes, dtype=f"<u{bits // BYTE}").view(np.uint8)
    packed = np.zeros(size(len(codes), values), dtype=np.uint8)
    for place, first in enumerate(range(0, len(codes), max(len(packed), 1))):
        some = codes[first : first + len(packed)].astype(np.uint8)
        packed[: len(some)] |= some << np.uint8(place * bits)
    return packed


def unpack(packed: Bytes, count: int, values: int) -> NDArray[Any]:
    """Return so many codes, unsigned, from their bytes; inverse of ``pack``."""
    bits = width(values)
    if bits >= BYTE:
        return packed.view(f"<u{bits // BYTE}")
    parts = np.empty((BYTE // bits, len(packed)), dtype=np.uint8)
    for place, part in enumerate(parts):
        np.right_shift(packed, np.uint8(place * bits), out=part)
    parts &= np.uint8((1 << bits) - 1)
    return parts.reshape(-1)[:count]

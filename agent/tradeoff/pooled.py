"""One query's utility drawn towards that of all queries: few rows of its own say little.

Partial pooling, as of means in a hierarchical model. This goes beyond the paper, which takes each
query by itself (2.1) or all of them together (9.5.1).
"""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING

import numpy as np

from agent.tradeoff.sets import members, pairs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from agent.tradeoff.utility import Utility

    Floats = NDArray[np.float64]


class Pairwise:
    """A utility as far as singles and pairs tell it, in bits: exact for those, cheap for all.

    From the largest single to the smallest (of equals the first before), an attribute adds what it
    adds beside that one of those before it which leaves it the least. Of a submodular U this is an
    upper bound; of one that falls again, as leave-one-user-out does, it is too high for many
    attributes. Sums are rounded once: a set has the same value however it is reached.
    """

    monotone = False

    def __init__(self, singles: Floats, both: Floats) -> None:
        """Take U of each attribute, float64, shape (n,), and of two, in the order of `pairs`."""
        self._singles, self._rank = singles, np.argsort(np.argsort(-singles, kind="stable"))
        self._beside = _beside(singles, both)
        most = np.where(np.isfinite(self._beside), self._beside, 0.0).max(axis=1, initial=0.0)
        self._most = np.maximum(singles, most)
        self.limit = float(self._most.sum())

    def value(self, mask: int) -> float:
        """Return U(A) in bits."""
        inside = self._ordered(mask)
        return fsum(self._added(inside, self._least(inside)).tolist())

    def extensions(self, mask: int, attributes: Sequence[int]) -> list[float]:
        """Return U(A u {V}) in bits for each V in ``attributes``, none of them in A."""
        inside, new = self._ordered(mask), np.array(attributes, dtype=np.intp)
        before = self._rank[new] < self._rank[inside][:, None]
        beside_new = np.where(before, self._beside[inside][:, new], np.inf)
        beside_old = np.where(before, np.inf, self._beside[new][:, inside].T)
        rest = self._added(inside[:, None], np.minimum(self._least(inside)[:, None], beside_new))
        own = self._added(new, beside_old.min(axis=0, initial=np.inf))
        return [fsum(each) for each in np.vstack([rest, own]).T.tolist()]

    def ceiling(self, mask: int) -> float:
        """Return a bound, in bits, on U of every subset of A; it needs no submodularity."""
        return float(self._most[[*members(mask)]].sum())

    def focus(self, mask: int) -> None:
        """Prepare nothing: every set is as quick as another."""

    def forget(self) -> None:
        """Drop nothing: nothing is kept."""

    def _ordered(self, mask: int) -> NDArray[np.intp]:
        """Return the attributes of a set in the order in which they count, intp."""
        inside = np.array([*members(mask)], dtype=np.intp)
        return inside[np.argsort(self._rank[inside])]

    def _least(self, inside: NDArray[np.intp]) -> Floats:
        """Return what those before leave of each attribute, infinite where there is none."""
        beside = self._beside[inside][:, inside]
        before = np.tri(len(inside), k=-1, dtype=bool)
        least: Floats = np.where(before, beside, np.inf).min(axis=1, initial=np.inf)
        return least

    def _added(self, attributes: NDArray[np.intp], least: Floats) -> Floats:
        """Return what attributes add: all that they have where nothing before leaves them less."""
        return np.where(np.isfinite(least), least, self._singles[attributes])


class Pooled:
    """Two utilities, in bits: a query's own, part of the way to that of all queries."""

    def __init__(self, own: Utility, usual: Utility, share: float) -> None:
        """Take both, and which share of the way, from 0 to 1."""
        self._own, self._usual, self._share = own, usual, share
        self.monotone = own.monotone and usual.monotone

    @property
    def limit(self) -> float:
        """No set has more, in bits."""
        return self._mixed(self._own.limit, self._usual.limit)

    def value(self, mask: int) -> float:
        """Return U(A) in bits."""
        return self._mixed(self._own.value(mask), self._usual.value(mask))

    def extensions(self, mask: int, attributes: Sequence[int]) -> list[float]:
        """Return U(A u {V}) in bits for each V in ``attributes``, none of them in A."""
        own = self._own.extensions(mask, attributes)
        usual = self._usual.extensions(mask, attributes)
        return [self._mixed(*both) for both in zip(own, usual, strict=True)]

    def ceiling(self, mask: int) -> float:
        """Return a bound, in bits, on U of every subset of A; it needs no submodularity."""
        return self._mixed(self._own.ceiling(mask), self._usual.ceiling(mask))

    def focus(self, mask: int) -> None:
        """Make the neighbours of ``mask`` quick to evaluate; the answers stay the same."""
        self._own.focus(mask)
        self._usual.focus(mask)

    def forget(self) -> None:
        """Drop what was prepared; the answers stay the same."""
        self._own.forget()
        self._usual.forget()

    def _mixed(self, own: float, usual: float) -> float:
        return mixed(own, usual, self._share)


def mixed(own: float, usual: float, share: float) -> float:
    """Return a query's own bits, that share of the way (0 to 1) to those of all queries."""
    return (1 - share) * own + share * usual


def _beside(singles: Floats, both: Floats) -> Floats:
    """Return what each attribute (row) adds beside each other one, infinite beside itself."""
    table = np.full((len(singles), len(singles)), np.inf)
    for bits, pair in zip(both.tolist(), pairs(len(singles)), strict=True):
        one, other = members(pair)
        table[one, other] = bits - singles[other]
        table[other, one] = bits - singles[one]
    return table

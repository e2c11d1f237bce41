"""Sums by group, and sums whose value does not depend on the order of their terms."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def ordered_sum(terms: Floats) -> float:
    """Add up float64 terms, smallest first: groups may come in any order."""
    return float(np.sort(terms).sum())


def plogp(probabilities: Floats) -> Floats:
    """Return p log2 p for each p >= 0, in bits, with 0 for p = 0."""
    logs = np.log2(probabilities, out=np.zeros_like(probabilities), where=probabilities > 0)
    return probabilities * logs


def mass_of(labels: NDArray[np.intp], masses: Floats, groups: int) -> Floats:
    """Return the mass of each group, float64, shape (groups,), added in the order of items."""
    totals = np.bincount(labels, weights=masses, minlength=groups)
    return totals.astype(np.float64, copy=False)

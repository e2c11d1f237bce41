"""Sums whose value does not depend on the order of their terms."""

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

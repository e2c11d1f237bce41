"""The score that held-out rows give to an estimate learned from other rows (DESIGN.md 2.1)."""

import numpy as np
from numpy.typing import NDArray

Indexes = NDArray[np.intp]


def heldout_bits(
    intent: Indexes, trained: NDArray[np.bool_], shrinkage: float, groups: Indexes
) -> float | None:
    """Mean of log2 P(x|g) - log2 p0(x) over the held-out rows of a query, in bits.

    ``intent``: intp, shape (M,), x of each row; ``trained``: bool, shape (M,), the rows that are
    counted; ``shrinkage``: beta, in rows; ``groups``: intp, shape (M,), g, the same for rows that
    agree in the disclosed attributes.
    P(x|g) = (c(g,x) + beta p0(x)) / (c(g) + beta), p0(x) = (c(x) + 1/2) / (M + K/2), all counts
    and K of the counted rows. Rows whose intent was not counted are left out; None if that
    leaves none, or if an intent had no chance (beta = 0).
    """
    intents = int(intent.max(initial=-1)) + 1
    of_intent = np.bincount(intent[trained], minlength=intents)
    scored = ~trained & (of_intent[intent] > 0)
    if not scored.any():
        return None
    prior = (of_intent + 0.5) / (trained.sum() + np.count_nonzero(of_intent) / 2)
    expected = prior[intent[scored]]
    cells = groups * intents + intent
    same = _occurrences(cells[trained], cells[scored])
    others = _occurrences(groups[trained], groups[scored])
    # Where beta is 0 and nobody was in the group, only the prior is left.
    weighed = others + shrinkage > 0
    chance = np.divide(
        same + shrinkage * expected, others + shrinkage, expected.copy(), where=weighed
    )
    return float(np.log2(chance / expected).mean()) if chance.all() else None


def _occurrences(keys: Indexes, wanted: Indexes) -> Indexes:
    ordered = np.sort(keys)
    return np.searchsorted(ordered, wanted, "right") - np.searchsorted(ordered, wanted, "left")

"""The held-out score: how well one half of the users foretells the other (DESIGN.md 2.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from agent.tradeoff.tables import QueryRows

    Indexes = NDArray[np.intp]


def heldout_bits(
    rows: QueryRows,
    trained: NDArray[np.bool_],
    shrinkage: float,
    groups: Indexes,
) -> float | None:
    """Return the mean of log2 P(x|g) - log2 p0(x) over the held-out rows, in bits.

    ``rows``: of a query, both halves; ``trained``: bool, shape (M,), the rows that are counted;
    ``shrinkage``: beta, in rows; ``groups``: intp, shape (M,), what the attributes tell apart.
    P(x|g) = (c(g,x) + beta p0(x)) / (c(g) + beta), p0(x) = (c(x) + 1/2) / (M + K/2), all counts
    and K of the counted rows. Rows whose intent was not counted are left out; None if that
    leaves none, or if an intent had no chance (beta = 0).
    """
    of_intent = np.bincount(rows.intent[trained], minlength=rows.intents)
    held = ~trained & (of_intent[rows.intent] > 0)
    if not held.any():
        return None
    prior = (of_intent + 0.5) / (trained.sum() + np.count_nonzero(of_intent) / 2)
    expected = prior[rows.intent[held]]
    cells = groups * rows.intents + rows.intent
    same = _occurrences(cells[trained], cells[held])
    others = _occurrences(groups[trained], groups[held])
    # Where beta is 0 and nobody was in the group, nothing but the prior is known.
    known = others + shrinkage > 0
    chance = np.divide(
        same + shrinkage * expected, others + shrinkage, expected.copy(), where=known
    )
    return float(np.log2(chance / expected).mean()) if chance.all() else None


def _occurrences(keys: Indexes, wanted: Indexes) -> Indexes:
    """Return how often each of the ``wanted`` occurs among ``keys``."""
    ordered = np.sort(keys)
    return np.searchsorted(ordered, wanted, "right") - np.searchsorted(ordered, wanted, "left")

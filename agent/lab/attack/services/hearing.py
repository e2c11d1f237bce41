"""What a service hears with requests, and how it foretells what is wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from agent.tradeoff.sets import members

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from agent.tradeoff.tables import QueryRows

    Codes = NDArray[np.unsignedinteger]
    Floats = NDArray[np.float64]
    Heard = NDArray[np.intp]

SILENT = 0  # where nothing was said of an attribute; a code is heard as one more


class QueryService(Protocol):
    """What a service knows about one query."""

    def chances(self, heard: Heard) -> Floats:
        """Return P(x|.), float64, shape (n, K), all above 0, for what ``heard`` says of n requests.

        ``heard``: of `heard`, shape (n, attributes).
        """
        ...


def heard(codes: Codes, masks: Sequence[int]) -> Heard:
    """Return what each of n requests says: SILENT, or the code and one.

    ``codes``: unsigned, shape (n, attributes), of who asks, and of the request; ``masks``: the
    set attached to each. What comes back is intp, shape (n, attributes).
    """
    return (codes.astype(np.intp) + 1) * told(masks, codes.shape[1])


def told(masks: Sequence[int], attributes: int) -> NDArray[np.bool_]:
    """Return sets as a table, bool, shape (n, attributes)."""
    known: dict[int, NDArray[np.bool_]] = {}
    for mask in masks:
        if mask not in known:
            known[mask] = np.zeros(attributes, dtype=bool)
            known[mask][list(members(mask))] = True
    table = np.zeros((len(masks), attributes), dtype=bool)
    for number, mask in enumerate(masks):
        table[number] = known[mask]
    return table


def prior(rows: QueryRows) -> Floats:
    """Return p0(x) = (c(x) + 1/2) / (M + K/2), float64, shape (K,) (DESIGN.md 2.1)."""
    counts = np.bincount(rows.intent, minlength=rows.intents)
    chances = (counts + 0.5) / (len(rows.intent) + rows.intents / 2)
    return chances.astype(np.float64)

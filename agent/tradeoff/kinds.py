"""Kinds of rows: those that leave-one-user-out scores alike within a group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from agent.tradeoff.sets import members

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from agent.tradeoff.tables import QueryRows

    Indexes = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Kinds:
    """The kinds of the rows of a query, in ascending order of intent.

    ``of_row``: shape (M,), the kind of each row. One per kind: ``intent``; ``same``: n_u(g,x);
    ``own``: n_u(g); ``same_total``, ``own_total``: n_u(x) and n_u over the whole query. All intp.
    """

    of_row: Indexes
    intent: Indexes
    same: Indexes
    own: Indexes
    same_total: Indexes
    own_total: Indexes


def kinds_of(rows: QueryRows, request: int) -> Kinds:
    """Return the kinds when groups are told apart by the request attributes in ``request``.

    A user's rows agree on every person attribute, so what leaving the user out takes from a
    group is what the user has with the same values of these request attributes.
    """
    unit = rows.user
    for attribute in members(request):
        column = rows.request[:, attribute - rows.persons].astype(np.intp)
        unit = unit * (int(column.max(initial=0)) + 1) + column
    facts = np.stack(
        [
            rows.intent,
            _multiplicity(unit * rows.intents + rows.intent),
            _multiplicity(unit),
            _multiplicity(rows.user * rows.intents + rows.intent),
            _multiplicity(rows.user),
        ]
    )
    kinds, of_row = np.unique(facts, axis=1, return_inverse=True)
    return Kinds(of_row.ravel(), *kinds)


def _multiplicity(keys: Indexes) -> Indexes:
    """Return, for each row, how many rows have its key."""
    _, inverse, counts = np.unique(keys, return_inverse=True, return_counts=True)
    return counts[inverse]

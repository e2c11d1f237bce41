"""Kinds of rows: those that leave-one-user-out scores alike within a group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from agent.tradeoff.numbering import multiplicity, number
from agent.tradeoff.sets import members

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from agent.tradeoff.tables import QueryRows

    Indexes = NDArray[np.intp]

KEYS = 1 << 40


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
    total = _own_rows(rows, rows.user, len(rows.person))
    own = total
    if request:
        unit, units = rows.user, len(rows.person)
        for attribute in members(request):
            column = rows.request[:, attribute - rows.persons].astype(np.intp)
            values = int(column.max(initial=0)) + 1
            unit, used = number(unit * values + column, units * values)
            units = len(used)
        own = _own_rows(rows, unit, units)
    facts = (rows.intent, *own, *(total if request else ()))
    key, size = np.zeros_like(rows.intent), 1
    for fact in facts:
        span = int(fact.max(initial=0)) + 1
        key, size = key * span + fact, size * span
        if size > KEYS:  # before the next fact makes it overflow
            key, used = number(key, size)
            size = len(used)
    of_row, used = number(key, size)
    example = np.empty(len(used), dtype=np.intp)
    example[of_row] = np.arange(len(of_row))
    same, rows_own, same_total, own_total = (fact[example] for fact in (*own, *total))
    return Kinds(of_row, rows.intent[example], same, rows_own, same_total, own_total)


def _own_rows(rows: QueryRows, unit: Indexes, units: int) -> tuple[Indexes, Indexes]:
    """Return, for each row, how many of its unit share its intent, and how many there are."""
    pair = unit * rows.intents + rows.intent
    return multiplicity(pair, units * rows.intents), multiplicity(unit, units)

"""What must hold for the numbers in a model's tensors; a file made wrong ends here."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from agent.model.digest import damaged

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from agent.model.attributes import Attribute
    from agent.model.model import Query

    Tensors = Mapping[str, NDArray[Any]]

FIGURES = {"attributes.costs", "attributes.utilities", "pairs.costs", "pairs.utilities"}
MIN_WEIGHT, MAX_WEIGHT = 1e-9, 1e9  # beyond, a sum of them loses the small ones or overflows

_BLOCK = 64  # rows whose codes are compared at once


def check_ranges(
    tensors: Tensors, attributes: Sequence[Attribute], queries: Sequence[Query]
) -> None:
    """Refuse tensors, by name and already of the right shape, with a number that cannot be."""
    persons = [attribute for attribute in attributes if attribute.scope == "person"]
    _check_codes(tensors, "population.codes", persons)
    _check_codes(tensors, "users.person", persons)
    _check_codes(tensors, "rows.request", attributes[len(persons) :])
    _check_counts(tensors, attributes[len(persons) :])
    _check_members(tensors, "rows.user", queries, [query.users for query in queries])
    _check_members(tensors, "rows.intent", queries, [len(query.intents) for query in queries])
    for name in tensors.keys() & FIGURES:
        if not np.isfinite(tensors[name]).all():
            raise damaged(f"tensor {name!r} has a number that is not finite")
    for name in ("queries.weights", "population.weights"):
        weights = tensors.get(name, np.ones(1))
        # Written so that NaN, of which every comparison is false, is refused too.
        if not ((weights >= MIN_WEIGHT) & (weights <= MAX_WEIGHT)).all():
            raise damaged(f"tensor {name!r} has a weight outside {MIN_WEIGHT:g} to {MAX_WEIGHT:g}")


def _check_codes(tensors: Tensors, name: str, attributes: Sequence[Attribute]) -> None:
    """Refuse a code that is no value of its attribute."""
    for attribute, highest in zip(attributes, _column_maxima(tensors[name]), strict=True):
        if highest >= len(attribute.values):
            raise damaged(f"tensor {name!r} has code {highest} of attribute {attribute.name!r}")


def _check_counts(tensors: Tensors, attributes: Sequence[Attribute]) -> None:
    """Refuse a request attribute that no row of anybody had: it would have no distribution."""
    start = 0
    for attribute in attributes:
        end = start + len(attribute.values)
        if not tensors["population.request_counts"][:, start:end].any():
            raise damaged(f"tensor 'population.request_counts' has no row for {attribute.name!r}")
        start = end


def _check_members(
    tensors: Tensors, name: str, queries: Sequence[Query], sizes: Sequence[int]
) -> None:
    """Refuse a row with a user or an intent that its query does not have."""
    starts = list(accumulate((query.rows for query in queries[:-1]), initial=0))
    maxima = np.maximum.reduceat(tensors[name], starts)
    for query, highest, size in zip(queries, maxima, sizes, strict=True):
        if highest >= size:
            raise damaged(f"tensor {name!r} has {highest} where query {query.text!r} has {size}")


def _column_maxima(codes: NDArray[np.uint8]) -> list[int]:
    """Return the largest code of each column.

    Rows are taken in blocks: a maximum along many short rows takes 20 times as long.
    """
    rows, columns = codes.shape
    whole = rows - rows % _BLOCK
    blocks = codes[:whole].reshape(whole // _BLOCK, _BLOCK * columns).max(axis=0, initial=0)
    rest = codes[whole:].max(axis=0, initial=0)
    highest = np.maximum(blocks.reshape(_BLOCK, columns).max(axis=0), rest)
    return [int(code) for code in highest]

"""Counts of the rows of a query by group, intent and kind, split one attribute at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from agent.tradeoff.numbering import stable_order
from agent.tradeoff.sums import mass_of
from agent.tradeoff.tally import keys, tally

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from agent.tradeoff.columns import Column
    from agent.tradeoff.kinds import Kinds

    Indexes = NDArray[np.intp]
    Floats = NDArray[np.float64]
    Codes = NDArray[np.unsignedinteger]


class Cells(NamedTuple):
    """The rows of a query in cells: one group, one intent, one kind; sorted in that order.

    ``row``: intp, shape (M,), the cell of each row. One per cell, intp: ``kind``; ``pair``, the
    number of its pair of group and intent; ``group``, the number of its group. ``pairs``: intp,
    the first cell of each pair; ``groups``: intp, the first pair of each group; ``sample``:
    intp, a row of each group.
    """

    row: Indexes
    kind: Indexes
    pair: Indexes
    group: Indexes
    pairs: Indexes
    groups: Indexes
    sample: Indexes


class Counts(NamedTuple):
    """Rows counted by cell and by value of other attributes; an entry for each that has any.

    One per entry, whole numbers in float64 for the arithmetic that follows: ``rows`` of the
    cell with that value; ``pair``, those of its pair, c(g,x); ``group``, those of its group,
    c(g). ``kind``: intp, one per entry. ``first``: intp, the first entry of each attribute.
    """

    rows: Floats
    pair: Floats
    group: Floats
    kind: Indexes
    first: Indexes


def undivided(kinds: Kinds) -> Cells:
    """Return the cells when all rows are one group: a cell for each kind."""
    return _sorted_cells(
        kinds.of_row, np.arange(len(kinds.intent)), kinds.intent, np.zeros_like(kinds.intent)
    )


def count(cells: Cells, columns: Sequence[Column]) -> Counts:
    """Count the rows for every value of each of several attributes, one after the other."""
    table = np.concatenate(tally(cells.row, len(cells.kind), columns), dtype=np.float64)
    used, (values, size) = table != 0, table.shape
    entries = np.count_nonzero(used, axis=1)  # of each value
    value = np.arange(values)
    entry = np.flatnonzero(used)
    cell = entry - np.repeat(value * size, entries)
    pair = cells.pair.take(cell) + np.repeat(value * len(cells.pairs), entries)
    rows = table.ravel().take(entry)
    pairs = mass_of(pair, rows, values * len(cells.pairs))
    groups = np.add.reduceat(pairs.reshape(values, -1), cells.groups, axis=1)
    group_of_pair = groups.take(cells.group[cells.pairs], axis=1).ravel()
    first_value = np.cumsum([0, *(column.card for column in columns[:-1])])
    return Counts(
        rows,
        pairs.take(pair),
        group_of_pair.take(pair),
        cells.kind.take(cell),
        (np.cumsum(entries) - entries)[first_value],
    )


def split(cells: Cells, kinds: Kinds, column: Column) -> Cells:
    """Split every group by one more attribute."""
    size = len(cells.kind)
    combined = keys(cells.row, size, column.codes)
    used = np.flatnonzero(np.bincount(combined, minlength=size * column.card))
    value, cell = np.divmod(used, size)
    group = cells.group[cell] * column.card + value
    order = stable_order(group)
    number = np.empty(size * column.card, dtype=np.intp)
    number[used[order]] = np.arange(len(used))
    kind = cells.kind[cell[order]]
    return _sorted_cells(number[combined], kind, kinds.intent[kind], group[order])


def merge(cells: Cells, kinds: Kinds, into: Indexes) -> Counts:
    """Count the rows when group g is merged into group ``into[g]`` (dense numbers)."""
    rows = np.bincount(cells.row).astype(np.float64)
    group, intents = into[cells.group], int(kinds.intent[-1]) + 1
    pair = group * intents + kinds.intent[cells.kind]
    pairs = mass_of(pair, rows, 0)
    groups = mass_of(group, rows, 0)
    return Counts(rows, pairs[pair], groups[group], cells.kind, np.zeros(1, dtype=np.intp))


def _sorted_cells(row: Indexes, kind: Indexes, intent: Indexes, group: Indexes) -> Cells:
    """Number the pairs and groups of cells that are sorted by group and then intent."""
    new_group = np.diff(group, prepend=-1) != 0
    new_pair = new_group | (np.diff(intent, prepend=-1) != 0)
    pair, number = np.cumsum(new_pair) - 1, np.cumsum(new_group) - 1
    pairs = np.flatnonzero(new_pair)
    some_row = np.empty(len(kind), dtype=np.intp)
    some_row[row] = np.arange(len(row))
    groups = np.flatnonzero(new_group[pairs])
    return Cells(row, kind, pair, number, pairs, groups, some_row[pairs[groups]])

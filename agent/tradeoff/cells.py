"""Counts of the rows of a query by group, intent and kind, split one attribute at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from agent.tradeoff.kinds import Kinds

    Indexes = NDArray[np.intp]
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
    """Rows counted for each value of one more attribute and each cell, shape (values, cells).

    ``rows``: rows of the cell; ``pair``: of its pair, c(g,x); ``group``: of its group, c(g).
    """

    rows: Indexes
    pair: Indexes
    group: Indexes


def undivided(kinds: Kinds) -> Cells:
    """Return the cells when all rows are one group: a cell for each kind."""
    return _sorted_cells(
        kinds.of_row, np.arange(len(kinds.intent)), kinds.intent, np.zeros_like(kinds.intent)
    )


def count(cells: Cells, column: Codes, card: int) -> Counts:
    """Count the rows when every group is split by the codes in ``column``, below ``card``."""
    size = len(cells.kind)
    rows = np.bincount(_keys(cells, column), minlength=size * card).reshape(card, size)
    pairs = np.add.reduceat(rows, cells.pairs, axis=1)
    groups = np.add.reduceat(pairs, cells.groups, axis=1)
    return Counts(rows, pairs.take(cells.pair, axis=1), groups.take(cells.group, axis=1))


def split(cells: Cells, kinds: Kinds, column: Codes, card: int) -> Cells:
    """Split every group by the codes in ``column``, below ``card``."""
    size = len(cells.kind)
    keys = _keys(cells, column)
    used = np.flatnonzero(np.bincount(keys, minlength=size * card))
    value, cell = np.divmod(used, size)
    group = cells.group[cell] * card + value
    order = _stable_order(group)
    number = np.empty(size * card, dtype=np.intp)
    number[used[order]] = np.arange(len(used))
    kind = cells.kind[cell[order]]
    return _sorted_cells(number[keys], kind, kinds.intent[kind], group[order])


def merge(cells: Cells, kinds: Kinds, into: Indexes) -> Counts:
    """Count the rows when group g is merged into group ``into[g]`` (dense numbers)."""
    rows = np.bincount(cells.row)
    group, intents = into[cells.group], int(kinds.intent[-1]) + 1
    pair = group * intents + kinds.intent[cells.kind]
    pairs = np.bincount(pair, rows).astype(np.intp)
    groups = np.bincount(group, rows).astype(np.intp)
    return Counts(*(each[np.newaxis, :] for each in (rows, pairs[pair], groups[group])))


def _stable_order(numbers: Indexes) -> Indexes:
    """Return the stable ascending order; NumPy sorts 16-bit integers in linear time."""
    small = numbers.max(initial=0) <= np.iinfo(np.uint16).max
    return np.argsort(numbers.astype(np.uint16) if small else numbers, kind="stable")


def _keys(cells: Cells, column: Codes) -> Indexes:
    """Return value * cells + cell for each row."""
    keys = np.multiply(column, len(cells.kind), dtype=np.intp)
    keys += cells.row
    return keys


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

"""Counts of the rows of a query by group and intent, and the score of rows that were held out."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agent.tradeoff import grouping
from agent.tradeoff.tables import Codes, Floats, Indexes, QueryRows, members, stable_order

BATCH = 1 << 14  # cells, times attributes, counted in one go
BYTE = 255  # codes of several attributes together are bytes
CELLS_KEPT = 8  # divisions remembered, 8 bytes a row each
FEW = 4  # cells: up to so many of a pair are sooner added one by one than by `reduceat`
ALONE = np.zeros(1, dtype=np.intp)  # the first value of a single one
ALONE.setflags(write=False)


@dataclass(frozen=True, slots=True, eq=False)
class RowKinds:
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


def kinds_of(rows: QueryRows, request: int) -> RowKinds:
    """The kinds when groups are told apart by the request attributes in ``request``.

    A user's rows agree on every person attribute, so what leaving the user out takes from a
    group is what the user has with the same values of these request attributes.
    """
    total = _own_rows(rows, rows.user, len(rows.person))
    own = total
    if request:
        users = grouping.Grouping(rows.user, len(rows.person))
        columns = (rows.request[:, each - rows.persons] for each in members(request))
        own = _own_rows(rows, *grouping.divide(users, map(_column, columns)))
    facts = map(_column, (rows.intent, *own, *(total if request else ())))
    of_row, kinds = grouping.divide(len(rows.intent), facts)
    example = grouping.last_of_each(of_row, kinds)
    same, rows_own, same_total, own_total = (fact[example] for fact in (*own, *total))
    return RowKinds(of_row, rows.intent[example], same, rows_own, same_total, own_total)


def _column(codes: Codes | Indexes) -> grouping.CodeColumn:
    return grouping.CodeColumn(codes, int(codes.max(initial=0)) + 1)


def _own_rows(rows: QueryRows, unit: Indexes, units: int) -> tuple[Indexes, Indexes]:
    """For each row, how many of its unit share its intent, and how many there are."""
    pair = unit * rows.intents + rows.intent
    return grouping.multiplicity(pair, units * rows.intents), grouping.multiplicity(unit, units)


class Cells(NamedTuple):
    """The rows of a query in cells: one group, one intent, one kind; sorted in that order.

    ``row``: intp, shape (M,), the cell of each row. One per cell, intp: ``kind``; ``pair``, the
    number of its pair of group and intent; ``group``, the number of its group. ``pairs``: intp,
    the first cell of each pair; ``groups``: intp, the first pair of each group. ``more``: for the
    second cell of a pair, the third and so on, the pairs that have one, and that cell; None if a
    pair has more than FEW cells.
    """

    row: Indexes
    kind: Indexes
    pair: Indexes
    group: Indexes
    pairs: Indexes
    groups: Indexes
    more: Sequence[tuple[Indexes, Indexes]] | None


class Counts(NamedTuple):
    """Rows counted by value of other attributes and by cell.

    Whole numbers in float64 for the arithmetic that follows, shape (values, cells), or (cells,) for
    a single value, where each may be a row: ``rows`` of the cell with that value, which may be 0;
    ``pair``, those of its pair, c(g,x); ``group``, those of its group, c(g). ``kind``: intp, one
    per cell. ``first``: intp, the first value of each attribute.
    """

    rows: Floats
    pair: Floats
    group: Floats
    kind: Indexes
    first: Indexes


def count(cells: Cells, columns: Sequence[grouping.CodeColumn]) -> Counts:
    """Count the rows for every value of each of several attributes, one after the other."""
    rows = np.concatenate(grouping.tally(cells.row, len(cells.kind), columns), dtype=np.float64)
    first = np.cumsum([0, *(column.card for column in columns[:-1])])
    return _summed(cells, rows, first)


def _summed(cells: Cells, rows: Floats, first: Indexes = ALONE) -> Counts:
    if cells.more is None:
        pairs = np.add.reduceat(rows, cells.pairs, axis=-1)
    else:
        pairs = rows.take(cells.pairs, axis=-1)
        for some, cell in cells.more:
            pairs[..., some] += rows.take(cell, axis=-1)
    groups = np.add.reduceat(pairs, cells.groups, axis=-1)
    each = pairs.take(cells.pair, axis=-1), groups.take(cells.group, axis=-1)
    return Counts(rows, *each, cells.kind, first)


def split(cells: Cells, kinds: RowKinds, column: grouping.CodeColumn) -> Cells:
    """Split every group by one more attribute."""
    size = len(cells.kind)
    combined = np.multiply(column.codes, size, dtype=cells.row.dtype) + cells.row
    used = np.flatnonzero(np.bincount(combined, minlength=size * column.card))
    value, cell = np.divmod(used, size)
    group = cells.group[cell] * column.card + value
    order = stable_order(group)
    number = np.empty(size * column.card, dtype=np.intp)
    number[used[order]] = np.arange(len(used))
    kind = cells.kind[cell[order]]
    return _sorted_cells(number[combined], kind, kinds.intent[kind], group[order])


def _sorted_cells(row: Indexes, kind: Indexes, intent: Indexes, group: Indexes) -> Cells:
    """Number the pairs and groups of cells that are sorted by group and then intent."""
    new_group = np.diff(group, prepend=-1) != 0
    new_pair = new_group | (np.diff(intent, prepend=-1) != 0)
    pair, number = np.cumsum(new_pair) - 1, np.cumsum(new_group) - 1
    pairs = np.flatnonzero(new_pair)
    sizes, more = np.diff(pairs, append=len(kind)), None
    if (most := int(sizes.max(initial=0))) <= FEW:
        some = [np.flatnonzero(sizes > each) for each in range(1, most)]
        more = [(each, pairs[each] + at) for at, each in enumerate(some, 1)]
    return Cells(row, kind, pair, number, pairs, np.flatnonzero(new_group[pairs]), more)


class Layout:
    """The rows of a query under one set of request attributes, by cells (see ``cells.Cells``).

    ``kinds``: of the rows; ``prior``: p0-u(x) = (c(x) - n_u(x) + 1/2) / (M - n_u + K/2) for each
    kind, float64.
    """

    def __init__(self, rows: QueryRows, columns: grouping.Columns, request: int) -> None:
        """Prepare the rows; ``request``: the request attributes that divide them, a mask."""
        self._columns = columns
        self.kinds = kinds = kinds_of(rows, request)
        others = np.bincount(rows.intent, minlength=rows.intents)[kinds.intent] - kinds.same_total
        self.prior = (others + 0.5) / (len(rows.intent) - kinds.own_total + rows.intents / 2)
        each, intent = np.arange(len(kinds.intent)), kinds.intent
        undivided = _sorted_cells(kinds.of_row, each, intent, np.zeros_like(intent))
        self.divisions = grouping.Divisions(undivided, self._divide, CELLS_KEPT, self._merge)

    def beside(self, mask: int, attributes: Sequence[int]) -> Iterator[Counts]:
        """Yield the counts by ``mask`` and each of these attributes, in batches."""
        batch = max(1, BATCH // len(self.divisions[mask].kind))
        for first in range(0, len(attributes), batch):
            some = [self._columns.column(each) for each in attributes[first : first + batch]]
            yield count(self.divisions[mask], some)

    def alone(self, attribute: int, some: Indexes) -> Counts:
        """The counts of some rows, an entry each, when one attribute divides all rows."""
        kinds, codes = self.kinds, self._columns.column(attribute).codes.astype(np.intp)
        pair = codes * (int(kinds.intent[-1]) + 1) + kinds.intent[kinds.of_row]
        of_pair, of_group = (np.bincount(each)[each[some]].astype(float) for each in (pair, codes))
        return Counts(np.ones(len(some)), of_pair, of_group, kinds.of_row[some], ALONE)

    def by(self, mask: int) -> Counts:
        """The counts by a set: from a division by one attribute more or less, or from the rows."""
        kinds, (cells, rest) = self.kinds, self.divisions.nearest(mask)
        if not rest or self.divisions.finer(mask):
            cells = self.divisions[mask]
            rows = np.bincount(cells.row)
        elif not rest & (rest - 1):
            return count(cells, [self._columns.column(rest.bit_length() - 1)])
        else:
            everything = grouping.Grouping(np.zeros_like(kinds.of_row))
            of_kind = grouping.CodeColumn(kinds.of_row, len(kinds.intent))
            finest = grouping.refine(everything, [*self._columns.of(mask), of_kind])
            keys, rows = np.unique(finest.labels, return_counts=True)
            group, kind = np.divmod(keys, len(kinds.intent))
            cells = _sorted_cells(keys, kind, kinds.intent[kind], group)
        return _summed(cells, rows.astype(np.float64))

    def _merge(self, finer: Cells, mask: int) -> Cells:
        """Divide by fewer attributes."""
        example = grouping.last_of_each(finer.group[finer.row], len(finer.groups))
        label, labels = grouping.divide(len(example), self._columns.of(mask, example))
        intent = self.kinds.intent
        keys = label[finer.group] * len(intent) + finer.kind
        number, used = grouping.number(keys, labels * len(intent))
        group, kind = np.divmod(used, len(intent))
        return _sorted_cells(number[finer.row], kind, intent[kind], group)

    def _divide(self, parent: Cells, attributes: int) -> Cells:
        """Divide by more attributes, as many in one go as there are rows for."""
        cells, rest = parent, sorted(self._columns.of(attributes), key=lambda each: -each.card)
        while rest:
            (codes, card), room = rest.pop(), grouping.SPARSE * len(cells.row) // len(cells.kind)
            while rest and card * rest[-1].card <= min(room, BYTE):
                more, values = rest.pop()
                codes, card = np.multiply(codes, values, dtype=np.uint8) + more, card * values
            cells = split(cells, self.kinds, grouping.CodeColumn(codes, card))
        return cells


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
    expected, cells = prior[intent[scored]], groups * intents + intent
    same = _occurrences(cells[trained], cells[scored])
    others = _occurrences(groups[trained], groups[scored])
    # Where beta is 0 and nobody was in the group, only the prior is left.
    whole = others + shrinkage
    chance = np.divide(same + shrinkage * expected, whole, expected.copy(), where=whole > 0)
    return float(np.log2(chance / expected).mean()) if chance.all() else None


def _occurrences(keys: Indexes, wanted: Indexes) -> Indexes:
    ordered = np.sort(keys)
    return np.searchsorted(ordered, wanted, "right") - np.searchsorted(ordered, wanted, "left")

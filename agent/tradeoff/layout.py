"""The rows of a query, divided and counted; nothing here depends on the shrinkage."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

import numpy as np

from agent.tradeoff.cells import Cells, Counts, count, merge, split, undivided
from agent.tradeoff.divisions import Divisions
from agent.tradeoff.kinds import kinds_of
from agent.tradeoff.numbering import SPARSE
from agent.tradeoff.sets import members
from agent.tradeoff.tally import BYTE, bundles, joint

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agent.tradeoff.columns import Columns
    from agent.tradeoff.tables import QueryRows

BATCH = 1 << 13  # cells, times attributes, counted in one go: what a cache holds
CELLS_KEPT = 8  # divisions remembered, 8 bytes a row each
COUNTS_KEPT = 1 << 22  # counts remembered where several shrinkages share a layout, 32 bytes each


class Layout:
    """The rows of a query under one set of request attributes, by cells (see ``cells.Cells``).

    ``kinds``: of the rows; ``prior``: p0-u(x) = (c(x) - n_u(x) + 1/2) / (M - n_u + K/2) for each
    kind, float64; ``shared``: whether counts are remembered for another shrinkage to use.
    """

    def __init__(self, rows: QueryRows, columns: Columns, request: int) -> None:
        """Prepare the rows; ``request``: the request attributes that divide them, a mask."""
        self._columns, self._persons = columns, (1 << rows.persons) - 1
        self.kinds = kinds = kinds_of(rows, request)
        frequency = np.bincount(rows.intent, minlength=rows.intents)
        others = frequency[kinds.intent] - kinds.same_total
        self.prior = (others + 0.5) / (len(rows.intent) - kinds.own_total + rows.intents / 2)
        self.divisions = Divisions(undivided(kinds), self._divide, CELLS_KEPT)
        self.shared = False
        self._counted: OrderedDict[tuple[int, ...], Counts] = OrderedDict()
        self._room = COUNTS_KEPT

    def beside(self, mask: int, attributes: Sequence[int]) -> Iterator[Counts]:
        """Yield the counts for each of these attributes beside ``mask``, in batches."""
        batch = max(1, BATCH // len(self.divisions[mask].kind)) if attributes else 1
        for first in range(0, len(attributes), batch):
            yield self._counts(mask, attributes[first : first + batch])

    def merged(self, mask: int) -> Counts | None:
        """Return the counts from the cells of the focus, if ``mask`` lacks one person attribute.

        That only merges groups. (A request attribute less would also change what belongs
        together when a user is left out.)
        """
        focus = self.divisions.focus
        if not self.divisions.merges_focus(mask) or (focus ^ mask) & ~self._persons:
            return None
        finer = self.divisions[focus]
        return merge(finer, self.kinds, self._columns.groups(finer.sample, mask))

    def forget(self) -> None:
        """Drop all that is remembered; the answers stay the same."""
        self.divisions.forget()
        self._counted.clear()
        self._room = COUNTS_KEPT

    def _counts(self, mask: int, attributes: Sequence[int]) -> Counts:
        key = (mask, *attributes)
        found = self._counted.get(key)
        if found is None:
            columns = [self._columns.column(each) for each in attributes]
            found = count(self.divisions[mask], columns)
            if self.shared:
                self._counted[key] = found
                self._room -= len(found.rows)
        while self._room < 0:
            self._room += len(self._counted.popitem(last=False)[1].rows)
        return found

    def _divide(self, parent: Cells, attributes: int) -> Cells:
        """Divide by more attributes, as many in one go as there are rows for."""
        cells, rest = parent, [self._columns.column(each) for each in members(attributes)]
        while rest:
            most = SPARSE * len(cells.row) // len(cells.kind)
            first = bundles(rest, min(most, BYTE))[0]
            cells = split(cells, self.kinds, joint([rest[place] for place in first]))
            rest = [column for place, column in enumerate(rest) if place not in first]
        return cells


class Layouts:
    """The layouts of a query's rows by set of request attributes, made when asked for."""

    def __init__(self, rows: QueryRows, columns: Columns) -> None:
        """Take the rows of a query and their attributes."""
        self.rows, self._columns = rows, columns
        self._made: dict[int, Layout] = {}
        self.shared = False
        """Whether several shrinkages share these layouts."""

    def request(self, mask: int) -> int:
        """Return the request attributes in a set."""
        return mask >> self.rows.persons << self.rows.persons

    def __getitem__(self, request: int) -> Layout:
        """Return the layout for a set of request attributes."""
        if request not in self._made:
            self._made[request] = Layout(self.rows, self._columns, request)
        found = self._made[request]
        found.shared = self.shared
        return found

    def forget(self) -> None:
        """Drop all that is remembered; the answers stay the same."""
        for layout in self._made.values():
            layout.forget()

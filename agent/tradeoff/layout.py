"""The rows of a query, divided and counted; nothing here depends on the shrinkage."""

from __future__ import annotations

from collections import OrderedDict
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from agent.tradeoff.cells import Cells, Counts, count, merge, split, undivided
from agent.tradeoff.divisions import Divisions
from agent.tradeoff.kinds import kinds_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agent.tradeoff.columns import Columns
    from agent.tradeoff.tables import QueryRows

BATCH = 1 << 13  # cells, times attributes, counted in one go: what a cache holds
CELLS_KEPT = 8  # divisions remembered, 8 bytes a row each
COUNTS_KEPT = 1 << 22  # counts remembered where several shrinkages share a layout, 24 bytes each


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
        # The order of cells depends on the path to a set: counts keep the cells they are of.
        self._counted: OrderedDict[tuple[int, ...], tuple[Cells, Counts]] = OrderedDict()
        self._room = COUNTS_KEPT

    def beside(
        self, mask: int, attributes: Sequence[int]
    ) -> Iterator[tuple[Cells, Counts, list[int]]]:
        """Yield cells and counts for each of these attributes beside ``mask``, in batches.

        With each batch, which line of its counts is the first of each attribute.
        """
        batch = max(1, BATCH // len(self.divisions[mask].kind))
        for first in range(0, len(attributes), batch):
            part = attributes[first : first + batch]
            cards = [self._columns.column(each).card for each in part]
            yield *self._counts(mask, part), list(accumulate(cards[:-1], initial=0))

    def merged(self, mask: int) -> Counts | None:
        """Return the counts in the cells of the focus, if ``mask`` lacks one person attribute.

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

    def _counts(self, mask: int, attributes: Sequence[int]) -> tuple[Cells, Counts]:
        key = (mask, *attributes)
        found = self._counted.get(key)
        if found is None:
            columns = [self._columns.column(each) for each in attributes]
            cells = self.divisions[mask]
            found = cells, count(cells, columns)
            if self.shared:
                self._counted[key] = found
                self._room -= found[1].rows.size
        while self._room < 0:
            self._room += self._counted.popitem(last=False)[1][1].rows.size
        return found

    def _divide(self, parent: Cells, attribute: int) -> Cells:
        return split(parent, self.kinds, self._columns.column(attribute))


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

"""What one query uses of what a recipient is told: its utility, remembered as plans go on."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from agent.tradeoff.passes import ROUNDING
from agent.tradeoff.sets import members, singleton, union

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from agent.tradeoff.utility import Utility

    Floats = NDArray[np.float64]

KEPT = 2_000  # sets of a query, some hundred bytes each; then the memory starts afresh


class Scope(NamedTuple):
    """What there is to plan with, as masks.

    ``held``: told already, and free to use again; ``free``: may be told; ``fixed``: in every
    answer; ``most``: how many attributes an answer may have, None for any number; ``least``: more
    bits than that an attribute has to add to an answer to be used, and to the plan to be in it.
    """

    held: int
    free: int
    fixed: int = 0
    most: int | None = None
    least: float = ROUNDING

    def has_room(self, mask: int) -> bool:
        """Say whether an answer may have all of these."""
        return self.most is None or mask.bit_count() <= self.most


class Uses:
    """The utility of one query, remembered for the sets near those that plans came to."""

    def __init__(
        self, utility: Callable[[], Utility], attributes: int, computed: Mapping[int, float]
    ) -> None:
        """Take the utility, how many attributes there are, and U of some sets, by mask."""
        self._utility, self._size, self._computed = utility, attributes, computed
        self._forget()

    @cached_property
    def limit(self) -> float:
        """No set has more, in bits."""
        return self._utility().limit

    @cached_property
    def monotone(self) -> bool:
        """Whether a superset never has less."""
        return self._utility().monotone

    def value(self, mask: int) -> float:
        """Return U(A) in bits."""
        if mask in self._values:
            return self._values[mask]
        if mask in self._computed:
            return self._computed[mask]
        for each in members(mask):
            rest = mask ^ singleton(each)
            if self._done.get(rest, 0) >> each & 1:
                return float(self._rows[rest][each])
        found = self._values[mask] = self._utility().value(mask)
        return found

    def extensions(self, mask: int, attributes: Sequence[int]) -> list[float]:
        """Return U(A u {V}) in bits for each V in ``attributes``, none of them in A."""
        row = self.beside(mask, union(attributes))
        return [float(row[each]) for each in attributes]

    def ceiling(self, mask: int) -> float:
        """Return a bound, in bits, on U of every subset of A; it needs no submodularity."""
        return self._utility().ceiling(mask)

    def focus(self, mask: int) -> None:
        """Make the neighbours of ``mask`` quick to evaluate; the answers stay the same."""
        self._utility().focus(mask)

    def forget(self) -> None:
        """Drop what was prepared, not what was computed; the answers stay the same."""
        self._utility().forget()

    def beside(self, mask: int, wanted: int) -> Floats:
        """Return U(A u {V}) in bits, float64 by attribute, for each V of ``wanted`` at least.

        None of them is in A. The array is not to be written to.
        """
        if mask not in self._rows:
            if len(self._rows) >= KEPT:
                self._forget()
            self._rows[mask], self._done[mask] = np.full(self._size, np.nan), 0
        row, missing = self._rows[mask], wanted & ~self._done[mask]
        if missing:
            new = [*members(missing)]
            given = [self._computed.get(mask | singleton(each)) for each in new]
            known = None not in given
            row[new] = given if known else self._utility().extensions(mask, new)
            self._done[mask] |= missing
        return row

    def best(
        self, start: int, options: int, allowed: Callable[[int], bool], least: float = ROUNDING
    ) -> tuple[int, ...]:
        """Return what to add to a set, the best first, until nothing allowed adds much.

        What added no more than ``least`` bits beside less is tried again only where nothing else
        adds more, as U need not be submodular.
        """
        mask, level, order, hopeful = start, self.value(start), list[int](), options
        while True:
            rest = hopeful & ~mask
            row = self.beside(mask, rest)
            better = [(-row[each], each) for each in members(rest) if row[each] > level + least]
            found = next((each for _, each in sorted(better) if allowed(mask | 1 << each)), None)
            if found is not None:
                order.append(found)
                mask, level = mask | singleton(found), float(row[found])
                hopeful = union(each for _, each in better)
            elif hopeful != options:
                hopeful = options
            else:
                return tuple(order)

    def first(self, scope: Scope) -> int:
        """Return what is used where nothing is added: the fixed, and what helps of what is held."""
        fixed, held, most, least = scope.fixed, scope.held & ~scope.fixed, scope.most, scope.least
        key = fixed, held, most, least
        if key not in self._firsts:
            if len(self._firsts) >= KEPT:
                self._firsts.clear()
            self._firsts[key] = fixed | union(self.best(fixed, held, scope.has_room, least))
        return self._firsts[key]

    def _forget(self) -> None:
        self._firsts: dict[tuple[int, int, int | None, float], int] = {}
        self._values: dict[int, float] = {0: 0.0}
        self._rows: dict[int, Floats] = {}
        self._done: dict[int, int] = {}

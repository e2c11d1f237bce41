"""What is remembered of the divisions of a table by sets of attributes."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Generic, TypeVar

from agent.tradeoff.sets import EMPTY, highest, members, singleton

if TYPE_CHECKING:
    from collections.abc import Callable

Division = TypeVar("Division")


class Divisions(Generic[Division]):
    """Divisions by sets of attributes, each made from the nearest coarser one remembered.

    Which of them are remembered decides how fast an answer comes, never what it is.
    """

    def __init__(
        self, start: Division, divide: Callable[[Division, int], Division], kept: int
    ) -> None:
        """Begin with the undivided table; ``divide`` refines by a set of more attributes."""
        self._start, self._divide, self._limit = start, divide, kept
        self._kept: OrderedDict[int, Division] = OrderedDict()
        self.focus = 0
        """The set whose neighbours will be asked for next."""

    def __getitem__(self, mask: int) -> Division:
        """Return the division by ``mask``."""
        if not mask:
            return self._start
        found = self._kept.get(mask)
        if found is None:
            found = self._kept[mask] = self._divided(mask)
            if len(self._kept) > self._limit:
                self._kept.popitem(last=False)
        else:
            self._kept.move_to_end(mask)
        return found

    def _divided(self, mask: int) -> Division:
        coarser = (each for each in self._kept if not each & ~mask)
        base = max(coarser, key=int.bit_count, default=EMPTY)
        return self._divide(self._kept[base] if base else self._start, mask & ~base)

    def last_step(self, mask: int) -> int:
        """Return the attribute to divide by last: what the focus lacks, or what is at hand."""
        more = mask & ~self.focus
        if self.focus == mask ^ more and more.bit_count() == 1:
            return highest(more)
        ready = (each for each in members(mask) if mask & ~singleton(each) in self._kept)
        return next(ready, highest(mask))

    def merges_focus(self, mask: int) -> bool:
        """Say whether ``mask`` is the focus less one attribute."""
        less = self.focus & ~mask
        return self.focus ^ less == mask and less.bit_count() == 1

    def forget(self) -> None:
        """Drop all that is remembered."""
        self._kept.clear()

"""The leave-one-user-out utility: every row is scored by everybody else (DESIGN.md 2.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.tradeoff.columns import row_columns
from agent.tradeoff.layout import Layouts
from agent.tradeoff.scoring import Scoring
from agent.tradeoff.sets import singleton

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.tradeoff.tables import QueryRows


class LeaveOneUserOut:
    """U(A) = mean over rows of log2 P-u(x|g(A)) - log2 p0-u(x), as a set function.

    A user's rows share the person attributes, so what is left out of a group depends only on
    the request attributes in A. Not monotone: noise has a negative gain.
    """

    monotone = False

    def __init__(self, layouts: Layouts, shrinkage: float) -> None:
        """Score a query's rows; ``shrinkage`` is beta > 0, in rows; ValueError otherwise."""
        if not shrinkage > 0:
            message = f"leave-one-user-out needs a shrinkage above 0, not {shrinkage}"
            raise ValueError(message)
        self._layouts, self._shrinkage = layouts, shrinkage
        self._scorings: dict[int, Scoring] = {}
        self.limit = self._scoring(0).limit

    @classmethod
    def of(cls, rows: QueryRows, cards: Sequence[int], shrinkage: float) -> LeaveOneUserOut:
        """Return the utility for the rows of one query."""
        return cls(Layouts(rows, row_columns(rows, cards)), shrinkage)

    def at(self, shrinkage: float) -> LeaveOneUserOut:
        """Return the same rows' utility at another shrinkage; what is counted is shared."""
        self._layouts.shared = True
        return LeaveOneUserOut(self._layouts, shrinkage)

    def value(self, mask: int) -> float:
        """Return U(A) in bits."""
        return self._scoring(mask).value(mask) if mask else 0.0

    def extensions(self, mask: int, attributes: Sequence[int]) -> list[float]:
        """Return U(A u {V}) in bits for each V in ``attributes``, none of them in A."""
        persons = [each for each in attributes if each < self._layouts.rows.persons]
        values = dict(zip(persons, self._scoring(mask).extensions(mask, persons), strict=True))
        return [
            values[each] if each in values else self.value(mask | singleton(each))
            for each in attributes
        ]

    def ceiling(self, mask: int) -> float:
        """Return a bound, in bits, on U of every subset of A; it needs no submodularity."""
        return min(self.limit, self._scoring(mask).ceiling(mask))

    def focus(self, mask: int) -> None:
        """Make the neighbours of ``mask`` quick to evaluate; the answers stay the same."""
        self._scoring(mask).layout.divisions.focus = mask

    def forget(self) -> None:
        """Drop remembered partitions; the answers stay the same."""
        self._layouts.forget()

    def _scoring(self, mask: int) -> Scoring:
        """Return the scores under the request attributes in ``mask``."""
        request = self._layouts.request(mask)
        found = self._scorings.get(request)
        if found is None:
            found = Scoring(self._layouts[request], self._shrinkage)
            self._scorings[request] = found
        return found

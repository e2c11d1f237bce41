"""Guarded attributes: what the rest tells about a fact that is never disclosed (paper 2.2)."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from agent.tradeoff.grouping import Columns, Partitions, mass_of, ordered_sum, plogp
from agent.tradeoff.tables import UNSPECIFIED, Codes, Floats

Joint = Callable[[int], Iterator[Floats]]
FEWEST = 30  # people who specify the guarded attribute; fewer say nothing about it


class GuardUncertainty(NamedTuple):
    """What is open about a guarded attribute v among the people who agree with d.

    ``people``: how many of them specify v; of those, ``bits``: H(V_v|d), and ``best_guess``: the
    success of the best guess, max P(v|d), 0 to 1; both 0 where nobody specifies it.
    """

    people: int
    bits: float
    best_guess: float


class Guard:
    """The cost G_v(A|d) = H(V_v|d) - H(V_v|A u D,d) over people with v specified.

    What a recipient holds and no column has is independent of v given d (DESIGN.md 2.8), so it
    changes nothing; counting fewer people for it would only make a guard free sooner.
    Source: footnote 2 of the paper's 2.2; DESIGN.md 2.2.
    """

    def __init__(self, columns: Codes, cards: Sequence[int], guarded: int, joint: Joint) -> None:
        """Guard one attribute of people.

        ``columns``: codes, shape (P, people); ``joint``: yields P(a, y) for the combinations a
        of request values of a set, float64, shape (people,).
        """
        self._people = np.flatnonzero(columns[guarded] != UNSPECIFIED)
        self._values = columns[guarded][self._people].astype(np.intp)
        self._card = cards[guarded]
        self._joint = joint
        people = Columns(np.ascontiguousarray(columns[:, self._people]), cards)
        self._partitions = Partitions(people)
        self._persons = (1 << len(columns)) - 1

    def bits(self, mask: int) -> float:
        """Return G_v(A|d) in bits; 0 where fewer than 30 people say anything about v."""
        if len(self._people) < FEWEST:
            return 0.0
        before = self._entropy(0)
        return before - self._entropy(mask)

    def best_guess(self, mask: int) -> float:
        """Return the expected success of the best guess about v, 0 to 1; 0 where none is known."""
        if len(self._people) == 0:
            return 0.0
        return sum(ordered_sum(table.max(axis=1)) for table in self._tables(mask))

    def uncertainty(self) -> GuardUncertainty:
        """Return what is open about v before any answer."""
        people = len(self._people)
        return GuardUncertainty(people, self._entropy(0) if people else 0.0, self.best_guess(0))

    def _entropy(self, mask: int) -> float:
        """Return H(V_v|A u D,d) in bits."""
        return sum(
            ordered_sum(plogp(table.sum(axis=1))) - ordered_sum(plogp(table).ravel())
            for table in self._tables(mask)
        )

    def _tables(self, mask: int) -> Iterator[Floats]:
        """Yield P(a, class, v) for each combination a of request values, summing to 1 in all."""
        labels, groups = self._partitions.dense[mask & self._persons]
        cells = labels * self._card + self._values
        whole = next(self._joint(0))[self._people].sum()
        for mass in self._joint(mask):
            table = mass_of(cells, mass[self._people] / whole, groups * self._card)
            yield table.reshape(groups, self._card)

"""With which probability others agree in facts that no column holds (DESIGN.md 2.8)."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache, reduce
from itertools import chain
from math import prod

import numpy as np

from agent.tradeoff.grouping import mass_of
from agent.tradeoff.shares import BINS, KindShares, Shares, Values, histogram
from agent.tradeoff.tables import Codes, Floats, Indexes, Population, members

KEPT = 2_000  # distributions of sets
Spread = tuple[Floats, Floats]
"""A distribution of rho: different ones, above 0 or 0 alone, and the mass of each, float64."""
Part = tuple[Indexes, Spread]


class Agreement:
    """Rho: how probably another person who is alike in the columns holds the same other facts.

    Sets are masks over all attributes. A value is drawn under the parent's where that is disclosed
    or in the set: that of the first attribute of its kind, disclosed ones before others.
    """

    def __init__(
        self,
        population: Population,
        disclosed: Iterable[tuple[int, int]],
        possible: Mapping[int, frozenset[int]],
        among: Callable[[int], Floats],
    ) -> None:
        """Take the people, and what the recipient knows.

        ``disclosed``: pairs of attribute and code, of columns, too; ``possible``: codes by column,
        of those it tells of; ``among``: of a column how many people, of those who agree with d,
        have each code, float64.
        """
        self._among = among
        self._shares = population.shares or Shares((), ())
        self.kind = dict(enumerate(self._shares.attributes, population.tabled))
        """By attribute, the place of its kind in ``Shares.kinds``."""
        self._disclosed = {each: code for each, code in sorted(disclosed) if each in self.kind}
        self._codes = {self.kind[each]: self._disclosed[each] for each in [*self._disclosed][::-1]}
        self._certain = {at: min(codes) for at, codes in possible.items() if len(codes) == 1}
        self._every = sum(1 << each for each in self.kind if each not in self._disclosed)
        self._mixture, self.spread = cache(self._mixed), lru_cache(KEPT)(self._spread)
        self.by_row: Floats | None = None
        """How probably each person agrees in disclosed facts that depend on columns d leaves open.

        Float64, shape (N,); None without any. No `Spread` counts these.
        """
        for each, code in self._disclosed.items():
            if (column := self._column(each)) is not None:
                codes = population.columns[column]
                values = [self._of(each).values(under) for under in range(int(codes.max()) + 1)]
                own = np.array([under.one(code)[1] for under in values])[codes]
                self.by_row = own if self.by_row is None else self.by_row * own

    def _of(self, attribute: int) -> KindShares:
        return self._shares.kinds[self.kind[attribute]]

    def _column(self, attribute: int) -> int | None:
        """The column on which an attribute depends, if d does not fix it."""
        kind = self._of(attribute)
        return None if kind.given is None or kind.column in self._certain else kind.column

    def columns(self, mask: int) -> list[int]:
        """The columns on which the new values of a set depend, ascending."""
        columns = {self._column(each) for each in members(mask & self._every)}
        return sorted(each for each in columns if each is not None)

    def telling(self, mask: int) -> list[tuple[int, Floats]]:
        """The column, for each new fact of a set that depends on one, and what follows from it.

        The chances of the fact's values under each code, float64, shape (codes, v).
        """
        facts = ((self._of(each), self._column(each)) for each in members(mask & self._every))
        return [
            (column, np.array([kind.values(code).chances for code in range(len(kind.given))]))
            for kind, column in facts
            if column is not None and kind.given is not None
        ]

    def spreads(self, mask: int, columns: Codes, sample: Indexes) -> Iterator[Part]:
        """Yield groups of rows, and rho among them: of disclosed facts and of a set's new ones.

        ``columns``: codes, shape (C, rows); ``sample``: a row of each group.
        """
        new = mask & self._every
        within = [each for each in self.columns(new) if mask >> each & 1]
        if not within:
            yield np.arange(len(sample)), self.spread(new, ())
            return
        codes = np.stack([columns[each][sample] for each in within])
        values, labels = np.unique(codes, axis=1, return_inverse=True)
        for label, own in enumerate(values.T.tolist()):
            spread = self.spread(new, tuple(zip(within, own, strict=True)))
            yield np.flatnonzero(labels.ravel() == label), spread

    def _spread(self, mask: int, columns: Sequence[tuple[int, int]]) -> Spread:
        """Rho of the disclosed facts and of a set; ``columns``: codes, more than d fixes."""
        new = sorted(members(mask & self._every), key=lambda each: self.kind[each])
        below = defaultdict[int, list[int]](list)
        kinds = ((self.kind[each], each) for each in reversed(new))
        first: dict[int | None, int] = {k: each for k, each in kinds if k not in self._codes}
        for each in (*new, *self._disclosed):
            if (parent := self._of(each).parent) in first:
                below[first[parent]].append(each)
        inner = {*chain.from_iterable(below.values())}
        share = prod(
            self._values(each, {}).one(code)[1]
            for each, code in self._disclosed.items()
            if each not in inner and self._column(each) is None
        )
        more = dict(columns)
        trees = (self._tree(e, self._values(e, more), below) for e in new if e not in inner)
        masses = reduce(np.convolve, trees, np.ones(1))
        used = np.flatnonzero(masses)
        if not share or not len(used):
            return np.zeros(1), np.ones(1)
        return share * np.exp2(used / -BINS), masses[used] / masses.sum()

    def _values(self, attribute: int, columns: Mapping[int, int]) -> Values:
        """The values of an attribute whose parent is not a new one of the set."""
        kind, column = self._of(attribute), self._column(attribute)
        if kind.parent is not None:
            return kind.values(self._codes.get(kind.parent, 0))
        if column is None:
            return kind.values(0 if kind.column is None else self._certain.get(kind.column, 0))
        return kind.values(columns[column]) if column in columns else self._mixture(kind, column)

    def _mixed(self, kind: KindShares, column: int) -> Values:
        """The values among those who agree with d, whatever their code of the column is."""
        people = self._among(column)
        return Values.of(people / people.sum() @ np.asarray(kind.given))

    def _tree(self, attribute: int, values: Values, below: Mapping[int, Sequence[int]]) -> Floats:
        """The histogram of an attribute and of what depends on it; what cannot be has no mass."""
        if attribute in self._disclosed:
            chance, share = values.one(self._disclosed[attribute])
            return histogram(np.array([share]), np.array([chance]))
        if attribute not in below:
            return values.masses
        parts = [np.zeros(1)]
        for at in np.flatnonzero(values.agreement).tolist():
            trees = (self._tree(e, self._of(e).values(at + 1), below) for e in below[attribute])
            own = histogram(values.agreement[at : at + 1], values.chances[at : at + 1])
            parts.append(reduce(np.convolve, trees, own))
        bins = np.concatenate([np.arange(len(each)) for each in parts])
        return mass_of(bins, np.concatenate(parts), 0)

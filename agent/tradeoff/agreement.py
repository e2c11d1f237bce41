"""With which probability others agree in facts that no column holds (DESIGN.md 2.8)."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache, reduce
from itertools import chain
from math import prod

import numpy as np

from agent.tradeoff.grouping import mass_of
from agent.tradeoff.shares import BINS, KindShares, Shares, Values, histogram
from agent.tradeoff.tables import Codes, Floats, Indexes, Population, members, union

KEPT = 2_000  # distributions of sets
Spread = tuple[Floats, Floats]
"""A distribution of rho: different ones, above 0 or 0 alone, and the mass of each, float64."""
Part = tuple[Indexes, dict[int, Spread]]
"""Groups of rows, and rho among them by the place of a set."""
BATCH = 1 << 13  # losses that are estimated at once: what a cache holds


class Agreement:
    """Rho: how probably another person who is alike in the columns holds the same other facts.

    Sets are masks over all attributes. A value is drawn under the parent's where that is disclosed
    or in the set: that of the first attribute of its kind, disclosed ones before others. That
    somebody has a fact of a kind whose holders alone were asked of others counts once for these.
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
        shares = population.shares or Shares((), ())
        self.kind = dict(enumerate(shares.attributes, population.tabled))
        """By attribute, the place of its kind in ``Shares.kinds``."""
        self._of = {each: shares.kinds[place] for each, place in self.kind.items()}
        self._disclosed = {each: code for each, code in sorted(disclosed) if each in self.kind}
        self._every = union(each for each in self.kind if each not in self._disclosed)
        certain: dict[int | None, int] = {
            at: min(codes) for at, codes in possible.items() if len(codes) == 1
        }
        first = [*self._disclosed][::-1]
        self._codes: dict[int | None, int] = {self.kind[e]: self._disclosed[e] for e in first}
        # By attribute, the code of the parent; 0 where d does not fix it.
        self._under = {
            each: self._codes.get(kind.parent, certain.get(kind.column, 0))
            for each, kind in self._of.items()
        }
        # By kind, how probably anybody has some fact of it: no less than the commonest.
        self._holding = [float(each.under[0].agreement.max()) for each in shares.kinds]
        self.column = {
            each: kind.column
            for each, kind in self._of.items()
            if kind.column is not None and kind.column not in certain
        }
        """By attribute, the column on which it depends, where d does not fix that."""
        self.dependent = union(self.column) & self._every
        """Those of them that the recipient does not have, a mask."""
        self._mixture, self.spread = cache(self._mixed), lru_cache(KEPT)(self._spread)
        self.by_row: Floats | None = None
        """How probably each person agrees in disclosed facts that depend on columns d leaves open.

        Float64, shape (N,); None without any. No `Spread` counts these.
        """
        self._agreed = dict[int, float]()  # how probably others agree in each other disclosed fact
        for each, code in self._disclosed.items():
            under = self._of[each].under
            if each in self.column:
                own = np.array([values.by_code[code][1] for values in under])
                own = own[population.columns[self.column[each]]]
                self.by_row = own if self.by_row is None else self.by_row * own
            else:
                self._agreed[each] = under[self._under[each]].by_code[code][1]

    def telling(self, mask: int) -> list[tuple[int, Floats]]:
        """The column, for each new fact of a set that depends on one, and what follows from it.

        The chances of the fact's values under each code, float64, shape (codes, v).
        """
        return [
            (self.column[each], np.array([values.chances for values in self._of[each].under]))
            for each in members(mask & self.dependent)
        ]

    def spreads(self, sets: Sequence[int], columns: Codes, sample: Indexes) -> Iterator[Part]:
        """Yield groups of rows, and rho among them: of disclosed facts and of the sets' new ones.

        ``sets``: that have the same columns; ``columns``: codes, shape (C, rows); ``sample``: a row
        of each group.
        """
        batch, bins = dict[int, Spread](), 0
        for place, mask in enumerate(sets):
            new = mask & self._every
            within = sorted({self.column[each] for each in members(mask & self.dependent)})
            within = [each for each in within if mask >> each & 1]
            if not within:
                spread = self.spread(new, ())
                bins += len(spread[0])
                if batch and bins * len(sample) > BATCH:
                    yield np.arange(len(sample)), batch
                    batch, bins = {}, len(spread[0])
                batch[place] = spread
                continue
            codes = np.stack([columns[each][sample] for each in within])
            values, labels = np.unique(codes, axis=1, return_inverse=True)
            for label, own in enumerate(values.T.tolist()):
                spread = self.spread(new, tuple(zip(within, own, strict=True)))
                yield np.flatnonzero(labels.ravel() == label), {place: spread}
        if batch:
            yield np.arange(len(sample)), batch

    def _spread(self, mask: int, columns: Sequence[tuple[int, int]]) -> Spread:
        """Rho of the disclosed facts and of a set; ``columns``: codes, more than d fixes."""
        new = sorted(members(mask & self._every), key=lambda each: self.kind[each])
        below = defaultdict[int, list[int]](list)
        kinds = ((self.kind[each], each) for each in reversed(new))
        first: dict[int | None, int] = {k: each for k, each in kinds if k not in self._codes}
        for each in (*new, *self._disclosed):
            if (parent := self._of[each].parent) in first:
                below[first[parent]].append(each)
        inner = {*chain.from_iterable(below.values())}
        share = prod(own for each, own in self._agreed.items() if each not in inner)
        asked = {self._of[each].holders for each in (*new, *self._disclosed)}
        share *= prod(self._holding[each] for each in asked - {None, *first, *self._codes})
        codes, masses = dict(columns), np.ones(1)
        for each in new:
            if each in inner:
                continue
            kind, column = self._of[each], self.column.get(each)
            if column is None or column in codes:
                values = kind.under[self._under[each] if column is None else codes[column]]
            else:
                values = self._mixture(kind, column)
            tree = self._tree(each, values, below) if each in below else values.masses
            masses = np.convolve(masses, tree)
        used = np.flatnonzero(masses)
        if not share or not len(used):
            return np.zeros(1), np.ones(1)
        return share * np.exp2(used / -BINS), masses[used] / masses.sum()

    def _mixed(self, kind: KindShares, column: int) -> Values:
        """The values among those who agree with d, whatever their code of the column is."""
        people = self._among(column)
        return Values.of(people / people.sum() @ np.asarray(kind.given))

    def _tree(self, attribute: int, values: Values, below: Mapping[int, Sequence[int]]) -> Floats:
        """The histogram of an attribute and of what depends on it; what cannot be has no mass."""
        if attribute in self._disclosed:
            chance, share = values.by_code[self._disclosed[attribute]]
            return histogram(np.array([share]), np.array([chance]))
        if attribute not in below:
            return values.masses
        parts = [np.zeros(1)]
        for at in np.flatnonzero(values.agreement).tolist():
            trees = (self._tree(e, self._of[e].under[at + 1], below) for e in below[attribute])
            own = histogram(values.agreement[at : at + 1], values.chances[at : at + 1])
            parts.append(reduce(np.convolve, trees, own))
        bins = np.concatenate([np.arange(len(each)) for each in parts])
        return mass_of(bins, np.concatenate(parts), 0)

"""How probably others agree: in columns, and in facts that are counted by shares.

Columns often repeat each other: who has no job has no hours, no occupation and no employer. So the
values of a class are taken to depend on each other along a tree, that of the largest mutual
information. Source: DESIGN.md 2.7, 2.8; Chow and Liu 1968.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache, reduce
from itertools import chain, combinations
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agent.tradeoff.grouping import mass_of
from agent.tradeoff.shares import BINS, KindShares, Shares, Values, histogram
from agent.tradeoff.tables import (
    LOG_BITS,
    Codes,
    Floats,
    Indexes,
    Numbers,
    Population,
    members,
    union,
)

KEPT = 2_000  # trees, and distributions of sets
Spread = tuple[Floats, Floats]
"""A distribution of rho: different ones, above 0 or 0 alone, and the mass of each, float64."""
Part = tuple[Indexes, dict[int, Spread]]
"""Groups of rows, and rho among them by the place of a set."""
BATCH = 1 << 13  # losses that are estimated at once: what a cache holds
Edge = tuple[int, int]
"""Two attributes, in ascending order."""
Events = Mapping[int, frozenset[int]]
"""By attribute, codes that are one value, the only one that it can have."""
DISCOUNT = 0.5  # of a row, taken off every pair of values: who is there once may be one of a kind
INFORMATION_BITS = 30  # binary places by which mutual information is compared
CLOSE = 3  # pairs for each attribute, of the largest information: no more are expected than by one


def pair_people(population: Population, cards: Sequence[int]) -> Floats:
    """How many people have each two values of each two columns of the population.

    Float64, flat: values 0 and 0, 0 and 1 ... of attributes 0 and 1, then those of 0 and 2, and so
    on. ``cards``: how many values each attribute has.
    """
    persons = cards[: population.tabled]
    if population.pairs is not None:
        return population.pairs
    columns, tables = population.columns, list[NDArray[Any]]([np.zeros(0)])
    for one, other in combinations(range(len(persons)), 2):
        keys = columns[one].astype(np.intp) * persons[other] + columns[other]
        tables.append(np.bincount(keys, population.summable, persons[one] * persons[other]))
    return np.concatenate(tables)


class DependenceTree:
    """The trees over sets of attributes, and what their edges tell.

    All bits are rounded to LOG_BITS binary places, so that their sums are exact in any order, and
    equal information is decided by index: a tree depends on its attributes alone.
    """

    def __init__(self, population: Population, cards: Sequence[int]) -> None:
        """Take the people, and how many values each attribute has."""
        self._population, count = population, population.tabled
        pairs = [*combinations(range(count), 2)]
        sizes = np.array([cards[one] * cards[other] for one, other in pairs], np.intp)
        starts = np.cumsum(sizes) - sizes
        weights, whole = population.summable, population.people
        joint = pair_people(population, cards) / whole
        by_code = zip(population.people_by_code, cards, strict=False)
        shares = [people[:card] / whole for people, card in by_code]
        outer = np.multiply.outer, np.minimum.outer
        alone, most = (
            np.concatenate([np.zeros(0), *(each(shares[i], shares[j]).ravel() for i, j in pairs)])
            for each in outer
        )
        ratio = np.divide(joint, alone, out=np.ones_like(joint), where=(joint > 0) & (alone > 0))
        information = np.add.reduceat(joint * np.log2(ratio), starts)
        ranks = np.lexsort((-np.arange(len(pairs)), np.rint(information * 2**INFORMATION_BITS)))
        self.close = [set[int]() for _ in range(count)]
        """For each attribute, those with which it is among the pairs of the largest information."""
        self._rank = [[-1] * count for _ in range(count)]
        for rank, place in enumerate(ranks.tolist()):
            one, other = pairs[place]
            self._rank[one][other] = self._rank[other][one] = rank
            if rank >= len(pairs) - CLOSE * count:
                self.close[one].add(other)
                self.close[other].add(one)
        who = population.respondents  # a copy of a row is no other row
        rows = np.bincount(np.arange(population.rows) if who is None else who, weights)
        row = float((rows**2).sum()) / whole**2  # the share of the usual one
        lowered = np.maximum(joint - DISCOUNT * row, 0.0)
        spared = np.repeat(np.add.reduceat(joint - lowered, starts), sizes)
        smooth = np.minimum(lowered + spared * alone, most)
        tables = zip(pairs, np.split(smooth, starts[1:]), strict=False)
        self._joint = {(i, j): each.reshape(cards[i], cards[j]) for (i, j), each in tables}
        self._bits: dict[tuple[object, ...], Floats] = {}
        self._edges: dict[tuple[int, ...], tuple[Edge, ...]] = {}

    def edges(self, attributes: Sequence[int]) -> tuple[Edge, ...]:
        """The tree over some attributes, which are in ascending order."""
        key = tuple(attributes)
        if key in self._edges:
            return self._edges[key]
        # Of those to come, their best neighbour so far.
        links = dict.fromkeys(key[1:], key[0] if key else -1)
        tree = list[Edge]()
        while links:
            new = max(links, key=lambda each: self._rank[each][links[each]])
            near = links.pop(new)
            tree.append((min(near, new), max(near, new)))
            for each, other in links.items():
                if self._rank[each][new] > self._rank[each][other]:
                    links[each] = new
        if len(self._edges) >= KEPT:
            del self._edges[next(iter(self._edges))]
        self._edges[key] = tuple(tree)
        return self._edges[key]

    def bits(self, one: int, other: int, events: Events) -> Floats:
        """Log2 of how much likelier two values are together than apart, by both, float64.

        ``events``: of an attribute in it, all these codes are one value, the only one.
        """
        here = {each: events[each] for each in (one, other) if each in events}
        key = one, other, *here.items()
        if key not in self._bits:
            table = self._joint[one, other] if one < other else self._joint[other, one].T
            shares = []
            for axis, each in enumerate((one, other)):
                own = self._population.share_bits[each, : table.shape[axis]]
                if each in here:
                    codes = sorted(here[each])
                    table = table.take(codes, axis).sum(axis, keepdims=True)
                    own = np.array([self._population.bits_of(each, here[each])])
                shares.append(own)
            apart = np.add.outer(*shares)
            possible = (table > 0) & (apart > -np.inf)
            both = np.log2(table, out=np.zeros_like(table), where=possible)
            rounded = np.round(both * 2**LOG_BITS) / 2**LOG_BITS
            if len(self._bits) >= KEPT:
                del self._bits[next(iter(self._bits))]
            self._bits[key] = np.subtract(rounded, apart, out=np.zeros_like(table), where=possible)
        return self._bits[key]


class ExpectedPeople:
    """Mu: how many people are expected who agree with d and with values of more attributes."""

    def __init__(self, population: Population, cards: Sequence[int], possible: Events) -> None:
        """Take the people, the values per attribute, and the codes that d leaves possible."""
        self._people, self._cards, self._possible = population, tuple(cards), possible
        self._agreeing = np.array(np.inf)
        """Log2 of how many are expected who agree with d: no more of them have further values."""
        if population.weights is not None:
            key = DependenceTree, self._cards
            if key not in population.memo:
                population.memo[key] = DependenceTree(population, self._cards)
            self._tree: DependenceTree = population.memo[key]
            self._agreeing = self.bits({})

    def bits(self, codes: Mapping[int, Numbers], *, most: bool = False) -> Floats:
        """Log2 of how many are expected, float64; 0 without weights, where nobody asks.

        ``codes``: by attribute that d does not fix, integers, of shapes that fit each other;
        ``most``: as many as may be expected with more values, whichever.
        """
        people = self._people
        if people.weights is None:
            return np.zeros(())
        tree, events = self._tree, {a: some for a, some in self._possible.items() if a not in codes}
        shares = {each: people.share_bits[each, own] for each, own in codes.items()}
        shares |= {at: np.array(people.bits_of(at, some)) for at, some in events.items()}
        logs: Floats = reduce(np.add, shares.values(), np.array(people.people_bits))
        cap: Floats = reduce(np.minimum, shares.values(), np.zeros(())) + people.people_bits
        edges = tree.edges(nodes := sorted(shares))
        for one, other in combinations(nodes, 2):
            is_edge, is_close = (one, other) in edges, other in tree.close[one]
            if is_edge or is_close:
                bits = tree.bits(one, other, events)[codes.get(one, 0), codes.get(other, 0)]
                logs = logs + bits if is_edge else logs
                both = shares[one] + shares[other] + bits + people.people_bits
                cap = np.minimum(cap, both) if is_close else cap  # no more than have any one or two
        cap = np.minimum(cap, self._agreeing)
        return cap if most else np.minimum(logs, cap)


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
        # How probably others agree in each disclosed fact that depends on no column d leaves open.
        self._agreed = {
            each: self._of[each].under[self._under[each]].by_code[code][1]
            for each, code in self._disclosed.items()
            if each not in self.column
        }

    def by_row(self, people: Population) -> Floats | None:
        """How probably each person agrees in disclosed facts that depend on columns d leaves open.

        Float64, shape (N,); None without any. No `Spread` counts these.
        """
        likely: Floats | None = None
        for each in sorted(self._disclosed.keys() & self.column.keys()):
            code, codes = self._disclosed[each], people.columns[self.column[each]]
            own = np.array([values.by_code[code][1] for values in self._of[each].under])[codes]
            likely = own if likely is None else likely * own
        return likely

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
        untold = asked - first.keys() - self._codes.keys()
        share *= prod(self._holding[each] for each in untold if each is not None)
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
        return kind.values(people / people.sum() @ np.asarray(kind.given))

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

"""How probably others agree: in columns, and in facts that are counted by shares.

Columns often repeat each other: who has no job has no hours, no occupation and no employer. So the
values of a class are taken to depend on each other along a tree, that of the largest mutual
information. Source: DESIGN.md 2.7, 2.8; Chow and Liu 1968.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache, reduce
from itertools import chain, combinations
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agent.tradeoff.shares import BINS, KindShares, Shares, Values, histogram
from agent.tradeoff.tables import (
    LOG_BITS,
    Codes,
    Floats,
    Indexes,
    Numbers,
    Population,
    members,
    read_only,
    union,
)

KEPT = 2_000  # trees, tables of two attributes, and distributions of sets
Pairs = tuple[tuple[int, int], ...]
"""Of column and code."""
Tree = tuple[int, int | None, tuple["Tree", ...]]
"""The place of a kind, the code that is disclosed, and the trees of what depends on it."""
Edge = tuple[int, int]
"""Two attributes, in ascending order."""
Events = Mapping[int, frozenset[int]]
"""By attribute, codes that are one value, the only one that it can have."""
DISCOUNT = 0.5  # of a row, taken off every pair of values: who is there once may be one of a kind
INFORMATION_BITS = 30  # binary places by which mutual information is compared
CLOSE = 3  # pairs for each attribute, of the largest information: no more are expected than by one


class Spread(NamedTuple):
    """A distribution of rho: ``share`` times 2^(-bin/8) for each of ``bins``, intp, ascending.

    ``masses``: the mass of each bin, float64; where ``share`` is 0, there is one.
    """

    share: float
    bins: Indexes
    masses: Floats

    @property
    def shares(self) -> Floats:
        """Rho of each bin, float64."""
        return self.share * np.exp2(self.bins / -BINS)


IMPOSSIBLE = Spread(0.0, np.zeros(1, np.intp), np.ones(1))


def pair_people(population: Population, cards: Sequence[int]) -> tuple[Floats, tuple[int, ...]]:
    """How many people have each two values of each two columns of the population.

    Float64, flat: values 0 and 0, 0 and 1 ... of attributes 0 and 1, then those of 0 and 2, and so
    on; and the number of values of each column. ``cards``: that of each attribute.
    """
    persons = tuple(cards[: population.tabled])
    if population.pairs is not None:
        return population.pairs
    columns, tables = population.columns, list[NDArray[Any]]([np.zeros(0)])
    for one, other in combinations(range(len(persons)), 2):
        keys = columns[one].astype(np.intp) * persons[other] + columns[other]
        tables.append(np.bincount(keys, population.summable, persons[one] * persons[other]))
    return read_only(np.concatenate(tables)), persons


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
        joint = pair_people(population, cards)[0] / whole
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
        places = zip(pairs, starts.tolist(), (starts + sizes).tolist(), strict=True)
        self._joint = {(i, j): smooth[a:z].reshape(cards[i], cards[j]) for (i, j), a, z in places}
        self.edges, self._bits_of = lru_cache(KEPT)(self._spanned), lru_cache(KEPT)(self._told)
        """The tree over some attributes, a tuple of these in ascending order."""

    def _spanned(self, attributes: tuple[int, ...]) -> tuple[Edge, ...]:
        # Of those to come, their best neighbour so far.
        links = dict.fromkeys(attributes[1:], attributes[0] if attributes else -1)
        tree = list[Edge]()
        while links:
            new = max(links, key=lambda each: self._rank[each][links[each]])
            near = links.pop(new)
            tree.append((min(near, new), max(near, new)))
            for each, other in links.items():
                if self._rank[each][new] > self._rank[each][other]:
                    links[each] = new
        return tuple(tree)

    def bits(self, one: int, other: int, events: Events) -> Floats:
        """Log2 of how much likelier two values are together than apart, by both, float64.

        ``events``: of an attribute in it, all these codes are one value, the only one.
        """
        return self._bits_of((one, events.get(one)), (other, events.get(other)))

    def _told(self, *two: tuple[int, frozenset[int] | None]) -> Floats:
        (one, _), (other, _) = two
        table = self._joint[one, other] if one < other else self._joint[other, one].T
        shares = []
        for axis, (each, codes) in enumerate(two):
            own = self._population.share_bits[each, : table.shape[axis]]
            if codes is not None:
                table = table.take(sorted(codes), axis).sum(axis, keepdims=True)
                own = np.array([self._population.bits_of(each, codes)])
            shares.append(own)
        apart = np.add.outer(*shares)
        possible = (table > 0) & (apart > -np.inf)
        both = np.log2(table, out=np.zeros_like(table), where=possible)
        rounded = np.round(both * 2**LOG_BITS) / 2**LOG_BITS
        return np.asarray(np.subtract(rounded, apart, out=np.zeros_like(table), where=possible))


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
        edges = tree.edges(nodes := tuple(sorted(shares)))
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
        self._among, shares = among, population.shares or Shares((), ())
        # By attribute, the place of its kind in ``Shares.kinds``, and the kind.
        self._kind = dict(enumerate(shares.attributes, population.tabled))
        self._kinds = shares.kinds
        self._of = {each: shares.kinds[place] for each, place in self._kind.items()}
        self._disclosed = {each: code for each, code in sorted(disclosed) if each in self._kind}
        self._every = union(self._kind.keys() - self._disclosed.keys())
        self._certain: dict[int | None, int] = {
            at: min(codes) for at, codes in possible.items() if len(codes) == 1
        }
        first = [*self._disclosed][::-1]
        self._codes: dict[int | None, int] = {self._kind[e]: self._disclosed[e] for e in first}
        self.column = {
            each: kind.column
            for each, kind in self._of.items()
            if kind.column is not None and kind.column not in self._certain
        }
        """By attribute, the column on which it depends, where d does not fix that."""
        self.dependent = union(self.column) & self._every
        """Those of them that the recipient does not have, a mask."""
        self.varied = union(self.column[each] for each in self._disclosed if each in self.column)
        """The columns on which those depend that the recipient has, a mask."""
        self._mixture, self._forest = cache(self._mixed), lru_cache(KEPT)(self._rooted)
        self._histogram = lru_cache(KEPT)(self._of_tree)
        self._product: Callable[[tuple[tuple[Tree, int], ...]], Floats] = lru_cache(KEPT)(
            lambda trees: reduce(np.convolve, (self._histogram(*e) for e in trees), np.ones(1))
        )
        # How probably others agree in each disclosed fact that depends on no column d leaves open;
        # and in each other one, by the code of its column.
        self._agreed, self._varying = dict[int, float](), list[tuple[int, Floats]]()
        for each, code in self._disclosed.items():
            kind = self._of[each]
            if each not in self.column:
                self._agreed[each] = kind.under(self._under(kind)).by_code[code][1]
            elif kind.given is not None:
                by_column = [kind.under(at).by_code[code][1] for at in range(len(kind.given))]
                self._varying.append((each, np.array(by_column)))

    def _under(self, kind: KindShares) -> int:
        """The code of what a kind depends on; 0 where d does not fix it."""
        return self._codes.get(kind.parent, self._certain.get(kind.column, 0))

    def likely(self, codes: Callable[[int], Codes | Indexes]) -> Floats:
        """How probably people agree in disclosed facts that depend on columns d leaves open.

        ``codes``: theirs of a column, shape (people,). Float64, likewise; 1 without such facts. No
        `Spread` counts these.
        """
        chances = np.ones(1)
        for each, by_code in self._varying:
            chances = chances * by_code[codes(self.column[each])]
        return chances

    def telling(self, mask: int) -> list[tuple[int, Floats]]:
        """The column, for each new fact of a set that depends on one, and what follows from it.

        The chances of the fact's values under each code, float64, shape (codes, v).
        """
        kinds = ((each, self._of[each]) for each in members(mask & self.dependent))
        return [
            (self.column[each], np.array([kind.under(code).chances for code in kind.codes]))
            for each, kind in kinds
        ]

    def spreads(self, mask: int, parts: Sequence[Pairs], share: float = 1.0) -> list[Spread]:
        """Rho of the disclosed facts and of a set, times ``share``, in each part of the people.

        ``parts``: pairs of column and code, more than d fixes.
        """
        (own, trees), spreads = self._forest(mask), list[Spread]()
        for part in parts:
            codes: dict[int | None, int] = dict(part)
            masses = self._product(tuple((tree, codes.get(at, code)) for tree, at, code in trees))
            used = np.flatnonzero(masses)
            some = Spread(share * own, used, masses[used] / (masses.sum() or 1.0))
            spreads.append(some if len(used) else IMPOSSIBLE)
        return spreads

    def _rooted(self, mask: int) -> tuple[float, list[tuple[Tree, int | None, int]]]:
        """Rho of disclosed facts on which no new one depends, and the trees of a set's new facts.

        Of each the column on which it depends, and the code of its parent where that is no part.
        """
        new = sorted(members(mask & self._every), key=lambda each: self._kind[each])
        below = defaultdict[int, list[int]](list)
        kinds = ((self._kind[each], each) for each in reversed(new))
        first: dict[int | None, int] = {k: each for k, each in kinds if k not in self._codes}
        for each in (*new, *self._disclosed):
            if (parent := self._of[each].parent) in first:
                below[first[parent]].append(each)
        inner = {*chain.from_iterable(below.values())}
        share = prod(own for each, own in self._agreed.items() if each not in inner)
        asked = {self._of[each].holders for each in (*new, *self._disclosed)}
        untold = asked - first.keys() - self._codes.keys()
        share *= prod(self._kinds[each].holding for each in untold if each is not None)
        trees = list[tuple[Tree, int | None, int]]()
        for each in (each for each in new if each not in inner):
            column = self.column.get(each)
            more = self._trees(below[each], below) if each in below else ()
            code = -1 if column is not None else self._under(self._of[each])
            trees.append(((self._kind[each], None, more), column, code))
        return share, trees

    def _trees(self, some: Sequence[int], below: Mapping[int, Sequence[int]]) -> tuple[Tree, ...]:
        """Attributes, each with what depends on it."""
        return tuple(
            (self._kind[each], self._disclosed.get(each), self._trees(below.get(each, ()), below))
            for each in some
        )

    def _of_tree(self, tree: Tree, code: int) -> Floats:
        """The histogram of a tree under a code of its parent; what cannot be has no mass.

        -1: of a column, whatever its code is.
        """
        place, told, below = tree
        kind = self._kinds[place]
        mixed = code < 0 and kind.column is not None
        values = self._mixture(kind, kind.column) if mixed else kind.under(code)
        if told is not None:
            chance, share = values.by_code[told]
            return histogram(np.array([share]), np.array([chance]))
        if not below:
            return values.masses()
        total = np.zeros(0)
        for at in np.flatnonzero(values.agreement).tolist():
            own = histogram(values.agreement[at : at + 1], values.chances[at : at + 1])
            own = reduce(np.convolve, (self._histogram(each, at + 1) for each in below), own)
            total = np.pad(total, (0, max(0, len(own) - len(total))))
            total[: len(own)] += own
        return total

    def _mixed(self, kind: KindShares, column: int) -> Values:
        """The values among those who agree with d, whatever their code of the column is."""
        people = self._among(column)
        return kind.values(people / people.sum() @ np.asarray(kind.given))

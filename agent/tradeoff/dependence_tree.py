"""How many people a class is expected to have: the mean of its prior (DESIGN.md 2.7).

Facts often repeat each other: who has no job has no hours, no occupation and no employer. So the
values of a class are taken to depend on each other along a tree, that of the largest mutual
information. Source: Chow and Liu 1968.
"""

from collections.abc import Mapping, Sequence
from functools import reduce
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agent.tradeoff.tables import LOG_BITS, Floats, Numbers, Population

Edge = tuple[int, int]
"""Two attributes, in ascending order."""
Events = Mapping[int, frozenset[int]]
"""By attribute, codes that are one value, the only one that it can have."""
DISCOUNT = 0.5  # of a row, taken off every pair of values: who is there once may be one of a kind
INFORMATION_BITS = 30  # binary places by which mutual information is compared
CLOSE = 3  # pairs for each attribute, of the largest information: no more are expected than by one
KEPT = 2_000  # trees


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

"""How many people a class is expected to have: the mean of its prior (DESIGN.md 2.7).

Facts often repeat each other: who has no job has no hours, no occupation and no employer. So the
values of a class are taken to depend on each other along a tree, that of the largest mutual
information. Source: Chow and Liu 1968.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, reduce
from itertools import combinations

import numpy as np

from agent.tradeoff.grouping import mass_of
from agent.tradeoff.tables import LOG_BITS, Floats, Numbers, Population

Edge = tuple[int, int]
"""Two attributes; in a list of a tree's edges the first is in an earlier edge, or the root."""
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
    if population.pairs is not None and len(population.pairs) == sum(_sizes(persons)):
        return population.pairs
    columns, tables, weights = population.columns, [np.zeros(0)], _weights(population)
    for one, other in combinations(range(len(persons)), 2):
        keys = columns[one].astype(np.intp) * persons[other] + columns[other]
        tables.append(mass_of(keys, weights, persons[one] * persons[other]))
    return np.concatenate(tables)


def _weights(population: Population) -> Floats:
    weights = population.summable
    return np.ones(population.rows) if weights is None else weights


def _sizes(cards: Sequence[int]) -> list[int]:
    return [one * other for one, other in combinations(cards, 2)]


def _margins(people: Floats, cards: Sequence[int]) -> list[Floats]:
    """How many people have each value, of two or more attributes; ``people``: of `pair_people`."""
    begin, margins = 0, list[Floats]()
    for card in cards[1:]:
        table = people[begin : begin + cards[0] * card].reshape(cards[0], card)
        margins = [table.sum(axis=1), *margins[1:], table.sum(axis=0)]
        begin += cards[0] * card
    return margins


class DependenceTree:
    """The trees over sets of attributes, and what their edges tell.

    All bits are rounded to LOG_BITS binary places, so that their sums are exact in any order, and
    equal information is decided by index: a tree depends on its attributes alone.
    """

    def __init__(self, population: Population, cards: Sequence[int]) -> None:
        """Take the people, and how many values each attribute has."""
        self._population, count = population, population.tabled
        pairs, sizes = [*combinations(range(count), 2)], np.array(_sizes(cards[:count]), np.intp)
        starts = np.cumsum(sizes) - sizes
        people = pair_people(population, cards)
        joint = people / population.people
        shares = [each / population.people for each in _margins(people, cards[:count])]
        outer = np.multiply.outer, np.minimum.outer
        alone, most = (
            np.concatenate([np.zeros(0), *(each(shares[i], shares[j]).ravel() for i, j in pairs)])
            for each in outer
        )
        ratio = np.divide(joint, alone, out=np.ones_like(joint), where=(joint > 0) & (alone > 0))
        information = np.add.reduceat(joint * np.log2(ratio), starts)
        ranks = np.lexsort((-np.arange(len(pairs)), np.rint(information * 2**INFORMATION_BITS)))
        self._least_close = len(pairs) - CLOSE * count
        self._rank = [[-1] * count for _ in range(count)]
        for rank, place in enumerate(ranks.tolist()):
            one, other = pairs[place]
            self._rank[one][other] = self._rank[other][one] = rank
        rows, who = _weights(population), population.respondents
        if who is not None:  # a copy of a row is no other row
            rows = mass_of(who.astype(np.intp), rows, 0)
        row = float((rows**2).sum()) / population.people**2  # the share of the usual one
        lowered = np.maximum(joint - DISCOUNT * row, 0.0)
        spared = np.repeat(np.add.reduceat(joint - lowered, starts), sizes)
        smooth = np.minimum(lowered + spared * alone, most)
        tables = zip(pairs, np.split(smooth, starts[1:]), strict=False)
        self._joint = {(i, j): each.reshape(cards[i], cards[j]) for (i, j), each in tables}
        self._bits: dict[tuple[object, ...], Floats] = {}
        self._edges: dict[tuple[int, ...], tuple[Edge, ...]] = {}

    def edges(self, attributes: Sequence[int]) -> tuple[Edge, ...]:
        """The tree over some attributes, in ascending order; the first one is its root."""
        key = tuple(attributes)
        if key in self._edges:
            return self._edges[key]
        # Of those to come, their best neighbour so far.
        links = dict.fromkeys(key[1:], key[0] if key else -1)
        tree = list[Edge]()
        while links:
            new = max(links, key=lambda each: self._rank[each][links[each]])
            tree.append((links.pop(new), new))
            for each, other in links.items():
                if self._rank[each][new] > self._rank[each][other]:
                    links[each] = new
        if len(self._edges) >= KEPT:
            del self._edges[next(iter(self._edges))]
        self._edges[key] = tuple(tree)
        return self._edges[key]

    def beside(self, attributes: Sequence[int], new: int) -> tuple[list[int], list[Edge]]:
        """What changes in a tree when one attribute is added.

        The neighbours of the new one, and the edges that its own take the place of. From the leaves
        to the root, of each two ways to a node the better one is kept (Chin and Houck 1978).
        """
        rank, best = self._rank, {each: (new, each) for each in attributes}
        near, gone = list[int](), list[Edge]()
        for edge in reversed(self.edges(attributes)):
            parent, child = edge
            link = best[child]
            better = rank[link[0]][link[1]] > rank[parent][child]
            keeps, spare = (link, edge) if better else (edge, link)
            if keeps[0] == new:
                near.append(keeps[1])
            up = best[parent]
            if rank[spare[0]][spare[1]] > rank[up[0]][up[1]]:
                best[parent], spare = spare, up
            if spare[0] != new:
                gone.append(spare)
        last = best[attributes[0]] if attributes else (-1, -1)
        if last[0] == new:
            near.append(last[1])
        return near, gone

    def close(self, attributes: Sequence[int]) -> list[Edge]:
        """The pairs of some attributes, in ascending order, that tell much of each other."""
        return [pair for pair in combinations(attributes, 2) if self.is_close(*pair)]

    def is_close(self, one: int, other: int) -> bool:
        """Whether two attributes are among the pairs with the largest information."""
        return self._rank[one][other] >= self._least_close

    def bits(self, one: int, other: int, events: Mapping[int, frozenset[int]]) -> Floats:
        """Log2 of how much likelier two values are together than apart, by both, float64.

        ``events``: of an attribute in it, all these codes are one value, the only one.
        """
        here = {each: events[each] for each in (one, other) if each in events}
        key = one, other, *here.items()
        if key not in self._bits:
            table = self._joint[one, other] if one < other else self._joint[other, one].T
            shares = []
            for axis, each in enumerate((one, other)):
                own = self._population.share_bits(each)[: table.shape[axis]]
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

    def __init__(
        self, population: Population, cards: Sequence[int], possible: Mapping[int, frozenset[int]]
    ) -> None:
        """Take the people, the values per attribute, and the codes that d leaves possible."""
        self._people, self._cards, self._possible = population, tuple(cards), possible

    @cached_property
    def _tree(self) -> DependenceTree:
        key = DependenceTree, self._cards
        if key not in self._people.memo:
            self._people.memo[key] = DependenceTree(self._people, self._cards)
        tree: DependenceTree = self._people.memo[key]
        return tree

    def bits(self, codes: Mapping[int, Numbers], *, most: bool = False) -> Floats:
        """Log2 of how many are expected, float64; 0 without weights, where nobody asks.

        ``codes``: by attribute that d does not fix, integers, of shapes that fit each other;
        ``most``: as many as may be expected with more values, whichever.
        """
        if self._people.weights is None:
            return np.zeros(())
        logs, cap, _ = self._parts(codes)
        cap = np.minimum(cap, self._agreeing)
        return cap if most else np.minimum(logs, cap)

    @cached_property
    def _agreeing(self) -> Floats:
        """Log2 of how many are expected who agree with d: no more of them have further values."""
        logs, cap, _ = self._parts({})
        return np.minimum(logs, cap)

    def _parts(self, codes: Mapping[int, Numbers]) -> tuple[Floats, Floats, dict[int, Floats]]:
        """Log2 by the tree, and of how many have any one or two of the values; of shares."""
        people, events = self._people, self._events(codes)
        shares = {each: people.share_bits(each)[own] for each, own in codes.items()}
        shares |= {at: np.array(people.bits_of(at, some)) for at, some in events.items()}
        logs: Floats = reduce(np.add, shares.values(), np.array(people.people_bits))
        cap: Floats = reduce(np.minimum, shares.values(), np.zeros(())) + people.people_bits
        for edge in self._tree.edges(nodes := sorted(shares)):
            logs = logs + self._together(edge, codes, events)
        for one, other in self._tree.close(nodes):
            both = shares[one] + shares[other] + self._together((one, other), codes, events)
            cap = np.minimum(cap, both + people.people_bits)
        return logs, cap, shares

    def beside(self, codes: Mapping[int, Numbers], attributes: Sequence[int]) -> Iterator[Floats]:
        """The same for each of these attributes added, float64, of a shape that fits (values, n).

        ``codes``: as for `bits`, each of shape (n,).
        """
        people, events = self._people, self._events(codes)
        if people.weights is None:
            yield from (np.zeros(()) for _ in attributes)
            return
        base, base_cap, shares = self._parts(codes)
        nodes, base_cap = sorted(shares), np.minimum(base_cap, self._agreeing)
        for new in attributes:
            own = np.arange(self._cards[new])[:, None]
            if new in events:  # silence about another one told of it, but not its value
                yield self.bits({**codes, new: own})
                continue
            share = people.share_bits(new)[own]
            logs, cap = base + share, np.minimum(base_cap, share + people.people_bits)
            near, gone = self._tree.beside(nodes, new)
            close = [each for each in nodes if self._tree.is_close(each, new)]
            for each in {*near, *close}:
                bits = self._tree.bits(new, each, events)
                bits = bits.take(codes[each], 1) if each in codes else bits
                if each in near:
                    logs = logs + bits
                if each in close:
                    cap = np.minimum(cap, share + people.people_bits + shares[each] + bits)
            for edge in gone:
                logs = logs - self._together(edge, codes, events)
            yield np.minimum(logs, cap)

    def _events(self, codes: Mapping[int, Numbers]) -> dict[int, frozenset[int]]:
        """What d tells of other attributes than these."""
        return {at: some for at, some in self._possible.items() if at not in codes}

    def _together(
        self, edge: Edge, codes: Mapping[int, Numbers], events: Mapping[int, frozenset[int]]
    ) -> Floats:
        one, other = edge
        bits: Floats = self._tree.bits(one, other, events)[codes.get(one, 0), codes.get(other, 0)]
        return bits

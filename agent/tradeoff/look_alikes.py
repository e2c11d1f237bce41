"""The rows of a population that agree with what a recipient knows, and who looks alike in them."""

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from itertools import product
from math import prod
from operator import or_

import numpy as np
from numpy.typing import NDArray

from agent.tradeoff.agreement import Agreement, ExpectedPeople
from agent.tradeoff.grouping import CodeColumn, Columns, divide, last_of_each, mass_of, peaks
from agent.tradeoff.measures import ALL, LEAST_SHARE, Alike, ByShare
from agent.tradeoff.tables import Floats, Indexes, Population, members, union

FEW = 4  # rows for each class, at the least, where others are made of these
FINER_KEPT = 16  # sets of classes of which others are made
KEPT = 1 << 18  # cells, 24 bytes each, or groups, 48 bytes each
Cells = tuple[Indexes, Floats, Floats]
"""A row of each class by some columns, in order, how many it has, and of how many people."""
Groups = dict[tuple[int, bool], tuple[int, list[ByShare]]]
Counted = tuple[Columns, dict[int, tuple[int, Cells]], dict[int, Cells], Groups, Indexes]
"""The rows by columns, their classes, those of which others are made, groups, and which rows.

Classes and groups come with the room that they and all before them take: adding that up for each
new one would take longer than the counting.
"""


class LookAlikes:
    """The rows that agree with knowledge D = d.

    Masks are over all attributes. ``likely``, how probably they agree in facts by shares, depends
    on columns alone: so the cells of columns are counted once, whatever is known of the rest.
    """

    def __init__(
        self,
        population: Population,
        cards: Sequence[int],
        disclosed: Sequence[tuple[int, int]],
        everybody: "LookAlikes | None" = None,
    ) -> None:
        """Take the table, values per attribute, and the disclosed (person attribute, code) pairs.

        ``everybody``: the same people, nothing disclosed: what was counted of them serves where all
        rows may agree.
        """
        self._population, self._cards, self._everybody = population, tuple(cards), everybody
        self.persons = (1 << population.persons) - 1
        """The set of all person attributes."""
        self.shared = self.persons >> population.tabled << population.tabled
        """Those that no column holds."""
        self._known = union(attribute for attribute, _ in disclosed)
        self._possible = population.possible_codes(disclosed)
        self.agreement = Agreement(population, disclosed, self._possible, self.people_by_code)
        self.varied, self._least_likely, self.likeliest = self.agreement.varied, 0.0, 1.0
        """Columns by which it differs how probably rows agree; how probably the likeliest do."""
        self._expected = ExpectedPeople(population, self._cards, self._possible)
        most = self._take(population.agreeing(self._possible))
        self.unseen = not most
        """Whether there are no data for what is known: no row agrees with all of it."""
        if self.unseen:
            self._least_likely, weighted = LEAST_SHARE, population.weights is not None
            most = self._take(population.nearest(self._possible) & weighted)
        self.likeliest = most or 1.0

    def _take(self, agree: NDArray[np.bool_]) -> float:
        """Count among these rows, with what was counted among all where they are all.

        Returns how probably those agree in facts who do so most probably; 0 where there is nobody.
        """
        whole = bool(agree.all())
        if self._everybody is not None and whole:
            self.counted: Counted = self._everybody.counted
        else:
            rows, people = np.flatnonzero(agree), self._population
            asked = (CodeColumn(e.of_row, len(e.counts)) for e in people.requests)
            more = dict(enumerate(asked, people.persons))
            columns = Columns(people.columns, self._cards, None if whole else rows, more)
            self.counted = columns, {}, {}, {}, rows
        self.columns, self._cells, self._finer, groups, self.rows = self.counted
        self.groups = {} if self._possible or self.varied else groups  # of other figures
        some = len(self.rows) > 0
        return float(next(self._likely(self._classes(self.varied)[0])).max()) if some else 0.0

    def _likely(self, sample: Indexes, mask: int = 0) -> Iterator[Floats]:
        """How probably some rows agree in facts, as parts of the likeliest, float64.

        And in a set's request attributes, independently of each other: once for each combination of
        their values. Agreeing in none is certain.
        """
        some = [*members(mask & ~self.persons)]
        codes = {each: self.columns.column(each).codes[sample] for each in some}
        chances = [
            self._population.likely[e - self.persons.bit_length()][:, codes[e]] for e in some
        ]
        own = self.agreement.likely(lambda each: self.columns.column(each).codes[sample])
        facts = np.maximum(own, self._least_likely) / self.likeliest * np.ones(len(sample))
        for values in product(*map(range, map(len, chances))):
            each_own = (each[value] for each, value in zip(chances, values, strict=True))
            yield reduce(np.multiply, each_own, facts)

    def people_by_code(self, column: int) -> Floats:
        """How many of the people who agree have each code of a column, float64."""
        sample, _, people = self._classes(self.varied | 1 << column)
        codes = self.columns.column(column).codes[sample].astype(np.intp)
        return mass_of(codes, people * next(self._likely(sample)), self._cards[column])

    def table(self, mask: int, columns: Sequence[int], *, rows: bool = False) -> Iterator[Floats]:
        """Yield how many people have each code of some columns, by class of a set.

        Float64, shape (classes, values, ...), for each combination of request values: people times
        how probably they agree; ``rows``: or the rows that may.
        """
        tabled, finer = mask & self.persons & ~self.shared, union(columns) | mask & ~self.persons
        sample, number, people = self._classes(tabled | self.varied | finer)
        labels, count = divide(len(sample), self.columns.of(tabled, sample))
        shape = count, *(self._cards[each] for each in columns)
        for each in columns:
            labels = labels * self._cards[each] + self.columns.column(each).codes[sample]
        for likely in self._likely(sample, mask):
            mass = number * (likely > 0) if rows else people * likely
            yield mass_of(labels, mass, prod(shape)).reshape(shape)

    def alike(self, mask: int) -> Iterator[Alike]:
        """Yield who looks alike, for each combination of request values that occurs.

        Cells of a group differ in how probably they agree; what is all but impossible is left out.
        """
        persons = mask & self.persons & ~self.shared
        sample, rows, people = self._classes(persons | self.varied | mask & ~self.persons)
        groups, count = divide(len(sample), self.columns.of(persons, sample))
        facts, example = next(self._likely(sample)), sample[last_of_each(groups, count)]
        whole, share = (people * facts).sum(), np.zeros(count)
        np.maximum.at(share, groups, facts)
        specified, people_behind = persons | union(self._possible), self._population.behind
        blocks = [each for each in people_behind if each < 0 or each & specified]
        behind = self._behind(blocks, persons, example) if blocks else []
        expected = self.expecting(persons, example)
        by_row = self._likely(np.arange(len(self.rows)), mask)
        for likely in self._likely(sample, mask) if mask & ~self.persons else [facts]:
            peak = share
            if likely is not facts:
                peak = np.zeros(count)
                np.maximum.at(peak, groups, likely)
            alone, own = (mass_of(groups, each * likely, count) for each in (rows, people))
            if behind:
                chances = next(by_row)
                alone = np.minimum.reduce([alone, *(each(chances) for each in behind)])
            if len(some := np.flatnonzero(peak)):
                peak = peak[some]
                parts = own[some] / whole, alone[some] / peak, own[some] / peak, expected[some]
                yield Alike(*parts, share[some] if self.varied else ALL, example[some])

    def _classes(self, columns: int) -> Cells:
        """A row of each class by some columns, in order, how many it has, and of how many people.

        Of all rows that may agree, whether or not they do in facts.
        """
        if columns in self._cells:
            return self._cells[columns][1]
        few = min(len(self.rows) // FEW, KEPT // FINER_KEPT)  # classes, of which others are made
        cells: tuple[Indexes | None, Floats | None, Floats]
        weights, sets = self._population.summable, [columns]
        if known := [each for each in self._finer if not columns & ~each]:
            cells = self._finer[min(known, key=lambda each: len(self._finer[each][0]))]
        else:  # with more columns on which facts depend, first those that no classes have so far
            more = self._population.shares.columns if self._population.shares else ()
            had = reduce(or_, (each for each in self._finer if not self.varied & ~each), 0)
            finer, classes = columns, prod(self.columns.column(e).card for e in members(columns))
            for each in sorted(more, key=lambda each: had >> each & 1):
                if not finer >> each & 1 and classes * self._cards[each] <= few:
                    finer, classes = finer | 1 << each, classes * self._cards[each]
            sets = [columns] if finer == columns else [finer, columns]
            whole = len(self.rows) == len(weights)
            cells = None, None, weights if whole else weights[self.rows]
        for each in sets:
            items, number, people = cells
            labels, groups = self.columns.classes(each, items)
            labels = labels.astype(np.intp, copy=False)
            if groups == 1:  # counting all in one place takes longer than to add them up
                rows = len(labels) if number is None else number.sum()
                sizes, people = np.array([rows]), np.array([people.sum()])
            else:
                sizes, people = np.bincount(labels, number, groups), mass_of(labels, people, groups)
            sample = np.sort(last_of_each(labels, groups)[sizes > 0])
            used = labels[sample]
            sample = sample if items is None else items[sample]
            own = sample, sizes[used].astype(np.float64, copy=False), people[used]
            if items is None and len(sample) <= few:
                while len(self._finer) >= FINER_KEPT:
                    del self._finer[next(iter(self._finer))]
                self._finer[each] = own
            cells = own
        taken = next(reversed(self._cells.values()), (0, own))[0] + len(sample)
        while self._cells and taken - next(iter(self._cells.values()))[0] > KEPT:
            del self._cells[next(iter(self._cells))]
        self._cells[columns] = taken, own
        return own

    def expecting(self, persons: int, sample: Indexes, *, most: bool = False) -> Floats:
        """Mu of each group, of which there is a row; ``most``: as many as in any larger set."""
        some = members(persons & ~self._known)
        codes = {at: self.columns.column(at).codes[sample] for at in some}
        return np.broadcast_to(np.exp2(self._expected.bits(codes, most=most)), len(sample))

    def _behind(
        self, blocks: Sequence[int], persons: int, example: Indexes
    ) -> list[Callable[[Floats], Floats]]:
        """Functions of how probably rows agree: as how many people those of each group count.

        One for each of some blocks of columns, by those who stand behind the rows. ``example``: a
        row of each group.
        """
        people, (labels, _) = self._population, self.columns.classes(persons)
        at = np.searchsorted(np.sort(labels[self._classes(persons)[0]]), labels[example])
        numbers = [people.behind[each][self.rows] for each in blocks]
        orders = [people.orders[each] for each in blocks]
        if len(self.rows) < people.rows:
            place = np.full(people.rows, -1)
            place[self.rows] = np.arange(len(self.rows))
            orders = [places[places >= 0] for places in (place[each] for each in orders)]
        return [peaks(labels, *each, at) for each in zip(numbers, orders, strict=True)]

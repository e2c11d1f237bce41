"""Identifiability: the people a recipient might take the user for (paper 2.2, DESIGN.md 2.2)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache, partial, reduce
from itertools import product
from math import prod
from operator import or_
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agent.tradeoff.agreement import Agreement, ExpectedPeople
from agent.tradeoff.grouping import (
    CodeColumn,
    Columns,
    Grouping,
    Runs,
    divide,
    last_of_each,
    mass_of,
    ordered_sum,
    plogp,
    tally,
)
from agent.tradeoff.measures import (
    ALL,
    HALF,
    LEAST_SHARE,
    Alike,
    ByShare,
    Curvature,
    Guard,
    Measure,
    Measures,
    counted,
    rate_of,
    risk,
    risk_elsewhere,
    risk_outside,
    risk_unseen,
)
from agent.tradeoff.tables import (
    VALUES_KEPT,
    Floats,
    Indexes,
    Population,
    Rows,
    SetFigures,
    members,
    union,
)

GROUPS_KEPT = 1 << 18  # of rows, 48 bytes each
COMBINATIONS = 256  # of request values that a set may have; larger sets are no candidates
Cells = tuple[Indexes, Floats, Floats]
Classes = tuple[Columns, dict[int, Cells], dict[tuple[int, bool], list[ByShare]], Indexes]
"""The partitions by columns, what was counted of those who look alike in some, and their rows."""


class AnonymitySet:
    """The people who agree with knowledge D = d, and what a set A tells apart among them.

    A set is a mask over all attributes; disclosed ones in it change nothing. Nothing here
    depends on the query, so what was computed is remembered and serves later requests.
    """

    def __init__(
        self,
        population: Population,
        cards: Sequence[int],
        disclosed: Sequence[tuple[int, int]] = (),
        share: float = 1.0,
        everybody: "AnonymitySet | None" = None,
    ) -> None:
        """Take the table, values per attribute, and the disclosed (person attribute, code) pairs.

        ``everybody``: the same people, nothing disclosed: its rows and classes serve where all rows
        may agree.
        ``share``: rho, the probability with which each of the people who agree with these agrees
        with all else that the recipient holds, 0 to 1 (DESIGN.md 2.8).
        """
        self._population, self.cards = population, tuple(cards)
        self.disclosed = union(attribute for attribute, _ in disclosed)
        """The set of all attributes that the recipient already has."""
        self._possible = population.possible_codes(disclosed)
        self._agreement = Agreement(population, disclosed, self._possible, self._people_by_code)
        self._weighted, self._varied = population.weights is not None, self._agreement.varied
        self._expected = ExpectedPeople(population, self.cards, self._possible)
        self.persons = (1 << population.persons) - 1
        """The set of all person attributes."""
        self._shared = self.persons >> population.tabled << population.tabled
        self._guards: dict[int, Guard] = {}
        self._figures: dict[tuple[str, int], SetFigures] = {}
        self._stored: dict[Measure, Rows] = {}
        self._take(np.flatnonzero(population.agreeing(self._possible)), everybody)
        self._least_likely, self._likeliest = 0.0, 1.0
        most = self._most_likely()
        self.unseen = not most
        """Whether there are no data for what is known: no row agrees with all of it."""
        if self.unseen:
            nearest = population.nearest(self._possible) & self._weighted
            self._take(np.flatnonzero(nearest), everybody)
            self._least_likely = LEAST_SHARE
            most = self._most_likely()
        self._likeliest = most or 1.0
        self._least = lru_cache(VALUES_KEPT)(partial(self._estimated, most=True))
        self._share = share * self._likeliest  # what no `Spread` has
        self._all = self._agreement.spreads(0, [()], self._share)[
            0
        ].share  # rho of all that is held
        self.sampled = self._weighted or population.shares is not None or share < 1
        """Whether rows stand for people whose number is estimated."""
        self.people: float = len(self._rows)
        """How many people agree with all that is known: m, or 1/r(0|d) where it is estimated."""
        if self.sampled and len(self._rows):
            self.people = self._estimated(0, "people", 0)
        self.closed = self.people * HALF <= 1 if self.sampled else len(self._rows) <= 1
        """Whether nothing new may be added: a person is recognised, or as good as that."""

    def _take(self, rows: Indexes, everybody: "AnonymitySet | None") -> None:
        """Count among these rows, with what was counted among all where they are all."""
        whole = len(rows) == self._population.rows
        asked = (CodeColumn(e.of_row, len(e.counts)) for e in self._population.requests)
        more = dict(enumerate(asked, self._population.persons))
        columns = Columns(self._population.columns, self.cards, None if whole else rows, more)
        own: Classes = columns, {}, {}, rows
        self.classes: Classes = everybody.classes if everybody and whole else own
        self._partitions, self._counted, groups, self._rows = self.classes
        self._groups = {} if self._possible or self._varied else groups  # of other figures

    def _most_likely(self) -> float:
        """How probably those agree in facts who do so most probably; 0 where there is nobody."""
        some = len(self._rows) > 0
        return float(next(self._likely(self._cells(self._varied)[0])).max()) if some else 0.0

    @cached_property
    def success(self) -> float:
        """The chance of a guess at somebody who agrees with d: r0(0|d) where it is estimated.

        The rows of a sample are others: hardly any user is among them.
        """
        if not self._weighted or self._population.residents is not None:
            return 1 / max(self.people, 1.0)
        alike = next(self._alike(0))
        rows = 0.0 if self.unseen else float(alike.rows[0])
        drawn = min(1.0, rows / float(alike.people[0])) if rows else self._drawn
        if drawn == 1:  # the rows are all the people, and so the user is one of them
            rows = max(rows - 1, 0)
        return risk_outside(rows, float(rate_of(np.array(drawn), alike.expected[0])), self._all)

    def combinations(self, mask: int) -> int:
        """How many combinations of request values a set has."""
        requested = mask & ~self.persons
        return prod(self.cards[attribute] for attribute in members(requested)) if requested else 1

    def monotone(self, metric: Measure, mask: int) -> bool:
        """Whether I never falls when a set within ``mask`` grows.

        The success of a guess and the information never do; a loss with a threshold does not where
        all who look alike are equally likely. Where people are estimated nothing is promised: the
        tree of a larger set is another, by which more may be expected.
        """
        steady = not mask & ~self.persons or metric in ("maxprob", "entropy")
        return steady and not self.sampled

    def least(self, mask: int, metric: Measure, k: int, others: int) -> float:
        """What I of no set falls below that has A and some of ``others``, a mask.

        Where people are estimated, any loss rises as a group gets smaller, and fewer are expected
        in it: here as many are as may be in any larger set. What is held by shares adds to that.
        With a share below 1, and for other losses than the success of a guess where requests
        differ, nothing is promised.
        """
        if not self.sampled:
            rising = self.monotone(metric, mask | others)
            return self.identifiability(mask, metric, k) if rising else 0.0
        by_shares = self._all < 1 or bool(self._varied)
        by_shares = by_shares or self._population.residents is not None
        if by_shares or ((mask | others) & ~self.persons and metric != "maxprob"):
            return 0.0
        k = k if metric == "k-anonymity" else 0
        return self._least(mask & ~self._shared & ~self.disclosed, metric, k)

    def curvature(self, metric: Measure, mask: int) -> Curvature:
        """How I bends over the sets within ``mask``, given what is known: what is certain of it.

        The expected peak of people who are counted is the number of classes over m.
        """
        new, people = mask & ~self.disclosed, len(self._rows)
        if new.bit_count() <= 1 or people <= 1 - self.sampled:
            return "modular"
        if self.sampled or metric != "maxprob" or new & ~self.persons:
            return "unknown"
        combinations = 1
        for each in members(new):
            combinations *= round(self.identifiability(1 << each, metric, 1) * people)
            if combinations > people:
                return "unknown"
        classes = round(self.identifiability(new, metric, 1) * people)
        return "supermodular" if classes == combinations else "unknown"

    def identifiability(self, mask: int, metric: Measure, k: int) -> float:
        """I(A u D|d), the expected loss, in the unit of ``metric``; k is k-anonymity's.

        ``worst`` is the largest success of a guess in any class: at most 1/k where ``k`` is kept
        for all. With one person left, or none, it is the loss at certainty.
        """
        return self._measured(metric, k).value(mask & ~self.disclosed)

    def learn(self, stored: Mapping[Measure, Rows]) -> None:
        """Take I of these sets, by measure, instead of computing it; not for k-anonymity."""
        self._stored |= stored
        self._figures.clear()

    def row(self, mask: int, metric: Measure, k: int, others: int | None = None) -> Floats:
        """I(A u {V} u D|d) for each attribute V, float64, shape (n,); A of the person.

        At least for each of ``others``, a mask, by default all of the person. Others may be NaN. It
        is not to be written to.
        """
        base, others = mask & ~self.disclosed, self.persons if others is None else others
        self.survey(base, others, [(metric, k)])
        return self._measured(metric, k).beside(base, others)

    def at_hand(self, mask: int, metric: Measure, k: int) -> Floats | None:
        """The same where it is stored, or one pass over the people away; None elsewhere.

        Which it is does not depend on earlier calls.
        """
        stored = self._measured(metric, k).stored.get(mask & ~self.disclosed)
        if stored is not None:
            return stored
        counted = not self.sampled and metric == "maxprob" and len(self._rows) > 1
        return self.row(mask, metric, k) if counted else None

    def survey(self, mask: int, others: int, measures: Measures) -> None:
        """Make ready I of ``mask`` with each of ``others``, a mask, by these (metric, k)."""
        base, figures = mask & ~self.disclosed, [self._measured(*each) for each in measures]
        if self.sampled or len(self._rows) <= 1 or base & ~self.persons:
            return  # people who are estimated are as soon estimated one by one
        at_once = all(metric == "maxprob" for metric, _ in measures)
        wanted = (self.persons if at_once else others & self.persons) & ~self.disclosed & ~base
        new = [*members(reduce(or_, (each.missing(base, wanted) for each in figures)))]
        if not new:
            return
        if at_once:
            classes = self._partitions.presence().classes(self._partitions.dense[base])
            rows = [[classes[each] / len(self._rows)] * len(measures) for each in new]
        else:
            people, columns = self._population.rows, [self._partitions.column(each) for each in new]
            rows = [
                [counted(metric, sizes.ravel(), people, k) for metric, k in measures]
                for sizes in tally(*self._partitions.dense[base], columns)
            ]
        for each, row in zip(figures, zip(*rows, strict=True), strict=True):
            each.add(base, new, row)

    def people_left(self, mask: int) -> float:
        """How many people are expected to agree with d and with the answer to A."""
        return self.identifiability(mask & self.persons, "people", 0) if len(self._rows) else 0.0

    def guard_bits(self, guarded: int, mask: int) -> float:
        """G_v(A|d): bits that A tells about person attribute v (``guarded``)."""
        return self.guard(guarded).bits(mask & ~self.disclosed)

    def guard(self, guarded: int) -> Guard:
        """What those who know d, and an answer, know of person attribute v (``guarded``)."""
        if guarded not in self._guards:
            people = sum(each[:, 1:].sum() for each in self._table(0, [guarded], rows=True))
            parts = int(people), self._table, self._agreement.telling
            self._guards[guarded] = Guard(guarded, *parts)
        return self._guards[guarded]

    def _measured(self, metric: Measure, k: int) -> SetFigures:
        """I of sets by a measure."""
        k = k if metric == "k-anonymity" else 0
        if (figures := self._figures.get((metric, k))) is None:
            # What is stored holds where the recipient knows nothing.
            stored = None if self.disclosed or self._all < 1 else self._stored.get(metric)
            one = partial(self._identifiability, metric=metric, k=k)
            figures = self._figures[metric, k] = SetFigures(len(self.cards), one, stored=stored)
        return figures

    def _likely(self, sample: Indexes, mask: int = 0) -> Iterator[Floats]:
        """How probably some rows agree in facts, as parts of the likeliest, float64.

        And in a set's request attributes, independently of each other: once for each combination of
        their values. Agreeing in none is certain.
        """
        some = [*members(mask & ~self.persons)]
        codes = {each: self._partitions.column(each).codes[sample] for each in some}
        chances = [
            self._population.likely[e - self.persons.bit_length()][:, codes[e]] for e in some
        ]
        own = self._agreement.likely(lambda each: self._partitions.column(each).codes[sample])
        facts = np.maximum(own, self._least_likely) / self._likeliest * np.ones(len(sample))
        for values in product(*map(range, map(len, chances))):
            each_own = (each[value] for each, value in zip(chances, values, strict=True))
            yield reduce(np.multiply, each_own, facts)

    def _people_by_code(self, column: int) -> Floats:
        sample, _, people = self._cells(self._varied | 1 << column)
        codes = self._partitions.column(column).codes[sample].astype(np.intp)
        return mass_of(codes, people * next(self._likely(sample)), self.cards[column])

    def _table(self, mask: int, columns: Sequence[int], *, rows: bool = False) -> Iterator[Floats]:
        """Yield how many people have each code of some columns, by class of a set.

        Float64, shape (classes, values, ...), for each combination of request values: people times
        how probably they agree; ``rows``: or the rows that may.
        """
        tabled, finer = mask & self.persons & ~self._shared, union(columns) | mask & ~self.persons
        sample, number, people = self._cells(tabled | self._varied | finer)
        labels, count = self._grouped(tabled, sample)
        shape = count, *(self.cards[each] for each in columns)
        for each in columns:
            labels = labels * self.cards[each] + self._partitions.column(each).codes[sample]
        for likely in self._likely(sample, mask):
            mass = number * (likely > 0) if rows else people * likely
            yield mass_of(labels, mass, prod(shape)).reshape(shape)

    def _grouped(self, columns: int, sample: Indexes) -> Grouping:
        """The classes of some rows by a set of columns, every label in use."""
        each_column = (self._partitions.column(each) for each in members(columns))
        codes = (CodeColumn(each.codes[sample], each.card) for each in each_column)
        return divide(Grouping(np.zeros(len(sample), np.intp), 1), codes)

    @cached_property
    def _drawn(self) -> float:
        """Which share of the people are rows, where no row looks like somebody: p."""
        return min(1.0, self._population.rows / max(self._population.people, 1.0))

    def _alike(self, mask: int) -> Iterator[Alike]:
        """Yield who looks alike, for each combination of request values.

        Cells of a group differ in how probably they agree; what is all but impossible is left out.
        """
        persons = mask & self.persons & ~self._shared
        sample, rows, people = self._cells(persons | self._varied | mask & ~self.persons)
        groups, count = self._grouped(persons, sample)
        facts, example = next(self._likely(sample)), sample[last_of_each(groups, np.arange(count))]
        whole, share = (people * facts).sum(), ALL
        if self._varied:
            share = np.zeros(count)
            np.maximum.at(share, groups, facts)
        blocks, expected = self._blocks(persons), self._expecting(persons, example)
        if blocks:
            labels, _ = self._partitions.classes(persons)
            at = np.searchsorted(np.sort(labels[self._cells(persons)[0]]), labels[example])
            runs, by_row = [*self._runs(blocks, labels)], self._likely(np.arange(len(labels)), mask)
        for likely in self._likely(sample, mask):
            peak = np.zeros(count)
            np.maximum.at(peak, groups, likely)
            alone, own = (mass_of(groups, each * likely, count) for each in (rows, people))
            if blocks:
                chances = next(by_row)
                alone = np.minimum.reduce([alone, *(each.peaks(chances)[at] for each in runs)])
            some = np.flatnonzero(peak)
            peak = peak[some]
            parts = own[some] / whole, alone[some] / peak, own[some] / peak, expected[some]
            yield Alike(*parts, share[some] if self._varied else ALL, example[some])

    def _cells(self, columns: int) -> tuple[Indexes, Floats, Floats]:
        """A row of each class by some columns, in order, how many it has, and of how many people.

        Of all rows that may agree, whether or not they do in facts.
        """
        if columns in self._counted:
            return self._counted[columns]
        labels, groups = self._partitions.classes(columns)
        weights = self._population.summable
        weights = weights if len(self._rows) == len(weights) else weights[self._rows]
        if groups == 1:  # counting all in one place takes longer than to add them up
            sizes, people = np.array([len(labels)]), np.array([weights.sum()])
        else:
            labels = labels.astype(np.intp, copy=False)
            sizes, people = np.bincount(labels, None, groups), mass_of(labels, weights, groups)
        used = np.flatnonzero(sizes)
        sample = last_of_each(labels, used)
        order = np.argsort(sample)
        cells = sample[order], sizes[used][order].astype(np.float64), people[used][order]
        while self._counted and sum(len(each[0]) for each in self._counted.values()) > GROUPS_KEPT:
            del self._counted[next(iter(self._counted))]
        self._counted[columns] = cells
        return cells

    def _expecting(self, persons: int, sample: Indexes, *, most: bool = False) -> Floats:
        """Mu of each group, of which there is a row; ``most``: as many as in any larger set."""
        some = members(persons & ~self.disclosed)
        codes = {at: self._partitions.column(at).codes[sample] for at in some}
        return np.broadcast_to(np.exp2(self._expected.bits(codes, most=most)), len(sample))

    def _blocks(self, persons: int) -> list[int]:
        """The blocks that tell of a set how many people its rows are, beside their number."""
        specified = persons | union(self._possible)
        return [each for each in self._population.behind if each < 0 or each & specified]

    def _runs(self, blocks: Sequence[int], labels: NDArray[Any]) -> Iterator[Runs]:
        """The rows of each group, by who they are copies of, or were drawn from."""
        for block in blocks:
            order, place = self._population.in_order(block), np.full(self._population.rows, -1)
            place[self._rows] = np.arange(len(self._rows))
            order = place[order]
            numbers = self._population.behind[block][self._rows]
            yield Runs.of(labels, numbers, order[order >= 0])

    def _estimated(self, mask: int, measure: Measure, k: int, *, most: bool = False) -> float:
        """The loss expected over the classes of a set; ``most``: of `_classes`. DESIGN.md 2.7."""
        people = self.people, float(self._population.residents or self._population.people)
        total, within, facts = 0.0, self._agreement.within(mask), mask & self._shared
        for each in self._classes(mask & ~self._shared, most=most):
            spreads = self._agreement.spreads(facts, each.parts(within)[0], self._share)
            own = each.loss((measure, k), within, spreads, people)
            total = max(total, own) if measure == "worst" else total + own
        return total

    def _classes(self, columns: int, *, most: bool = False) -> Iterable[ByShare]:
        """The classes of a set of columns, for each combination of request values.

        ``most``: with as many people expected as in any larger set. They stay for other sets; of
        those the oldest are forgotten.
        """
        kept, key = self._groups, (columns, most)
        if key in kept:
            return kept[key]
        alike = self._alike(columns)
        if most:
            alike = (each.alike for each in self._classes(columns))
            more = partial(self._expecting, columns & self.persons, most=True)
            alike = (each._replace(expected=more(each.sample)) for each in alike)
        classes = map(partial(ByShare, columns=self._partitions, success=self._success), alike)
        if columns & ~self.persons:  # there are many
            return classes
        kept[key] = [*classes]
        while len(kept) > 1 and sum(each.size for [each] in kept.values()) > GROUPS_KEPT:
            del kept[next(iter(kept))]
        return kept.get(key, [])

    def _success(self, alike: Alike, shares: Floats) -> Floats:
        """The success of a guess at one person by groups and rho, float64."""
        people = self._population
        if not self.unseen and people.residents is None:
            return risk(alike, shares)
        share, drawn = alike.share * shares, np.array(self._drawn)
        if people.residents is None:
            return risk_unseen(rate_of(drawn, alike.expected), share)
        others = share * people.residents / people.people
        return risk_elsewhere(alike, others, drawn if self.unseen else None)

    def _identifiability(self, mask: int, metric: Measure, k: int) -> float:
        mask &= ~self.disclosed
        if len(self._rows) <= 1 - self.sampled:
            return counted(metric, np.ones(1, np.intp), self._population.people, k)
        if self.sampled:
            return self._estimated(mask, metric, k)
        if not mask & ~self.persons:
            sizes = np.bincount(self._partitions.classes(mask)[0])
            return counted(metric, sizes, self._population.rows, k)
        if metric != "entropy":
            return self._estimated(mask, metric, k)
        # H(Y) - H(Y|A) = H(A) - H(A|Y): what the answers to requests vary by is no information.
        bits = -sum(ordered_sum(plogp(each.mass)) for each in self._alike(mask))
        for each in members(mask >> self._population.persons):
            of_kind = np.bincount(self._population.requests[each].of_row[self._rows])
            entropies = plogp(self._population.likely[each]).sum(axis=0)[: len(of_kind)]
            bits += float(of_kind @ entropies) / len(self._rows)
        return bits

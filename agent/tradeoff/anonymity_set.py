"""Identifiability: the people a recipient might take the user for (paper 2.2, DESIGN.md 2.2)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import chain, product
from math import prod

import numpy as np

from agent.tradeoff.dependence_tree import ExpectedPeople
from agent.tradeoff.grouping import (
    Columns,
    Runs,
    first_of_each,
    mass_of,
    ordered_sum,
    plogp,
    stable_order,
    tally,
)
from agent.tradeoff.measures import (
    HALF,
    Alike,
    Curvature,
    Guard,
    Measure,
    Measures,
    counted,
    rate_of,
    risk,
    risk_outside,
    risk_unseen,
    terms_of,
    total,
)
from agent.tradeoff.tables import (
    Codes,
    Floats,
    Indexes,
    Numbers,
    Population,
    Rows,
    SetFigures,
    matrix_of,
    members,
    union,
)

BATCH = 1 << 13  # groups whose losses are estimated at once: what a cache holds
COMBINATIONS = 256  # of request values that a set may have; larger sets are no candidates


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
    ) -> None:
        """Take the table, values per attribute, and the disclosed (person attribute, code) pairs.

        ``share``: rho, the probability with which each of the people who agree with these agrees
        with all else that the recipient holds, 0 to 1 (DESIGN.md 2.8).
        """
        self._population, self.cards, self._share = population, tuple(cards), share
        self.disclosed = union(attribute for attribute, _ in disclosed)
        """The set of all attributes that the recipient already has."""
        self._possible = population.possible_codes(disclosed)
        rows = np.flatnonzero(population.agreeing(self._possible))
        self.unseen = not len(rows)
        """Whether there are no data for what is known: no row agrees with all of it."""
        self._weighted = population.weights is not None
        if self.unseen and self._weighted:
            rows = np.flatnonzero(population.nearest(self._possible))
        self._rows = rows
        self._columns = population.columns.take(rows, axis=1) if disclosed else population.columns
        self.persons = (1 << population.persons) - 1
        """The set of all person attributes."""
        self._partitions = Columns(self._columns, self.cards)
        self._guards: dict[int, Guard] = {}
        self._figures: dict[tuple[str, int], SetFigures] = {}
        self._stored: dict[Measure, Rows] = {}
        self.sampled = self._weighted or share < 1
        """Whether rows stand for people whose number is estimated."""
        self.people: float = len(rows)
        """How many people agree with all that is known: m, or 1/r(0|d) where it is estimated."""
        if self.sampled and len(rows):
            self.people = 1 / float(self._success(next(self._alike(0)))[0])
        self.closed = self.people * HALF <= 1 if self.sampled else len(rows) <= 1
        """Whether nothing new may be added: a person is recognised, or as good as that."""

    @cached_property
    def _expected(self) -> ExpectedPeople:
        return ExpectedPeople(self._population, self.cards, self._possible)

    @cached_property
    def success(self) -> float:
        """The chance of a guess at somebody who agrees with d: r0(0|d) where it is estimated.

        The rows of a sample are others: hardly any user is among them.
        """
        if not self._weighted:
            return 1 / max(self.people, 1.0)
        counts = (len(np.unique(each)) for each in self._numbers(0).values())
        rows = 0 if self.unseen else min(counts, default=len(self._rows))
        drawn = min(1.0, rows / self._weights().sum()) if rows else self._drawn
        if drawn == 1:  # the rows are all the people, and so the user is one of them
            rows = max(rows - 1, 0)
        expected = np.exp2(self._expected.bits({}))
        return risk_outside(rows, float(rate_of(np.array(drawn), expected)), self._share)

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
        in it: here as many are as may be in any larger set. With a share below 1, and for other
        losses than the success of a guess where requests differ, nothing is promised.
        """
        if not self.sampled:
            rising = self.monotone(metric, mask | others)
            return self.identifiability(mask, metric, k) if rising else 0.0
        if self._share < 1 or ((mask | others) & ~self.persons and metric != "maxprob"):
            return 0.0
        k = k if metric == "k-anonymity" else 0
        one = partial(self._estimated, measure=metric, k=k, most=True)
        return self._of((f"least {metric}", k), one).value(mask & ~self.disclosed)

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

    def row(self, mask: int, metric: Measure, k: int) -> Floats:
        """I(A u {V} u D|d) for each attribute V, float64, shape (n,); A of the person.

        NaN for attributes of the request. It is not to be written to.
        """
        base = mask & ~self.disclosed
        self.survey(base, self.persons, [(metric, k)])
        return self._measured(metric, k).beside(base, self.persons)

    def at_hand(self, mask: int, metric: Measure, k: int) -> Floats | None:
        """The same where it is stored, or one pass over the people away; None elsewhere.

        Which it is does not depend on earlier calls.
        """
        stored = self._measured(metric, k).stored.get(mask & ~self.disclosed)
        if stored is not None:
            return stored
        counted = not self.sampled and metric == "maxprob" and len(self._rows) > 1
        return self.row(mask, metric, k) if counted else None

    def pairs_at_hand(self, metric: Measure) -> Floats | None:
        """I of every two attributes, symmetric, where it is stored, and None elsewhere."""
        return matrix_of(self._measured(metric, 1).stored, len(self.cards))

    def survey(self, mask: int, others: int, measures: Measures) -> None:
        """Make ready I of ``mask`` with each of ``others``, a mask, by these (metric, k)."""
        base, figures = mask & ~self.disclosed, [self._measured(*each) for each in measures]
        if len(self._rows) <= 1 or base & ~self.persons:
            return
        wanted = others & self.persons & ~self.disclosed & ~base
        new = sorted({*chain.from_iterable(each.missing(base, wanted) for each in figures)})
        if not new:
            return
        rows = list[list[float]]()
        if self.sampled:
            some = max(1, BATCH // self._partitions.dense[base].size)
            for first in range(0, len(new), some):
                rows += self._estimated_beside(base, new[first : first + some], measures)
        elif all(metric == "maxprob" for metric, _ in measures):
            classes = self._partitions.presence.classes(self._partitions.dense[base])
            rows = [[classes[each] / len(self._rows)] * len(measures) for each in new]
        else:
            people, columns = self._population.rows, [self._partitions.each[each] for each in new]
            rows = [
                [counted(metric, sizes.ravel(), people, k) for metric, k in measures]
                for sizes in tally(*self._partitions.dense[base], columns)[0]
            ]
        for each, losses in zip(figures, zip(*rows, strict=True), strict=True):
            each.add(base, new, losses)

    def people_left(self, mask: int) -> float:
        """How many people are expected to agree with d and with the answer to A."""
        if not len(self._rows):
            return 0.0
        new = mask & self.persons & ~self.disclosed
        return self._of(("people", 0), self._people_left).value(new)

    def guard_bits(self, guarded: int, mask: int) -> float:
        """G_v(A|d): bits that A tells about person attribute v (``guarded``)."""
        return self._of(("guard", guarded), self.guard(guarded).bits).value(mask & ~self.disclosed)

    def guard(self, guarded: int) -> Guard:
        """What those who know d, and an answer, know of person attribute v (``guarded``)."""
        if guarded not in self._guards:
            self._guards[guarded] = Guard(self._columns, self.cards, guarded, self._joint)
        return self._guards[guarded]

    def _measured(self, metric: Measure, k: int) -> SetFigures:
        """I of sets by a measure."""
        k = k if metric == "k-anonymity" else 0
        # What is stored holds where the recipient knows nothing.
        stored = None if self.disclosed or self._share < 1 else self._stored.get(metric)
        return self._of((metric, k), partial(self._identifiability, metric=metric, k=k), stored)

    def _of(
        self, key: tuple[str, int], one: Callable[[int], float], stored: Rows | None = None
    ) -> SetFigures:
        """The figures of sets that have this key; ``one``: computes that of a set."""
        if key not in self._figures:
            facts = self.disclosed
            figures = SetFigures(len(self.cards), lambda mask: one(mask & ~facts), stored=stored)
            self._figures[key] = figures
        return self._figures[key]

    def _weights(self) -> Floats:
        """How many people each row stands for that agrees with d, float64."""
        weights = self._population.summable
        return np.ones(len(self._rows)) if weights is None else weights[self._rows]

    def _likelihoods(self, mask: int) -> Iterator[Floats]:
        """How likely each person gives an answer, for every combination of request values.

        The product of P_j(a_j|y), float64, shape (rows,).
        """
        shares = []
        for request in members(mask >> self._population.persons):
            of_row = self._population.requests[request].of_row[self._rows]
            shares.append(self._population.likely[request][:, of_row])
        for values in product(*(range(len(each)) for each in shares)):
            likelihoods = np.ones(len(self._rows))
            for share, value in zip(shares, values, strict=True):
                likelihoods *= share[value]
            yield likelihoods

    def _joint(self, mask: int) -> Iterator[Floats]:
        """P(a, y|d) of the people y, for each combination a of request values."""
        weights = self._weights()
        return (each * weights / max(weights.sum(), 1.0) for each in self._likelihoods(mask))

    @cached_property
    def _drawn(self) -> float:
        """Which share of the people are rows, where no row looks like somebody: p."""
        weights = self._population.summable if self.unseen else self._weights()
        return 1.0 if weights is None else min(1.0, len(weights) / float(weights.sum()))

    def _numbers(self, mask: int) -> dict[int, Numbers]:
        """Who stands behind the rows in a set's classes, by row: where fewer than there are rows.

        The respondents, where rows are copies; and the donors of each block of columns that the set
        or d has a part of.
        """
        people, part = self._population, mask | union(self._possible)
        who = {} if people.respondents is None else {-1: people.respondents}
        if people.donors is not None:
            who |= {at: people.donors[at] for at, block in enumerate(people.blocks) if block & part}
        return {at: numbers[self._rows] for at, numbers in who.items()}

    def _success(self, alike: Alike) -> Floats:
        """The success of a guess at one person in each group, float64."""
        if self.unseen:
            rate = rate_of(np.array(self._drawn), alike.expected)
            return risk_unseen(rate, self._share)
        return risk(alike, self._share)

    def _alike(self, mask: int, *, most: bool = False) -> Iterator[Alike]:
        """Yield who looks alike, for each combination of request values.

        ``most``: with as many people expected as in any larger set.
        """
        persons, weights = mask & self.persons, self._weights()
        labels, groups = self._partitions.classes(persons)
        runs = [Runs.of(labels, each) for each in self._numbers(persons).values()]
        if persons == mask:
            sizes = np.bincount(labels, minlength=groups)
            used = np.flatnonzero(sizes)
            people = mass_of(labels, weights, groups)[used]
            expected = self._expected_in(mask, first_of_each(labels, groups)[used], most=most)
            alone = np.ones(len(labels))
            rows = [sizes[used].astype(np.float64), *(each.peaks(alone) for each in runs)]
            yield Alike(people / weights.sum(), np.minimum.reduce(rows), people, expected)
            return
        order = stable_order(labels)
        first = np.flatnonzero(np.diff(labels[order].astype(np.intp), prepend=-1))
        expected = self._expected_in(persons, order[first], most=most)
        for likely in self._likelihoods(mask):
            peak = np.maximum.reduceat(likely[order], first)
            some = peak > 0
            peak = peak[some]
            people = np.add.reduceat((likely * weights)[order], first)[some]
            rows = [np.add.reduceat(likely[order], first), *(each.peaks(likely) for each in runs)]
            alone = np.minimum.reduce(rows)[some] / peak
            yield Alike(people / weights.sum(), alone, people / peak, expected[some])

    def _estimated_beside(
        self, mask: int, attributes: Sequence[int], measures: Measures
    ) -> list[list[float]]:
        """The expected losses for ``mask``, of the person, with each of these added."""
        labels, size = self._partitions.dense[mask]
        weights = self._weights()
        columns = [self._partitions.each[each] for each in attributes]
        rows, people = tally(labels, size, columns, (None, weights))
        some = np.concatenate(rows) > 0
        ends = np.cumsum([np.count_nonzero(each) for each in rows])[:-1]
        numbers = self._numbers(self.persons)
        runs = {at: Runs.of(labels, each) for at, each in numbers.items()}
        for place, each in enumerate(attributes if runs else ()):
            for at in self._numbers(mask | 1 << each):
                rows[place] = np.minimum(rows[place], runs[at].values(columns[place]))
        codes = self._codes(mask, first_of_each(labels, size))
        beside = zip(self._expected.beside(codes, attributes), rows, strict=True)
        expected = np.concatenate([np.broadcast_to(bits, each.shape) for bits, each in beside])
        matching, alone = (np.concatenate(each)[some] for each in (people, rows))
        mass = matching / weights.sum()
        alike = Alike(mass, alone.astype(np.float64), matching, np.exp2(expected[some]))
        success, everybody = self._success(alike), self._population.people
        added = terms_of(mass, success, measures, self.people, everybody)
        losses = [
            [total(measure, part) for part in np.split(terms, ends)]
            for (measure, _), terms in zip(measures, added, strict=True)
        ]
        return [[*each] for each in zip(*losses, strict=True)]

    def _expected_in(self, mask: int, sample: Indexes, *, most: bool) -> Floats:
        """How many people are expected in each group; ``sample``: one row of each."""
        bits = self._expected.bits(self._codes(mask, sample), most=most)
        return np.broadcast_to(np.exp2(bits), len(sample))

    def _codes(self, mask: int, sample: Indexes) -> dict[int, Codes]:
        """The codes of some rows of those attributes that d does not fix."""
        return {each: self._columns[each][sample] for each in members(mask & ~self.disclosed)}

    def _estimated(self, mask: int, measure: Measure, k: int, *, most: bool = False) -> float:
        """The loss expected over the classes of a set (DESIGN.md 2.7); ``most`` as for `_alike`."""
        everybody, losses = self._population.people, list[float]()
        for each in self._alike(mask, most=most):
            success = self._success(each)
            [terms] = terms_of(each.mass, success, [(measure, k)], self.people, everybody)
            losses.append(total(measure, terms))
        return max(losses) if measure == "worst" else sum(losses)

    def _people_left(self, mask: int) -> float:
        """How many people are expected to agree with an answer of the person."""
        if self.sampled:
            alike = next(self._alike(mask))
            return ordered_sum(alike.mass / self._success(alike))
        sizes = np.bincount(self._partitions.classes(mask)[0])
        return int(sizes @ sizes) / len(self._rows)

    def _identifiability(self, mask: int, metric: Measure, k: int) -> float:
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

"""Identifiability: the people a recipient might take the user for (paper 2.2, DESIGN.md 2.2)."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache, partial, reduce
from itertools import accumulate, pairwise, starmap
from math import prod
from operator import or_

import numpy as np

from agent.tradeoff.agreement import BATCH, Agreement, ExpectedPeople
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
    ALL,
    HALF,
    LEAST_SHARE,
    Alike,
    Curvature,
    Guard,
    Measure,
    Measures,
    counted,
    losses,
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
    summable,
    union,
)

GROUPS_KEPT = 1 << 16  # of rows, 48 bytes each
COMBINATIONS = 256  # of request values that a set may have; larger sets are no candidates
Classes = tuple[Columns, dict[tuple[int, bool], list[Alike]], Indexes]
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
        likely, agree = self._agreement.by_row(population), population.agreeing(self._possible)
        rows = np.flatnonzero(agree if likely is None else agree & (likely > 0))
        self.unseen = not len(rows)
        """Whether there are no data for what is known: no row agrees with all of it."""
        self._weighted = population.weights is not None
        self._expected = ExpectedPeople(population, self.cards, self._possible)
        if self.unseen and self._weighted:
            rows = np.flatnonzero(population.nearest(self._possible))
        self._facts: Floats | None = None
        # For how many people each row stands that agrees with d, by whether they do, float64.
        whole = len(rows) == population.rows
        self._weights = population.summable if whole else population.summable[rows]
        if likely is not None and len(rows):
            own = np.maximum(likely[rows], LEAST_SHARE)  # where nobody agrees, it may be 0
            self._facts, share = summable(own / own.max()), share * float(own.max())
            self._weights = summable(self._weights * self._facts)
        self._columns = population.columns if whole else population.columns.take(rows, axis=1)
        self.persons = (1 << population.persons) - 1
        """The set of all person attributes."""
        self._shared = self.persons >> population.tabled << population.tabled
        self._guards: dict[int, Guard] = {}
        self._figures: dict[tuple[str, int], SetFigures] = {}
        self._stored: dict[Measure, Rows] = {}
        parts: Classes = Columns(self._columns, self.cards), {}, rows
        self.classes: Classes = everybody.classes if everybody and whole else parts
        self._partitions, groups, self._rows = self.classes
        self._groups = {} if self._possible or likely is not None else groups  # of other figures
        one = partial(self._estimated, most=True)
        self._least = lru_cache(VALUES_KEPT)(lambda mask, *each: one([mask], [each])[0][0])
        self._share = share  # what no `Spread` has
        self._all = share * float(self._agreement.spread(0, ())[0][0])  # rho of all that is held
        self.sampled = self._weighted or population.shares is not None or share < 1
        """Whether rows stand for people whose number is estimated."""
        self.people: float = len(rows)
        """How many people agree with all that is known: m, or 1/r(0|d) where it is estimated."""
        if self.sampled and len(rows):
            [[self.people]] = self._estimated([0], [("people", 0)])
        self.closed = self.people * HALF <= 1 if self.sampled else len(rows) <= 1
        """Whether nothing new may be added: a person is recognised, or as good as that."""

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
        by_shares = self._all < 1 or self._facts is not None
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
        if len(self._rows) <= 1 or base & ~self.persons:
            return
        at_once = not self.sampled and all(metric == "maxprob" for metric, _ in measures)
        wanted = (self.persons if at_once else others & self.persons) & ~self.disclosed & ~base
        new = [*members(reduce(or_, (each.missing(base, wanted) for each in figures)))]
        if not new:
            return
        rows = list[list[float]]()
        if self.sampled:
            kinds = [self._agreement.kind.get(each, ~each) for each in new]
            those = dict(zip(kinds, new, strict=True))  # facts of a kind are alike
            by_shares, of_kind = [each for each in those if each >= 0], dict[int, list[float]]()
            for some in filter(None, [by_shares, *([each] for each in those if each < 0)]):
                sets = [base | 1 << those[kind] for kind in some]
                of_kind |= zip(some, self._estimated(sets, measures), strict=True)
            rows = [of_kind[kind] for kind in kinds]
        elif at_once:
            classes = self._partitions.presence().classes(self._partitions.dense[base])
            rows = [[classes[each] / len(self._rows)] * len(measures) for each in new]
        else:
            people, columns = self._population.rows, [self._partitions.each[each] for each in new]
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
            parts = self._joint, self._agreement.telling
            self._guards[guarded] = Guard(self._columns, self.cards, guarded, *parts)
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

    def _people_by_code(self, column: int) -> Floats:
        return mass_of(self._columns[column], self._weights, self.cards[column])

    def _joint(self, mask: int) -> Iterator[Floats]:
        """P(a, y|d) of the people y, for each combination a of request values."""
        whole = max(self._weights.sum(), 1.0)
        likely = self._population.likelihoods(mask, self._rows)
        return (each * self._weights / whole for each in likely)

    @cached_property
    def _drawn(self) -> float:
        """Which share of the people are rows, where no row looks like somebody: p."""
        return min(1.0, self._population.rows / max(self._population.people, 1.0))

    def _alike(self, mask: int, *, most: bool = False) -> Iterator[Alike]:
        """Yield who looks alike, for each combination of request values.

        ``most``: with as many people expected as in any larger set.
        """
        persons, weights, facts = mask & self.persons & ~self._shared, self._weights, self._facts
        labels, groups = self._partitions.classes(persons)
        runs, specified = list[Runs](), persons | union(self._possible)
        for block, numbers in self._population.behind.items():
            if block < 0 or block & specified:
                order = self._population.in_order(block)
                if len(self._rows) < len(order):
                    places = np.full(len(order), -1)
                    places[self._rows] = np.arange(len(self._rows))
                    order = places[order]
                    order = order[order >= 0]
                runs.append(Runs.of(labels, numbers[self._rows], order))
        alike = not mask & ~self.persons and facts is None  # all rows of a group
        if alike:
            sizes = np.bincount(labels, minlength=groups)
            used = np.flatnonzero(sizes)
            sample = first_of_each(labels, groups)[used]
        else:
            order = stable_order(labels)
            first = np.flatnonzero(np.diff(labels[order].astype(np.intp), prepend=-1))
            sample = order[first]
        codes = {at: self._columns[at][sample] for at in members(persons & ~self.disclosed)}
        bits = self._expected.bits(codes, most=most)
        expected = np.broadcast_to(np.exp2(bits), len(sample))
        if alike:
            people = mass_of(labels, weights, groups)[used]
            rows = [sizes[used].astype(np.float64)]
            rows += [np.diff(each.groups, append=len(each.starts)).astype(float) for each in runs]
            mass, alone = people / weights.sum(), np.minimum.reduce(rows)
            yield Alike(mass, alone, people, expected, sample=sample)
            return
        shares = ALL if facts is None else np.maximum.reduceat(facts[order], first)
        for likely in self._population.likelihoods(mask, self._rows):
            own = likely if facts is None else likely * facts
            peak = np.maximum.reduceat(own[order], first)
            some = peak > 0
            peak, share = peak[some], shares if facts is None else shares[some]
            people = np.add.reduceat((likely * weights)[order], first)[some]
            rows = [np.add.reduceat(own[order], first), *(each.peaks(own) for each in runs)]
            alone = np.minimum.reduce(rows)[some] / peak
            mass = people / weights.sum()
            yield Alike(mass, alone, people / peak, expected[some], share, sample[some])

    def _estimated(
        self, sets: Sequence[int], measures: Measures, *, most: bool = False
    ) -> list[list[float]]:
        """The losses expected over the classes of sets that have the same columns, by set.

        ``most``: of `_alike`. The classes stay for other sets; of those the oldest are forgotten.
        Source: DESIGN.md 2.7.
        """
        columns, kept = sets[0] & ~self._shared, self._groups
        key, alike = (columns, most), self._alike(columns, most=most)
        if key not in kept and not columns & ~self.persons:  # else there are many
            kept[key] = [*alike]
            while len(kept) > 1 and sum(len(each.mass) for [each] in kept.values()) > GROUPS_KEPT:
                del kept[next(iter(kept))]
        people = self.people, self._population.residents or self._population.people
        worst = [measure == "worst" for measure, _ in measures]
        totals = np.zeros((len(sets), len(measures)))
        for whole in kept.get(key, alike):
            terms = np.empty((*totals.shape, len(whole.mass)))
            wide = Alike._make(each[:, None] for each in whole)
            for groups, spreads in self._agreement.spreads(sets, self._columns, whole.sample):
                shares, chances = map(np.concatenate, zip(*spreads.values(), strict=True))
                ends = accumulate(len(own) for own, _ in spreads.values())
                parts = [*zip(spreads, starmap(slice, pairwise([0, *ends])), strict=True)]
                step = max(1, BATCH // len(shares))
                for some in (groups[at : at + step] for at in range(0, len(groups), step)):
                    part = wide
                    if len(some) < len(whole.mass):
                        part = Alike._make(each[some] if len(each) > 1 else each for each in wide)
                    success = self._success(part, shares)
                    for at, (measure, k) in enumerate(measures):
                        each = losses(measure, part.mass * chances, success, people, k)
                        add = np.maximum if worst[at] else np.add
                        for place, own in parts:
                            terms[place, at, some] = add.reduce(each[:, own], axis=1)
            sums, tops = np.sort(terms).sum(axis=-1), terms.max(axis=-1, initial=0.0)
            totals = np.where(worst, np.maximum(totals, tops), totals + sums)
        figures: list[list[float]] = totals.tolist()
        return figures

    def _success(self, alike: Alike, shares: Floats) -> Floats:
        """The success of a guess at one person by groups and rho, float64."""
        people = self._population
        if not self.unseen and people.residents is None:
            return risk(alike, shares * self._share)
        share, drawn = alike.share * shares * self._share, np.array(self._drawn)
        if people.residents is None:
            return risk_unseen(rate_of(drawn, alike.expected), share)
        others = share * people.residents / people.people
        return risk_elsewhere(alike, others, drawn if self.unseen else None)

    def _identifiability(self, mask: int, metric: Measure, k: int) -> float:
        mask &= ~self.disclosed
        if len(self._rows) <= 1 - self.sampled:
            return counted(metric, np.ones(1, np.intp), self._population.people, k)
        if self.sampled:
            return self._estimated([mask], [(metric, k)])[0][0]
        if not mask & ~self.persons:
            sizes = np.bincount(self._partitions.classes(mask)[0])
            return counted(metric, sizes, self._population.rows, k)
        if metric != "entropy":
            return self._estimated([mask], [(metric, k)])[0][0]
        # H(Y) - H(Y|A) = H(A) - H(A|Y): what the answers to requests vary by is no information.
        bits = -sum(ordered_sum(plogp(each.mass)) for each in self._alike(mask))
        for each in members(mask >> self._population.persons):
            of_kind = np.bincount(self._population.requests[each].of_row[self._rows])
            entropies = plogp(self._population.likely[each]).sum(axis=0)[: len(of_kind)]
            bits += float(of_kind @ entropies) / len(self._rows)
        return bits

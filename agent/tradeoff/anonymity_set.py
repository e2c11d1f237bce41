"""Identifiability: the people a recipient might take the user for (paper 2.2, DESIGN.md 2.2)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import chain, product
from math import prod

import numpy as np

from agent.tradeoff.grouping import (
    Columns,
    first_of_each,
    mass_of,
    ordered_sum,
    plogp,
    stable_order,
    tally,
)
from agent.tradeoff.measures import (
    HALF,
    METRIC_OF,
    Alike,
    Curvature,
    Guard,
    Measure,
    Measures,
    Metric,
    risk,
)
from agent.tradeoff.tables import (
    Floats,
    Indexes,
    Population,
    Rows,
    SetFigures,
    matrix_of,
    members,
    union,
)

BATCH = 1 << 13  # groups whose losses are estimated at once: what a cache holds
COMBINATIONS = 256  # of request values that a set may have; larger sets are no candidates


def counted(metric: Metric, sizes: Indexes, population: float, k: int) -> float:
    """The expected loss where all people are equally likely.

    ``sizes``: intp, how many people each class has, zeros allowed, in any order; ``population``:
    N of the whole table; ``k``: of k-anonymity. DESIGN.md 2.2, right column of the table.
    """
    people = int(sizes.sum())
    if metric == "maxprob":
        return int(np.count_nonzero(sizes)) / people  # each class has its peak, 1/people
    size = np.sort(sizes[sizes > 0])
    share = size / people
    if metric == "entropy":
        return float((share * np.log2(people / size)).sum())
    return float(losses(metric, share, 1 / size, population, k).sum())


def losses(metric: Metric, mass: Floats, success: Floats, population: float, k: int) -> Floats:
    """What each of these classes adds to the expected loss, but for ``entropy``.

    ``mass``: P(a), float64, one per class, 0 where an answer never occurs; ``success``: of the best
    guess at one person in it, likewise. DESIGN.md 2.2, left column of the table.
    """
    if metric == "maxprob":
        return mass * success
    if metric == "k-anonymity":  # 1/k itself is no violation, whatever its rounding
        return mass * (success > (1 + 1e-12) / k)
    certain = population / (population + 1)
    return mass * -np.log1p(-np.minimum(success, certain))


def terms_of(
    alike: Alike, measures: Measures, share: float, people: float, everybody: float
) -> list[Floats]:
    """What each group adds to each expected loss; of ``worst`` its own success.

    ``share``: as for `risk`; ``people``: who agree with what is known, of ``everybody``.
    Source: DESIGN.md 2.7.
    """
    plain = risk(alike, share)
    limited = np.where(alike.few(), 1.0, plain)
    terms = list[Floats]()
    for measure, k in measures:
        if measure == "entropy":
            terms.append(alike.mass * np.log2(plain * people))
        elif measure == "worst":
            terms.append(limited)
        else:
            success = limited if measure in ("risk", "k", "k-anonymity") else plain
            terms.append(losses(METRIC_OF[measure], alike.mass, success, everybody, k))
    return terms


def total(measure: Measure, terms: Floats) -> float:
    """What groups, in any order, add up to; of ``worst`` the largest."""
    return float(np.max(terms, initial=0.0)) if measure == "worst" else ordered_sum(terms)


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
        self._rows = rows = np.flatnonzero(population.agreeing(self._possible))
        self._columns = population.columns.take(rows, axis=1) if disclosed else population.columns
        self.persons = (1 << population.persons) - 1
        """The set of all person attributes."""
        self._partitions = Columns(self._columns, self.cards)
        self._guards: dict[int, Guard] = {}
        self._figures: dict[tuple[str, int], SetFigures] = {}
        self._stored: dict[Measure, Rows] = {}
        self.sampled = population.weights is not None or share < 1
        """Whether rows stand for people whose number is estimated."""
        self.people: float = len(rows)
        """How many people agree with all that is known: m, or 1/r(0|d) where it is estimated."""
        self.closed = len(rows) <= 1
        """Whether nothing new may be added: a person is recognised, or as good as that."""
        if self.sampled and len(rows):
            whole = next(self._alike(0))
            success = float(risk(whole, share)[0])
            self.people = 1 / success
            self.closed = bool(whole.few()[0]) or success >= HALF

    @cached_property
    def _expected(self) -> tuple[float, dict[int, float]]:
        """Log2 of how many people are expected to agree with d.

        And for attributes that only silence about others tells of, what of their bits it counts.
        """
        population, possible = self._population, self._possible
        bits = {each: population.bits_of(each, codes) for each, codes in possible.items()}
        narrowed = {each: own for each, own in bits.items() if not self.disclosed >> each & 1}
        return population.people_bits + sum(bits.values()), narrowed

    def combinations(self, mask: int) -> int:
        """How many combinations of request values a set has."""
        requested = mask & ~self.persons
        return prod(self.cards[attribute] for attribute in members(requested)) if requested else 1

    def monotone(self, metric: Measure, mask: int) -> bool:
        """Whether I never falls when a set within ``mask`` grows.

        The expected success of a guess and the information never do; a loss with a threshold does
        not where all people who look alike are equally likely. Where people are estimated, every
        loss rises as a group gets smaller, but hardly ever with a share below 1, in the fourth
        digit: then nothing is promised.
        """
        requested = bool(mask & ~self.persons)
        if not self.sampled:
            return not requested or METRIC_OF[metric] in ("maxprob", "entropy")
        return self._share >= 1 and (not requested or metric == "maxprob")

    def curvature(self, metric: Measure, mask: int) -> Curvature:
        """How I bends over the sets within ``mask``, given what is known: what is certain of it.

        The expected peak of people who are counted is the number of classes over m.
        """
        new, people = mask & ~self.disclosed, len(self._rows)
        if new.bit_count() <= 1 or people <= 1 - self.sampled:
            return "modular"
        if self.sampled or METRIC_OF[metric] != "maxprob" or new & ~self.persons:
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

        ``risk`` is ``maxprob`` and ``k`` is ``k-anonymity`` as hard limits have them: a sample of
        fewer than 3 rows is one person. ``worst``, of a sample, is the largest success of a guess
        in any class: at most 1/k where ``k`` is kept for all. With one person left, or none, it is
        the loss at certainty.
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
        counted = not self.sampled and METRIC_OF[metric] == "maxprob" and len(self._rows) > 1
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
        elif all(METRIC_OF[metric] == "maxprob" for metric, _ in measures):
            classes = self._partitions.presence.classes(self._partitions.dense[base])
            rows = [[classes[each] / len(self._rows)] * len(measures) for each in new]
        else:
            people, columns = self._population.rows, [self._partitions.each[each] for each in new]
            rows = [
                [counted(METRIC_OF[metric], sizes.ravel(), people, k) for metric, k in measures]
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
        metric = metric if self.sampled else METRIC_OF[metric]
        k = k if metric in ("k-anonymity", "k") else 0
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

    def _alike(self, mask: int) -> Iterator[Alike]:
        """Yield who looks alike, for each combination of request values."""
        persons, weights = mask & self.persons, self._weights()
        labels, groups = self._partitions.classes(persons)
        if persons == mask:
            sizes = np.bincount(labels, minlength=groups)
            used = np.flatnonzero(sizes)
            people = mass_of(labels, weights, groups)[used]
            expected = np.exp2(self._expected_in(mask, first_of_each(labels, groups)[used]))
            yield Alike(people / weights.sum(), sizes[used].astype(np.float64), people, expected)
            return
        order = stable_order(labels)
        first = np.flatnonzero(np.diff(labels[order].astype(np.intp), prepend=-1))
        expected = np.exp2(self._expected_in(persons, order[first]))
        for likely in self._likelihoods(mask):
            peak = np.maximum.reduceat(likely[order], first)
            some = peak > 0
            rows, people = (
                np.add.reduceat(each[order], first)[some] for each in (likely, likely * weights)
            )
            peak = peak[some]
            yield Alike(people / weights.sum(), rows / peak, people / peak, expected[some])

    def _estimated_beside(
        self, mask: int, attributes: Sequence[int], measures: Measures
    ) -> list[list[float]]:
        """The expected losses for ``mask``, of the person, with each of these added."""
        labels, size = self._partitions.dense[mask]
        weights = self._weights()
        base = self._expected_in(mask, first_of_each(labels, size))
        columns = [self._partitions.each[each] for each in attributes]
        beside = tally(labels, size, columns, (None, weights))
        rows, people = map(np.concatenate, beside)
        shares = [self._share_bits(each)[: self.cards[each]] for each in attributes]
        some = rows > 0
        ends = np.cumsum(some.sum(axis=1))[np.cumsum([*map(len, shares)]) - 1].tolist()
        expected = np.exp2((np.concatenate(shares)[:, None] + base)[some])
        matching = people[some]
        alike = Alike(matching / weights.sum(), rows[some].astype(np.float64), matching, expected)
        added = terms_of(alike, measures, self._share, self.people, self._population.people)
        losses = [
            [total(measure, part) for part in np.split(terms, ends[:-1])]
            for (measure, _), terms in zip(measures, added, strict=True)
        ]
        return [[*each] for each in zip(*losses, strict=True)]

    def _expected_in(self, mask: int, sample: Indexes) -> Floats:
        """How many people each group would have if attributes were independent, as log2.

        ``sample``: one row of each group, of those that agree with d.
        """
        logs: Floats = np.full(len(sample), self._expected[0])
        for each in members(mask & ~self.disclosed):
            logs += self._share_bits(each)[self._columns[each][sample]]
        return logs

    def _share_bits(self, attribute: int) -> Floats:
        """Log2 of the share of each value among those whom silence did not rule out."""
        return self._population.share_bits(attribute) - self._expected[1].get(attribute, 0.0)

    def _estimated(self, mask: int, measure: Measure, k: int) -> float:
        """The loss expected over the classes of a set (DESIGN.md 2.7)."""
        everybody = self._population.people
        losses = [
            total(measure, terms_of(each, [(measure, k)], self._share, self.people, everybody)[0])
            for each in self._alike(mask)
        ]
        return max(losses) if measure == "worst" else sum(losses)

    def _people_left(self, mask: int) -> float:
        """How many people are expected to agree with an answer of the person."""
        if self.sampled:
            alike = next(self._alike(mask))
            return ordered_sum(alike.mass / risk(alike, self._share))
        sizes = np.bincount(self._partitions.classes(mask)[0])
        return int(sizes @ sizes) / len(self._rows)

    def _identifiability(self, mask: int, metric: Measure, k: int) -> float:
        if len(self._rows) <= 1 - self.sampled:
            return counted(METRIC_OF[metric], np.ones(1, np.intp), self._population.people, k)
        if self.sampled:
            return self._estimated(mask, metric, k)
        metric = METRIC_OF[metric]
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

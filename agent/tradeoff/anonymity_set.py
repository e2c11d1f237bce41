"""Identifiability: the people a recipient might take the user for (paper 2.2, DESIGN.md 2.2)."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache, cached_property, lru_cache, partial
from math import prod

import numpy as np

from agent.tradeoff.grouping import ordered_sum, plogp
from agent.tradeoff.look_alikes import KEPT, LookAlikes
from agent.tradeoff.measures import (
    HALF,
    OTHER_ROOM,
    ByShare,
    Curvature,
    Guard,
    Measure,
    counted,
    rate_of,
    risk_outside,
    success_of,
)
from agent.tradeoff.tables import VALUES_KEPT, Floats, Population, Rows, SetFigures, members, union

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
        everybody: "AnonymitySet | None" = None,
    ) -> None:
        """Take the table, values per attribute, and the disclosed (person attribute, code) pairs.

        ``everybody``: the same people, nothing disclosed: its rows and classes serve where all rows
        may agree.
        ``share``: rho, the probability with which each of the people who agree with these agrees
        with all else that the recipient holds, 0 to 1 (DESIGN.md 2.8).
        """
        self._population, self.cards = population, tuple(cards)
        before = None if everybody is None else everybody.alike
        self.alike: LookAlikes = LookAlikes(population, cards, disclosed, before)
        """The rows that agree, and who looks alike in them."""
        self._agreement, self._rows = self.alike.agreement, len(self.alike.rows)
        self.disclosed = union(attribute for attribute, _ in disclosed)
        """The set of all attributes that the recipient already has."""
        self.unseen, self._weighted = self.alike.unseen, population.weights is not None
        """Whether there are no data for what is known: no row agrees with all of it."""
        self.persons, self.shared = self.alike.persons, self.alike.shared
        """The set of all person attributes, and of those that no column holds."""
        self.leaves = (
            0 if population.shares is None else population.shares.leaves << population.tabled
        )
        """Of these, those on which nothing else depends: whatever is told, they never raise rho."""
        self.guard = cache(self._guard)
        """What those who know d, and an answer, know of a person attribute v."""
        self._figures: dict[tuple[str, int], SetFigures] = {}
        self._stored: dict[Measure, Rows] = {}
        self._least = lru_cache(VALUES_KEPT)(partial(self._estimated, most=True))
        self._share = share * self.alike.likeliest  # what no `Spread` has
        [held] = self._agreement.spreads(0, [()], self._share)
        self._all = held.share  # rho of all that is held
        self.sampled = self._weighted or population.shares is not None or share < 1
        """Whether rows stand for people whose number is estimated."""
        self.people: float = self._rows
        """How many people agree with all that is known: m, or 1/r(0|d) where it is estimated."""
        if self.sampled and self._rows:
            self.people = self._estimated(0, "people", 0)
        self.closed = self.people * HALF <= 1 if self.sampled else self._rows <= 1
        """Whether nothing new may be added: a person is recognised, or as good as that."""

    @cached_property
    def success(self) -> float:
        """The chance of a guess at somebody who agrees with d: r0(0|d) where it is estimated.

        The rows of a sample are others: hardly any user is among them.
        """
        if not self._weighted or self._population.residents is not None:
            return 1 / max(self.people, 1.0)
        alike = next(iter(self._classes(0))).alike
        rows = 0.0 if self.unseen else float(alike.rows[0])
        drawn = min(1.0, rows / float(alike.people[0])) if rows else self._population.drawn
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
        return not self.sampled and (not mask & ~self.persons or metric in ("maxprob", "entropy"))

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
        by_shares = self._all < 1 or bool(self.alike.varied)
        by_shares = by_shares or self._population.residents is not None
        if by_shares or ((mask | others) & ~self.persons and metric != "maxprob"):
            return 0.0
        k = k if metric == "k-anonymity" else 0
        return self._least(mask & ~self.shared & ~self.disclosed, metric, k)

    def curvature(self, metric: Measure, mask: int) -> Curvature:
        """How I bends over the sets within ``mask``, given what is known: what is certain of it.

        The expected peak of people who are counted is the number of classes over m.
        """
        new, people = mask & ~self.disclosed, self._rows
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
        """I(A u {V} u D|d) for each attribute V of the person, float64, shape (n,).

        A of the person. Others are NaN. It is not to be written to.
        """
        if metric == "maxprob":
            self.survey(mask)
        return self._measured(metric, k).beside(mask & ~self.disclosed, self.persons)

    def at_hand(self, mask: int, metric: Measure, k: int) -> Floats | None:
        """The same where it is stored, or one pass over the people away; None elsewhere.

        Which it is does not depend on earlier calls.
        """
        stored = self._measured(metric, k).stored.get(mask & ~self.disclosed)
        if stored is not None:
            return stored
        counted = not self.sampled and metric == "maxprob" and self._rows > 1
        return self.row(mask, metric, k) if counted else None

    def survey(self, mask: int) -> None:
        """Make ready the success of a guess for A with each attribute, where one pass tells all."""
        base, figures = mask & ~self.disclosed, self._measured("maxprob", 1)
        if self.sampled or self._rows <= 1 or base & ~self.persons:
            return  # people who are estimated are as soon estimated one by one
        if missing := figures.missing(base, self.persons & ~self.disclosed & ~base):
            columns = self.alike.columns
            classes = columns.presence().classes(columns.dense[base])
            figures.add(base, missing, [classes[e] / self._rows for e in members(missing)])

    def people_left(self, mask: int) -> float:
        """How many people are expected to agree with d and with the answer to A."""
        return self.identifiability(mask & self.persons, "people", 0) if self._rows else 0.0

    def guard_bits(self, guarded: int, mask: int) -> float:
        """G_v(A|d): bits that A tells about person attribute v (``guarded``)."""
        return self.guard(guarded).bits(mask & ~self.disclosed)

    def _guard(self, guarded: int) -> Guard:
        people = sum(each[:, 1:].sum() for each in self.alike.table(0, [guarded], rows=True))
        return Guard(guarded, int(people), self.alike.table, self._agreement.telling)

    def _measured(self, metric: Measure, k: int) -> SetFigures:
        """I of sets by a measure."""
        k = k if metric == "k-anonymity" else 0
        if (figures := self._figures.get((metric, k))) is None:
            # What is stored holds where the recipient knows nothing.
            stored = None if self.disclosed or self._all < 1 else self._stored.get(metric)
            one = partial(self._identifiability, metric=metric, k=k)
            figures = self._figures[metric, k] = SetFigures(len(self.cards), one, stored=stored)
        return figures

    def _estimated(self, mask: int, measure: Measure, k: int, *, most: bool = False) -> float:
        """The loss expected over the classes of a set; ``most``: of `_classes`. DESIGN.md 2.7.

        No loss is below 0: where estimates feign that an answer misinforms, its information is 0.
        """
        people = self.people, float(self._population.residents or self._population.people)
        total, facts, some = 0.0, mask & self.shared, members(mask & self._agreement.dependent)
        within = mask & union(self._agreement.column[each] for each in some)
        for each in self._classes(mask & ~self.shared, most=most):
            spreads = self._agreement.spreads(facts, each.parts(within)[0], self._share)
            own = each.loss((measure, k), within, spreads, people)
            total = max(total, own) if measure == "worst" else total + own
        return max(total, 0.0)

    def _classes(self, columns: int, *, most: bool = False) -> Iterable[ByShare]:
        """The classes of a set of columns, for each combination of request values.

        ``most``: with as many people expected as in any larger set. They stay for other sets; of
        those the oldest are forgotten.
        """
        kept, key = self.alike.groups, (columns, most)
        if key in kept:
            return kept[key][1]
        alike = self.alike.alike(columns)
        if most:
            alike = (each.alike for each in self._classes(columns))
            more = partial(self.alike.expecting, columns & self.persons, most=True)
            alike = (each._replace(expected=more(each.sample)) for each in alike)
        # None of these has a way back to this set: they serve others when it is gone.
        success = partial(success_of, population=self._population, unseen=self.unseen)
        classes = map(partial(ByShare, columns=self.alike.columns, success=success), alike)
        if columns & ~self.persons:  # there are many
            return classes
        made = [*classes]
        room = OTHER_ROOM + (len(made[0].alike.mass) if made else 0)
        taken = next(reversed(kept.values()), (0, made))[0] + room
        while kept and taken - next(iter(kept.values()))[0] > KEPT:
            del kept[next(iter(kept))]
        kept[key] = taken, made
        return made

    def _identifiability(self, mask: int, metric: Measure, k: int) -> float:
        mask &= ~self.disclosed
        if self._rows <= 1 - self.sampled:
            return counted(metric, np.ones(1, np.intp), self._population.people, k)
        if self.sampled:
            return self._estimated(mask, metric, k)
        if not mask & ~self.persons:
            sizes = np.bincount(self.alike.columns.classes(mask)[0])
            return counted(metric, sizes, self._population.rows, k)
        if metric != "entropy":
            return self._estimated(mask, metric, k)
        # H(Y) - H(Y|A) = H(A) - H(A|Y): what the answers to requests vary by is no information.
        bits = -sum(ordered_sum(plogp(each.mass)) for each in self.alike.alike(mask))
        for each in members(mask >> self._population.persons):
            of_kind = np.bincount(self._population.requests[each].of_row[self.alike.rows])
            entropies = plogp(self._population.likely[each]).sum(axis=0)[: len(of_kind)]
            bits += float(of_kind @ entropies) / self._rows
        return bits

"""The people a recipient might take the user for, given what it knows (DESIGN.md 2.2)."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from agent.tradeoff import losses
from agent.tradeoff.columns import Columns
from agent.tradeoff.guard import Doubt, Guard
from agent.tradeoff.numbering import stable_order
from agent.tradeoff.partitions import Partitions
from agent.tradeoff.senders import Senders
from agent.tradeoff.sets import members, singleton, union
from agent.tradeoff.sums import mass_of, ordered_sum, plogp
from agent.tradeoff.tables import UNSPECIFIED

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from agent.tradeoff.losses import Metric
    from agent.tradeoff.tables import Population

    Measures = Sequence[tuple[Metric, int]]

COMBINATIONS = 256  # of request values that a set may have; larger sets are no candidates
REMEMBERED = 50_000  # values; then the memory starts afresh


class OwnClass(NamedTuple):
    """The people who look like the user: how many, and the success of the best guess at one."""

    people: int
    peak: float


class Crowd:
    """The people who agree with knowledge D = d, and what a set A tells apart among them.

    A set is a mask over all attributes; known attributes in it change nothing. Nothing here
    depends on the query, so what was computed is remembered and serves later requests.
    """

    def __init__(
        self, population: Population, cards: Sequence[int], known: Sequence[tuple[int, int]] = ()
    ) -> None:
        """Take the table, values per attribute, and the known (person attribute, code) pairs."""
        self._population, self.cards = population, tuple(cards)
        self.known = union(attribute for attribute, _ in known)
        agree = np.ones(population.people, dtype=bool)
        for attribute, code in known:
            agree &= population.columns[attribute] == code
        rows = np.flatnonzero(agree)
        self.people = len(rows)
        """How many people agree with what is known, m."""
        self._senders = Senders(population, rows)
        self._columns = population.columns.take(rows, axis=1) if known else population.columns
        self.persons = (1 << population.persons) - 1
        """The set of all person attributes."""
        self._partitions = Partitions(Columns(self._columns, self.cards))
        self._guards: dict[int, Guard] = {}
        self._memory: dict[Hashable, float] = {}
        self._surveyed: Hashable = None

    def focus(self, mask: int) -> None:
        """Make the neighbours of ``mask`` quick to evaluate; the answers stay the same."""
        self._partitions.dense.focus = mask & ~self.known & self.persons

    def combinations(self, mask: int) -> int:
        """Return how many combinations of request values a set has."""
        requested = mask & ~self.persons
        return prod(self.cards[attribute] for attribute in members(requested)) if requested else 1

    def monotone(self, metric: Metric, mask: int) -> bool:
        """Say whether I never falls when a set within ``mask`` grows.

        The expected peak and the information never do; a loss with a threshold does not where
        all people who look alike are equally likely.
        """
        return metric in ("maxprob", "entropy") or self._senders.even(mask)

    def identifiability(self, mask: int, metric: Metric, k: int) -> float:
        """Return I(A u D|d), the expected loss, in the unit of ``metric``; k is k-anonymity's.

        With one person left, or none, it is the loss at certainty.
        """
        fresh = mask & ~self.known
        if self.people <= 1:
            return losses.certainty(metric, self._population.people, k)
        return self._remembered(
            _key(metric, k, fresh), lambda: self._identifiability(fresh, metric, k)
        )

    def learn(self, metric: Metric, computed: Mapping[int, float]) -> None:
        """Take I of these sets, by mask, instead of computing it; not for k-anonymity."""
        for mask, loss in computed.items():
            self._memory[_key(metric, 1, mask)] = loss

    def survey(self, mask: int, attributes: Sequence[int], measures: Measures) -> None:
        """Make ready I of ``mask`` with each attribute added, by (metric, k) in ``measures``."""
        base = mask & ~self.known
        task = (base, *attributes, *measures)
        if task == self._surveyed or self.people <= 1 or not self._senders.even(base):
            return
        self._surveyed = task
        open_ = self.persons & ~self.known & ~base
        new = [
            each
            for each in attributes
            if open_ >> each & 1
            and any(_key(*which, base | singleton(each)) not in self._memory for which in measures)
        ]
        if not new:
            return
        if all(metric == "maxprob" for metric, _ in measures):
            classes = self._partitions.classes_beside(base)
            for each in new:
                key = _key("maxprob", 1, base | singleton(each))
                self._remember(key, losses.expected_peak(classes[each], self.people))
            return
        for each, sizes in zip(new, self._partitions.beside(base, new), strict=True):
            for metric, k in measures:
                loss = losses.counted(metric, sizes.ravel(), self._population.people, k)
                self._remember(_key(metric, k, base | singleton(each)), loss)

    def people_left(self, mask: int) -> float:
        """Return how many people are expected to agree with d and with the answer to A."""
        fresh = mask & ~self.known & self.persons
        if not self.people:
            return 0.0
        return self._remembered(("people", fresh), lambda: self._people_left(fresh))

    def own_class(self, mask: int, own: Mapping[int, int]) -> OwnClass:
        """Return those who agree with d and with ``own`` on the person attributes of A.

        ``own``: code by person attribute, 0 where it is missing. Values that contradict what is
        known leave nobody, at peak 1. It is not remembered: a crowd outlives the request, and
        whose codes they are must not.
        """
        agree = np.ones(self.people, dtype=bool)
        for each in members(mask & self.persons):
            agree &= self._columns[each] == own.get(each, UNSPECIFIED)
        return OwnClass(int(np.count_nonzero(agree)), self._senders.peak(agree))

    def guard_bits(self, guarded: int, mask: int) -> float:
        """Return G_v(A|d): bits that A tells about person attribute v (``guarded``)."""
        fresh = mask & ~self.known
        key = ("guard", guarded, fresh)
        return self._remembered(key, lambda: self._guard(guarded).bits(fresh))

    def best_guess(self, guarded: int, mask: int) -> float:
        """Return the expected success, 0 to 1, of the best guess about v after the answer."""
        return self._guard(guarded).best_guess(mask & ~self.known)

    def doubt(self, guarded: int) -> Doubt:
        """Return what is open about person attribute v (``guarded``) to who knows d alone."""
        return self._guard(guarded).doubt()

    def _remembered(self, key: Hashable, compute: Callable[[], float]) -> float:
        found = self._memory.get(key)
        if found is None:
            found = compute()
            self._remember(key, found)
        return found

    def _remember(self, key: Hashable, value: float) -> None:
        if len(self._memory) >= REMEMBERED:
            self._memory.clear()
            self._surveyed = None
        self._memory[key] = value

    def _identifiability(self, mask: int, metric: Metric, k: int) -> float:
        people = self._population.people
        if self._senders.even(mask):
            sizes = np.bincount(self._partitions.of(mask).labels)
            return losses.counted(metric, sizes, people, k)
        if metric == "entropy":
            return self._information(mask)
        labels, groups = self._partitions.dense[mask & self.persons]
        order = stable_order(labels)
        starts = np.searchsorted(labels[order], np.arange(groups))
        total = 0.0
        for mass in self._senders.joint(mask):
            peak = np.maximum.reduceat(mass[order], starts)
            if metric == "maxprob":
                total += ordered_sum(peak)
            else:
                classes = mass_of(labels, mass, groups)
                total += losses.weighted(metric, classes, peak, people, k)
        return total

    def _information(self, mask: int) -> float:
        """Return H(Y|d) - H(Y|A,d) in bits, whatever the people's weights."""
        labels, groups = self._partitions.dense[mask & self.persons]
        total = -float(plogp(self._senders.prior()).sum())
        for mass in self._senders.joint(mask):
            total += float(plogp(mass).sum()) - ordered_sum(plogp(mass_of(labels, mass, groups)))
        return total

    def _people_left(self, mask: int) -> float:
        labels = self._partitions.of(mask).labels
        sizes = np.bincount(labels)
        if self._population.weights is None:
            return int(sizes @ sizes) / self.people
        return float((self._senders.prior() * sizes[labels]).sum())

    def _guard(self, guarded: int) -> Guard:
        if guarded not in self._guards:
            self._guards[guarded] = Guard(self._columns, self.cards, guarded, self._senders.joint)
        return self._guards[guarded]


def _key(metric: Metric, k: int, mask: int) -> Hashable:
    return metric, k if metric == "k-anonymity" else 0, mask

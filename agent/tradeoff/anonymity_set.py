"""Identifiability: the people a recipient might take the user for (paper 2.2, DESIGN.md 2.2)."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from itertools import product
from math import prod
from typing import Literal, NamedTuple, get_args

import numpy as np

from agent.tradeoff.grouping import Columns, Partitions, mass_of, ordered_sum, plogp, stable_order
from agent.tradeoff.sets import members, singleton, union
from agent.tradeoff.tables import UNSPECIFIED, Codes, Floats, Indexes, Population

Joint = Callable[[int], Iterator[Floats]]
Measures = Sequence[tuple["Metric", int]]


Metric = Literal["maxprob", "log-maxprob", "k-anonymity", "entropy"]
METRICS: tuple[Metric, ...] = get_args(Metric)
PRIOR_ROWS = 5  # weight of the overall share in P_j(v|y), in rows
FEWEST = 30  # people who specify the guarded attribute; fewer say nothing about it
COMBINATIONS = 256  # of request values that a set may have; larger sets are no candidates
REMEMBERED = 50_000  # values; then the memory starts afresh


def certainty(metric: Metric, population: int, k: int) -> float:
    """Return the loss when one person is left, of a table of ``population`` people."""
    if metric == "k-anonymity":
        return float(k > 1)
    if metric == "log-maxprob":
        return float(np.log(population + 1))
    return 0.0 if metric == "entropy" else 1.0


def counted(metric: Metric, sizes: Indexes, population: int, k: int) -> float:
    """Return the expected loss where all people are equally likely.

    ``sizes``: intp, how many people each class has, zeros allowed, in any order; ``population``:
    N of the whole table; ``k``: of k-anonymity. DESIGN.md 2.2, right column of the table.
    """
    people = int(sizes.sum())
    if metric == "maxprob":
        return int(np.count_nonzero(sizes)) / people  # each class has its peak, 1/people
    if metric == "k-anonymity":
        return int(sizes[sizes < k].sum()) / people
    size, classes = np.unique(sizes[sizes > 0], return_counts=True)
    share = size * classes / people
    if metric == "log-maxprob":
        peak = np.minimum(1 / size, population / (population + 1))
        return float((share * -np.log1p(-peak)).sum())
    return float((share * np.log2(people / size)).sum())


def weighted(metric: Metric, mass: Floats, peak: Floats, population: int, k: int) -> float:
    """Return what these classes add to the expected ``log-maxprob`` or ``k-anonymity``.

    ``mass``: P(a), float64, one per class, 0 where an answer never occurs; ``peak``: the largest
    P(a, y) over the people y, likewise. DESIGN.md 2.2, left column of the table.
    """
    share = np.divide(peak, mass, out=np.zeros_like(peak), where=mass > 0)
    if metric == "k-anonymity":  # 1/k itself is no violation, whatever its rounding
        return ordered_sum(mass * (share > (1 + 1e-12) / k))
    return ordered_sum(mass * -np.log1p(-np.minimum(share, population / (population + 1))))


class GuardUncertainty(NamedTuple):
    """What is open about a guarded attribute v among the people who agree with d.

    ``people``: how many of them specify v; of those, ``bits``: H(V_v|d), and ``best_guess``: the
    success of the best guess, max P(v|d), 0 to 1; both 0 where nobody specifies it.
    """

    people: int
    bits: float
    best_guess: float


class Guard:
    """The cost G_v(A|d) = H(V_v|d) - H(V_v|A u D,d) over people with v specified.

    Source: footnote 2 of the paper's 2.2; DESIGN.md 2.2.
    """

    def __init__(self, columns: Codes, cards: Sequence[int], guarded: int, joint: Joint) -> None:
        """Guard one attribute of people.

        ``columns``: codes, shape (P, people); ``joint``: yields P(a, y) for the combinations a
        of request values of a set, float64, shape (people,).
        """
        self._people = np.flatnonzero(columns[guarded] != UNSPECIFIED)
        self._values = columns[guarded][self._people].astype(np.intp)
        self._card = cards[guarded]
        self._joint = joint
        people = Columns(np.ascontiguousarray(columns[:, self._people]), cards)
        self._partitions = Partitions(people)
        self._persons = (1 << len(columns)) - 1

    def bits(self, mask: int) -> float:
        """Return G_v(A|d) in bits; 0 where fewer than 30 people say anything about v."""
        if len(self._people) < FEWEST:
            return 0.0
        before = self._entropy(0)
        return before - self._entropy(mask)

    def best_guess(self, mask: int) -> float:
        """Return the expected success of the best guess about v, 0 to 1; 0 where none is known."""
        if len(self._people) == 0:
            return 0.0
        return sum(ordered_sum(table.max(axis=1)) for table in self._tables(mask))

    def uncertainty(self) -> GuardUncertainty:
        """Return what is open about v before any answer."""
        people = len(self._people)
        return GuardUncertainty(people, self._entropy(0) if people else 0.0, self.best_guess(0))

    def _entropy(self, mask: int) -> float:
        """Return H(V_v|A u D,d) in bits."""
        return sum(
            ordered_sum(plogp(table.sum(axis=1))) - ordered_sum(plogp(table).ravel())
            for table in self._tables(mask)
        )

    def _tables(self, mask: int) -> Iterator[Floats]:
        """Yield P(a, class, v) for each combination a of request values, summing to 1 in all."""
        labels, groups = self._partitions.dense[mask & self._persons]
        cells = labels * self._card + self._values
        whole = next(self._joint(0))[self._people].sum()
        for mass in self._joint(mask):
            table = mass_of(cells, mass[self._people] / whole, groups * self._card)
            yield table.reshape(groups, self._card)


class OwnClass(NamedTuple):
    """The people who look like the user: how many, and the success of the best guess at one."""

    people: int
    peak: float


class AnonymitySet:
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
        self._rows = rows = np.flatnonzero(agree)
        self.people = len(rows)
        """How many people agree with what is known, m."""
        self._columns = population.columns.take(rows, axis=1) if known else population.columns
        self.persons = (1 << population.persons) - 1
        """The set of all person attributes."""
        self._partitions = Partitions(Columns(self._columns, self.cards))
        self._guards: dict[int, Guard] = {}
        self._shares: dict[int, Floats] = {}
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
        return metric in ("maxprob", "entropy") or self._even(mask)

    def identifiability(self, mask: int, metric: Metric, k: int) -> float:
        """Return I(A u D|d), the expected loss, in the unit of ``metric``; k is k-anonymity's.

        With one person left, or none, it is the loss at certainty.
        """
        fresh = mask & ~self.known
        if self.people <= 1:
            return certainty(metric, self._population.people, k)
        key = _key(metric, k, fresh)
        found = self._memory.get(key)
        if found is None:
            found = self._identifiability(fresh, metric, k)
            self._remember(key, found)
        return found

    def learn(self, metric: Metric, computed: Mapping[int, float]) -> None:
        """Take I of these sets, by mask, instead of computing it; not for k-anonymity."""
        for mask, loss in computed.items():
            self._memory[_key(metric, 1, mask)] = loss

    def survey(self, mask: int, attributes: Sequence[int], measures: Measures) -> None:
        """Make ready I of ``mask`` with each attribute added, by (metric, k) in ``measures``."""
        base = mask & ~self.known
        task = (base, *attributes, *measures)
        if task == self._surveyed or self.people <= 1 or not self._even(base):
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
                self._remember(key, classes[each] / self.people)
            return
        for each, sizes in zip(new, self._partitions.beside(base, new), strict=True):
            for metric, k in measures:
                loss = counted(metric, sizes.ravel(), self._population.people, k)
                self._remember(_key(metric, k, base | singleton(each)), loss)

    def people_left(self, mask: int) -> float:
        """Return how many people are expected to agree with d and with the answer to A."""
        fresh = mask & ~self.known & self.persons

        def expected() -> float:
            labels = self._partitions.of(fresh).labels
            sizes = np.bincount(labels)
            if self._population.weights is None:
                return int(sizes @ sizes) / self.people
            return float((self._prior() * sizes[labels]).sum())

        return self._recalled(("people", fresh), expected) if self.people else 0.0

    def own_class(self, mask: int, own: Mapping[int, int]) -> OwnClass:
        """Return those who agree with d and with ``own`` on the person attributes of A.

        ``own``: code by person attribute, 0 where it is missing. Values that contradict what is
        known leave nobody, at peak 1. It is not remembered: an anonymity set outlives the
        request, and whose codes they are must not.
        """
        agree = np.ones(self.people, dtype=bool)
        for each in members(mask & self.persons):
            agree &= self._columns[each] == own.get(each, UNSPECIFIED)
        people, weights = int(np.count_nonzero(agree)), self._population.weights
        if weights is None:
            return OwnClass(people, 1 / max(people, 1))
        mine: Floats = weights[self._rows[agree]]
        total = float(mine.sum())
        return OwnClass(people, float(mine.max()) / total if total > 0 else 1.0)

    def guard_bits(self, guarded: int, mask: int) -> float:
        """Return G_v(A|d): bits that A tells about person attribute v (``guarded``)."""
        fresh, guard = mask & ~self.known, self.guard(guarded)
        return self._recalled(("guard", guarded, fresh), lambda: guard.bits(fresh))

    def guard(self, guarded: int) -> Guard:
        """Return what those who know d, and an answer, know of person attribute v (``guarded``)."""
        if guarded not in self._guards:
            self._guards[guarded] = Guard(self._columns, self.cards, guarded, self._joint)
        return self._guards[guarded]

    def _even(self, mask: int) -> bool:
        """Say whether all people who agree on ``mask`` are equally likely."""
        return self._population.weights is None and not mask & ~self.persons

    def _prior(self) -> Floats:
        """Return P(y|d) over the people y who agree with knowledge d, float64, shape (people,)."""
        weights = self._population.weights
        if weights is None:
            return np.full(self.people, 1 / max(self.people, 1))
        mine: Floats = weights[self._rows]
        shares: Floats = mine / mine.sum()
        return shares

    def _joint(self, mask: int) -> Iterator[Floats]:
        """Yield P(y|d) times the product of P_j(a_j|y), for each combination of request values."""
        shares = []
        for request in members(mask >> self._population.persons):
            if request not in self._shares:  # P_j(v|y) = (n_yv + 5 P_j(v)) / (n_y + 5)
                table = self._population.request_counts[request]
                overall = table.sum(axis=0, dtype=np.float64)
                counts = table[self._rows].astype(np.float64)
                rows = counts.sum(axis=1, keepdims=True)
                likely = (counts + PRIOR_ROWS * overall / overall.sum()) / (rows + PRIOR_ROWS)
                self._shares[request] = np.ascontiguousarray(likely.T)
            shares.append(self._shares[request])
        for combination in product(*(range(len(each)) for each in shares)):
            mass = self._prior()
            for share, value in zip(shares, combination, strict=True):
                mass = mass * share[value]
            yield mass

    def _recalled(self, key: Hashable, compute: Callable[[], float]) -> float:
        """Return what is remembered for a key, computed now if nothing is."""
        if key not in self._memory:
            self._remember(key, compute())
        return self._memory[key]

    def _remember(self, key: Hashable, value: float) -> None:
        if len(self._memory) >= REMEMBERED:
            self._memory.clear()
            self._surveyed = None
        self._memory[key] = value

    def _identifiability(self, mask: int, metric: Metric, k: int) -> float:
        people = self._population.people
        if self._even(mask):
            sizes = np.bincount(self._partitions.of(mask).labels)
            return counted(metric, sizes, people, k)
        labels, groups = self._partitions.dense[mask & self.persons]
        order = stable_order(labels)
        starts = np.searchsorted(labels[order], np.arange(groups))
        # What is known of Y before: the entropy that an answer leaves is taken off.
        total = -float(plogp(self._prior()).sum()) if metric == "entropy" else 0.0
        for mass in self._joint(mask):
            if metric == "entropy":
                left = ordered_sum(plogp(mass_of(labels, mass, groups)))
                total += float(plogp(mass).sum()) - left
                continue
            peak = np.maximum.reduceat(mass[order], starts)
            if metric == "maxprob":
                total += ordered_sum(peak)
            else:
                classes = mass_of(labels, mass, groups)
                total += weighted(metric, classes, peak, people, k)
        return total


def _key(metric: Metric, k: int, mask: int) -> Hashable:
    return metric, k if metric == "k-anonymity" else 0, mask

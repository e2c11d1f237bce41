"""Utility: bits of click entropy that a set of attributes removes for a query (paper 2.1)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain
from math import inf
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from agent.tradeoff.counts import Counts, Layout
from agent.tradeoff.grouping import Columns, ordered_sum, plogp, row_columns
from agent.tradeoff.measures import Measure, Metric
from agent.tradeoff.tables import Floats, QueryRows, above_diagonal, exact, members, rows_of, union

NUDGE_BITS = 50  # rows times 2**-50: more than rounding takes from a count, less than shows
SCORE_BITS = 6  # a row's score is below 2**6 bits
SCORED = 1 << 12  # rows that tell how much scores vary
MOST_PRICE = 2.0**SCORE_BITS  # bits, for one attribute
Estimator = Literal["louo", "plugin", "judged"]
LayoutBy = Callable[[int], Layout]
COST_METRICS: tuple[Metric, ...] = ("maxprob", "log-maxprob", "entropy")  # rows of Singles.costs
NEAR_MEASURES: tuple[Measure, ...] = ("maxprob", "worst")  # of Near.costs


class Utility(Protocol):
    """A utility as a set function, in bits; U of the empty set is 0.

    A subclass needs only ``value``; what else it says makes a search quicker, or proves more.
    """

    limit: float = inf
    """No set has more, in bits."""

    @property
    def submodular(self) -> bool:
        """Whether, for certain, no attribute ever adds more to a set than to a part of it."""
        return False

    def value(self, mask: int) -> float:
        """U(A) in bits."""
        ...

    def extensions(self, mask: int, attributes: Sequence[int]) -> list[float]:
        """U(A u {V}) in bits for each V in ``attributes``, none of them in A.

        Also of no attributes, it makes the neighbours of A quick to evaluate.
        """
        return [self.value(mask | 1 << each) for each in attributes]

    def potentials(self, mask: int, attributes: Sequence[int]) -> list[float]:
        """For each V in ``attributes`` a bound, in bits, on U of every set with A u {V}.

        It needs no submodularity.
        """
        del mask
        return [self.limit] * len(attributes)


class Function(Utility):
    """A plain function of a set as a utility that promises nothing more."""

    def __init__(self, function: Callable[[int], float], limit: float = inf) -> None:
        """Take U, in bits, 0 for the empty set; no set has more than ``limit``."""
        self._function, self.limit = function, limit

    def value(self, mask: int) -> float:
        """U(A) in bits."""
        return self._function(mask)


HELPS_NOTHING = Function(lambda _: 0.0, limit=0.0)  # of what is only priced


class Scoring:
    """Mean scores log2 P-u(x|g)/p0-u(x) of the rows of a layout.

    P-u(x|g) = (c(g,x) - n_u(g,x) + beta p0-u(x)) / (c(g) - n_u(g) + beta). Source: DESIGN.md 2.1.
    Each score is rounded to a multiple of a power of two, so small that their sum is exact: it
    is the same whatever order the cells are in, and by which path they were reached.
    """

    def __init__(self, layout: Layout, shrinkage: float) -> None:
        """Score the rows of a layout; ``shrinkage``: beta, in rows."""
        self.layout, self._shrinkage = layout, shrinkage
        kinds = layout.kinds
        self._total = len(kinds.of_row)
        nudge = 2.0 ** (self._total.bit_length() - NUDGE_BITS)
        # What the formula adds to the counts of a pair and of a group, one per kind.
        self._pair_pull = _never_whole(shrinkage * layout.prior - kinds.same, nudge)
        self._group_pull = _never_whole(shrinkage - kinds.own.astype(np.float64), nudge)
        self._quantum = 1.5 * 2.0 ** (SCORE_BITS + self._total.bit_length())
        rows_of_kind = np.bincount(kinds.of_row, minlength=len(kinds.intent))
        self.limit = float(-(np.log2(layout.prior) * rows_of_kind).sum()) / self._total
        """Bits that no utility exceeds: the entropy of the prior, -mean log2 p0-u(x)."""

    def potentials(self, mask: int, attributes: Sequence[int]) -> list[float]:
        """A bound on the mean score, in bits, of every set that adds to ``mask`` and each.

        At best a set parts the others who share a row's group and intent from all else, and all k
        of them stay together: P-u(x|g) is at most (k + beta p) / (k + beta), which grows with k.
        """
        kinds, prior, bounds = self.layout.kinds, self.layout.prior, list[float]()
        for counts in self.layout.beside(mask, attributes):
            others = np.maximum(counts.pair - kinds.same.take(counts.kind), 0.0)
            pull = prior.take(counts.kind)
            best = (others + self._shrinkage * pull) / ((others + self._shrinkage) * pull)
            bounds += self.means(counts, np.log2(best))
        return bounds

    def means(self, counts: Counts, scores: Floats | None = None) -> list[float]:
        """The mean score in bits for each attribute counted; ``scores``: in place of its own."""
        each = self.scores(counts) if scores is None else scores
        totals = np.atleast_1d(np.einsum("...i,...i", each, counts.rows))
        means: list[float] = (np.add.reduceat(totals, counts.first) / self._total).tolist()
        return means

    def scores(self, counts: Counts) -> Floats:
        """The score of each cell's rows by value, in bits; any number where it has none."""
        scores = counts.pair + self._pair_pull.take(counts.kind)
        others = counts.group + self._group_pull.take(counts.kind)
        others *= self.layout.prior.take(counts.kind)
        scores /= others
        np.log2(np.abs(scores, out=scores), out=scores)  # below 0 only where there are no rows
        scores += self._quantum
        scores -= self._quantum
        return scores


def _never_whole(pulls: Floats, nudge: float) -> Floats:
    """Nudge whole numbers, by less than shows in a score: with a count they must not give 0."""
    return np.where(pulls == np.rint(pulls), pulls + nudge, pulls)


class LeaveOneUserOut(Utility):
    """U(A) = mean over rows of log2 P-u(x|g(A)) - log2 p0-u(x), as a set function.

    A user's rows share the person attributes, so what is left out of a group depends only on
    the request attributes in A. Not monotone: noise has a negative gain.
    """

    def __init__(
        self, rows: QueryRows, columns: Columns, shrinkage: float, layout: LayoutBy | None = None
    ) -> None:
        """Score a query's rows; ``shrinkage`` is beta > 0, in rows; ValueError otherwise.

        ``layout``: by request attributes, remembered, where several shrinkages share it.
        """
        if not shrinkage > 0:
            raise ValueError(f"leave-one-user-out needs a shrinkage above 0, not {shrinkage}")
        self._rows, self._columns = rows, columns
        self._layout = layout_of = layout or cache(partial(Layout, rows, columns))
        self._scored = cache(lambda request: Scoring(layout_of(request), shrinkage))
        self.limit = self._scoring(0).limit

    def at(self, shrinkage: float) -> "LeaveOneUserOut":
        """The same rows' utility at another shrinkage; what is divided is shared."""
        return LeaveOneUserOut(self._rows, self._columns, shrinkage, self._layout)

    def value(self, mask: int) -> float:
        """U(A) in bits."""
        scoring = self._scoring(mask)
        return scoring.means(scoring.layout.by(mask))[0] if mask else 0.0

    def extensions(self, mask: int, attributes: Sequence[int]) -> list[float]:
        """U(A u {V}) in bits for each V in ``attributes``, none of them in A."""
        persons = [each for each in attributes if each < self._rows.persons]
        scoring = self._scoring(mask)
        means = chain.from_iterable(map(scoring.means, scoring.layout.beside(mask, persons)))
        values = dict(zip(persons, means, strict=True))
        return [
            values[each] if each in values else self.value(mask | 1 << each) for each in attributes
        ]

    def deviations(self, shrinkages: Sequence[float]) -> Floats:
        """How much the scores of rows vary, by shrinkage, when an attribute alone divides them.

        float64, shape (shrinkages, attributes), bits: the standard error of U times the square root
        of the rows. A user's rows vary together. Every user counts in about SCORED rows, of more
        every k-th.
        """
        users, persons, errors = self._rows.user, self._rows.persons, list[float]()
        some = np.flatnonzero(users % (1 + len(users) // SCORED) == 0)
        every = cache(lambda request: [Scoring(self._layout(request), e) for e in shrinkages])
        for each in range(len(self._columns.codes)):
            scorings = every(1 << each >> persons << persons)
            counts = scorings[0].layout.alone(each, some)
            for scores in (scoring.scores(counts) for scoring in scorings):
                of_users = np.bincount(users[some], scores - scores.mean())
                errors.append(np.sqrt((of_users**2).sum() / len(some)))
        return np.array(errors, dtype=np.float64).reshape(-1, len(shrinkages)).T

    def potentials(self, mask: int, attributes: Sequence[int]) -> list[float]:
        """For each V in ``attributes`` a bound, in bits, on U of every set with A u {V}."""
        persons = [each for each in attributes if each < self._rows.persons]
        gains = dict(zip(persons, self._scoring(mask).potentials(mask, persons), strict=True))
        return [min(self.limit, gains.get(each, self.limit)) for each in attributes]

    def _scoring(self, mask: int) -> Scoring:
        """The scores under the request attributes in ``mask``."""
        return self._scored(mask >> self._rows.persons << self._rows.persons)


class PlugIn(Utility):
    """U(A) = H(P(.|0)) - sum over groups g of c(g)/M H(P(.|g)), as a set function.

    P(x|g) = (c(g,x) + beta p0(x)) / (c(g) + beta) with p0(x) = (c(x) + 1/2) / (M + K/2).
    Non-negative gains (and submodular gains under Thm 3.1) only at beta = 0.
    """

    def __init__(self, rows: QueryRows, groups: Columns, shrinkage: float) -> None:
        """Take a query's rows, and their partitions.

        ``shrinkage`` is beta >= 0, in rows; ValueError otherwise.
        """
        if not shrinkage >= 0:
            raise ValueError(f"a shrinkage is not negative: {shrinkage}")
        self._rows, self._shrinkage = rows, shrinkage
        self._groups, counts = groups, np.bincount(rows.intent, minlength=rows.intents)
        prior = (counts + 0.5) / (len(rows.intent) + rows.intents / 2)
        self._pull = shrinkage * prior
        self._prior_entropy = float(_entropies(prior[np.newaxis, :])[0])
        self.limit = float(_entropies((counts + self._pull)[np.newaxis, :])[0])

    def at(self, shrinkage: float) -> "PlugIn":
        """The same rows' utility at another shrinkage; the partitions are shared."""
        return PlugIn(self._rows, self._groups, shrinkage)

    def value(self, mask: int) -> float:
        """U(A) in bits."""
        if not mask:
            return 0.0
        labels, groups = self._groups.dense[mask]
        intents = self._rows.intents
        cells = np.bincount(labels * intents + self._rows.intent, minlength=groups * intents)
        counts = cells.reshape(groups, intents)
        remaining = counts.sum(axis=1) * _entropies(counts + self._pull)
        return self.limit - ordered_sum(remaining) / len(self._rows.intent)

    def potentials(self, mask: int, attributes: Sequence[int]) -> list[float]:
        """For each V in ``attributes`` a bound, in bits, on U of every set with A u {V}.

        Smoothing mixes a group's distribution with the prior, the more the smaller the group, and
        entropy is concave: H(P(.|g)) is at least beta / (c + beta) of the prior's, c its rows.
        """
        bounds, pull = list[float](), self._shrinkage
        for each in attributes:
            labels, groups = self._groups.dense[mask | 1 << each]
            sizes = np.bincount(labels, minlength=groups)[labels]
            remaining = self._prior_entropy * pull / np.maximum(sizes + pull, 1e-300)
            bounds.append(self.limit - float(remaining.mean()))
        return bounds


def _entropies(masses: NDArray[np.number]) -> Floats:
    """The entropy, in bits, of each row of masses once it is divided by its sum."""
    return np.asarray(-plogp(masses / masses.sum(axis=1, keepdims=True)).sum(axis=1))


QueryUtility = LeaveOneUserOut | PlugIn


def query_utility(
    rows: QueryRows, cards: Sequence[int], estimator: Estimator, shrinkage: float
) -> QueryUtility:
    """The utility for one query.

    ``cards``: how many values each attribute has; ``shrinkage``: the weight beta >= 0 of the
    prior, in rows (above 0 unless ``plugin``). Where others are judged, rows count as with
    ``louo``. Source: paper 2.1 and 7.1; DESIGN.md 2.1.
    """
    kind = PlugIn if estimator == "plugin" else LeaveOneUserOut
    return kind(rows, row_columns(rows, cards), shrinkage)


class Priced(Utility):
    """A utility less a price for each attribute: what the best of many sets owes to luck.

    Prices are rounded to a multiple of a power of two, so that their sums are exact: a set has the
    same value however it is reached, and U less prices is submodular where U is.
    """

    def __init__(self, utility: Utility, prices: Floats) -> None:
        """Take U, and a price in bits for each attribute, float64, from 0 to MOST_PRICE."""
        self._utility, self._prices = utility, exact(prices)
        self.limit = utility.limit

    @property
    def submodular(self) -> bool:
        """Whether U is: prices add up."""
        return self._utility.submodular

    def value(self, mask: int) -> float:
        """U(A) less the prices of A, in bits."""
        return self._utility.value(mask) - self.price(mask)

    def extensions(self, mask: int, attributes: Sequence[int]) -> list[float]:
        """The same for A u {V}, for each V in ``attributes``, none of them in A."""
        return self._less(self._utility.extensions(mask, attributes), mask, attributes)

    def potentials(self, mask: int, attributes: Sequence[int]) -> list[float]:
        """For each V in ``attributes`` a bound, in bits, on U of every set with A u {V}."""
        return self._less(self._utility.potentials(mask, attributes), mask, attributes)

    def price(self, mask: int) -> float:
        """The sum of the prices of a set, in bits."""
        return float(self._prices[[*members(mask)]].sum())

    def _less(self, bits: Sequence[float], mask: int, attributes: Sequence[int]) -> list[float]:
        prices = self.price(mask) + self._prices[[*attributes]]
        less: list[float] = (np.array(bits, dtype=np.float64) - prices).tolist()
        return less


class Embedded(Utility):
    """A utility of some of more attributes, by their numbers among these, and in another unit."""

    def __init__(self, utility: Utility, places: Sequence[int], unit: float) -> None:
        """Take U, the number among more of each of its attributes, and what U is times."""
        self._utility, self._unit = utility, unit
        self._own = {place: own for own, place in enumerate(places)}
        self.limit = unit * utility.limit

    def value(self, mask: int) -> float:
        """U(A) in the other unit, in bits."""
        return self._unit * self._utility.value(self._inside(mask))

    def extensions(self, mask: int, attributes: Sequence[int]) -> list[float]:
        """The same for A u {V}, for each V in ``attributes``, none of them in A."""
        inside, own = self._inside(mask), [*filter(self._own.__contains__, attributes)]
        bits = self._utility.extensions(inside, [self._own[each] for each in own])
        values = dict(zip(own, bits, strict=True))
        level = self._utility.value(inside) if len(own) < len(attributes) else 0.0
        return [self._unit * values.get(each, level) for each in attributes]

    def _inside(self, mask: int) -> int:
        return union(own for place, own in self._own.items() if mask >> place & 1)


class Mixture(Utility):
    """The weighted sum of utilities, as of the queries that a text may mean (DESIGN.md 2.9)."""

    def __init__(self, utilities: Sequence[Utility], weights: Sequence[float]) -> None:
        """Take one utility per query, and as many weights > 0: they need not sum to 1.

        ValueError where there are none, or not as many of both.
        """
        if not utilities:
            raise ValueError("a mixture needs at least one utility")
        self._utilities, self._weights = tuple(utilities), tuple(weights)
        self.limit = self._sum([each.limit for each in self._utilities])

    @property
    def submodular(self) -> bool:
        """Whether all of them are."""
        return all(each.submodular for each in self._utilities)

    def value(self, mask: int) -> float:
        """The weighted sum of U(A), in bits."""
        return self._sum([each.value(mask) for each in self._utilities])

    def extensions(self, mask: int, attributes: Sequence[int]) -> list[float]:
        """The sum of U(A u {V}) in bits for each V in ``attributes``, none of them in A."""
        each_query = [each.extensions(mask, attributes) for each in self._utilities]
        return [*map(self._sum, zip(*each_query, strict=True))]

    def potentials(self, mask: int, attributes: Sequence[int]) -> list[float]:
        """For each V in ``attributes`` a bound, in bits, on U of every set with A u {V}."""
        each_query = [each.potentials(mask, attributes) for each in self._utilities]
        return [*map(self._sum, zip(*each_query, strict=True))]

    def _sum(self, values: Sequence[float]) -> float:
        return float(sum(w * v for w, v in zip(self._weights, values, strict=True)))


@dataclass(frozen=True, slots=True, eq=False)
class Singles:
    """Figures of single attributes and of pairs, stored to save the search its first steps.

    ``utilities``: float64, shape (Q, n), bits, per query; (0, n) where all are judged.
    ``costs``: float64, shape (3, n), I of the attribute itself, not less I(0), for a recipient that
    knows nothing, by the metrics of COST_METRICS (entropy in bits). ``pair_utilities``,
    ``pair_costs``: the same for two
    attributes, in the order of ``sets.pairs``, or None in a model too large for them.
    ``prices``: float64, shape (Q, n), bits, what utility of a set with the attribute owes to luck,
    not yet subtracted in the others; None in a model without that correction.
    """

    utilities: Floats
    costs: Floats
    pair_utilities: Floats | None = None
    pair_costs: Floats | None = None
    prices: Floats | None = None

    def utilities_of(self, query: int) -> dict[int, Floats]:
        """U of single attributes, less prices, and of pairs where they are stored."""
        bits, both = self.utilities[query], self.pair_utilities
        prices = np.zeros(len(bits)) if self.prices is None else exact(self.prices[query])
        of_pairs = np.add.outer(prices, prices)[above_diagonal(len(prices))]
        return rows_of(bits - prices, None if both is None else both[query] - of_pairs)


@dataclass(frozen=True, slots=True, eq=False)
class Near:
    """Figures near the sets that decisions arrive at: of each set with each attribute added.

    ``sets``: uint8, shape (B, ceil(n/8)), bit i of a row says that attribute i is in the set;
    ``queries``: integers, shape (B,), whose figures these are, in ascending order;
    ``utilities``: float64, shape (B, n), bits, U of the query as decisions use it: less prices,
    drawn towards the mean.
    ``priced``: sets like these, shape (D, ceil(n/8)); ``costs``: float64, shape (C, D, n), I for a
    recipient that knows nothing, by the first C of NEAR_MEASURES: one where each row of the
    population is one person, all where rows stand for more.
    """

    sets: NDArray[np.uint8]
    queries: NDArray[np.integer]
    utilities: Floats
    priced: NDArray[np.uint8]
    costs: Floats

    def utilities_of(self, query: int) -> dict[int, Floats]:
        """The figures of a query by set."""
        own = slice(*np.searchsorted(self.queries, (query, query + 1)))
        return dict(zip(_masks(self.sets[own]), self.utilities[own], strict=True))

    def by_measure(self) -> dict[Measure, dict[int, Floats]]:
        """The costs by measure and set."""
        masks, lines = _masks(self.priced), zip(NEAR_MEASURES, self.costs, strict=False)
        return {measure: dict(zip(masks, each, strict=True)) for measure, each in lines}


def _masks(sets: NDArray[np.uint8]) -> list[int]:
    return [int.from_bytes(each.tobytes(), "little") for each in sets]

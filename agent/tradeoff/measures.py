"""The losses of a guess at a person (DESIGN.md 2.2), also where rows are a sample (2.7, 2.8).

The rows of a sample stand for people whose number is not known: it has a posterior, and E[1/F] is
the expected success of one guess (Benedetti and Franconi 1998).
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from math import inf
from numbers import Real
from typing import Literal, NamedTuple, get_args

import numpy as np

from agent.errors import UsageError
from agent.tradeoff.agreement import Spread
from agent.tradeoff.grouping import Columns, divide, ordered_sum, plogp
from agent.tradeoff.shares import BINS
from agent.tradeoff.tables import VALUES_KEPT, Floats, Indexes, Population, members, stable_order

Metric = Literal["maxprob", "log-maxprob", "k-anonymity", "entropy"]
# And the largest success of a guess in any class, and how many are expected to be left.
Measure = Metric | Literal["worst", "people"]
METRICS: tuple[Metric, ...] = get_args(Metric)
Curvature = Literal["modular", "supermodular", "unknown"]
"""How a cost bends as sets grow, as far as that is certain, and from what.

"modular": attributes do not interact, as there is at most one that tells anything; "supermodular":
every combination of the values that occur occurs too, so that the numbers of classes multiply
(paper, Thm 3.2); "unknown": it may bend either way.
"""
# Alpha, of the Gamma prior around the people that are expected. By no other number is the integral
# of DESIGN.md 2.7 as plain as s / f; this one fits too (agent/lab/LAB.md).
SHAPE = 1.0
HALF = 0.5  # of a guess to be right: from here on a person is as good as recognised
POINTS, FAR = 4_001, 80.0  # of a quadrature; exponents of e beyond this leave nothing
LEAST_SHARE = 1e-12  # smaller ones are none
LEAST_EXPECTED = 1e-290  # people; nobody is expected below
CENSUS = 1e-9  # less than 1 by this, a share of people drawn is all of them
ALL = np.ones(1)  # of the others
CURVES_KEPT, OTHER_ROOM = 16, 256  # of groups; and in groups, what they take beside these
SPARE = 4  # where a batch has room for so many times all bins, all are estimated at once
BATCH = 1 << 13  # losses that are estimated at once: what a cache holds


Parts = tuple[list[tuple[tuple[int, int], ...]], "Alike", Indexes]
"""Pairs of column and code, by part; and the groups, part by part, and where each of them starts"""
Key = tuple[tuple[Measure, int], int, float, tuple[float, float]]
"""A measure and its k, columns, rho of bin 0, and who agree with what is known, and everybody."""


def check_prices(*prices: float) -> None:
    """UsageError where one is negative or no finite number, or their sum is none."""
    with suppress(TypeError):
        if min(prices, default=0) >= 0 <= sum(prices) < inf:  # a sum with no number is none
            return
    for price in prices:
        if not isinstance(price, (float, Real)) or not 0 <= float(price) < inf:
            raise UsageError(f"a price cannot be {price}", "use a number from 0 up")
    raise UsageError("the prices are too large to be added up", "use smaller ones")


class Alike(NamedTuple):
    """Groups of rows that look alike to a recipient, one number each, float64.

    ``mass``: P(a|d), the share of the people to whom it belongs; ``rows``: f, how many respondents
    there are, as many as are equally likely; ``people``: W, of how many people they are said to be;
    ``expected``: mu, the people that their values let one expect; ``share``: rho, of the others,
    those who agree in facts that depend on more than the values by which the groups are told apart;
    ``sample``: a row of each, intp.
    """

    mass: Floats
    rows: Floats
    people: Floats
    expected: Floats
    share: Floats = ALL
    sample: Indexes = np.zeros(1, np.intp)


def risk(alike: Alike, share: float | Floats) -> Floats:
    """E[1/F], the expected success of a guess at one person in each group, float64.

    ``share``: rho beside that of the groups, 0 to 1, also several of another axis: the probability
    with which each of the others agrees with what the recipient holds beyond these attributes. With
    p = f/W and s = (p + alpha/mu) / (1 + alpha/mu) it is 1/rho times the integral over t from
    1 - rho to 1 of t^(f-1) (s / (1 - (1-s) t))^(f+alpha): s/f (1 - y^f) / rho for alpha = 1,
    y = (1 - rho) s / (rho + (1 - rho) s). Where each row is one person it is
    (1 - (1-rho)^f) / (rho f).
    """
    rate = rate_of(np.minimum(1.0, alike.rows / alike.people), alike.expected)
    chances, rho = rate / alike.rows, np.maximum(alike.share * share, LEAST_SHARE)
    if (rho < 1).any():
        with np.errstate(divide="ignore"):
            agree = np.log1p(rho / (1 - rho) / rate)
        agree *= -alike.rows
        chances = np.where(rho > LEAST_SHARE, chances * -np.expm1(agree, out=agree) / rho, 1.0)
    return np.minimum(chances, 1.0)


def risk_elsewhere(alike: Alike, others: Floats, unseen: Floats | None = None) -> Floats:
    """E[1/F] for somebody of whose people the rows are no sample, but say how common facts are.

    ``others``: how many people live where the user does, for each person of the table, times rho;
    ``unseen``: p of the whole table, where no row agrees. The share of the people who are alike is
    the mean of its posterior, and as many of the others are as Poisson has it: (1 - e^-x) / x with
    x = others (f + alpha) / (p + alpha/mu). DESIGN.md 2.8.
    """
    rows, drawn = alike.rows, np.minimum(1.0, alike.rows / alike.people)
    if unseen is not None:
        rows, drawn = np.zeros(1), unseen
    number = others * (rows + SHAPE) / (drawn + SHAPE / np.maximum(alike.expected, LEAST_EXPECTED))
    number = np.maximum(number, LEAST_EXPECTED)
    return np.asarray(-np.expm1(-number) / number)


def rate_of(drawn: Floats, expected: Floats) -> Floats:
    """The s of `risk`; ``drawn``: p, the share of the people who are rows; ``expected``: mu."""
    prior = SHAPE / np.maximum(expected, LEAST_EXPECTED)
    rate: Floats = (drawn + prior) / (1 + prior)
    return rate


def risk_unseen(rate: Floats, share: float | Floats) -> Floats:
    """E[1/F] for somebody who looks like no row, float64: the integral of `risk_outside`, f = 0."""
    share = np.maximum(share, LEAST_SHARE)
    rest, low = 1 - rate, (1 - share) * rate / (share + (1 - share) * rate)
    total = np.divide(-np.log1p(-rest * (1 - low)), rest, out=1 - low, where=rest > CENSUS)
    return np.where(share <= LEAST_SHARE, 1.0, np.minimum(rate * total / share, 1.0))


def success_of(alike: Alike, share: Floats, population: Population, *, unseen: bool) -> Floats:
    """E[1/F] in each group, float64, whoever the rows of a population are.

    ``share``: as for `risk`; ``unseen``: whether no row agrees with what is known.
    """
    if not unseen and population.residents is None:
        return risk(alike, share)
    share, drawn = alike.share * share, np.array(population.drawn)
    if population.residents is None:
        return risk_unseen(rate_of(drawn, alike.expected), share)
    others = share * population.residents / population.people
    return risk_elsewhere(alike, others, drawn if unseen else None)


def risk_outside(rows: float, rate: float, share: float) -> float:
    """E[1/F] for somebody who is not among the rows, whom ``rows`` look like.

    It is 1/rho times the integral over t from 1 - rho to 1 of t^f (s / (1 - (1-s) t))^(f+alpha);
    ``rate``: s. For alpha = 1 and t = y / (s + (1-s) y) the integrand is s y^f / (s + (1-s) y).
    """
    if not rows or share < LEAST_SHARE:
        return float(risk_unseen(np.array([rate]), share)[0])
    end = FAR - np.log(rate)
    if share < 1:
        end = min(end, (rows + 1) * np.log1p(share / ((1 - share) * rate)))
    z = np.linspace(0.0, end, POINTS)  # -(f+1) ln y
    inside = np.exp(-z) / (rate + (1 - rate) * np.exp(-z / (rows + 1)))
    fine, coarse = (np.trapezoid(inside[::step], z[::step]) for step in (1, 2))
    return min(1.0, float(rate / (rows + 1) * (4 * fine - coarse) / 3 / share))


def counted(metric: Measure, sizes: Indexes, population: float, k: int) -> float:
    """The expected loss where all people are equally likely.

    ``sizes``: intp, how many people each class has, zeros allowed, in any order; ``population``:
    N of the whole table; ``k``: of k-anonymity. DESIGN.md 2.2, right column of the table.
    """
    people, size = int(sizes.sum()), np.sort(sizes[sizes > 0])
    if metric == "maxprob":
        return len(size) / people  # each class has its peak, 1/people
    each = losses(metric, size / people, 1 / size, (people, population), k)
    return float(each.max() if metric == "worst" else each.sum())


def losses(
    measure: Measure, mass: Floats, success: Floats, people: tuple[float, float], k: int
) -> Floats:
    """What each of these classes adds to the expected loss; of ``worst`` its own success.

    ``mass``: P(a), float64, one per class, 0 where an answer never occurs; ``success``: of the best
    guess at one person in it, likewise; ``people``: who agree with what is known, and everybody.
    DESIGN.md 2.2, left column of the table, and 2.7.
    """
    if measure == "worst":
        return success
    if measure == "people":
        return mass / success
    if measure == "entropy":
        return mass * np.log2(success * people[0])
    if measure == "maxprob":
        return mass * success
    if measure == "k-anonymity":  # 1/k itself is no violation, whatever its rounding
        return mass * (success > (1 + 1e-12) / k)
    return mass * -np.log1p(-np.minimum(success, people[1] / (people[1] + 1)))


class ByShare:
    """What groups of people lose on average, by rho of what is told beside their columns.

    It is computed once for each rho, whatever facts lead to it.
    """

    def __init__(
        self, alike: Alike, columns: Columns, success: Callable[[Alike, Floats], Floats]
    ) -> None:
        """Take the groups, the codes of rows by column, and the success of a guess by rho.

        ``success``: of groups and of rho, shape (r, 1), float64, shape (r, groups).
        """
        self.alike, self._columns, self._success = alike, columns, success
        self._parts: dict[int, Parts] = {0: ([()], alike, np.zeros(1, np.intp))}
        self._curves: dict[Key, Floats] = {}

    def parts(self, columns: int) -> Parts:
        """The groups by their codes of some columns, a mask."""
        if columns not in self._parts:
            sample = self.alike.sample
            parts, count = divide(len(sample), self._columns.of(columns, sample))
            order = stable_order(parts)
            starts = np.searchsorted(parts[order], np.arange(count))
            alike = Alike._make(each[order] if len(each) > 1 else each for each in self.alike)
            some = self._columns.of(columns, alike.sample[starts])
            values = zip(*(each.codes.tolist() for each in some), strict=True)
            own = [tuple(zip(members(columns), each, strict=True)) for each in values]
            self._parts[columns] = own, alike, starts
        return self._parts[columns]

    def loss(
        self,
        measure: tuple[Measure, int],
        columns: int,
        spreads: Sequence[Spread],
        people: tuple[float, float],
    ) -> float:
        """The loss over the groups, or the largest success.

        ``spreads``: rho in each of the ``parts`` by these columns, a mask; ``people``: who agree
        with what is known, and everybody.
        """
        own = list[float]()
        for at, each in enumerate(spreads):
            curves = self._curves_at((measure, columns, each.share, people), each.bins)
            level = curves[each.bins, at]
            own.append(float(level.max() if measure[0] == "worst" else (level * each.masses).sum()))
        return max(own) if measure[0] == "worst" else sum(own)

    def _curves_at(self, key: Key, bins: Indexes) -> Floats:
        """The losses by bin of rho and by part, float64, computed at least at these bins."""
        measure, columns, share, people = key
        _, alike, starts = self.parts(columns)
        curves = self._curves.get(key, np.full((0, len(starts)), np.nan))
        if len(curves) <= bins[-1]:
            longer = np.full((int(bins[-1]) + BINS * BINS, len(starts)), np.nan)
            longer[: len(curves)] = curves
            while len(self._curves) >= CURVES_KEPT:
                del self._curves[next(iter(self._curves))]
            curves = self._curves[key] = longer
        missing, step = np.isnan(curves[:, 0]), max(1, BATCH // max(1, len(alike.mass)))
        new = np.flatnonzero(missing) if SPARE * len(curves) < step else bins[missing[bins]]
        for some in (new[at : at + step] for at in range(0, len(new), step)):
            success = self._success(alike, share * np.exp2(some / -BINS)[:, None])
            each = losses(measure[0], alike.mass, success, people, measure[1])
            each = np.broadcast_to(each, (len(some), len(alike.mass)))
            add = np.maximum if measure[0] == "worst" else np.add
            curves[some] = add.reduceat(each, starts, axis=1)
        return curves


Table = Callable[[int, Sequence[int]], Iterator[Floats]]
Telling = Callable[[int], list[tuple[int, Floats]]]
FEWEST = 30  # people who specify the guarded attribute; fewer say nothing about it


class Guard:
    """The cost G_v(A|d) = H(V_v|d) - H(V_v|A u D,d) over people with v specified.

    Facts by shares tell of v what the columns tell that they depend on. Counting fewer people for
    what no column has would only make a guard free sooner.
    Source: footnote 2 of the paper's 2.2; DESIGN.md 2.2.
    """

    def __init__(self, guarded: int, people: int, table: Table, telling: Telling) -> None:
        """Guard one attribute, a column, of people.

        ``people``: how many specify it; ``table``: yields the mass of people by class of a set and
        by code of some columns, for the combinations of request values of the set, float64;
        ``telling``: `Agreement.telling`.
        """
        self._guarded, self.people, self._table, self._telling = guarded, people, table, telling
        self.bits = lru_cache(VALUES_KEPT)(self._bits)

    def _bits(self, mask: int) -> float:
        """G_v(A|d) in bits; 0 where fewer than 30 people say anything about v.

        Of several facts by shares it is at most this: they are independent given their columns.
        """
        if self.people < FEWEST:
            return 0.0
        by_shares = sum(self._told_by(mask, *each) for each in self._telling(mask))
        before = self.entropy(0)
        return min(before - self.entropy(mask) + by_shares, before)

    def _told_by(self, mask: int, column: int, chances: Floats) -> float:
        """What a fact by shares tells beside columns, in bits; ``chances``: by code of another."""
        table = sum(self._tables(mask, column), np.zeros(1))
        return _open_bits(table.sum(axis=2)) - _open_bits(table @ chances)

    def best_guess(self, mask: int) -> float:
        """The expected success of the best guess about v, 0 to 1; 0 where none is known."""
        return sum(ordered_sum(table.max(axis=1)) for table in self._tables(mask))

    def entropy(self, mask: int) -> float:
        """H(V_v|A u D,d) in bits; 0 where nobody specifies v."""
        return sum(map(_open_bits, self._tables(mask)))

    def _tables(self, mask: int, *columns: int) -> Iterator[Floats]:
        """Yield P(a, class, v), by columns, too, for each combination a of request values.

        They sum to 1 in all; none where nobody specifies v.
        """
        whole = next(self._table(0, [self._guarded]))[:, 1:].sum()
        for table in self._table(mask, [self._guarded, *columns]) if self.people else ():
            yield table[:, 1:] / whole


def _open_bits(table: Floats) -> float:
    """The entropy, in bits, of the second axis of a table of probabilities given all others."""
    return ordered_sum(plogp(table.sum(axis=1)).ravel()) - ordered_sum(plogp(table).ravel())

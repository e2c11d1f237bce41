"""The losses of a guess at a person (DESIGN.md 2.2), also where rows are a sample (2.7, 2.8).

The rows of a sample stand for people whose number is not known: it has a posterior, and E[1/F] is
the expected success of one guess (Benedetti and Franconi 1998).
"""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from agent.tradeoff.grouping import Columns, mass_of, ordered_sum, plogp
from agent.tradeoff.tables import UNSPECIFIED, Codes, Floats

Metric = Literal["maxprob", "log-maxprob", "k-anonymity", "entropy"]
Measure = Metric | Literal["risk", "k", "worst"]  # and those that hard limits are about
Measures = Sequence[tuple[Measure, int]]
METRICS: tuple[Metric, ...] = get_args(Metric)
# The metric that each is, but for samples of few rows.
METRIC_OF: dict[Measure, Metric] = {
    **{each: each for each in METRICS},
    "risk": "maxprob",
    "worst": "maxprob",
    "k": "k-anonymity",
}
Curvature = Literal["modular", "supermodular", "unknown"]
"""How a cost bends as sets grow, as far as that is certain, and from what.

"modular": attributes do not interact, as there is at most one that tells anything; "supermodular":
every combination of the values that occur occurs too, so that the numbers of classes multiply
(paper, Thm 3.2); "unknown": it may bend either way.
"""
SHAPE = 0.3  # alpha, of the Gamma prior around the size that independent attributes would give
FEWEST_ROWS = 3  # of a sample; fewer say too little for a limit
HALF = 0.5  # of a guess to be right: from here on a person is as good as recognised
STEPS = 200  # of the table, each way; then no entry between two is off by more than 0.1 %
NODES = 16  # of a quadrature, in each of three parts
MOST_ROWS, LEAST_RATE = 16.5, -21.0  # natural logarithms; beyond, the table goes on in lines
FAR = 30.0  # exponents of e beyond this leave nothing
LEAST_SHARE = 1e-12  # smaller ones are none
LEAST_EXPECTED = 1e-290  # people; nobody is expected below
ROUNDING = 1e-9  # of rows that are counted in parts


class Alike(NamedTuple):
    """Groups of rows that look alike to a recipient, one number each, float64.

    ``mass``: P(a|d), the share of the people to whom it belongs; ``rows``: f, how many rows there
    are, as many as are equally likely; ``people``: W, of how many people they are said to be;
    ``expected``: mu, the people there would be if attributes were independent.
    """

    mass: Floats
    rows: Floats
    people: Floats
    expected: Floats

    def few(self) -> NDArray[np.bool_]:
        """Which are samples of too few rows for a limit, bool."""
        few: NDArray[np.bool_] = self.sampled() & (self.rows < FEWEST_ROWS - ROUNDING)
        return few

    def sampled(self) -> NDArray[np.bool_]:
        """Which are samples, bool: a row of theirs stands for more than one person."""
        sampled: NDArray[np.bool_] = self.rows < self.people * (1 - ROUNDING)
        return sampled


def risk(alike: Alike, share: float) -> Floats:
    """E[1/F], the expected success of a guess at one person in each group, float64.

    ``share``: rho, the probability with which each of the others agrees with what the recipient
    holds beyond these attributes, 0 to 1. With p = f/W and s = (p + alpha/mu) / (1 + alpha/mu) it
    is 1/rho times the integral over t from 1 - rho to 1 of
    t^(f-1) (s / (1 - (1-s) t))^(f+alpha), within 0.1 %. Where each row is one person it is
    (1 - (1-rho)^f) / (rho f), exactly.
    """
    if share < LEAST_SHARE:
        return np.ones_like(alike.rows)
    rows, sampled = alike.rows, alike.sampled()
    if share < 1:
        chances: Floats = -np.expm1(rows * np.log1p(-share)) / (share * rows)
    else:
        chances = 1 / rows
    if sampled.any():
        rows, prior = rows[sampled], SHAPE / np.maximum(alike.expected[sampled], LEAST_EXPECTED)
        rate = np.log((rows / alike.people[sampled] + prior) / (1 + prior))
        within = _looked_up(_table(1.0), rows, rate)
        if share < 1:  # the table of this share must not make it less, by its own error
            within = np.maximum(within, _looked_up(_table(share), rows, rate))
        chances[sampled] = within
    return chances


def _looked_up(table: Floats, rows: Floats, rate: Floats) -> Floats:
    """The risk between the entries of a table; ``rate``: ln s."""
    most, start = STEPS - 1, np.log(SHAPE)
    across = (np.log(rows - 1 + SHAPE) - start) * (most / (MOST_ROWS - start))
    up = (rate - LEAST_RATE) * (most / -LEAST_RATE)
    i = np.minimum(np.maximum(across, 0.0).astype(np.intp), most - 1)
    j = np.minimum(np.maximum(up, 0.0).astype(np.intp), most - 1)
    across -= i
    up -= j
    corner, entries = i * STEPS + j, table.ravel()
    near = (1 - up) * entries.take(corner) + up * entries.take(corner + 1)
    far = (1 - up) * entries.take(corner + STEPS) + up * entries.take(corner + STEPS + 1)
    chances: Floats = np.minimum(1.0, np.exp((1 - across) * near + across * far))
    return chances


@lru_cache(maxsize=64)
def _table(share: float) -> Floats:
    """Ln of the risk by ln(f - 1 + alpha) and ln s, float64, shape (STEPS, STEPS).

    With t = y / (s + (1-s) y) and y = e^-x the integrand is s e^(-f x) (s + (1-s) e^-x)^(alpha-1):
    steep up to x = 1/f, and bent at x = -ln s.
    """
    rows = np.exp(np.linspace(np.log(SHAPE), MOST_ROWS, STEPS))[:, None, None] + 1 - SHAPE
    rate = np.linspace(LEAST_RATE, 0.0, STEPS)[None, :, None]
    s, rest = np.exp(rate), -np.expm1(rate)
    end = np.minimum(FAR / (rows - 1 + SHAPE), FAR / rows - rate)
    if share < 1:
        end = np.minimum(end, np.log1p(-rest * (1 - share)) - rate - np.log1p(-share))
    first = np.minimum(np.minimum(-rate, 4 / (rows - 1 + SHAPE)), end)
    second = np.maximum(first, np.minimum(2 - rate, end))
    points, weights = np.polynomial.legendre.leggauss(NODES)
    total = np.zeros((STEPS, STEPS))
    for low, high in ((np.zeros_like(end), first), (first, second), (second, end)):
        x = low + (high - low) * (points + 1) / 2
        inside = np.exp(-rows * x) * (s + rest * np.exp(-x)) ** (SHAPE - 1)
        total += ((high - low) / 2 * weights * inside).sum(axis=-1)
    table: Floats = np.log(s[..., 0] * total / share)
    table.setflags(write=False)
    return table


Joint = Callable[[int], Iterator[Floats]]
FEWEST = 30  # people who specify the guarded attribute; fewer say nothing about it


class Guard:
    """The cost G_v(A|d) = H(V_v|d) - H(V_v|A u D,d) over people with v specified.

    What a recipient holds and no column has is independent of v given d (DESIGN.md 2.8), so it
    changes nothing; counting fewer people for it would only make a guard free sooner.
    Source: footnote 2 of the paper's 2.2; DESIGN.md 2.2.
    """

    def __init__(self, columns: Codes, cards: Sequence[int], guarded: int, joint: Joint) -> None:
        """Guard one attribute of people.

        ``columns``: codes, shape (P, people); ``joint``: yields P(a, y) for the combinations a
        of request values of a set, float64, shape (people,).
        """
        self._people = np.flatnonzero(columns[guarded] != UNSPECIFIED)
        self.people = len(self._people)
        """How many people specify the attribute."""
        self._values = columns[guarded][self._people].astype(np.intp)
        self._card = cards[guarded]
        self._joint = joint
        self._partitions = Columns(np.ascontiguousarray(columns[:, self._people]), cards)
        self._persons = (1 << len(columns)) - 1

    def bits(self, mask: int) -> float:
        """G_v(A|d) in bits; 0 where fewer than 30 people say anything about v."""
        return self.entropy(0) - self.entropy(mask) if self.people >= FEWEST else 0.0

    def best_guess(self, mask: int) -> float:
        """The expected success of the best guess about v, 0 to 1; 0 where none is known."""
        return sum(ordered_sum(table.max(axis=1)) for table in self._tables(mask))

    def entropy(self, mask: int) -> float:
        """H(V_v|A u D,d) in bits; 0 where nobody specifies v."""
        return sum(
            ordered_sum(plogp(table.sum(axis=1))) - ordered_sum(plogp(table).ravel())
            for table in self._tables(mask)
        )

    def _tables(self, mask: int) -> Iterator[Floats]:
        """Yield P(a, class, v) for each combination a of request values, summing to 1 in all."""
        if not self.people:
            return
        labels, groups = self._partitions.dense[mask & self._persons]
        cells = labels * self._card + self._values
        whole = next(self._joint(0))[self._people].sum()
        for mass in self._joint(mask):
            table = mass_of(cells, mass[self._people] / whole, groups * self._card)
            yield table.reshape(groups, self._card)

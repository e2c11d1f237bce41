"""What a set may be measured by, and the loss of each measure (DESIGN.md 2.2)."""

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

from agent.tradeoff.tables import Floats, Indexes

Metric = Literal["maxprob", "log-maxprob", "k-anonymity", "entropy"]
Measure = Metric | Literal["risk", "k", "worst"]  # and those that hard limits are about
Measures = Sequence[tuple[Measure, int]]
METRICS: tuple[Metric, ...] = get_args(Metric)


def metric_of(measure: Measure) -> Metric:
    """Return the metric that a measure is, but for samples of few rows."""
    if measure == "risk" or measure == "worst":  # noqa: PLR1714  (what is left is a metric)
        return "maxprob"
    return "k-anonymity" if measure == "k" else measure


def certainty(metric: Metric, population: float, k: int) -> float:
    """Return the loss when one person is left, of ``population`` people."""
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
    size = np.sort(sizes[sizes > 0])
    share = size / people
    if metric == "log-maxprob":
        peak = np.minimum(1 / size, population / (population + 1))
        return float((share * -np.log1p(-peak)).sum())
    return float((share * np.log2(people / size)).sum())


def losses(metric: Metric, mass: Floats, success: Floats, population: float, k: int) -> Floats:
    """Return what each of these classes adds to the expected loss, but for ``entropy``.

    ``mass``: P(a), float64, one per class, 0 where an answer never occurs; ``success``: of the best
    guess at one person in it, likewise. DESIGN.md 2.2, left column of the table.
    """
    if metric == "maxprob":
        return mass * success
    if metric == "k-anonymity":  # 1/k itself is no violation, whatever its rounding
        return mass * (success > (1 + 1e-12) / k)
    certain = population / (population + 1)
    return mass * -np.log1p(-np.minimum(success, certain))

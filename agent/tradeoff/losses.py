"""Identifiability losses L(P(Y)) of the paper's 2.2.1, over classes of people who look alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from agent.tradeoff.sums import ordered_sum

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

Metric = Literal["maxprob", "log-maxprob", "k-anonymity", "entropy"]
METRICS: tuple[Metric, ...] = ("maxprob", "log-maxprob", "k-anonymity", "entropy")


def certainty(metric: Metric, population: int, k: int) -> float:
    """Return the loss when one person is left, of a table of ``population`` people."""
    if metric == "k-anonymity":
        return float(k > 1)
    if metric == "log-maxprob":
        return float(np.log(population + 1))
    return 0.0 if metric == "entropy" else 1.0


def expected_peak(classes: int, people: int) -> float:
    """Return ``maxprob`` where all people are equally likely: the classes' share of them."""
    return classes / people


def counted(metric: Metric, sizes: NDArray[np.intp], population: int, k: int) -> float:
    """Return the expected loss where all people are equally likely.

    ``sizes``: intp, how many people each class has, zeros allowed, in any order; ``population``:
    N of the whole table; ``k``: of k-anonymity. DESIGN.md 2.2, right column of the table.
    """
    people = int(sizes.sum())
    if metric == "maxprob":
        return expected_peak(int(np.count_nonzero(sizes)), people)
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

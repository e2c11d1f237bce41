"""How sure a figure over people is: the same people drawn again, for every figure alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Numbers = NDArray[np.number]

SURE = (0.025, 0.975)
DRAWS = 2000
ROUNDING = 1e-9  # a share of a number of people is a whole number but for this


class Interval(NamedTuple):
    """A figure over people, and between what it lies in 95 of 100 resamples of them."""

    mean: float
    low: float
    high: float


class Resamples:
    """The same resamples of people for all that is asked of them: what is compared is paired."""

    def __init__(self, people: int, seed: int) -> None:
        """Draw as many people as there are, with replacement, DRAWS times."""
        even = np.full(people, 1 / people)
        drawn = np.random.default_rng(seed).multinomial(people, even, DRAWS)
        self._drawn: Floats = drawn.astype(np.float64)

    def means(self, values: Numbers) -> Floats:
        """Return the mean over people in each resample, float64, shape (DRAWS, ...).

        ``values``: a line per person, shape (people, ...).
        """
        sums: Floats = np.tensordot(self._drawn, values.astype(np.float64), axes=1)
        return sums / len(values)

    def mean(self, values: Numbers) -> Interval:
        """Return the mean of one number per person, shape (people,)."""
        return between(float(values.mean()), self.means(values))

    def ratio(self, values: Numbers, whole: Numbers) -> Interval | None:
        """Return the ratio of two means; None where the second is not above 0 in a resample."""
        wholes = self.means(whole)
        if whole.mean() <= 0 or wholes.min() <= 0:
            return None
        return between(float(values.mean() / whole.mean()), self.means(values) / wholes)

    def quantile(self, values: Numbers, share: float) -> Interval:
        """Return the number that at most a share of the people, 0 to 1, stays below."""
        order = np.argsort(values, kind="stable")
        below = np.cumsum(self._drawn[:, order], axis=1)
        first = (below >= share * len(values) - ROUNDING).argmax(axis=1)
        return between(float(quantile(values, share)), values[order][first])


def quantile(values: Numbers, share: float) -> float:
    """Return the number that at most a share of the people stays below: one of the values."""
    return float(np.quantile(values, share, method="inverted_cdf"))


def between(mean: float, resampled: Numbers) -> Interval:
    """Return a figure with the ends of what resamples gave."""
    low, high = np.quantile(resampled, SURE)
    return Interval(mean, float(low), float(high))

"""Lines of the frontier: what a way of deciding gives away at each utility that it reaches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from agent.lab.attack.intervals import between

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from agent.lab.attack.intervals import Interval, Resamples
    from agent.lab.attack.outcome import Outcome

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """The points of one family: ways that differ in lambda alone.

    ``utility``: float64, shape (points, N), each person's mean bits a request; ``success``: the
    same shape, above 0, the chance of a single guess at each person.
    """

    utility: Floats
    success: Floats

    @classmethod
    def of(cls, outcomes: Sequence[Outcome], step: int) -> Line:
        """Return the line through what came of several ways after a step, by its place."""
        return cls(
            np.array([each.bits[:, step] for each in outcomes]),
            np.array([each.success[:, step] for each in outcomes]),
        )

    @property
    def means(self) -> tuple[Floats, Floats]:
        """Utility and success of its points, float64, shape (1, points) each."""
        return self.utility.mean(axis=1)[None], self.success.mean(axis=1)[None]

    @property
    def range(self) -> tuple[float, float]:
        """The least and the greatest utility of its points."""
        utility, _ = self.means
        return float(utility.min()), float(utility.max())


@dataclass(frozen=True, slots=True)
class Ratio:
    """How much more often a guess succeeds on one line than on another, at equal ``utility``."""

    utility: float
    ratio: Interval


def ratios(line: Line, other: Line, resamples: Resamples) -> tuple[Ratio, ...]:
    """Return the success on a line as a multiple of that on the other, where the two overlap.

    At the utility of each point of either line that the other reaches too, ascending: between
    them the logarithm of the ratio is linear. Empty where there is no overlap. In a resample in
    which a line ends before, its end counts.
    """
    low = max(line.range[0], other.range[0])
    high = min(line.range[1], other.range[1])
    knots = [each for each in (*line.utility, *other.utility) if low <= each.mean() <= high]
    found = [_ratio(line, other, each, resamples) for each in knots]
    return tuple(sorted(found, key=lambda each: each.utility))


def ratio_at(line: Line, point: Line, resamples: Resamples) -> Ratio | None:
    """Return the success of a single point as a multiple of a line's at its utility.

    None where the line does not reach it.
    """
    low, high = line.range
    if not low <= point.range[0] <= high:
        return None
    return _ratio(point, line, point.utility[0], resamples)


def _ratio(line: Line, other: Line, utility: Floats, resamples: Resamples) -> Ratio:
    mean = float(utility.mean())
    logs = [_log_at(*each.means, np.array([mean])) for each in (line, other)]
    wanted = resamples.means(utility)
    drawn = [_log_at(*_drawn(each, resamples), wanted) for each in (line, other)]
    ratio = between(float(np.exp(logs[0] - logs[1])[0]), np.exp(drawn[0] - drawn[1]))
    return Ratio(mean, ratio)


def _drawn(line: Line, resamples: Resamples) -> tuple[Floats, Floats]:
    """Return utility and success of the points in each resample, shape (DRAWS, points) each."""
    return resamples.means(line.utility.T), resamples.means(line.success.T)


def _log_at(utility: Floats, success: Floats, wanted: Floats) -> Floats:
    """Return log success by linear interpolation over utility; beyond the ends, that of the end.

    ``utility``, ``success``: float64, shape (lines, points); ``wanted``: shape (lines,).
    """
    order = np.argsort(utility, axis=1, kind="stable")
    x = np.take_along_axis(utility, order, axis=1)
    y = np.log(np.take_along_axis(success, order, axis=1))
    after = np.clip((x <= wanted[:, None]).sum(axis=1), 1, max(1, x.shape[1] - 1))
    each, before = np.arange(len(x)), after - 1
    after = np.minimum(after, x.shape[1] - 1)
    width = x[each, after] - x[each, before]
    way = np.divide(wanted - x[each, before], width, np.zeros(len(x)), where=width > 0)
    found: Floats = y[each, before] + np.clip(way, 0, 1) * (y[each, after] - y[each, before])
    return found

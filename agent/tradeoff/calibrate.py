"""What a person wants in return for being known, in bits: the calibration of the paper's 6 and 7.2.

Sensitivity, from 1 to LEVELS, is only a currency between two questions: how sensitive something
is, and how much a service must improve before something so sensitive is shared. Whatever labels
the scale has, the answer is the same.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agent.tradeoff.tables import Floats, Indexes

LEVELS = 5
UNANSWERED = 0  # in place of a level
NEVER = float("inf")  # no improvement is enough


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """A line through the origin: ``trade_off`` bits per unit of identifiability, λ.

    ``used``: bool, which pairs it was fitted to; ``residuals``: float64, bits wanted less bits on
    the line, NaN for a pair that was not used.
    """

    trade_off: float
    used: NDArray[np.bool_]
    residuals: Floats

    @property
    def error(self) -> float:
        """The root mean square of the residuals, in bits."""
        return float(np.sqrt(np.mean(self.residuals[self.used] ** 2)))


def wanted_bits(levels: Indexes, improvements: Floats) -> Floats:
    """Return the bits that each thing must bring: the median over those who said it.

    ``levels``: intp (people, things), 1 to LEVELS or UNANSWERED; ``improvements``: float64
    (people, LEVELS), the factor of speed that each wants for each level, 1 or more, NEVER, or NaN
    where that was not answered. A factor x is log2 x bits (paper 7.2). The two mappings are
    concatenated person by person before the median is taken. NEVER counts as infinitely many bits;
    NaN comes back for a thing of which nobody said anything.
    """
    bits = np.hstack([np.full((len(levels), 1), np.nan), np.log2(improvements)])
    each = np.take_along_axis(bits, levels, axis=1)
    answered = (column[~np.isnan(column)] for column in each.T)
    medians = [np.median(column) if len(column) else np.nan for column in answered]
    return np.array(medians, dtype=np.float64)


def fit(costs: Floats, bits: Floats) -> Fit | None:
    """Return the λ for which λ times the costs is nearest to the bits, in least squares.

    ``costs``: float64, identifiability, 0 or more; ``bits``: float64, wanted for it. None where
    no pair with a cost has finite bits. The paper (7.2) aligns the curves "for a value of λ", a
    single number; it names no intercept, and (3.1) has no constant beside λC: so the line goes
    through the origin. What has no price cannot lie on it: infinite and unanswered bits are left
    out.
    """
    used = np.isfinite(bits)
    square = float(costs[used] @ costs[used])
    if square == 0:
        return None
    trade_off = float(costs[used] @ bits[used]) / square
    residuals = np.full(bits.shape, np.nan)
    residuals[used] = bits[used] - trade_off * costs[used]
    for each in (used, residuals):
        each.setflags(write=False)
    return Fit(trade_off, used, residuals)

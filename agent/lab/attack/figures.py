"""The figures of one way after so many requests, each as sure as its people make it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from agent.lab.attack.intervals import quantile

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from agent.lab.attack.intervals import Interval, Resamples
    from agent.lab.attack.outcome import Outcome

    Floats = NDArray[np.float64]

QUANTILES = (0.01, 0.05, 0.5)
ENOUGH = 50  # people left


@dataclass(frozen=True, slots=True)
class Figures:
    """What one way gave away and brought.

    ``success``: of a single guess; ``left``: the QUANTILES over people of how many people are
    left; ``enough``: the share of people with at least ENOUGH left; ``bits``, ``reciprocal`` and
    ``told``: the means of a request until then; ``learned``, ``doubt``: bits about what is
    guarded, None where nobody has it.
    """

    success: Interval
    left: tuple[int, ...]
    enough: Interval
    bits: Interval
    reciprocal: Interval
    told: float
    learned: Interval | None
    doubt: Interval | None


def figures(found: Outcome, step: int, resamples: Resamples) -> Figures:
    """Return the figures after a step, by its place among the steps."""
    left = found.left[:, step]
    return Figures(
        success=resamples.mean(found.success[:, step]),
        left=tuple(int(quantile(left, each)) for each in QUANTILES),
        enough=resamples.mean((left >= ENOUGH).astype(np.float64)),
        bits=resamples.mean(found.bits[:, step]),
        reciprocal=resamples.mean(found.reciprocal[:, step]),
        told=float(found.told[:, step].mean()),
        learned=_of_those_who_have(found.learned[:, step], resamples),
        doubt=_of_those_who_have(found.doubt[:, step], resamples),
    )


def _of_those_who_have(values: Floats, resamples: Resamples) -> Interval | None:
    have = ~np.isnan(values)
    return resamples.ratio(np.where(have, values, 0.0), have.astype(np.float64))

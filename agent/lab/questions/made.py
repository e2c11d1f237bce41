"""Made answers, for a calibration whose λ is known beforehand: nobody said them.

The paper's answers are not public. These answer its questions about location and improvement as
people would who all want about λI bits for being known so well, and can only tick what is offered.
Whoever shows what they come to says that they are made.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import log2

import numpy as np

from agent.decision.answers import IMPROVEMENTS
from agent.errors import UsageError
from agent.lab.questions.asked import LEVELS
from agent.lab.questions.replies import Reply
from agent.lab.questions.stated import TRADE_OFF
from agent.tradeoff.calibrate import NEVER

SPREAD = 0.3  # of ln bits, from person to person
BEYOND = 4.0  # bits: who wants so much or more would never share, as fourfold is the most offered
_BITS = tuple(BEYOND if each == NEVER else log2(each) for each in IMPROVEMENTS.values())
_LADDER = dict(zip(LEVELS, IMPROVEMENTS, strict=True))


def made_replies(
    costs: Mapping[str, float], people: int, seed: int, trade_off: float = TRADE_OFF
) -> tuple[Reply, ...]:
    """Return what people would answer if λ were so; the same seed gives the same.

    ``costs``: identifiability by one of LOCATIONS, I less I of nothing. Each person wants λI bits
    times a factor of their own, whose median is 1, and ticks what is nearest in ratio. UsageError
    for what was not asked about, and for a λ that is negative or not finite.
    """
    if not 0 <= trade_off < NEVER:
        raise UsageError(f"lambda cannot be {trade_off}", "give a number from 0")
    draw = np.random.default_rng(seed)
    factors = (trade_off * np.exp(SPREAD * draw.standard_normal(people))).tolist()
    return tuple(
        Reply(
            improvement=_LADDER,
            location={thing: _level(factor * cost) for thing, cost in costs.items()},
        )
        for factor in factors
    )


def _level(wanted: float) -> int:
    """Return the level of the improvement whose bits are nearest, on a logarithmic scale."""
    ratios = [abs(log2(max(wanted, _BITS[0]) / bits)) for bits in _BITS]
    return 1 + ratios.index(min(ratios))

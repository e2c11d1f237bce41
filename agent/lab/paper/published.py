"""What the paper states of its results, in numbers; what is only drawn in it is absent.

One number is ours, for want of the paper's, and says so.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import NamedTuple

ATTRIBUTES = 31
TRADE_OFF = 5.12  # 7.2, by least squares
KNEE = (1.0, 10.0)  # 7.2: the lambdas at the knee of Fig. 8a
K = 100  # 7.1, of k-anonymity
FLAT_AFTER = 25  # 7.1: attributes after which k-anonymity flattens out
SAMPLES = 1000  # 7.1
# Not stated. Chosen after Fig. 6 had been seen to fall under a build's own, 5 rows and more.
SHRINKAGE = 0.1
UTILITY_BITS = 1.92  # 7.1: where the entropy reduction levels off
UTILITY_ORDER = (  # 7.1: the greedy order until then
    *("DOCC", "ATLV", "DAGE", "ACTY", "AQRY", "ACLK", "AWHR", "TADT"),
    *("AWDY", "THOM", "TCIN", "DGDR", "TGMS", "TREG"),
)
BEST = ("AFRQ", "ATLV", "AWDY", "AQRY", "ACLK", "DAGE", "TSPT")  # 7.3, by LLS
MINUTES = (522.1, 225.7)  # 7.3: without and with lazy evaluation
EXHAUSTIVE_YEARS = 50.1  # 7.3: sets of at most EXHAUSTIVE_SIZE attributes
EXHAUSTIVE_SIZE = 8


class Score(NamedTuple):
    """What the text of 7.3 says of a set in Fig. 11: F, and U where it is given, in bits."""

    objective: float
    utility: float | None


SCORES = MappingProxyType(
    {
        "optimised": Score(0.83, 1.4),
        "search statistics": Score(0.57, 0.8),
        "demographics": Score(0.3, 0.95),
        "topics": Score(-1.73, None),
    }
)

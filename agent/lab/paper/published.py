"""What the paper states of its results, in numbers, and what a reader has to know of ours.

What is only drawn there is absent here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from agent.build.shrinkage import SHRINKAGES
from agent.lab.charts import Claim
from agent.lab.questions.survey import TRADE_OFF
from agent.model.model import Model

ATTRIBUTES = 31
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
MINUTES = (522.1, 225.7)  # 7.3: without and with lazy evaluation
EXHAUSTIVE_YEARS = 50.1  # 7.3: sets of at most EXHAUSTIVE_SIZE attributes
EXHAUSTIVE_SIZE = 8

PAPER = (
    "Krause and Horvitz, A Utility-Theoretic Approach to Privacy in Online Services (JAIR 39, 2010)"
)
RULES = (
    "The rule in the last column decides whether a shape is the paper's. Three rules were settled "
    "after a report had been seen: those of diminishing returns (Fig. 6), of the knee's cost "
    "(Fig. 8a) and of the addresses (Fig. 11), which became stricter. The result of each first "
    "rule stands beside them."
)
SYNTHETIC = (
    "**Synthetic.** Nobody searched for any of this: the log has the size and the published "
    "shares of the paper's log; the rest is invented, as its SOURCE.md says. The results show "
    "that the programs do what the paper describes, and nothing about people. Three numbers are "
    "fitted: the level of Fig. 6, and in Fig. 11 the utility of search statistics and how far "
    "topics tell people apart."
)
ESTIMATES = (
    "Utility is estimated in two ways: plugin, the paper's, with Dirichlet smoothing by a prior of "
    "{shrinkage:g} rows, and louo, which leaves out the user whose row is scored, with a prior "
    "chosen per query; reticent decides by it. The paper does not state its prior: Fig. 6 says how "
    "that of plugin was chosen."
)
PRICED = (
    "Attributes with a sensitivity of their own: {count} of {whole}; the paper's had one each, "
    "from its survey."
)
ORDERED = (
    "No order has more request attributes than give {most} combinations of their values together, "
    "for larger sets are no candidates; the model has {requests}."
)
NO_PLACES = (
    "Fig. 8b is missing, and the addresses of Fig. 11: this model does not know where people ask "
    "from. A log does."
)
FITTED = (
    "The level is fitted and no evidence: the synthetic log is tuned so that the curve has the "
    f"paper's {UTILITY_BITS} bits at just this prior."
)
FITTED_SETS = (
    "The utility of search statistics, and how far topics tell people apart, are fitted: the "
    "synthetic log is tuned to the paper's. Their scores under plugin are no evidence."
)
UP_ONLY = (
    "Diminishing returns are judged on the way up only, until the greatest utility. The first "
    "rule counted growing gains along the whole order; it was dropped after a first report."
)
WHOLE_COST = (
    "The cost at the knee is compared with that of all attributes. The first rule compared it "
    "with the most expensive set on the curve; it was dropped after a first report."
)


@dataclass(frozen=True, slots=True)
class Options:
    """How the figures are made; the defaults are the paper's numbers.

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
        "The paper smooths, but does not state the strength of its prior. Here plugin has "
        f"{shrinkage:g} rows, chosen after the curve had been seen to fall, where the paper's "
        f"levels off, under a prior as a build chooses it: {SHRINKAGES[0]:g} rows or more, the "
        "panel `plugin, prior chosen`."
    )

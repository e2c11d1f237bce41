"""What a reader has to know of how the figures came about, said where the figure stands."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from agent.build.shrinkage import SHRINKAGES
from agent.lab.paper import published

if TYPE_CHECKING:
    from agent.lab.charts import Claim
    from agent.model.model import Model

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
    f"paper's {published.UTILITY_BITS} bits at just this prior."
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

"""What the paper states of its results, in numbers, and what a reader has to know of ours.

What is only drawn there is absent here.
"""

import sys
import tomllib
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any

from agent import Model
from agent.lab.charts import Claim
from agent.lab.questions.survey import TRADE_OFF

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


def claim(key: str, same: bool | None, **fields: object) -> Claim:  # noqa: FBT001  (a verdict)
    """Return a claim of claims.toml with its fields filled in; ``paper`` is this module."""
    text, paper = _texts()["claims"][key], sys.modules[__name__]
    place, stated, ours, why = (
        text[each].format(paper=paper, **fields) for each in ("place", "published", "ours", "why")
    )
    return Claim(place, stated, ours, same, why)


def prose(key: str, **fields: object) -> str:
    """Return a sentence of claims.toml with its fields filled in."""
    text: str = _texts()["prose"][key]
    return text.format(paper=sys.modules[__name__], **fields)


def level(name: str) -> str:
    """Return why the level of Fig. 6 is what it is under an estimator, as claims.toml has it."""
    text: str = _texts()["prose"]["level"][name]
    return text


@cache
def _texts() -> dict[str, Any]:
    return tomllib.loads((files("agent.lab.paper") / "claims.toml").read_text("utf-8"))

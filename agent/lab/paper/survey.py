"""What the paper's text states of its survey (6) and of its sets (7.3, Fig. 11).

What its figures draw and the text does not say is absent here: the mean sensitivity of each
attribute, of each precision of age and location, the quartiles of Fig. 5. From the shares who would
tell an attribute follows a sensitivity, in bits, for the attributes of Table 1 that it speaks of.
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import NamedTuple

from agent.build.log_schema import BY_LABEL, TOPIC
from agent.model.model import Figure, Model

TRADE_OFF = 5.12  # 7.2: the least-squares alignment of Fig. 8(b), "approximately"
KNEE = (1.0, 10.0)  # 7.2: of the trade-off curve of Fig. 8(a), in λ
DOUBLED_BITS = 1.0  # 7.2: "doubling the search performance would require 1 bit"
_STATED = tomllib.loads((files("agent.lab.paper") / "stated.toml").read_text("utf-8"))
# 6.1, Fig. 1: the shares who would tell the search engine if that would "double search
# performance". 6.1 has 64 % and 63.9 % for DOCC: the same, rounded. That 92.7 % "would rather
# share" DREG than TNWS stands among the results of this question; it is taken as one.
WOULD_SHARE: Mapping[str, float] = MappingProxyType(_STATED["would_share"])
MOST_SENSITIVE = "AWHR"  # 6.1
HALF = 0.5  # of the people


class PublishedSet(NamedTuple):
    """A set of Fig. 11 (7.3): its utility in bits, or a ``bound`` above it, and its F."""

    name: str
    labels: Sequence[str]
    utility: float
    score: float
    bound: bool = False

    @property
    def cost(self) -> float:
        """λC in bits, U - F: as I is never negative, no sensitivity of the set is above it."""
        return self.utility - self.score


TOPICS = tuple(each.label for each in TOPIC)
OUTCOMES = tuple(PublishedSet(**{"labels": TOPICS, **each}) for each in _STATED["outcomes"])
# For how many bits half of the people share: on a straight line from nobody for none.
PRICES = MappingProxyType({each: DOUBLED_BITS * HALF / by for each, by in WOULD_SHARE.items()})


@cache
def within_outcomes() -> float:
    """Find the largest scale at which the prices contradict nothing in Fig. 11.

    As I is never negative, no set's sensitivity is above its λC = U - F (7.3); and none is above
    that of working hours (6.1), which one of the sets holds.
    """
    totals = [(each.cost, sum(PRICES.get(e, 0.0) for e in each.labels)) for each in OUTCOMES]
    totals += [
        (each.cost, max(PRICES.values())) for each in OUTCOMES if MOST_SENSITIVE in each.labels
    ]
    return min(cost / total for cost, total in totals if total > 0)


def with_stated_sensitivities(model: Model) -> Model:
    """Make a model with the prices as sensitivities, without a digest, until it is written.

    Attributes of Table 1 go by the names that a log gives them; others keep what they have. The
    options say where they are from, and the scale, which is the one that the paper's sets demand.
    """
    scale = within_outcomes()
    bits = {BY_LABEL[label].name: scale * price for label, price in PRICES.items()}
    attributes = tuple(
        replace(each, sensitivity=bits.get(each.name, each.sensitivity))
        for each in model.attributes
    )
    options: dict[str, Figure] = {
        **model.options,
        "sensitivities": "paper 6.1",
        "sensitivity_scale": scale,
    }
    return replace(model, attributes=attributes, options=options, digest="")

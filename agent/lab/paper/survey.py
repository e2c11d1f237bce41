"""What the paper's text states of its survey (6) and of its sets (7.3, Fig. 11).

What its figures draw and the text does not say is absent here: the mean sensitivity of each
attribute, of each precision of age and location, the quartiles of Fig. 5.
"""

import tomllib
from collections.abc import Sequence
from importlib.resources import files
from typing import NamedTuple

from agent.build.log_schema import TOPIC

TRADE_OFF = 5.12  # 7.2: the least-squares alignment of Fig. 8(b), "approximately"
KNEE = (1.0, 10.0)  # 7.2: of the trade-off curve of Fig. 8(a), in λ
_STATED = tomllib.loads((files("agent.lab.paper") / "stated.toml").read_text("utf-8"))


class PublishedSet(NamedTuple):
    """A set of Fig. 11 (7.3): its utility in bits, or a ``bound`` above it, and its F."""

    name: str
    labels: Sequence[str]
    utility: float
    score: float
    bound: bool = False


TOPICS = tuple(each.label for each in TOPIC)
OUTCOMES = tuple(PublishedSet(**{"labels": TOPICS, **each}) for each in _STATED["outcomes"])

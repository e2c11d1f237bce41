"""What the paper's text says was answered: numbers and orders, each with its place.

Only what is written. What the figures draw and the text does not say (the mean sensitivity of
each attribute, of each precision of age and location, the quartiles of Fig. 5) is absent here.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from agent.lab.questions.asked import (
    AGE,
    ATTRIBUTES,
    BELIEVED,
    LOCATION,
    STORAGE,
    WILLING,
    Question,
)

RESPONSES = 1451  # 6
TRADE_OFF = 5.12  # 7.2: the least-squares alignment of Fig. 8(b), "approximately"
KNEE = (1.0, 10.0)  # 7.2: of the trade-off curve of Fig. 8(a), in λ
DOUBLED_BITS = 1.0  # 7.2: "doubling the search performance would require 1 bit"
MAJORITY = 0.5  # 6.1: more would share, "for all attributes probed", for doubled performance


class Share(NamedTuple):
    """The share of people who said yes."""

    question: Question
    thing: str
    share: float
    place: str


class Order(NamedTuple):
    """What was found less sensitive than what, and how the text says so."""

    less: tuple[Question, str]
    more: tuple[Question, str]
    how: str
    place: str


class Extreme(NamedTuple):
    """An attribute that the text places without a number."""

    label: str
    level: Literal["low", "quite high", "highest"]
    place: str


class Outcome(NamedTuple):
    """A set of Fig. 11: its utility in bits, "about" or "less than" where so said, and its F."""

    name: str
    labels: tuple[str, ...]
    utility: float
    score: float
    place: str

    @property
    def cost(self) -> float:
        """λC in bits, U - F: as I is never negative, no sensitivity of the set is above it."""
        return self.utility - self.score


# 6.1 has 64 % and 63.9 % for DOCC: the same, rounded. That 92.7 % "would rather share" DREG than
# TNWS stands among the results of this question; it is taken as DREG's share of them.
SHARES = (
    Share(WILLING, "DREG", 0.927, "6.1"),
    Share(WILLING, "DAGE", 0.82, "6.1"),
    Share(WILLING, "DGDR", 0.78, "6.1"),
    Share(WILLING, "DOCC", 0.639, "6.1"),
    Share(WILLING, "DMTL", 0.544, "6.1"),
    Share(WILLING, "DCHD", 0.526, "6.1"),
    Share(BELIEVED, "DCRY", 0.96, "6.4"),
    Share(BELIEVED, "ASEA", 0.86, "6.4"),
    Share(BELIEVED, "DGDR", 0.34, "6.4"),
    Share(BELIEVED, "DAGE", 0.28, "6.4"),
    Share(BELIEVED, "DOCC", 0.16, "6.4"),
)

_TOPICS = tuple(
    Order((ATTRIBUTES, less), (ATTRIBUTES, more), "significantly greater", "6.1")
    for less in ("TNWS", "TSCI")
    for more in ("THEA", "TSOC")
)
ORDERS = (
    *_TOPICS,
    Order((ATTRIBUTES, "ACLK"), (ATTRIBUTES, "ACRY"), "the biggest jump", "6.1"),
    Order((LOCATION, "city"), (STORAGE, "topics"), "significantly more sensitive", "6.2"),
    Order((AGE, "1 year"), (STORAGE, "topics"), "significantly more sensitive", "6.2"),
)
EXTREMES = (
    Extreme("AFRQ", "low", "6.1"),
    Extreme("TNWS", "low", "6.1"),
    Extreme("DOCC", "quite high", "7.3"),
    Extreme("AWHR", "highest", "6.1"),
)

_DEMOGRAPHIC = ("DGDR", "DAGE", "DOCC", "DREG")  # the log lacks DMTL and DCHD (Table 1)
_TOPIC = tuple(label for label in ATTRIBUTES.things if label.startswith("T"))
OUTCOMES = (
    Outcome(
        "optimised", ("AFRQ", "ATLV", "AWDY", "AQRY", "ACLK", "DAGE", "TSPT"), 1.4, 0.83, "7.3"
    ),
    Outcome("search statistics", ("ATLV", "AWDY", "AWHR", "AFRQ"), 0.8, 0.57, "7.3"),
    Outcome("demographics", _DEMOGRAPHIC, 0.95, 0.3, "7.3"),
    Outcome("topics", _TOPIC, 1.4, -1.73, "7.3"),  # "less utility than the optimized solution"
)

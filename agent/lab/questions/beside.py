"""The paper's survey and the second one side by side: where they agree, and by how much not."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from agent.lab.questions.asked import AGE, ATTRIBUTES, LOCATION, STORAGE, WILLING, Question
from agent.lab.questions.defaults import HALF, PRICES, prices
from agent.lab.questions.mapping import MAPPED
from agent.lab.questions.ratings import adults
from agent.lab.questions.stated import DOUBLED_BITS, ORDERS, OUTCOMES, SHARES, Order, Outcome

DOUBLED_LEVEL = PRICES.index(DOUBLED_BITS) + 1  # who rates so or below shares for twice the speed
_Z = 1.96  # of a 95 % interval

# What the paper asked beside attributes, and the item nearest to it.
_NEAREST: Mapping[tuple[Question, str], tuple[str, ...]] = MappingProxyType(
    {
        (LOCATION, "city"): ("location",),
        (AGE, "1 year"): ("birthdate",),
        (STORAGE, "topics"): ("website",),
    }
)


class Rate(NamedTuple):
    """Who would share an attribute for twice the performance: stated there, rated so here."""

    label: str
    paper: float
    adults: float


class Ranking(NamedTuple):
    """An order that the paper states, and how the same people rate the nearest items.

    ``difference``: mean level of what the paper has as more sensitive, less that of the other, with
    the ``half_width`` of its 95 % interval; ``higher`` and ``lower``: shares of people who rate it
    above, and below, the other.
    """

    order: Order
    difference: float
    half_width: float
    higher: float
    lower: float

    @property
    def agrees(self) -> bool | None:
        """Whether the second survey has the same order; None where the interval holds 0."""
        return None if abs(self.difference) <= self.half_width else self.difference > 0


class Total(NamedTuple):
    """A set of Fig. 11: the most that its sensitivity can be, and what our prices come to."""

    outcome: Outcome
    priced: int
    bits: float

    @property
    def agrees(self) -> bool:
        """Whether the prices leave room for a cost of identifiability that is not negative."""
        return self.bits <= self.outcome.cost


def rates() -> tuple[Rate, ...]:
    """Return the attributes that both surveys speak of."""
    return tuple(
        Rate(each.thing, each.share, adults().share(MAPPED[each.thing].items, DOUBLED_LEVEL))
        for each in SHARES
        if each.question is WILLING and each.thing in MAPPED
    )


def unwilling() -> dict[str, float]:
    """Return by label the shares who would share, where they are no majority as in 6.1."""
    shares = {label: adults().share(each.items, DOUBLED_LEVEL) for label, each in MAPPED.items()}
    return {label: share for label, share in shares.items() if share <= HALF}


def rankings() -> tuple[Ranking, ...]:
    """Return the stated orders of which both sides have an item of their own."""
    pairs = [(order, _items(order.less), _items(order.more)) for order in ORDERS]
    return tuple(
        _ranked(order, less, more) for order, less, more in pairs if less and more and less != more
    )


def totals() -> tuple[Total, ...]:
    """Return the sets of Fig. 11 beside our prices."""
    found = []
    for each in OUTCOMES:
        bits = [prices()[label].bits for label in each.labels if label in prices()]
        found.append(Total(each, len(bits), sum(bits)))
    return tuple(found)


def _ranked(order: Order, less: tuple[str, ...], more: tuple[str, ...]) -> Ranking:
    steps = adults().of(more).astype(float) - adults().of(less)
    spread = float(steps.std(ddof=1)) / sqrt(len(steps))
    return Ranking(
        order,
        float(steps.mean()),
        _Z * spread,
        float(np.mean(steps > 0)),
        float(np.mean(steps < 0)),
    )


def _items(asked: tuple[Question, str]) -> tuple[str, ...]:
    question, thing = asked
    if question is ATTRIBUTES:
        return MAPPED[thing].items if thing in MAPPED else ()
    return _NEAREST.get(asked, ())

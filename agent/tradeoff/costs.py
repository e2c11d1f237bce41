"""Costs of sets, each with how it bends as sets grow: other than identifiability, too (paper 9.6).

F is submodular where U is and the cost bends up or not at all; only then may a search claim what
follows from that. None is the largest of several recipients' costs: what goes to a recipient that
costs less than another adds nothing beside that one, and so less than it costs alone.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Protocol

import numpy as np

from agent.errors import UsageError
from agent.tradeoff.anonymity_set import AnonymitySet
from agent.tradeoff.measures import Curvature, Metric, check_prices
from agent.tradeoff.tables import Floats, Population, members

POINTS = 257  # at which a function is looked at, evenly spaced
ROUNDING = 1e-9  # of all that it rises there


class Cost(Protocol):
    """What sets cost, up to a constant, with what is certain of how that bends."""

    def __call__(self, mask: int) -> float:
        """C(A)."""
        ...

    def curvature(self, mask: int) -> Curvature:
        """How C bends over the sets within ``mask``."""
        ...


def curvature_of(costs: Iterable[Curvature]) -> Curvature:
    """How a sum bends, by how its parts do, none of which has a negative weight."""
    parts = {*costs}
    if "unknown" in parts:
        return "unknown"
    return "supermodular" if "supermodular" in parts else "modular"


@dataclass(frozen=True, slots=True)
class Identifiability:
    """I(A u D|d) of the people who agree with what is held, in the unit of the metric.

    ``k``: of k-anonymity.
    """

    people: AnonymitySet
    metric: Metric = "maxprob"
    k: int = 100

    def __call__(self, mask: int) -> float:
        """I(A u D|d)."""
        return self.people.identifiability(mask, self.metric, self.k)

    def curvature(self, mask: int) -> Curvature:
        """How I bends over the sets within ``mask``: certain only where values occur together."""
        return self.people.curvature(self.metric, mask)


def pooled(
    population: Population,
    cards: Sequence[int],
    held: Iterable[Iterable[tuple[int, int]]],
    metric: Metric = "maxprob",
    k: int = 100,
) -> Identifiability:
    """What recipients that pool what they learn could tell from all of it together.

    ``held``: of each, the (person attribute, code) pairs that it holds. UsageError where two hold
    different codes of one attribute.
    """
    pairs = {each for one in held for each in one}
    if len(dict(pairs)) < len(pairs):
        raise UsageError("two recipients hold different values of one fact", "keep the latest")
    return Identifiability(AnonymitySet(population, cards, sorted(pairs)), metric, k)


class Polynomial:
    """Prices of what reveals more together, in bits: the sum of those whose sets are all told.

    As a function of who is in the set it is a polynomial without negative coefficients.
    """

    def __init__(self, prices: Iterable[tuple[int, float]], held: int = 0) -> None:
        """Take each set, as a mask, with its price in bits; UsageError for a negative one.

        ``held``: what is told already, a mask: it counts as told, and costs nothing by itself.
        """
        rest = [(mask & ~held, bits) for mask, bits in prices]
        check_prices(*(bits for _, bits in rest))
        if any(mask < 0 for mask, _ in rest):
            raise UsageError("a set below 0 has no price", "name the attributes, bit by bit")
        self._terms = [(mask, float(bits)) for mask, bits in rest if mask and bits]

    def __call__(self, mask: int) -> float:
        """What A costs beside what is held, in bits: 0 for nothing."""
        return sum((bits for each, bits in self._terms if not each & ~mask), 0.0)

    def beside(self, mask: int, count: int) -> Floats:
        """What each of ``count`` attributes adds to the cost of A, in bits; 0 for those in it."""
        added = np.zeros(count)
        for each, bits in self._terms:
            if (rest := each & ~mask) and not rest & rest - 1:
                added[rest.bit_length() - 1] += bits
        return added

    def curvature(self, mask: int) -> Curvature:
        """Supermodular, but where no price within ``mask`` is for several attributes."""
        several = (each & each - 1 for each, _ in self._terms if not each & ~mask)
        return "supermodular" if any(several) else "modular"


class Convex:
    """A function of a sum of weights: one whose rises only get larger, such as the time it takes.

    What an attribute adds to the sum costs the more, the larger the sum is.
    """

    def __init__(self, weights: Sequence[float], function: Callable[[float], float]) -> None:
        """Take a weight >= 0 for each attribute, and a function of sums from 0 on.

        UsageError where a weight is negative, or the function is seen to fall or to bend down. It
        is looked at in POINTS places: whether it does so in between is for its maker to say.
        """
        check_prices(*weights)
        self._weights, self._function = tuple(weights), function
        levels = np.array([function(x) for x in np.linspace(0.0, fsum(weights), POINTS).tolist()])
        least = -ROUNDING * (function(fsum(weights)) - function(0.0))  # a constant hides no bend
        bends = (np.diff(levels, order) < least for order in (1, 2))
        if not np.isfinite(levels).all() or any(map(np.any, bends)):
            what = "the function of the weights falls, rises less and less, or is no number"
            raise UsageError(what, "use one that is convex and never falls, such as x ** 2")

    def __call__(self, mask: int) -> float:
        """The function of the weights of A."""
        return self._function(fsum(self._weights[each] for each in members(mask)))

    def curvature(self, mask: int) -> Curvature:
        """Supermodular, but where no two attributes within ``mask`` weigh anything."""
        weighing = sum(self._weights[each] > 0 for each in members(mask))
        return "supermodular" if weighing > 1 else "modular"


class WeightedSum:
    """A weighted sum of costs, as of several recipients, each of which gets its part of a set."""

    def __init__(self, parts: Iterable[tuple[float, Cost, int]]) -> None:
        """Take each cost with its weight >= 0, and what of a set it is about, a mask; -1 for all.

        UsageError where a weight is negative.
        """
        every = tuple(parts)
        check_prices(*(weight for weight, *_ in every))
        self._parts = [each for each in every if each[0]]

    def __call__(self, mask: int) -> float:
        """The sum for A."""
        return fsum(weight * cost(mask & own) for weight, cost, own in self._parts)

    def curvature(self, mask: int) -> Curvature:
        """As far as it is certain of every cost with a weight."""
        return curvature_of(cost.curvature(mask & own) for _, cost, own in self._parts)

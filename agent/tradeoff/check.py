"""How often U is not submodular and C not supermodular, and by how much.

The paper proves both under assumptions (Thm 3.1, 3.2) and verifies them "empirically" without;
this is that verification (paper 3). What is compared is what an attribute adds to a set A and to
a larger set B.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from agent.tradeoff.local_search import SetFunction
from agent.tradeoff.sets import members, singleton

TOLERANCE = 1e-9  # in the function's unit: rounding can feign less than this
SHORTEST = 3  # sets on a chain that has places for A, B and V


class Pair(NamedTuple):
    """Two sets A and B, as masks, and an attribute V: A is a proper subset of B, V not in B."""

    smaller: int
    larger: int
    attribute: int


@dataclass(frozen=True, slots=True)
class Violations:
    """How many of the ``pairs`` violate the law, and by how much.

    ``largest`` and ``mean`` (over the violating pairs) are in the function's unit, 0 where no
    pair violates it.
    """

    pairs: int
    violating: int
    largest: float
    mean: float

    @property
    def share(self) -> float:
        """The share of violating pairs, 0 to 1; 0 where no pair was examined."""
        return self.violating / self.pairs if self.pairs else 0.0


def submodularity(function: Callable[[int], float], pairs: Sequence[Pair]) -> Violations:
    """Measure how often an attribute adds more to the larger set than to the smaller."""
    return _violations([_growth(function, pair) for pair in pairs])


def supermodularity(function: Callable[[int], float], pairs: Sequence[Pair]) -> Violations:
    """Measure how often an attribute adds less to the larger set than to the smaller."""
    return _violations([-_growth(function, pair) for pair in pairs])


def random_pairs(
    function: SetFunction, chains: int, largest: int, generator: np.random.Generator
) -> list[Pair]:
    """Draw pairs among the feasible sets, one from each of ``chains`` random chains.

    A chain adds candidates in random order, wherever that keeps the set feasible, to at most
    ``largest`` attributes; A, B and V are three places on it. A chain of fewer than two
    attributes gives no pair, so that there may be fewer pairs than chains.
    """
    candidates, pairs = [*members(function.candidates)], []
    for _ in range(chains):
        chain = [0]
        for attribute in generator.permutation(candidates).tolist():
            mask = chain[-1] | singleton(attribute)
            if len(chain) <= largest and function.feasible(mask):
                chain.append(mask)
        if len(chain) >= SHORTEST:
            smaller, larger = sorted(generator.choice(len(chain) - 1, 2, replace=False).tolist())
            added = chain[larger + 1] ^ chain[larger]
            pairs.append(Pair(chain[smaller], chain[larger], added.bit_length() - 1))
    return pairs


def _growth(function: Callable[[int], float], pair: Pair) -> float:
    """Return how much more V adds to the larger set than to the smaller."""
    added = singleton(pair.attribute)
    to_larger = function(pair.larger | added) - function(pair.larger)
    return to_larger - (function(pair.smaller | added) - function(pair.smaller))


def _violations(excesses: Sequence[float]) -> Violations:
    beyond = [excess for excess in excesses if excess > TOLERANCE]
    mean = sum(beyond) / len(beyond) if beyond else 0.0
    return Violations(len(excesses), len(beyond), max(beyond, default=0.0), mean)

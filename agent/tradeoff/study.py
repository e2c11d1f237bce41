"""For studies of the trade-off: its assumptions, and its samples.

The paper proves that U is submodular and C supermodular under assumptions (Thm 3.1, 3.2), and
verifies both "empirically" without them: by what an attribute adds to a set A and to a larger one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, log
from typing import NamedTuple

import numpy as np

from agent.tradeoff.local_search import SetFunction
from agent.tradeoff.tables import members

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

    def gain(mask: int, attribute: int) -> float:
        return function(mask | 1 << attribute) - function(mask)

    excesses = (gain(large, each) - gain(small, each) for small, large, each in pairs)
    beyond = [excess for excess in excesses if excess > TOLERANCE]
    mean = sum(beyond) / len(beyond) if beyond else 0.0
    return Violations(len(pairs), len(beyond), max(beyond, default=0.0), mean)


def supermodularity(function: Callable[[int], float], pairs: Sequence[Pair]) -> Violations:
    """Measure how often an attribute adds less to the larger set than to the smaller."""
    return submodularity(lambda mask: -function(mask), pairs)


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
            mask = chain[-1] | 1 << attribute
            if len(chain) <= largest and function.feasible(mask):
                chain.append(mask)
        if len(chain) >= SHORTEST:
            smaller, larger = sorted(generator.choice(len(chain) - 1, 2, replace=False).tolist())
            added = chain[larger + 1] ^ chain[larger]
            pairs.append(Pair(chain[smaller], chain[larger], added.bit_length() - 1))
    return pairs


def sample_size(error: float, delta: float, spread: float = 1.0, *, two_sided: bool = False) -> int:
    """The samples whose mean loss is off by at most ``error``, save with a chance of ``delta``.

    ``spread``: the greatest distance between losses: 1 for I(A), a probability, and people as
    samples (Lemma 4.3); log2 K bits for U(A), K the intents of a query, and rows (Lemma 4.2). As
    printed, the lemmas bound errors in one direction; ``two_sided`` bounds both. ValueError unless
    ``error`` is above 0 and ``delta`` between 0 and 1.
    """
    if not (error > 0 and 0 < delta < 1):
        raise ValueError(f"no sample has an error of {error} with a chance of {delta}")
    return ceil((spread / error) ** 2 * (log(2 if two_sided else 1) - log(delta)) / 2)

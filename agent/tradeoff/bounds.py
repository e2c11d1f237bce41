"""Bounds: on the optimum, on a search that extends a fixed set, and on sampling errors."""

from collections.abc import Sequence
from math import ceil, inf, isfinite, log, sqrt

import numpy as np

from agent.tradeoff.local_search import Memo, SetFunction
from agent.tradeoff.sets import mask_array, members, singleton
from agent.tradeoff.tables import Floats


def additive_bound(memo: Memo) -> float:
    """Return the sum of max(0, F({V})) over the candidates, in bits.

    It bounds F over all sets where F is submodular with F(0) = 0: Thm 4.5 at the empty set,
    which needs no monotone utility. Attributes that no feasible set contains are left out.
    """
    row = memo.at_hand(0)
    if row is not None and np.count_nonzero(row > -inf) == memo.function.candidates.bit_count():
        return float(np.maximum(row, 0.0).sum())
    return sum(max(0.0, memo.value(singleton(each))) for each in possible(memo.function))


def possible(function: SetFunction) -> list[int]:
    """Return the candidates that a feasible set may contain."""
    return [each for each in members(function.candidates) if not function.hopeless(singleton(each))]


def online_bound(objective: SetFunction, mask: int) -> float:
    """Return the bound of Thm 4.5 at the set A' = ``mask``, in bits.

    max F <= U(A') + sum of max(0, U(A' + V) - U(A') - lambda C({V})) over all V, where U is
    monotone and submodular and C supermodular; within A' only a negative cost adds something.
    ValueError where U is not monotone and A' is not empty: then nothing is proven.
    """
    if mask and not objective.monotone_utility:
        raise ValueError("theorem 4.5 at a set that is not empty needs a monotone utility")
    base = objective.utility(mask)
    gains = (
        objective.utility(mask | singleton(each)) - base - objective.cost(singleton(each))
        for each in possible(objective)
    )
    return base + sum(max(0.0, gain) for gain in gains)


class Contraction(SetFunction):
    """F(B u A) - F(B) as a function of A, for a fixed set B: F contracted by B.

    Utility and cost are contracted likewise, so that both are 0 at the empty set and what bounds
    U and C of sets with B bounds these, once U(B) and C(B) are taken off. A contraction is
    submodular where F is. What is said of A is true within the candidates given.
    """

    def __init__(self, function: SetFunction, base: int, candidates: int) -> None:
        """Fix ``base`` and choose from ``candidates``, both masks; those in the base are dropped.

        ValueError where the base is not feasible, or an attribute is no candidate of
        ``function``, whose bounds need not hold for it.
        """
        if (base | candidates) & ~function.candidates:
            raise ValueError("base and candidates must be candidates of the function")
        if not function.feasible(base):
            raise ValueError("the base breaks a limit, so there is nothing to choose beside it")
        self.candidates = candidates & ~base
        self._function, self._base = function, base
        self._value, self._utility = function.value(base), function.utility(base)
        self._cost = function.cost(base)
        self.claims_submodularity = function.claims_submodularity

    def value(self, mask: int) -> float:
        """Return F(B u A) - F(B)."""
        return self._function.value(self._base | mask) - self._value

    def utility(self, mask: int) -> float:
        """Return U(B u A) - U(B)."""
        return self._function.utility(self._base | mask) - self._utility

    def cost(self, mask: int) -> float:
        """Return C(B u A) - C(B)."""
        return self._function.cost(self._base | mask) - self._cost

    def feasible(self, mask: int) -> bool:
        """Say whether B u A may be chosen."""
        return self._function.feasible(self._base | mask)

    def hopeless(self, mask: int) -> bool:
        """Say True only where neither B u A nor a set that contains it may be chosen."""
        return self._function.hopeless(self._base | mask)

    def at_hand(self, masks: Sequence[int]) -> dict[int, Floats]:
        """Return F(B u A u {V}) - F(B) for each V, for each A for which that is at hand."""
        whole = {self._base | mask: mask for mask in masks}
        found = self._function.at_hand([*whole])
        return {whole[mask]: self._within(row) - self._value for mask, row in found.items()}

    def pairs_at_hand(self) -> Floats | None:
        """Return the same for every two attributes, where no set is fixed."""
        matrix = None if self._base else self._function.pairs_at_hand()
        return None if matrix is None else self._within(self._within(matrix).T)

    def _within(self, levels: Floats) -> Floats:
        """Return levels by attribute, minus infinity for those that are no candidates."""
        open_ = mask_array(self.candidates, levels.shape[-1])
        found: Floats = np.where(open_, levels, -inf)
        return found

    def focus(self, mask: int) -> None:
        """Make the neighbours of B u A quick to evaluate; the answers stay the same."""
        self._function.focus(self._base | mask)

    def survey(self, mask: int, attributes: Sequence[int]) -> None:
        """Make ready F(B u (A ^ {V})) for each candidate V in ``attributes``."""
        self._function.survey(self._base | mask, attributes)

    def may_exceed(self, mask: int, level: float) -> bool:
        """Say False only where F(B u A) - F(B) <= level for certain."""
        return self._function.may_exceed(self._base | mask, level + self._value)

    @property
    def monotone_utility(self) -> bool:
        """Whether U never falls when a set grows."""
        return self._function.monotone_utility

    @property
    def utility_limit(self) -> float:
        """A bound on the utility of every set."""
        return self._function.utility_limit - self._utility

    def superset_bounds(self, mask: int, attributes: Sequence[int]) -> list[float]:
        """Return for each V in ``attributes`` a bound on F of every set with A u {V}."""
        bounds = self._function.superset_bounds(self._base | mask, attributes)
        return [each - self._value for each in bounds]

    def cost_floor(self, mask: int) -> float:
        """Return a bound below the cost of every superset of A."""
        return self._function.cost_floor(self._base | mask) - self._cost


def sampling_error(
    samples: int, delta: float, spread: float = 1.0, *, two_sided: bool = False
) -> float:
    """Return how far off ``samples`` estimate a mean loss, with confidence 1 - ``delta``.

    ``spread``: how far losses are apart at the most: 1 for I(A), a probability, and people as
    samples (Lemma 4.3); log2 K bits for U(A), K the intents of a query, and rows (Lemma 4.2).
    ``delta``: between 0 and 1. As printed the lemmas bound errors in one direction; ``two_sided``
    bounds both. ValueError for arguments outside these ranges.
    """
    if not samples >= 1:
        raise ValueError(f"a sample has at least one row, not {samples}")
    if not 0 < delta < 1:
        raise ValueError(f"delta is a probability between 0 and 1, not {delta}")
    return spread * sqrt((log(2 if two_sided else 1) - log(delta)) / (2 * samples))


def sample_size(error: float, delta: float, spread: float = 1.0, *, two_sided: bool = False) -> int:
    """Return how many samples leave at most ``error``: the inverse of `sampling_error`.

    ValueError also where the number is too large for a float.
    """
    if not (error > 0 and isfinite(error)):
        raise ValueError(f"an error is a finite number above 0, not {error}")
    ratio = sampling_error(1, delta, spread, two_sided=two_sided) / error
    if not isfinite(ratio * ratio):
        raise ValueError(f"an error of {error} takes more samples than can be counted")
    return ceil(ratio * ratio)

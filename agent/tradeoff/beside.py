"""A search beside a set that is fixed: what is forced in, or what leaves already."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from agent.tradeoff.bounds import online_bound
from agent.tradeoff.sets import singleton

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agent.tradeoff.probe import Divided, SetFunction


class Beside:
    """F(B u A) - F(B) as a function of A, for a fixed set B: F contracted by B.

    Utility and cost are contracted likewise, so that both are 0 at the empty set and what bounds
    U and C of sets with B bounds these, once U(B) and C(B) are taken off. A contraction is
    submodular where F is. What is said of A is true within the candidates given.
    """

    def __init__(self, function: Divided, base: int, candidates: int) -> None:
        """Fix ``base`` and choose from ``candidates``, both masks; those in the base are dropped.

        ValueError where the base is not feasible, or an attribute is no candidate of
        ``function``, whose bounds need not hold for it.
        """
        if (base | candidates) & ~function.candidates:
            message = "the base and what is chosen beside it must be candidates of the function"
            raise ValueError(message)
        if not function.feasible(base):
            message = "the base breaks a limit, so there is nothing to choose beside it"
            raise ValueError(message)
        self.candidates = candidates & ~base
        """The attributes to choose from, as a mask."""
        self._function, self._base = function, base
        self._value, self._utility = function.value(base), function.utility(base)
        self._cost = function.cost(base)

    @property
    def claims_submodularity(self) -> bool:
        """Whether bounds that assume F to be submodular mean anything here."""
        return self._function.claims_submodularity

    @property
    def monotone_utility(self) -> bool:
        """Whether U never falls when a set grows."""
        return self._function.monotone_utility

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
    def utility_limit(self) -> float:
        """A bound on the utility of every set."""
        return self._function.utility_limit - self._utility

    def utility_ceiling(self, mask: int) -> float:
        """Return a bound on the utility of every subset of A."""
        return self._function.utility_ceiling(self._base | mask) - self._utility

    def online_bound(self, mask: int) -> float:
        """Return Thm 4.5's bound for the contraction; infinite where U is not monotone."""
        return online_bound(self, mask) if self.monotone_utility else inf

    def cost_floor(self, mask: int) -> float:
        """Return a bound below the cost of every superset of A."""
        return self._function.cost_floor(self._base | mask) - self._cost


def forced(objective: SetFunction, attributes: Iterable[int]) -> tuple[int, int]:
    """Return what of ``attributes`` can be in the set, and what would break a limit, as masks.

    Each is added where the set with it is feasible, as the first mask always is: the one with the
    largest F of its own first, of equals the smaller.
    """
    taken = refused = 0
    for each in sorted({*attributes}, key=lambda each: (-objective.value(singleton(each)), each)):
        if objective.feasible(taken | singleton(each)):
            taken |= singleton(each)
        else:
            refused |= singleton(each)
    return taken, refused

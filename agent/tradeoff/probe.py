"""Evaluating a set function once per set, and counting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class SetFunction(Protocol):
    """What a search maximises: F over the feasible subsets of the candidates, F(0) = 0."""

    @property
    def candidates(self) -> int:
        """The attributes to choose from, as a mask."""
        ...

    @property
    def claims_submodularity(self) -> bool:
        """Whether bounds that assume F to be submodular mean anything here."""
        ...

    def value(self, mask: int) -> float:
        """Return F(A)."""
        ...

    def cost(self, mask: int) -> float:
        """Return the part of -F(A) that is cheap to compute, 0 where no part is."""
        ...

    def feasible(self, mask: int) -> bool:
        """Say whether A may be chosen."""
        ...

    def hopeless(self, mask: int) -> bool:
        """Say True only where neither A nor a set that contains it may be chosen."""
        ...

    def focus(self, mask: int) -> None:
        """Make the neighbours of A quick to evaluate; the answers stay the same."""
        ...

    def survey(self, mask: int, attributes: Sequence[int]) -> None:
        """Make ready F(A ^ {V}) for each V in ``attributes``; the answers stay the same."""
        ...

    def may_exceed(self, mask: int, level: float) -> bool:
        """Say False only where F(A) <= level for certain, at less expense than value(A)."""
        ...

    @property
    def utility_limit(self) -> float:
        """A bound on the utility of every set."""
        ...

    def utility_ceiling(self, mask: int) -> float:
        """Return a bound on the utility of every subset of A."""
        ...

    def online_bound(self, mask: int) -> float:
        """Return Thm 4.5's bound on F at A, for submodular F; infinite where U is not monotone."""
        ...

    def cost_floor(self, mask: int) -> float:
        """Return a bound below the cost of every superset of A."""
        ...


class Divided(SetFunction, Protocol):
    """A set function F = U - C whose utility can be asked for by itself."""

    @property
    def monotone_utility(self) -> bool:
        """Whether U never falls when a set grows."""
        ...

    def utility(self, mask: int) -> float:
        """Return U(A)."""
        ...


class Probe:
    """A set function that is evaluated at most once for a set."""

    def __init__(self, function: SetFunction) -> None:
        """Start with nothing evaluated."""
        self.function = function
        self._values: dict[int, float] = {0: 0.0}
        self._feasible: dict[int, bool] = {0: True}

    @property
    def evaluations(self) -> int:
        """How many different sets F was evaluated at, the empty one not counted."""
        return len(self._values) - 1

    def value(self, mask: int) -> float:
        """Return F(A)."""
        found = self._values.get(mask)
        if found is None:
            found = self._values[mask] = self.function.value(mask)
        return found

    def gain(self, mask: int, attribute: int) -> float:
        """Return what moving one attribute in or out adds: F(A ^ {V}) - F(A)."""
        return self.value(mask ^ (1 << attribute)) - self.value(mask)

    def feasible(self, mask: int) -> bool:
        """Say whether A may be chosen."""
        found = self._feasible.get(mask)
        if found is None:
            found = self._feasible[mask] = self.function.feasible(mask)
        return found

"""Set functions given by a table, and generators of ones known to be submodular.

All numbers are small and whole, or quarters, so that floating point is exact: what holds, holds
without a tolerance, and ties are ties.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from hypothesis import strategies as st

from agent.tradeoff.local_search import SetFunction
from agent.tradeoff.tables import Floats, Indexes, members, singleton, subsets

Table = tuple[float, ...]


@dataclass(unsafe_hash=True)
class Tabulated(SetFunction):
    """F = utility - cost, looked up by mask; ``allowed`` says which sets may be chosen."""

    utilities: Table
    costs: Table
    allowed: tuple[bool, ...]
    claims_submodularity: bool = True
    candidates: int = field(init=False)

    def __post_init__(self) -> None:
        """Choose from all attributes."""
        self.candidates = self.everything

    @property
    def everything(self) -> int:
        """The set of all attributes, which are the candidates."""
        return len(self.utilities) - 1

    def value(self, mask: int) -> float:
        """Return F."""
        return self.utilities[mask] - self.costs[mask]

    def utility(self, mask: int) -> float:
        """Return the utility."""
        return self.utilities[mask]

    def cost(self, mask: int) -> float:
        """Return the cost."""
        return self.costs[mask]

    def feasible(self, mask: int) -> bool:
        """Say whether the set may be chosen."""
        return self.allowed[mask]

    def hopeless(self, mask: int) -> bool:
        """Say whether no set that contains this one may be chosen."""
        return not any(self.allowed[mask | each] for each in subsets(self.everything & ~mask))

    def bounds(self, mask: int, attributes: Sequence[int]) -> list[float]:
        """Return the largest utility of all less the smallest cost of a superset."""
        return [max(self.utilities) - self._floor(mask | singleton(each)) for each in attributes]

    def costs_beside(self, mask: int, attributes: Indexes) -> Floats:
        """Return the cost with each of these attributes."""
        return np.array([self.costs[mask | singleton(each)] for each in attributes.tolist()])

    def _floor(self, mask: int) -> float:
        return min(self.costs[mask | each] for each in subsets(self.everything & ~mask))

    @property
    def optimum(self) -> float:
        """The largest F of an allowed set."""
        return max(self.value(mask) for mask in range(len(self.allowed)) if self.allowed[mask])

    def relabelled(self, names: Sequence[int]) -> "Tabulated":
        """Return the function whose attribute ``names[i]`` is our attribute i."""
        old = [0] * len(self.utilities)
        for mask in range(len(self.utilities)):
            old[renamed(mask, names)] = mask
        tables = ([table[mask] for mask in old] for table in (self.utilities, self.costs))
        utilities, costs = map(tuple, tables)
        return replace(
            self, utilities=utilities, costs=costs, allowed=tuple(self.allowed[m] for m in old)
        )


def renamed(mask: int, names: Sequence[int]) -> int:
    """Return the set of the new names of a set's attributes."""
    return sum(singleton(names[each]) for each in members(mask))


def tabulate(
    attributes: int, utility: Callable[[int], float], cost: Callable[[int], float] = lambda _: 0.0
) -> Tabulated:
    """Return the table of two functions of masks; every set is allowed."""
    masks = range(1 << attributes)
    return Tabulated(
        tuple(float(utility(mask)) for mask in masks),
        tuple(float(cost(mask)) for mask in masks),
        (True,) * (1 << attributes),
    )


@st.composite
def submodular(draw: st.DrawFn, *, most: int = 7, ties: bool = True) -> Tabulated:
    """Draw a submodular F: coverage less a supermodular cost, or what a directed cut separates.

    Without ``ties`` no two sets have the same F.
    """
    attributes = draw(st.integers(1, most))
    kind = draw(st.sampled_from([coverage_less_cost, directed_cut]))
    drawn = draw(kind(attributes))
    return drawn if ties else untied(drawn)


def untied(function: Tabulated) -> Tabulated:
    """Return a function in which all sets differ: each attribute costs its own power of two."""
    scale = len(function.utilities)
    return replace(
        function,
        utilities=tuple(scale * value for value in function.utilities),
        costs=tuple(scale * cost + mask for mask, cost in enumerate(function.costs)),
    )


@st.composite
def coverage_less_cost(draw: st.DrawFn, attributes: int) -> Tabulated:
    """Draw the weight of what is covered, less a cost per attribute and per pair."""
    weights = draw(st.lists(st.integers(1, 9), min_size=1, max_size=8))
    covers = [draw(st.integers(0, (1 << len(weights)) - 1)) for _ in range(attributes)]
    single = [draw(st.integers(0, 9)) for _ in range(attributes)]
    pair = draw(st.lists(st.integers(0, 3), min_size=attributes**2, max_size=attributes**2))

    def covered(mask: int) -> float:
        union = 0
        for each in members(mask):
            union |= covers[each]
        return sum(weights[item] for item in members(union))

    def cost(mask: int) -> float:
        here = list(members(mask))
        return sum(single[i] for i in here) + sum(
            pair[i * attributes + j] for i in here for j in here if i < j
        )

    return tabulate(attributes, covered, cost)


@st.composite
def directed_cut(draw: st.DrawFn, attributes: int) -> Tabulated:
    """Draw arcs with weights; F is what leaves the set: not monotone, 0 for none and for all."""
    arcs = draw(st.lists(st.integers(0, 5), min_size=attributes**2, max_size=attributes**2))

    def leaving(mask: int) -> float:
        return sum(
            arcs[i * attributes + j]
            for i in members(mask)
            for j in range(attributes)
            if not mask >> j & 1
        )

    return tabulate(attributes, leaving)


@st.composite
def arbitrary(draw: st.DrawFn, *, most: int = 5) -> Tabulated:
    """Draw any table with F(0) = 0: nothing is submodular, and any set may be forbidden."""
    size = 1 << draw(st.integers(0, most))
    quarters = st.integers(-16, 16).map(lambda number: number / 4)
    values = st.lists(quarters, min_size=size - 1, max_size=size - 1)
    costs = draw(st.just([0.0] * (size - 1)) | values)
    free = st.just([True] * (size - 1))
    allowed = draw(free | st.lists(st.booleans(), min_size=size - 1, max_size=size - 1))
    return Tabulated((0.0, *draw(values)), (0.0, *costs), (True, *allowed), draw(st.booleans()))

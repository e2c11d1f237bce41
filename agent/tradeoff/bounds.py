"""What the optimum cannot exceed, and under which assumption (paper 4.3, DESIGN.md 2.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.tradeoff.sets import members, singleton

if TYPE_CHECKING:
    from agent.tradeoff.probe import Divided, Probe, SetFunction

CEILING_MOST = 16  # attributes in a set whose ceiling is computed


def additive_bound(probe: Probe) -> float:
    """Return the sum of max(0, F({V})) over the candidates, in bits.

    It bounds F over all sets where F is submodular with F(0) = 0: Thm 4.5 at the empty set,
    which needs no monotone utility. Attributes that no feasible set contains are left out.
    """
    return sum(max(0.0, probe.value(singleton(each))) for each in possible(probe.function))


def possible(function: SetFunction) -> list[int]:
    """Return the candidates that a feasible set may contain."""
    return [each for each in members(function.candidates) if not function.hopeless(singleton(each))]


def online_bound(objective: Divided, mask: int) -> float:
    """Return the bound of Thm 4.5 at the set A' = ``mask``, in bits.

    max F <= U(A') + sum of max(0, U(A' + V) - U(A') - lambda C({V})) over all V, where U is
    monotone and submodular and C supermodular; within A' only a negative cost adds something.
    ValueError where U is not monotone and A' is not empty: then nothing is proven.
    """
    if mask and not objective.monotone_utility:
        message = "theorem 4.5 at a set that is not empty needs a monotone utility"
        raise ValueError(message)
    base = objective.utility(mask)
    gains = (
        objective.utility(mask | singleton(each)) - base - objective.cost(singleton(each))
        for each in possible(objective)
    )
    return base + sum(max(0.0, gain) for gain in gains)


def free_bound(function: SetFunction, chosen: int, open_: int) -> float:
    """Return a bound on F(S) for every S with A <= S <= A u R; it needs no submodularity.

    ``chosen``: A; ``open_``: R, as masks. U of every such S is at most the ceiling of A u R, its
    cost at least the floor of A. The ceiling of a large set is dear, and little below that of
    all: the limit stands in for it. Source: DESIGN.md 2.5.
    """
    whole = chosen | open_
    few = whole.bit_count() <= CEILING_MOST
    ceiling = function.utility_ceiling(whole) if few else function.utility_limit
    return ceiling - function.cost_floor(chosen)


def certified_share(value: float, bound: float | None) -> float | None:
    """Return F/bound, 1 when both are 0, None where nothing is proven or F is negative."""
    if bound is None or value < 0:
        return None
    if bound <= 0:
        return 1.0
    return min(1.0, value / bound)

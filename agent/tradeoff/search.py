"""Search for the set with the largest F: greedy, local search, lazy local search (paper 4)."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Literal

from agent.tradeoff.bounds import additive_bound, certified_share
from agent.tradeoff.exact import EXHAUSTIVE, branch_and_bound, enumerate_all
from agent.tradeoff.passes import ROUNDING, Walk, eager_pass, lazy_pass
from agent.tradeoff.probe import Probe
from agent.tradeoff.sets import members, singleton

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent.tradeoff.probe import SetFunction

    Pass = Callable[[Walk, int], bool]

Algorithm = Literal["lls", "ls", "greedy", "exact", "exhaustive"]
ALGORITHMS: tuple[Algorithm, ...] = ("lls", "ls", "greedy", "exact", "exhaustive")
Proof = Literal["enumerated", "if-submodular", "none"]
EPSILON = 0.01
NODES = 5_000


@dataclass(frozen=True, slots=True)
class Result:
    """The set that a search returns, and what is proven about it.

    ``mask`` and ``order``: the set, and its attributes in the order chosen; ``value``: F in bits;
    ``evaluations``: different sets at which F was computed; ``violations``: how often a gain grew
    with the set on the way; ``bound``: the least upper bound on the optimum found, in bits, under
    the assumption that ``proof`` names, None for "none"; ``node_limit_hit``: branch and bound
    stopped early.
    """

    mask: int
    order: tuple[int, ...]
    value: float
    evaluations: int
    violations: int
    proof: Proof
    bound: float | None
    node_limit_hit: bool = False

    @property
    def exact(self) -> bool:
        """Whether no feasible set is better, whatever F looks like."""
        return self.proof == "enumerated"

    @property
    def certified(self) -> float | None:
        """The share of the optimum that is certain under the same assumption, 0 to 1."""
        return certified_share(self.value, self.bound)


def search(
    function: SetFunction,
    algorithm: Algorithm = "lls",
    epsilon: float = EPSILON,
    nodes: int = NODES,
) -> Result:
    """Return a set of candidates with a large F.

    ``epsilon``: a move must improve F by more than (epsilon/n^2)|F|; ``nodes``: how many nodes
    ``exact`` visits at the most. ValueError where ``exhaustive`` is asked of too many candidates.
    Source: paper 4 with the corrections of DESIGN.md 2.5.
    """
    walk = Walk(Probe(function), epsilon)
    if algorithm == "greedy":
        _climb(walk, lazy_pass)
    elif algorithm == "exhaustive":
        return _enumerated(walk)
    else:
        local_search(walk, eager_pass if algorithm == "ls" else lazy_pass)
    if algorithm == "exact":
        return _exact(walk, nodes)
    return _heuristic(walk)


def greedy_order(function: SetFunction, one_pass: Pass = lazy_pass) -> tuple[list[int], int]:
    """Return all feasible attributes, each the best addition to those before, and the evaluations.

    The order of the paper's Figs. 6, 7 and 10: it goes on where F falls. ``one_pass``:
    ``lazy_pass`` or ``eager_pass``; they agree where F is submodular.
    """
    walk = Walk(Probe(function), None)
    one_pass(walk, function.candidates)
    return list(walk.order), walk.probe.evaluations


def local_search(walk: Walk, one_pass: Pass) -> None:
    """Move up and down until no single feasible move improves F by more than the threshold.

    Then the complement is tried, where a bound does not rule it out (it rarely wins): within the
    attributes with a gain of their own, or a single one without would spoil the guarantee.
    """
    while True:
        _settle(walk, one_pass)
        probe, complement = walk.probe, _promising(walk.probe) & ~walk.mask
        level = probe.value(walk.mask) + walk.threshold
        if not probe.feasible(complement) or not probe.function.may_exceed(complement, level):
            return
        if probe.value(complement) <= level:
            return
        walk.start_at(complement)


def _promising(probe: Probe) -> int:
    """Return V', the attributes V with F({V}) > 0."""
    possible = filter(probe.feasible, map(singleton, members(probe.function.candidates)))
    return sum(each for each in possible if probe.value(each) > 0)


def _settle(walk: Walk, one_pass: Pass) -> None:
    """Alternate upward and downward passes until both leave the set as it is.

    Every pass begins with fresh gains, so that the last two are a sweep of all single moves. An
    upward pass that moves although nothing was removed since the last one mends a violation.
    """
    candidates, settled = walk.probe.function.candidates, False
    while True:
        up = one_pass(walk, candidates & ~walk.mask)
        down = one_pass(walk, walk.mask)
        walk.violations += up and settled
        if not up and not down:
            return
        settled = not down


def _climb(walk: Walk, one_pass: Pass) -> None:
    """Only add, until no single feasible addition improves F by more than the threshold."""
    candidates = walk.probe.function.candidates
    one_pass(walk, candidates)
    while one_pass(walk, candidates & ~walk.mask):
        walk.violations += 1


def _heuristic(walk: Walk, bound: float = inf, *, hit: bool = False) -> Result:
    """Say what is proven where F is submodular; ``bound``: one found under that assumption.

    A set above its bound shows that the assumption fails, as much as a gain that grew.
    """
    claims, value = walk.probe.function.claims_submodularity, walk.probe.value(walk.mask)
    if claims and not walk.violations:
        online = walk.probe.function.online_bound(walk.mask)
        bound = min(bound, additive_bound(walk.probe), online)
        walk.violations += value > bound + ROUNDING
    if claims and not walk.violations:
        return _result(walk, "if-submodular", max(bound, value), hit=hit)
    return _result(walk, "none", None, hit=hit)


def _result(walk: Walk, proof: Proof, bound: float | None, *, hit: bool = False) -> Result:
    return Result(
        walk.mask,
        walk.order,
        walk.probe.value(walk.mask),
        walk.probe.evaluations,
        walk.violations,
        proof,
        bound,
        hit,
    )


def _enumerated(walk: Walk) -> Result:
    walk.start_at(enumerate_all(walk.probe))
    return _result(walk, "enumerated", walk.probe.value(walk.mask))


def _exact(walk: Walk, nodes: int) -> Result:
    """Improve on local search by branch and bound, without and then with submodular bounds.

    A set reached under an assumption that fails may leave a single move to make: it is made.
    """
    start, candidates = walk.mask, walk.probe.function.candidates
    many = candidates.bit_count() > EXHAUSTIVE  # then the bound without assumption rarely closes
    tree = branch_and_bound(walk, nodes // 10 if many else nodes, submodular=False)
    if not tree.limit_hit:
        return _result(walk, "enumerated", walk.probe.value(walk.mask))
    bound = tree.bound
    if walk.probe.function.claims_submodularity:
        tree = branch_and_bound(walk, nodes, submodular=True)
        bound = min(bound, tree.bound)
    if walk.mask != start:
        local_search(walk, lazy_pass)
    return _heuristic(walk, bound, hit=tree.limit_hit)

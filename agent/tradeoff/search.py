"""Search for the set with the largest F: local search, branch and bound, all subsets (paper 4)."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Literal, NamedTuple

from agent.tradeoff.bounds import additive_bound, certified_share, free_bound, possible
from agent.tradeoff.local_search import ROUNDING, LocalSearch, Memo, best, eager_pass, lazy_pass
from agent.tradeoff.sets import members, singleton, subsets, union

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent.tradeoff.local_search import SetFunction

    Pass = Callable[[LocalSearch, int], bool]


EXHAUSTIVE = 16  # candidates: 65,536 sets
Algorithm = Literal["lls", "ls", "greedy", "exact", "exhaustive"]
ALGORITHMS: tuple[Algorithm, ...] = ("lls", "ls", "greedy", "exact", "exhaustive")
Proof = Literal["enumerated", "if-submodular", "none"]
EPSILON = 0.01
NODES = 5_000


class Tree(NamedTuple):
    """How a branch and bound ended: an upper bound on the optimum, and whether it was cut off."""

    bound: float
    limit_hit: bool


class _Node(NamedTuple):
    """The sets between ``chosen`` and ``chosen | open``; none has more than ``bound``."""

    bound: float
    chosen: int
    open: int


def enumerate_all(probe: Memo) -> int:
    """Return the feasible set with the largest F; the smallest mask among equals.

    ValueError for more than 16 candidates.
    """
    candidates = probe.function.candidates
    if candidates.bit_count() > EXHAUSTIVE:
        message = f"{candidates.bit_count()} candidates have too many subsets to enumerate"
        raise ValueError(message)
    feasible = filter(probe.feasible, subsets(candidates))
    return max(feasible, key=lambda mask: (probe.value(mask), -mask))


def branch_and_bound(walk: LocalSearch, nodes: int, *, submodular: bool) -> Tree:
    """Improve the walk's set to the optimum, depth first, visiting at most ``nodes`` nodes.

    With ``submodular`` a node is also bounded by F(A) plus the positive gains at A (which is
    Nemhauser and Wolsey's bound); without it the answer holds for every F.
    """
    function = walk.probe.function
    everything = union(possible(function))
    stack = [_Node(free_bound(function, 0, everything), 0, everything)]
    visited = 0
    while stack:
        node = stack.pop()
        if node.bound <= walk.probe.value(walk.mask):
            continue
        if visited == nodes:
            return Tree(max(each.bound for each in (node, *stack)), limit_hit=True)
        visited += 1
        probe = walk.probe
        if probe.feasible(node.chosen) and probe.value(node.chosen) > probe.value(walk.mask):
            walk.start_at(node.chosen)
        if node.open:
            stack.extend(_halves(walk, node, submodular=submodular))
    return Tree(walk.probe.value(walk.mask), limit_hit=False)


def _halves(walk: LocalSearch, node: _Node, *, submodular: bool) -> list[_Node]:
    """Split a node on an attribute: the sets without it, and the more promising ones with it."""
    function, at = walk.probe.function, 0
    bound, open_ = node.bound, list(members(node.open))
    if submodular:
        at = node.chosen
        open_ = [each for each in open_ if not function.hopeless(at | singleton(each))]
        bound = min(bound, _submodular_bound(walk, at, open_))
    gains = [(walk.probe.gain(at, each), each) for each in open_]
    if not gains:
        return []
    _, attribute = best(gains)
    rest, more = union(open_) & ~singleton(attribute), node.chosen | singleton(attribute)
    halves = [_Node(min(bound, free_bound(function, node.chosen, rest)), node.chosen, rest)]
    if not function.hopeless(more):
        halves.append(_Node(min(bound, free_bound(function, more, rest)), more, rest))
    return halves


def _submodular_bound(walk: LocalSearch, chosen: int, open_: list[int]) -> float:
    """Return F(A) plus the positive gains at A, and count the violations that show."""
    walk.probe.function.survey(chosen, open_)
    gains = [walk.probe.gain(chosen, each) for each in open_]
    for gain, each in zip(gains, open_, strict=True):
        walk.notice(gain, walk.probe.gain(0, each))
    return walk.probe.value(chosen) + sum(max(0.0, gain) for gain in gains)


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


def maximise(
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
    walk = LocalSearch(Memo(function), epsilon)
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
    walk = LocalSearch(Memo(function), None)
    one_pass(walk, function.candidates)
    return list(walk.order), walk.probe.evaluations


def local_search(walk: LocalSearch, one_pass: Pass) -> None:
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


def _promising(probe: Memo) -> int:
    """Return V', the attributes V with F({V}) > 0."""
    possible = filter(probe.feasible, map(singleton, members(probe.function.candidates)))
    return sum(each for each in possible if probe.value(each) > 0)


def _settle(walk: LocalSearch, one_pass: Pass) -> None:
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


def _climb(walk: LocalSearch, one_pass: Pass) -> None:
    """Only add, until no single feasible addition improves F by more than the threshold."""
    candidates = walk.probe.function.candidates
    one_pass(walk, candidates)
    while one_pass(walk, candidates & ~walk.mask):
        walk.violations += 1


def _heuristic(walk: LocalSearch, bound: float = inf, *, hit: bool = False) -> Result:
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


def _result(walk: LocalSearch, proof: Proof, bound: float | None, *, hit: bool = False) -> Result:
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


def _enumerated(walk: LocalSearch) -> Result:
    walk.start_at(enumerate_all(walk.probe))
    return _result(walk, "enumerated", walk.probe.value(walk.mask))


def _exact(walk: LocalSearch, nodes: int) -> Result:
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

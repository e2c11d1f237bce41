"""The optimum itself: branch and bound (paper 4.4), and all subsets for few candidates."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from agent.tradeoff.bounds import free_bound, possible
from agent.tradeoff.passes import best
from agent.tradeoff.sets import members, singleton, subsets, union

if TYPE_CHECKING:
    from agent.tradeoff.passes import Walk
    from agent.tradeoff.probe import Probe

EXHAUSTIVE = 16  # candidates: 65,536 sets


class Tree(NamedTuple):
    """How a branch and bound ended: an upper bound on the optimum, and whether it was cut off."""

    bound: float
    limit_hit: bool


class _Node(NamedTuple):
    """The sets between ``chosen`` and ``chosen | open``; none has more than ``bound``."""

    bound: float
    chosen: int
    open: int


def enumerate_all(probe: Probe) -> int:
    """Return the feasible set with the largest F; the smallest mask among equals.

    ValueError for more than 16 candidates.
    """
    candidates = probe.function.candidates
    if candidates.bit_count() > EXHAUSTIVE:
        message = f"{candidates.bit_count()} candidates have too many subsets to enumerate"
        raise ValueError(message)
    feasible = filter(probe.feasible, subsets(candidates))
    return max(feasible, key=lambda mask: (probe.value(mask), -mask))


def branch_and_bound(walk: Walk, nodes: int, *, submodular: bool) -> Tree:
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


def _halves(walk: Walk, node: _Node, *, submodular: bool) -> list[_Node]:
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


def _submodular_bound(walk: Walk, chosen: int, open_: list[int]) -> float:
    """Return F(A) plus the positive gains at A, and count the violations that show."""
    walk.probe.function.survey(chosen, open_)
    gains = [walk.probe.gain(chosen, each) for each in open_]
    for gain, each in zip(gains, open_, strict=True):
        walk.notice(gain, walk.probe.gain(0, each))
    return walk.probe.value(chosen) + sum(max(0.0, gain) for gain in gains)

"""Search for the set with the largest F: local search, branch and bound, all subsets (paper 4)."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Literal

import numpy as np

from agent.errors import UsageError
from agent.tradeoff.local_search import LocalSearch, SetFunction, eager_pass, lazy_pass, rank
from agent.tradeoff.tables import members, subsets, union

Pass = Callable[[LocalSearch, int], bool]
EXHAUSTIVE = 16  # candidates: 65,536 sets
Algorithm = Literal["lls", "ls", "greedy", "exact", "exhaustive"]
ALGORITHMS: tuple[Algorithm, ...] = ("lls", "ls", "greedy", "exact", "exhaustive")
Proof = Literal["enumerated", "if-submodular", "none"]
EPSILON = 0.01
# Of one attribute, the best: sets from which others are grown. Of 186 decisions in the one world
# (make bench PARTS=sets) the worst is 0.952 of the best by 3 of them, and 1.000 by 5 and by 10.
STARTS = 10
NODES = 5_000


def additive_bound(state: LocalSearch) -> float:
    """The sum of max(0, F({V})) over the candidates, in bits.

    It bounds F over all sets where F is submodular with F(0) = 0: Thm 4.5 at the empty set,
    which needs no monotone utility. Attributes that no feasible set contains are left out.
    """
    row = state.at_hand(0)
    if row is not None and np.count_nonzero(row > -inf) == state.candidates.bit_count():
        return float(np.maximum(row, 0.0).sum())
    return sum(max(0.0, state.value(1 << each)) for each in state.possible())


def enumerate_all(state: LocalSearch) -> int:
    """The feasible set with the largest F; the smallest mask among equals.

    UsageError for more than 16 candidates.
    """
    if (count := state.candidates.bit_count()) > EXHAUSTIVE:
        what = f"exhaustive search takes at most {EXHAUSTIVE} candidates, and there are {count}"
        raise UsageError(what, "allow fewer attributes, or use the algorithm 'exact'")
    feasible = filter(state.feasible, subsets(state.candidates))
    return max(feasible, key=lambda mask: (state.value(mask), -mask))


def branch_and_bound(state: LocalSearch, nodes: int, *, submodular: bool) -> tuple[float, bool]:
    """Improve the state's set to the optimum, depth first, visiting at most ``nodes`` nodes.

    Returns an upper bound on the optimum, and whether the limit of nodes was hit. At a node, every
    set is looked at that adds one open attribute to what is chosen; each of these is a node in
    turn, without the attributes whose own node promises more, where a bound on all sets that
    contain it leaves it a chance. That bound holds for every F; with ``submodular`` a node is also
    bounded by F(A) plus the positive gains at A, which is Nemhauser and Wolsey's.
    """
    visited = 0
    # A bound on the sets between those that are chosen, and these with all that is open.
    stack = [(inf, 0, union(state.possible()))]
    while stack:
        bound, chosen, open_ = stack.pop()
        if bound <= state.level:
            continue
        if visited == nodes:
            return max([bound, *(each for each, _, _ in stack)]), True
        visited += 1
        rest = state.possible(chosen, open_)
        state.extend(chosen, rest)
        base, gains = state.value(chosen), [state.gain(chosen, each) for each in rest]
        for gain, each in zip(gains, rest, strict=True):
            if submodular:
                state.notice(gain, state.gain(0, each))
            if base + gain > state.level and state.feasible(chosen | 1 << each):
                state.start_at(chosen | 1 << each)
        if submodular:
            bound = min(bound, base + sum(max(0.0, gain) for gain in gains))
        bounds = zip(state.bounds(chosen, rest), rest, strict=True)
        hopeful = sorted((min(bound, most), -each) for most, each in bounds if most > state.level)
        remaining = 0
        for most, each in hopeful:
            stack.append((most, chosen | 1 << -each, remaining))
            remaining |= 1 << -each
    return state.level, False


@dataclass(frozen=True, slots=True)
class Result:
    """The set that a search returns, and what it knows of it.

    ``order``: its attributes in the order chosen, the base first; ``value``: F of the set, in
    bits; ``evaluations``: different sets at which F was computed;
    ``violations``: how often a gain grew with the set on the way; ``bound``: the least upper bound
    on the optimum found, in bits, None where ``proof`` is "none"; where it is "if-submodular", F is
    known, or was declared, to be submodular, and no set of candidates breaks a limit;
    ``node_limit_hit``: branch and bound stopped early.
    """

    mask: int
    order: tuple[int, ...]
    value: float
    evaluations: int = 0
    violations: int = 0
    proof: Proof = "none"
    bound: float | None = None
    node_limit_hit: bool = False

    @property
    def exact(self) -> bool:
        """Whether no feasible set is better, whatever F looks like."""
        return self.proof == "enumerated"

    @property
    def certified(self) -> float | None:
        """The share of the optimum that is certain under the same assumption, 0 to 1.

        1 where value and bound are both 0; None where nothing is proven, or F is negative.
        """
        if self.bound is None or self.value < 0:
            return None
        return min(1.0, self.value / self.bound) if self.bound > 0 else 1.0


def maximise(
    function: SetFunction,
    algorithm: Algorithm = "lls",
    epsilon: float = EPSILON,
    nodes: int = NODES,
    *,
    again: bool = True,
    between: tuple[int, int] | None = None,
) -> Result:
    """Find a set of candidates with a large F.

    ``algorithm``: "lls" (lazy local search) and "ls" move attributes in and out, "greedy" as well,
    but from nothing alone; "exact" goes on by branch and bound, "exhaustive" tries all subsets;
    ``epsilon``: a move must improve F by more than (epsilon/n^2)|F|; ``nodes``: how many nodes
    ``exact`` visits at the most; ``again``: whether local search goes on where the paper's own
    ends; ``between``: two sets, of which the result contains the first, a feasible one, and is
    contained in the second: all that the result says is about the sets between them. By default
    from none to all candidates.
    UsageError for an unknown algorithm, and where ``exhaustive`` is asked of too many candidates;
    ValueError where the first set is not feasible, or the second has more than the candidates.
    Source: paper 4 with the corrections of DESIGN.md 2.5.
    """
    if algorithm not in ALGORITHMS:
        raise UsageError.unknown("algorithm", algorithm, ALGORITHMS)
    state = LocalSearch(function, epsilon, between)
    candidates = state.candidates
    if algorithm == "exhaustive":
        state.start_at(enumerate_all(state))
        return _result(state, "enumerated", state.level)
    if algorithm == "greedy":
        climb(state, lazy_pass)
        return _heuristic(state)
    one_pass = eager_pass if algorithm == "ls" else lazy_pass
    local_search(state, one_pass)
    if again:
        improve(state, one_pass)
    if algorithm != "exact":
        return _heuristic(state)
    start = state.mask
    many = candidates.bit_count() > EXHAUSTIVE  # then the bound without assumption rarely closes
    bound, hit = branch_and_bound(state, nodes // 10 if many else nodes, submodular=False)
    if not hit:
        return _result(state, "enumerated", state.level)
    if function.claims_submodularity:
        submodular_bound, hit = branch_and_bound(state, nodes, submodular=True)
        bound = min(bound, submodular_bound)
    if state.mask != start:
        # A set reached under an assumption that fails may leave a single move to make.
        local_search(state, lazy_pass)
    return _heuristic(state, bound, hit=hit)


def greedy_order(function: SetFunction, one_pass: Pass = lazy_pass) -> tuple[list[int], int]:
    """All feasible attributes, each the best addition to those before, and the evaluations.

    The order of the paper's Figs. 6, 7 and 10: it goes on where F falls. ``one_pass``:
    ``lazy_pass`` or ``eager_pass``; they agree where F is submodular.
    """
    state = LocalSearch(function)
    one_pass(state, function.candidates)
    return list(state.order), state.evaluations


def climb(state: LocalSearch, one_pass: Pass) -> None:
    """Move up and down until no single feasible move improves F by more than the threshold.

    Every pass begins with fresh gains, so that the last of each are a sweep of all single moves. An
    upward pass that moves although nothing was removed since the last one mends a violation.
    """
    candidates = state.candidates
    up = down = True
    settled = False
    while up or down:
        up = one_pass(state, candidates & ~state.mask)
        if settled and not up:
            return
        down = one_pass(state, state.mask)
        state.violations += up and settled
        settled = not down


def local_search(state: LocalSearch, one_pass: Pass) -> None:
    """Climb until there is no good move left, and then try the complement.

    The complement is tried where a bound does not rule it out (it rarely wins): within the
    attributes with a gain of their own, or a single one without would spoil the guarantee.
    """
    while True:
        climb(state, one_pass)
        level, rest = state.level + state.threshold(state.level), state.candidates & ~state.mask
        if not state.may_grow(0, rest, level):
            return
        complement = union(state.gainful()) & rest
        if not state.may_grow(complement, 0, level) or not state.feasible(complement):
            return
        if state.value(complement) <= level:
            return
        state.start_at(complement)


def improve(state: LocalSearch, one_pass: Pass) -> None:
    """Leave each attribute out and grow the set again, as long as that leads to a better one.

    It is not grown where all that is open would not make up for it, were F submodular: an exchange
    of one for one is never missed, one for several that help each other may be.
    Moves of single attributes do not reach one in place of others: an exchange is the first step of
    such growth, by the few that promise most where all take long to tell. An equal that takes the
    place of an attribute, as another fact of the same kind does, is left out with it. Where a limit
    kept something out, sets are grown from what is best alone, too.
    """
    ends = list[int]()
    for each in state.gainful()[:STARTS] if state.limited else []:
        other = state.restarted(1 << each)
        one_pass(other, state.promising(other.mask, 0))
        ends.append(other.mask)
        state.violations += other.violations
    better = True
    while better:
        ends.append(state.mask)
        level = state.level + state.threshold(state.level)
        for out in members(state.mask):
            without = 1 << out
            if not state.may_grow(state.mask & ~without, state.candidates & ~state.mask, level):
                continue
            other = state.restarted(state.mask)
            while other.mask & without:
                other.start_at(other.mask & ~without)
                options = state.promising(other.mask, without)
                if other.hope(options) > level:
                    one_pass(other, options)
                ends += [other.mask] if state.feasible(other.mask) else []
                without |= other.mask & ~state.mask if rank(other.level) == rank(state.level) else 0
            state.violations += other.violations
        best_end = max(ends, key=lambda mask: (rank(state.value(mask)), -mask))
        better = state.value(best_end) > level
        if better:
            state.start_at(best_end)
            climb(state, one_pass)


def _heuristic(state: LocalSearch, bound: float = inf, *, hit: bool = False) -> Result:
    """The result, with what it proves where F is submodular.

    ``bound``: an upper bound under that assumption. A set above its bound shows that the
    assumption fails, as much as a gain that grew.
    """
    function, value = state.function, state.level
    if function.claims_submodularity and not state.violations:
        bound = min(bound, additive_bound(state))
        state.notice(value, bound)
    if function.claims_submodularity and not state.violations:
        return _result(state, "if-submodular", max(bound, value), hit=hit)
    return _result(state, "none", None, hit=hit)


def _result(state: LocalSearch, proof: Proof, bound: float | None, *, hit: bool = False) -> Result:
    mask = state.base | state.mask
    return Result(
        mask,
        (*members(state.base), *state.order),
        state.function.value(mask) if state.base else state.level,
        state.evaluations,
        state.violations,
        proof,
        None if bound is None else bound + state.ground,
        hit,
    )

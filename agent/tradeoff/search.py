"""Search for the set with the largest F: local search, branch and bound, all subsets (paper 4)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Literal

import numpy as np

from agent.errors import UsageError
from agent.tradeoff.local_search import (
    ROUNDING,
    TIE,
    LocalSearch,
    SetFunction,
    ascend,
    best,
    eager_pass,
    lazy_pass,
    rank,
)
from agent.tradeoff.tables import mask_arrays, members, subsets, union

Pass = Callable[[LocalSearch, int], bool]


EXHAUSTIVE = 16  # candidates: 65,536 sets
Algorithm = Literal["lls", "ls", "greedy", "exact", "exhaustive"]
ALGORITHMS: tuple[Algorithm, ...] = ("lls", "ls", "greedy", "exact", "exhaustive")
Proof = Literal["enumerated", "if-submodular", "none"]
EPSILON = 0.01
NODES = 5_000
RESTARTS = 10  # pairs that local search starts from again


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
        base = state.value(chosen)
        gains = [state.gain(chosen, each) for each in rest]
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
    restarts: int = RESTARTS,
    *,
    patient: bool = True,
    between: tuple[int, int] | None = None,
) -> Result:
    """Find a set of candidates with a large F.

    ``algorithm``: "lls" (lazy local search) and "ls" move attributes in and out, "greedy" as well,
    but from nothing alone; "exact" goes on by branch and bound, "exhaustive" tries all subsets;
    ``epsilon``: a move must improve F by more than (epsilon/n^2)|F|; ``nodes``: how many nodes
    ``exact`` visits at the most;
    ``restarts``: from how many pairs local search starts again, 0 for the paper's own search;
    ``patient``: whether also where F is not at hand; ``between``: two sets, of which the result
    contains the first, a feasible one, and is contained in the second: all that the result says is
    about the sets between them. By default from none to all candidates.
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
    starts = state.best_pairs(restarts) if restarts else []
    if starts and not patient:
        starts = ascend(state, [0, *starts])
    local_search(state, one_pass)
    improve(state, one_pass, starts, patient=patient)
    if algorithm != "exact":
        return _heuristic(state)
    start = state.mask
    many = candidates.bit_count() > EXHAUSTIVE  # then the bound without assumption rarely closes
    bound, hit = branch_and_bound(state, nodes // 10 if many else nodes, submodular=False)
    if not hit:
        return _result(state, "enumerated", state.level)
    claimed = function.claims_submodularity
    if claimed or function.nearly_submodular:
        submodular_bound, cut_off = branch_and_bound(state, nodes, submodular=True)
        bound, hit = min(bound, submodular_bound), cut_off or not claimed
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
        complement = state.gainful() & ~state.mask
        level = state.level + state.threshold(state.level)
        if not state.may_exceed(complement, level) or not state.feasible(complement):
            return
        if state.value(complement) <= level:
            return
        state.start_at(complement)


def improve(state: LocalSearch, one_pass: Pass, starts: Sequence[int], *, patient: bool) -> None:
    """Search again from other sets, and exchange attributes of the best set that is found.

    Moves of single attributes do not reach what helps only together, as two attributes of a small
    query often do; nor do they leave one for another. No starts: nothing is done. Where it is
    not ``patient``, only what is at hand is looked at, and the starts are where that leads.
    """
    seen, candidates = set[int](), state.candidates
    for start in starts:
        if not patient and rank(state.value(start)) <= rank(state.level):
            continue
        other = state.restarted(start)
        if patient:
            one_pass(other, candidates & ~start)
        if other.mask not in seen:
            climb(other, one_pass)
        seen.add(other.mask)
        state.violations += other.violations
        if rank(other.level) > rank(state.level):
            state.start_at(other.mask)
    while starts and exchange(state, patient=patient):
        climb(state, one_pass)


def exchange(state: LocalSearch, *, patient: bool) -> bool:
    """Exchange one attribute for another where that is a good move; say if it was.

    Where it is not ``patient``, only exchanges that are at hand are looked at.
    """
    outside, good = state.candidates & ~state.mask, list[tuple[float, int]]()
    rests = [state.mask ^ 1 << out for out in members(state.mask)]
    state.look_at(rests)
    stored = {rest: row for rest in rests if (row := state.at_hand(rest)) is not None}
    if stored:
        levels = np.array([*stored.values()])
        gains = np.where(mask_arrays([outside], levels.shape[1]), levels - state.level, -inf)
        places = np.rint(gains / TIE).argmax(axis=1).tolist()
        for line, (rest, place) in enumerate(zip(stored, places, strict=True)):
            good.append((float(gains[line, place]), rest | 1 << place))
    for rest in {*rests} - stored.keys() if patient else ():
        state.extend(rest, [*members(outside)])
        masks = filter(state.feasible, (rest | 1 << each for each in members(outside)))
        good += [(state.value(each) - state.level, each) for each in masks]
    _, swapped = best(good, state.threshold(state.level))
    if swapped >= 0:
        state.start_at(swapped)
    return swapped >= 0


def _heuristic(state: LocalSearch, bound: float = inf, *, hit: bool = False) -> Result:
    """The result, with what it proves where F is submodular.

    ``bound``: an upper bound under that assumption. A set above its bound shows that the
    assumption fails, as much as a gain that grew.
    """
    function, value = state.function, state.level
    if function.claims_submodularity and not state.violations:
        bound = min(bound, additive_bound(state))
        state.violations += value > bound + ROUNDING
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

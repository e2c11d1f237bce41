"""What the search must do whatever the function is like: nothing here is submodular."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agent.tradeoff.bounds import additive_bound
from agent.tradeoff.local_search import FLOOR, Memo, SetFunction
from agent.tradeoff.objective import DisclosureObjective
from agent.tradeoff.search import ALGORITHMS, EPSILON, Algorithm, Result, maximise
from agent.tradeoff.sets import members, singleton, subsets
from tests.tradeoff.doubles import Tabulated, arbitrary, tabulate
from tests.tradeoff.worlds import objectives

ROUNDING = 1e-9  # bits: two ways to add up the same score


def best_move(function: SetFunction, mask: int, options: int) -> float:
    """Return the most that moving one attribute in or out brings, where that is feasible."""
    moves = (mask ^ singleton(each) for each in members(options))
    values = [function.value(each) for each in moves if function.feasible(each)]
    return max(values, default=float("-inf")) - function.value(mask)


def threshold(function: SetFunction, mask: int, epsilon: float) -> float:
    """Return what a move must bring to count (DESIGN.md 2.5)."""
    pairs = max(1, function.candidates.bit_count()) ** 2
    return max(epsilon / pairs * abs(function.value(mask)), FLOOR)


def optimum(function: SetFunction) -> float:
    """Return the largest F of a feasible set, looking at every set."""
    return max(function.value(m) for m in subsets(function.candidates) if function.feasible(m))


def check_result(function: SetFunction, result: Result, algorithm: Algorithm) -> None:
    """Check what every result owes its reader."""
    assert function.feasible(result.mask)
    assert result.mask & ~function.candidates == 0
    assert sorted(result.order) == list(members(result.mask))
    assert result.value == function.value(result.mask)
    assert result.value >= 0
    assert result.exact == (result.proof == "enumerated")
    assert (result.bound is None) == (result.proof == "none")
    if result.exact:
        assert result.value == pytest.approx(optimum(function), abs=ROUNDING)
        assert result.bound == pytest.approx(result.value, abs=ROUNDING)
    if algorithm == "exhaustive":
        assert result.exact
    if result.proof == "if-submodular":
        assert result.violations == 0
        assert additive_bound(Memo(function)) >= result.value - ROUNDING


def check_moves(function: SetFunction, result: Result, algorithm: Algorithm) -> None:
    """Check that no single feasible move improves the set by more than the threshold."""
    options = function.candidates
    if algorithm == "greedy":
        options &= ~result.mask
    assert best_move(function, result.mask, options) <= threshold(function, result.mask, EPSILON)


def table(*values: float) -> Tabulated:
    """Return a function that claims, falsely, to be submodular."""
    return tabulate(len(values).bit_length() - 1, lambda mask: values[mask])


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@settings(max_examples=100)
@given(function=arbitrary(), nodes=st.integers(0, 12))
@example(function=table(0, 0, -1, 1, -2, -2, -1, 2), nodes=3)  # cut off, it left a move undone
@example(function=table(0, -1, -2, 2, 0, -1, 2, 1), nodes=5)
def test_a_result_on_any_function(function: Tabulated, algorithm: Algorithm, nodes: int) -> None:
    """Any table of numbers, any sets forbidden, branch and bound cut off anywhere."""
    result = maximise(function, algorithm, EPSILON, nodes)
    check_result(function, result, algorithm)
    check_moves(function, result, algorithm)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@given(objective=objectives(), nodes=st.sampled_from([0, 3, 5000]))
def test_a_result_on_any_objective(
    objective: DisclosureObjective, algorithm: Algorithm, nodes: int
) -> None:
    """Both estimators, every metric, guards, knowledge, limits."""
    result = maximise(objective, algorithm, EPSILON, nodes)
    check_result(objective, result, algorithm)
    check_moves(objective, result, algorithm)


@given(arbitrary())
def test_branch_and_bound_enumerates(function: Tabulated) -> None:
    """With nodes enough it needs no assumption: a bound that holds for any F."""
    result = maximise(function, "exact")
    assert result.exact
    assert not result.node_limit_hit
    assert result.value == function.optimum


@given(arbitrary(), st.integers(0, 12))
def test_a_node_limit_is_reported(function: Tabulated, nodes: int) -> None:
    """Then nothing is enumerated."""
    result = maximise(function, "exact", EPSILON, nodes)
    assert not (result.node_limit_hit and result.exact)


def test_branch_and_bound_tells_of_the_violations_it_sees() -> None:
    """Local search saw no gain grow here; the nodes that were visited before the limit do."""
    function = table(0, -1, 2, 3, 2, -1, 3, 1, -2, -1, 4, -3, 1, -1, -2, 3)
    assert maximise(function, "lls").proof == "if-submodular"
    result = maximise(function, "exact", EPSILON, 2)
    assert (result.node_limit_hit, result.proof) == (True, "none")
    assert result.violations > 0


class Watched:
    """A set function that notes every set it is evaluated at."""

    def __init__(self, function: Tabulated) -> None:
        self.function = function
        self.seen: list[int] = []

    def value(self, mask: int) -> float:
        """Return F(A), and note A."""
        self.seen.append(mask)
        return self.function.value(mask)

    def __getattr__(self, name: str) -> object:
        return getattr(self.function, name)


@given(arbitrary(), st.sampled_from(ALGORITHMS), st.integers(0, 12))
def test_evaluations_are_counted(function: Tabulated, algorithm: Algorithm, nodes: int) -> None:
    """F is computed once for a set, never for the empty one, and every time counts."""
    watched = Watched(function)
    result = maximise(watched, algorithm, EPSILON, nodes)  # type: ignore[arg-type]  # by __getattr__
    assert len(watched.seen) == len(set(watched.seen)) == result.evaluations
    assert 0 not in watched.seen


def test_too_many_candidates_for_exhaustive_search() -> None:
    """Seventeen attributes have 131,072 sets."""
    with pytest.raises(ValueError, match="17 candidates"):
        maximise(tabulate(17, int.bit_count), "exhaustive")

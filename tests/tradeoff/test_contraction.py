"""A search beside a fixed set is a search like any other, of the contracted function."""

from dataclasses import replace
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.tradeoff.local_search import SetFunction
from agent.tradeoff.objective import DisclosureObjective, forced
from agent.tradeoff.search import ALGORITHMS, EPSILON, Algorithm, Contraction, maximise
from agent.tradeoff.tables import members, singleton, subsets, union
from tests.tradeoff.doubles import Tabulated, arbitrary, submodular, tabulate
from tests.tradeoff.worlds import objectives

ALGORITHM = st.sampled_from(ALGORITHMS)
NODES = st.sampled_from([0, 3, 5000])
ROUNDING = 1e-8  # bits


@st.composite
def bases(draw: st.DrawFn, function: SetFunction) -> int:
    """Draw a feasible set."""
    mask: int = draw(st.sampled_from([*filter(function.feasible, subsets(function.candidates))]))
    return mask


@st.composite
def besides(draw: st.DrawFn, function: SetFunction) -> tuple[Contraction, int]:
    """Draw a base and some candidates, which it may share."""
    base = draw(bases(function))
    candidates = draw(
        st.just(function.candidates) | st.sampled_from([*subsets(function.candidates)])
    )
    return Contraction(function, base, candidates), base


@given(st.one_of(objectives(), arbitrary()), st.data())
def test_what_is_carried_over(function: SetFunction, data: st.DataObject) -> None:
    """All that a search relies on: values, limits and bounds are those of sets with the base."""
    beside, base = data.draw(besides(function))
    assert beside.candidates & base == 0
    for mask in subsets(beside.candidates):
        assert beside.value(mask) == function.value(base | mask) - function.value(base)
        assert beside.cost(mask) == function.cost(base | mask) - function.cost(base)
        assert beside.feasible(mask) == function.feasible(base | mask)
        assert beside.may_exceed(mask, beside.value(mask) - 1e-6)
        new = [*members(beside.candidates & ~mask)]
        allowed = [beside.feasible(mask | singleton(each)) for each in new]
        levels = [beside.value(mask | singleton(each)) for each in new]
        levels = [level if may else -inf for level, may in zip(levels, allowed, strict=True)]
        assert beside.extensions(mask, new) == pytest.approx(levels, abs=ROUNDING)
        for less in subsets(mask):
            assert not (beside.hopeless(less) and beside.feasible(mask))
            bounds = beside.bounds(less, [*members(mask & ~less)])
            assert all(beside.value(mask) <= bound + ROUNDING for bound in bounds)
    assert beside.value(0) == beside.cost(0) == 0.0
    assert beside.feasible(0)


@given(objectives(), st.data())
def test_no_bound_is_looser_than_the_function_s(
    objective: DisclosureObjective, data: st.DataObject
) -> None:
    """What is known of the sets with the base is all that is known, and no less."""
    beside, base = data.draw(besides(objective))
    value = objective.value(base)
    for mask in subsets(beside.candidates):
        both, level = base | mask, beside.value(mask) + 0.1
        assert beside.hopeless(mask) == objective.hopeless(both)
        assert beside.may_exceed(mask, level) == objective.may_exceed(both, level + value)
        rest = [*members(beside.candidates & ~mask)]
        bounds = [each - value for each in objective.bounds(both, rest)]
        assert beside.bounds(mask, rest) == pytest.approx(bounds, abs=ROUNDING)
    assert beside.claims_submodularity == objective.claims_submodularity


@given(st.one_of(objectives(), arbitrary()), ALGORITHM, NODES)
def test_beside_nothing_it_is_the_search_itself(
    function: SetFunction, algorithm: Algorithm, nodes: int
) -> None:
    """The same set, order, value, evaluations, violations, proof and bound, to the last bit."""
    alone = maximise(function, algorithm, EPSILON, nodes)
    assert (
        maximise(Contraction(function, 0, function.candidates), algorithm, EPSILON, nodes) == alone
    )


@given(submodular(), st.data())
def test_beside_what_is_beside(function: Tabulated, data: st.DataObject) -> None:
    """A base in two parts is a base."""
    first, second = data.draw(bases(function)), data.draw(bases(function))
    outer = Contraction(function, first, function.candidates)
    inner = Contraction(outer, second & ~first, outer.candidates)
    whole = Contraction(function, first | second, function.candidates)
    for algorithm in ALGORITHMS:
        assert maximise(inner, algorithm) == maximise(whole, algorithm)


def test_a_base_that_breaks_a_limit() -> None:
    """There is no feasible set to fall back on."""
    function = replace(tabulate(2, float), allowed=(True, False, True, True))
    with pytest.raises(ValueError, match="breaks a limit"):
        Contraction(function, 0b01, 0b10)


@pytest.mark.parametrize(("base", "candidates"), [(0b100, 0b011), (0b001, 0b110)])
def test_attributes_that_are_no_candidates(base: int, candidates: int) -> None:
    """The function's bounds are about its candidates, and no others."""
    with pytest.raises(ValueError, match="candidates of the function"):
        Contraction(tabulate(2, float), base, candidates)


@given(st.one_of(objectives(), arbitrary()), st.data())
def test_what_is_forced_is_feasible(function: SetFunction, data: st.DataObject) -> None:
    """All that was asked for is in or refused, and each refused for a reason."""
    attributes = [*members(data.draw(st.sampled_from([*subsets(function.candidates)])))]
    taken = forced(function, attributes)
    refused = union(attributes) & ~taken
    assert function.feasible(taken)
    assert not taken & ~union(attributes)
    alone = {each: (-function.value(singleton(each)), each) for each in attributes}
    for each in members(refused):
        earlier = union(other for other in members(taken) if alone[other] < alone[each])
        assert not function.feasible(earlier | singleton(each))
    shuffled = data.draw(st.permutations(attributes))
    assert forced(function, [*shuffled, *shuffled]) == taken

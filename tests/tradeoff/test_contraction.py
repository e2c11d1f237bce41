"""A search beside a fixed set is a search like any other, of the contracted function."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.tradeoff.local_search import Contraction, SetFunction
from agent.tradeoff.objective import DisclosureObjective, forced
from agent.tradeoff.search import ALGORITHMS, EPSILON, Algorithm, maximise
from agent.tradeoff.tables import members, singleton, subsets, union
from tests.tradeoff.doubles import Tabulated, arbitrary, submodular, tabulate
from tests.tradeoff.worlds import World, known, objectives, rich_worlds, settings_for

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
        assert beside.value(mask) == pytest.approx(beside.utility(mask) - beside.cost(mask))
        assert beside.feasible(mask) == function.feasible(base | mask)
        assert beside.may_exceed(mask, beside.value(mask) - 1e-6)
        assert beside.utility(mask) <= beside.utility_limit + ROUNDING
        for less in subsets(mask):
            assert beside.cost(mask) >= beside.cost_floor(less) - ROUNDING
            assert not (beside.hopeless(less) and beside.feasible(mask))
            new = [*members(mask & ~less)]
            bounds = beside.superset_bounds(less, new)
            assert all(beside.value(mask) <= bound + ROUNDING for bound in bounds)
    assert beside.value(0) == beside.utility(0) == beside.cost(0) == 0.0
    assert beside.feasible(0)


@given(objectives(), st.data())
def test_no_bound_is_looser_than_the_function_s(
    objective: DisclosureObjective, data: st.DataObject
) -> None:
    """What is known of the sets with the base is all that is known, and no less."""
    beside, base = data.draw(besides(objective))
    value, utility = objective.value(base), objective.utility(base)
    for mask in subsets(beside.candidates):
        both = base | mask
        assert beside.hopeless(mask) == objective.hopeless(both)
        at_most = beside.utility_limit - beside.cost_floor(mask)
        for level in (at_most - 0.1, at_most + 0.1):
            assert beside.may_exceed(mask, level) == objective.may_exceed(both, level + value)
        rest = [*members(beside.candidates & ~mask)]
        bounds = [each - value for each in objective.superset_bounds(both, rest)]
        assert beside.superset_bounds(mask, rest) == pytest.approx(bounds, abs=ROUNDING)
        floor = objective.cost_floor(both) - objective.cost(base)
        assert beside.cost_floor(mask) == pytest.approx(floor, abs=ROUNDING)
    assert beside.utility_limit == pytest.approx(objective.utility_limit - utility)
    assert beside.claims_submodularity == objective.claims_submodularity
    assert beside.monotone_utility == objective.monotone_utility


@dataclass(eq=False)
class Prepared(Tabulated):
    """A table that notes what it was asked to make ready."""

    asked: list[tuple[int, tuple[int, ...]]] = field(default_factory=list)

    def focus(self, mask: int) -> None:
        """Note the set."""
        self.asked.append((mask, ()))

    def survey(self, mask: int, attributes: Sequence[int]) -> None:
        """Note the set and the attributes."""
        self.asked.append((mask, tuple(attributes)))


def test_what_is_made_ready_is_beside_the_base() -> None:
    """Of a removal, too, the set it is removed from has the base."""
    plain = tabulate(4, float)
    function = Prepared(plain.utilities, plain.costs, plain.allowed)
    beside = Contraction(function, 0b0001, 0b1111)
    beside.survey(0b0100, [1, 2, 3])
    beside.focus(0b0010)
    assert function.asked == [(0b0101, (1, 2, 3)), (0b0011, ())]


@given(st.one_of(objectives(), arbitrary()), ALGORITHM, NODES)
def test_beside_nothing_it_is_the_search_itself(
    function: SetFunction, algorithm: Algorithm, nodes: int
) -> None:
    """The same set, order, value, evaluations, violations, proof and bound, to the last bit."""
    alone = maximise(function, algorithm, EPSILON, nodes)
    assert (
        maximise(Contraction(function, 0, function.candidates), algorithm, EPSILON, nodes) == alone
    )


@given(rich_worlds(people=30), st.data(), ALGORITHM)
def test_preparing_does_not_change_the_answers(
    world: World, data: st.DataObject, algorithm: Algorithm
) -> None:
    """What a search left behind has the value that it has afresh."""
    settings, what = data.draw(settings_for(world)), data.draw(known(world))
    objective, fresh = (
        DisclosureObjective(world.utility(), world.anonymity_set(what), settings) for _ in range(2)
    )
    beside, base = data.draw(besides(objective))
    maximise(beside, algorithm)
    for mask in subsets(beside.candidates):
        assert objective.parts(base | mask) == fresh.parts(base | mask)
        assert objective.feasible(base | mask) == fresh.feasible(base | mask)


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

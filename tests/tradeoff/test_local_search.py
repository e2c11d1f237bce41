"""Passes follow algorithm 1, whatever the path; and what is searched beside a fixed set."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from math import inf
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.tradeoff.local_search import FLOOR, LocalSearch, SetFunction, eager_pass, lazy_pass
from agent.tradeoff.objective import DisclosureObjective
from agent.tradeoff.plan import QueryPlanner
from agent.tradeoff.search import ALGORITHMS, maximise
from agent.tradeoff.tables import Floats, members, subsets
from agent.tradeoff.utility import MOST_PRICE, Estimator, Mixture, Priced, Utility
from tests.tradeoff.worlds import (
    ESTIMATORS,
    Tabulated,
    World,
    arbitrary,
    objectives,
    rich_worlds,
    settings_for,
    stored_of,
    submodular,
    tabulate,
)

FEW = settings(max_examples=settings().max_examples // 3)
Pass = Callable[[LocalSearch, int], bool]
PASSES = pytest.mark.parametrize("one_pass", [lazy_pass, eager_pass])
Step = tuple[Literal["value", "potentials", "extensions"], int]
STEP = st.sampled_from(["value", "potentials", "extensions"])
PRICES = st.lists(st.floats(0, MOST_PRICE) | st.floats(0, 0.1), min_size=9, max_size=9)
STEPS = st.lists(st.tuples(STEP, st.integers(0, 63)), max_size=40)


class AtHand(Tabulated):
    """A function of which some sets are at hand with each attribute added."""

    some: frozenset[int] = frozenset()

    def at_hand(self, mask: int) -> Floats | None:
        """F of each of those that are."""
        sets = [mask | 1 << each for each in members(self.everything)]
        levels = [self.value(e) if e == mask or self.feasible(e) else -inf for e in sets]
        return np.array(levels) if mask in self.some else None


@given(submodular(), st.data())
def test_what_is_at_hand_changes_no_set(function: Tabulated, data: st.DataObject) -> None:
    """Nor the order in which its attributes are chosen."""
    given_ = AtHand(function.utilities, function.costs, function.allowed)
    given_.some = frozenset({0, *data.draw(st.sets(st.integers(0, function.everything)))})
    stored, plain = maximise(given_), maximise(function)
    assert (stored.mask, stored.order, stored.value) == (plain.mask, plain.order, plain.value)


@PASSES
@pytest.mark.parametrize(
    ("start", "gain", "moves"),
    [
        (100.0, 0.9, False),  # below (1/1^2) % of 100
        (100.0, 1.1, True),
        (-100.0, 0.9, False),  # the sign of F does not turn the test round
        (-100.0, 1.1, True),
        (-100.0, -0.5, False),  # (1 + 0.01) F(A) is -101: the printed form would go down
        (0.0, FLOOR / 2, False),  # noise
        (0.0, 1e-9, True),
    ],
)
def test_the_threshold(one_pass: Pass, start: float, gain: float, moves: bool) -> None:
    """A move counts where it improves F by more than (epsilon/n^2)|F|, whatever F's sign."""
    values = [0.0, start, 0.0, start + gain]
    walk = LocalSearch(tabulate(2, lambda mask: values[mask]), epsilon=0.04)
    walk.start_at(0b01)
    assert one_pass(walk, 0b10) is moves
    assert walk.mask == (0b11 if moves else 0b01)


@PASSES
@given(function=arbitrary(), start=st.integers(0, 31), epsilon=st.sampled_from([0.01, 1.0]))
def test_a_pass_never_makes_it_worse(
    one_pass: Pass, function: Tabulated, start: int, epsilon: float
) -> None:
    """From any set, also from one with a negative F: it does not lose the value it starts from."""
    start &= function.everything
    walk = LocalSearch(function, epsilon)
    walk.start_at(start)
    up = one_pass(walk, function.everything & ~start)
    assert walk.mask & start == start
    assert function.value(walk.mask) >= function.value(start)
    assert up == (walk.mask != start)
    top = walk.mask
    down = one_pass(walk, top)
    assert walk.mask & ~top == 0
    assert function.value(walk.mask) >= function.value(top)
    assert down == (walk.mask != top)


@PASSES
def test_the_order_is_the_order_of_the_moves(one_pass: Pass) -> None:
    """Best first, ties by index; what is taken out leaves the order of the others alone."""
    worth: Sequence[float] = (1.0, 3.0, 2.0, 2.0)
    walk = LocalSearch(tabulate(4, lambda mask: sum(worth[v] for v in members(mask))), 0.01)
    assert one_pass(walk, 0b1111)
    assert [*walk.order] == [1, 2, 3, 0]
    for moved, order in ((2, [1, 3, 0]), (3, [1, 0]), (2, [1, 0, 2])):
        walk.move(moved)
        assert [*walk.order] == order


def walk(utility: Utility, steps: list[Step], everything: int) -> None:
    """Ask for this and that, in this order."""
    for step, number in steps:
        mask = number & everything
        rest = [] if step == "value" else [[*members(everything & ~mask)]]
        getattr(utility, step)(mask, *rest)


@given(rich_worlds(), st.sampled_from(ESTIMATORS), STEPS, st.none() | PRICES)
def test_a_utility_is_the_same_by_every_path(
    world: World, estimator: Estimator, steps: list[Step], prices: list[float] | None
) -> None:
    """Equal, not nearly equal: ties between sets must not depend on what was asked first."""

    def fresh() -> Utility:
        parts = [world.utility(estimator, beta) for beta in (5.0, 7.3)]
        mixture = Mixture(parts, [1.0, 2.0])
        return mixture if prices is None else Priced(mixture, np.array(prices[: len(world.cards)]))

    used, alone = fresh(), cache(lambda mask: fresh().value(mask))
    walk(used, steps, world.everything)
    for mask in subsets(world.everything):
        assert used.value(mask) == alone(mask)
        new = [*members(world.everything & ~mask)][::-1]
        values = [alone(mask | 1 << each) for each in new]
        assert prices is None or used.extensions(mask, new) == values


@FEW
@given(rich_worlds(), st.data())
def test_the_objective_is_the_same_by_every_path(world: World, data: st.DataObject) -> None:
    """Surveys, memories of other people's demands, and stored figures included."""
    demands = data.draw(settings_for(world))
    crowd = world.anonymity_set()
    stored = stored_of(world.utility().value, len(world.cards))
    planner = QueryPlanner(world.utility, len(world.cards), stored)
    utility = data.draw(st.sampled_from([world.utility(), planner]))
    first = DisclosureObjective(utility, crowd, data.draw(settings_for(world)))
    used = first.given(crowd, demands)
    for mask in data.draw(st.lists(st.integers(0, world.everything), max_size=10)):
        used.survey(mask)
        first.value(mask)
    for mask in subsets(world.everything):
        fresh = DisclosureObjective(world.utility(), world.anonymity_set(), demands)
        assert used.parts(mask) == fresh.parts(mask)
        assert used.feasible(mask) == fresh.feasible(mask)


@FEW
@given(rich_worlds(), STEPS, st.data())
def test_what_is_remembered_never_shows(
    world: World, steps: list[Step], data: st.DataObject
) -> None:
    """With hardly any memory, every answer is the same."""
    demands, everything = data.draw(settings_for(world)), list(subsets(world.everything))
    plain = DisclosureObjective(world.utility(), world.anonymity_set(), demands)
    expected = [plain.parts(mask) for mask in everything]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("agent.tradeoff.counts.CELLS_KEPT", 1)
        patch.setattr("agent.tradeoff.grouping.KEPT", 1)
        patch.setattr("agent.tradeoff.tables.VALUES_KEPT", 2)
        utility, crowd = world.utility(), world.anonymity_set()
        walk(utility, steps, world.everything)
        forgetful = DisclosureObjective(utility, crowd, demands)
        assert [forgetful.parts(mask) for mask in everything] == expected


ROUNDING = 1e-8  # bits


def feasible(function: SetFunction) -> st.SearchStrategy[int]:
    return st.sampled_from([*filter(function.feasible, subsets(function.candidates))])


@given(st.one_of(objectives(), arbitrary()), st.data())
def test_what_is_between_two_sets(function: SetFunction, data: st.DataObject) -> None:
    """All that a search relies on: values, limits and bounds are those of sets with the base."""
    base = data.draw(feasible(function))
    most = base | data.draw(st.sampled_from([*subsets(function.candidates)]))
    search, level = LocalSearch(function, between=(base, most)), function.value(base)
    assert search.candidates == most & ~base
    for mask in subsets(search.candidates):
        new = [*members(search.candidates & ~mask)]
        extended = LocalSearch(function, between=(base, most))
        extended.extend(mask, new)
        worth = search.value(mask)
        assert worth == function.value(base | mask) - level
        assert search.feasible(mask) == function.feasible(base | mask)
        for each in new:
            larger = mask | 1 << each
            assert extended.feasible(larger) == search.feasible(larger)
            assert extended.value(larger) == pytest.approx(search.value(larger), abs=ROUNDING)
        for less in subsets(mask) if search.feasible(mask) else ():
            assert {*members(mask & ~less)} <= {*search.possible(less)}
            bounds = search.bounds(less, [*members(mask & ~less)])
            assert all(worth <= bound + ROUNDING for bound in bounds)
            assert search.may_grow(less, mask & ~less, worth - 1e-6)


@given(submodular() | arbitrary(), st.data())
def test_a_search_beside_a_set_is_one_of_what_is_added(
    function: Tabulated, data: st.DataObject
) -> None:
    """Whatever is searched: the same as of a function that has the sets with the base alone."""
    base = data.draw(feasible(function))
    both = [base | mask for mask in range(len(function.utilities))]
    alone = replace(
        function,
        utilities=tuple(function.utilities[each] - function.utilities[base] for each in both),
        costs=tuple(function.costs[each] - function.costs[base] for each in both),
        allowed=tuple(function.allowed[each] for each in both),
    )
    alone.candidates = function.everything & ~base
    for algorithm in ALGORITHMS:
        found = maximise(function, algorithm, between=(base, function.everything))
        added = maximise(alone, algorithm)
        assert found.mask == base | added.mask
        assert found.order == (*members(base), *added.order)
        assert (found.proof, found.violations) == (added.proof, added.violations)
        level = function.value(base)
        assert found.value == pytest.approx(level + added.value)
        assert found.bound == (None if added.bound is None else pytest.approx(level + added.bound))


def test_sets_between_which_nothing_can_be_searched() -> None:
    """The first breaks a limit, or an attribute is no candidate, which bounds need not hold for."""
    function = replace(tabulate(2, float), allowed=(True, False, True, True))
    with pytest.raises(ValueError, match="breaks a limit"):
        maximise(function, between=(0b01, 0b11))
    for between in ((0b100, 0b111), (0b001, 0b111)):
        with pytest.raises(ValueError, match="candidates of the function"):
            maximise(tabulate(2, float), between=between)

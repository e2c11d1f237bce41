"""Plans, a query's utility pooled with that of all, and what pairs tell of larger sets."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from agent.tradeoff.plan import Pairwise, Portfolio, QueryPlanner, Scope, plan
from agent.tradeoff.tables import members, pairs, rows_of, subsets, union
from agent.tradeoff.utility import Utility
from tests.tradeoff.worlds import Table, Tabulated, submodular, tabulate

Floats = NDArray[np.float64]
ROUNDING = 1e-9
BITS = st.integers(-8, 8).map(lambda number: number / 4) | st.floats(-4, 4)
SUM_ROUNDING = 1e-8  # bits, of a whole plan


@st.composite
def figures(draw: st.DrawFn) -> tuple[Floats, Floats]:
    """Draw U of single attributes, and of pairs."""
    count = draw(st.integers(1, 5))
    singles = draw(arrays(np.float64, count, elements=BITS))
    both = draw(arrays(np.float64, count * (count - 1) // 2, elements=BITS))
    return singles, both


def pairwise_of(function: Tabulated) -> Pairwise:
    """What the singles and pairs of a table tell."""
    count = function.everything.bit_count()
    singles = np.array([function.value(1 << each) for each in range(count)])
    both = np.array([function.value(pair) for pair in pairs(count)])
    return Pairwise(rows_of(singles, both))


@given(figures())
def test_singles_and_pairs_are_what_they_were(given_: tuple[Floats, Floats]) -> None:
    """And nothing is 0."""
    singles, both = given_
    count, utility = len(singles), Pairwise(rows_of(singles, both))
    assert utility.value(0) == 0.0
    assert [utility.value(1 << each) for each in range(count)] == singles.tolist()
    found = [utility.value(pair) for pair in pairs(count)]
    assert found == pytest.approx(both.tolist(), abs=ROUNDING)


@given(figures())
def test_a_set_is_worth_the_same_however_it_is_reached(given_: tuple[Floats, Floats]) -> None:
    """All at once or by one more; and the limit is above every set."""
    utility, count = Pairwise(rows_of(*given_)), len(given_[0])
    for mask in range(1 << count):
        rest = [*members(((1 << count) - 1) & ~mask)]
        one_more = [utility.value(mask | 1 << each) for each in rest]
        assert utility.extensions(mask, rest) == one_more  # to the last bit
        assert utility.value(mask) <= utility.limit + ROUNDING


@given(submodular(most=6))
def test_of_a_submodular_utility_it_is_an_upper_bound(function: Tabulated) -> None:
    """An attribute adds to many no more than it adds to one of them."""
    utility = pairwise_of(function)
    for mask in range(len(function.utilities)):
        assert function.value(mask) <= utility.value(mask) + ROUNDING


class Given(Utility):
    """The utility of one query, looked up by mask."""

    def __init__(self, table: Table) -> None:
        self.table, self.limit = table, max(table)

    def value(self, mask: int) -> float:
        return self.table[mask]


class Drawn(NamedTuple):
    """Queries, each a table of U by mask, the weight of each, and what a portfolio costs."""

    tables: Sequence[Table]
    weights: Sequence[float]
    prices: Tabulated

    def queries(self) -> list[QueryPlanner]:
        """The queries with nothing remembered."""
        return [QueryPlanner(partial(Given, table), 5) for table in self.tables]

    def worth(self, mask: int, scope: Scope) -> float:
        """What a portfolio is worth where each query uses the best subset there is."""
        return sum(
            weight * best_use(table, mask, scope)
            for table, weight in zip(self.tables, self.weights, strict=True)
        ) - self.prices.cost(mask)


def best_use(table: Table, mask: int, scope: Scope) -> float:
    """The largest U of what an answer may be."""
    sets = (scope.fixed | each for each in subsets(mask & ~scope.fixed))
    most = 9 if scope.most is None else max(scope.most, scope.fixed.bit_count())
    return max(table[each] for each in sets if each.bit_count() <= most)


@st.composite
def drawn(draw: st.DrawFn, *, additive: bool = False) -> tuple[Drawn, Scope]:
    """Draw queries and prices; ``additive``: every attribute counts for itself, greedy is exact."""
    count = draw(st.integers(1, 5 if additive else 4))
    everything = (1 << count) - 1
    quarters = st.integers(-8, 16).map(lambda number: number / 4)
    bits = st.lists(quarters, min_size=count if additive else everything, max_size=everything)
    tables = []
    for _ in range(draw(st.integers(1, 3))):
        row = draw(bits)
        sums = (sum(row[each] for each in members(mask)) for mask in range(1 << count))
        tables.append(tuple(sums) if additive else (0.0, *row))
    single = draw(st.lists(st.integers(0, 8), min_size=count, max_size=count))
    steep = 0 if additive else draw(st.integers(0, 2))

    def cost(mask: int) -> float:
        size = mask.bit_count()
        return (sum(single[i] for i in members(mask)) + steep * size * (size - 1)) / 4

    prices = tabulate(count, lambda _: 0.0, cost)
    sent = draw(st.integers(0, everything)) & draw(st.integers(0, everything))
    most = None if additive else draw(st.none() | st.integers(1, 3))
    free = everything if additive else sent | draw(st.integers(0, everything))
    forbidden = [] if additive else draw(st.lists(st.integers(1, everything), max_size=2))
    allowed = tuple(
        not any(each & mask == each and each & ~sent for each in forbidden)
        for mask in range(everything + 1)
    )
    weights = [1 / len(tables)] * len(tables)
    return Drawn(tables, weights, replace(prices, allowed=allowed)), Scope(sent, free, 0, most)


def planned(world: Drawn, scope: Scope) -> Portfolio:
    """The plan, made with nothing remembered."""
    return plan(world.queries(), world.weights, world.prices, scope)


@given(drawn(additive=True))
def test_where_greedy_is_exact_it_is_the_best_of_all(case: tuple[Drawn, Scope]) -> None:
    """Where each attribute counts for itself, in every query and in the cost."""
    world, scope = case
    found = planned(world, scope)
    best = max(world.worth(scope.sent | each, scope) for each in subsets(scope.free))
    assert found.value == pytest.approx(best, abs=SUM_ROUNDING)
    assert world.worth(found.mask, scope) == pytest.approx(best, abs=SUM_ROUNDING)


@given(drawn())
def test_what_it_says_of_itself_is_true(case: tuple[Drawn, Scope]) -> None:
    """Each query uses a part of it, within the cap; and its value is theirs less its cost."""
    world, scope = case
    found = planned(world, scope)
    assert found.mask == scope.sent | union(found.order)
    assert union(found.order) & ~scope.free & ~scope.sent == 0
    used = [table[use] for table, use in zip(world.tables, found.uses, strict=True)]
    total = sum(w * bits for w, bits in zip(world.weights, used, strict=True))
    assert found.value == pytest.approx(total - world.prices.cost(found.mask))
    for use in found.uses:
        assert use & ~found.mask == 0
        assert scope.most is None or use.bit_count() <= scope.most
    assert found.value <= world.worth(found.mask, scope) + SUM_ROUNDING


@given(drawn())
def test_limits_hold_and_it_is_never_worse_than_nothing(case: tuple[Drawn, Scope]) -> None:
    """Than to use what is held, as `best` would; what is refused would break a limit."""
    world, scope = case
    found = planned(world, scope)
    assert world.prices.feasible(found.mask)
    nothing = planned(world, scope._replace(free=scope.sent))
    assert nothing.mask == scope.sent
    assert found.value >= nothing.value - SUM_ROUNDING
    for each in members(found.refused):
        assert not world.prices.feasible(found.mask | 1 << each)


@given(drawn(), st.lists(st.integers(0, 15), max_size=3))
def test_it_is_no_worse_than_where_it_starts(case: tuple[Drawn, Scope], starts: list[int]) -> None:
    """Than a set that is given, as far as that may be sent and keeps the limits, nor than without.

    And no attribute is in it that would better be left out.
    """
    world, scope = case
    found = plan(world.queries(), world.weights, world.prices, scope, starts)
    for start in (0, *starts):
        first = scope.sent | start & scope.free
        if world.prices.feasible(first):
            alone = planned(world, scope._replace(sent=first, free=first))
            assert found.value >= alone.value - SUM_ROUNDING
    for each in members(found.mask & ~scope.sent):
        rest = found.mask & ~(1 << each)
        if world.prices.feasible(rest):
            less = planned(world, scope._replace(sent=rest, free=rest))
            assert found.value >= less.value - SUM_ROUNDING


@given(drawn(), st.sampled_from([0.25, 0.5, 1.0]))
def test_what_adds_too_little_is_left_out(case: tuple[Drawn, Scope], least: float) -> None:
    """Whatever is planned makes the plan worth that much more, and each answer as well."""
    world, scope = case
    wanted = scope._replace(least=least)
    found, nothing = (planned(world, each) for each in (wanted, wanted._replace(free=scope.sent)))
    assert found.value >= nothing.value + least * len(found.order) - SUM_ROUNDING
    for table, use in zip(world.tables, found.uses, strict=True):
        assert table[use] >= least * use.bit_count() - SUM_ROUNDING


@given(drawn(), st.data(), st.sampled_from([1, 2_000]))
def test_what_is_remembered_changes_nothing(
    case: tuple[Drawn, Scope], data: st.DataObject, kept: int
) -> None:
    """Whatever was planned before with the same queries, the plan is that of a fresh start."""
    world, scope = case
    queries = world.queries()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("agent.tradeoff.plan.KEPT", kept)
        for _ in range(2):
            other = data.draw(st.integers(0, scope.free)) & scope.free
            plan(queries, world.weights, world.prices, Scope(other, scope.free))
        for changed in ({"most": data.draw(st.integers(0, 2))}, {"least": 0.5}, {}):
            wanted = scope._replace(**changed)
            again = plan(queries, world.weights, world.prices, wanted)
            assert again == planned(world, wanted)

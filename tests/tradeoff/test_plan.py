"""Plans, a query's utility pooled with that of all, and what pairs tell of larger sets."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from agent.tradeoff.plan import Pairwise, Portfolio, QueryPlanner, Scope, plan
from agent.tradeoff.tables import Floats, members, pairs, rows_of, subsets, union
from agent.tradeoff.utility import Utility
from tests.tradeoff.worlds import Table, Tabulated, submodular, tabulate

ROUNDING = 1e-9
BITS = st.integers(-8, 8).map(lambda number: number / 4) | st.floats(-4, 4)
SUM_ROUNDING = 1e-8  # bits, of a whole plan


@st.composite
def figures(draw: st.DrawFn) -> tuple[Floats, Floats]:
    """Draw U of single attributes, and of pairs."""
    count = draw(st.integers(1, 5))
    singles = draw(arrays(np.float64, count, elements=BITS))
    return singles, draw(arrays(np.float64, count * (count - 1) // 2, elements=BITS))


def pairwise_of(singles: Floats, both: Floats) -> Pairwise:
    """What singles and pairs tell."""
    return Pairwise(np.array([*rows_of(singles, both).values()][1:]))


@given(figures())
def test_singles_and_pairs_are_what_they_were(given_: tuple[Floats, Floats]) -> None:
    """And nothing is 0."""
    singles, both = given_
    count, utility = len(singles), pairwise_of(singles, both)
    assert utility.value(0) == 0.0
    assert [utility.value(1 << each) for each in range(count)] == singles.tolist()
    found = [utility.value(pair) for pair in pairs(count)]
    assert found == pytest.approx(both.tolist(), abs=ROUNDING)


@given(figures())
def test_a_set_is_worth_the_same_however_it_is_reached(given_: tuple[Floats, Floats]) -> None:
    """All at once or by one more; and the limit is above every set."""
    utility, count = pairwise_of(*given_), len(given_[0])
    for mask in range(1 << count):
        rest = [*members(((1 << count) - 1) & ~mask)]
        one_more = [utility.value(mask | 1 << each) for each in rest]
        assert utility.extensions(mask, rest) == one_more  # to the last bit
        assert utility.value(mask) <= utility.limit + ROUNDING


@given(submodular(most=6))
def test_of_a_submodular_utility_it_is_an_upper_bound(function: Tabulated) -> None:
    """An attribute adds to many no more than it adds to one of them."""
    singles = np.array([function.value(1 << each) for each in members(function.everything)])
    both = np.array([function.value(pair) for pair in pairs(len(singles))])
    utility = pairwise_of(singles, both)
    for mask in range(len(function.utilities)):
        assert function.value(mask) <= utility.value(mask) + ROUNDING


class Given(Utility):
    """The utility of one query, looked up by mask."""

    def __init__(self, table: Table) -> None:
        self.table, self.limit = table, max(table)

    def value(self, mask: int) -> float:
        return self.table[mask]


class Drawn(NamedTuple):
    """Queries, each a table of U by mask, the number of each, and what a portfolio costs.

    ``least``: the bits by which a new attribute has to help an answer.
    """

    tables: Sequence[Table]
    numbers: Sequence[float]
    prices: Tabulated
    scope: Scope
    free: int
    least: float = ROUNDING

    def queries(self, *, quick: bool = False) -> list[QueryPlanner]:
        """The queries with nothing remembered."""
        each = partial(QueryPlanner, attributes=self.prices.everything.bit_count(), quick=quick)
        return [each(partial(Given, table), least=self.least) for table in self.tables]

    def planned(self, starts: Sequence[int] = (), *, quick: bool = False) -> Portfolio:
        """The plan, made with nothing remembered."""
        queries = self.queries(quick=quick)
        return plan(queries, self.numbers, self.prices, self.scope, self.free, starts)

    def worth(self, mask: int) -> float:
        """What a portfolio is worth where each query uses the best subset there is."""
        pairs_ = zip(self.tables, self.numbers, strict=True)
        helped = sum(number * best_use(table, mask, self.scope) for table, number in pairs_)
        return helped - self.prices.cost(mask)

    def portfolios(self) -> list[int]:
        """Every portfolio that keeps the limits."""
        sent = self.scope.sent
        sets = (sent | each for each in subsets(self.free & ~sent))
        return [each for each in sets if each == sent or self.prices.feasible(each)]


def best_use(table: Table, mask: int, scope: Scope) -> float:
    """The largest U of what an answer may be."""
    sets = (scope.fixed | each for each in subsets(mask & ~scope.fixed))
    most = 9 if scope.most is None else max(scope.most, scope.fixed.bit_count())
    return max(table[each] for each in sets if each.bit_count() <= most)


def additive(draw: st.DrawFn, count: int) -> Table:
    """Draw a U to which each attribute adds its own, also less than nothing."""
    row = draw(st.lists(st.integers(-8, 16), min_size=count, max_size=count))
    return tuple(sum(row[each] for each in members(mask)) / 4 for mask in range(1 << count))


def covering(draw: st.DrawFn, count: int) -> Table:
    """Draw a U that is monotone and submodular: what all of a set cover together."""
    every = (1 << len(WORTH)) - 1
    covers = draw(st.lists(st.integers(0, every), min_size=count, max_size=count))
    sets = (
        union(i for each in members(m) for i in members(covers[each])) for m in range(1 << count)
    )
    return tuple(sum(WORTH[each] for each in members(covered)) for covered in sets)


def any_table(draw: st.DrawFn, count: int) -> Table:
    """Draw any U with nothing for nothing."""
    size = (1 << count) - 1
    quarters = st.integers(-8, 16).map(lambda number: number / 4)
    return (0.0, *draw(st.lists(quarters, min_size=size, max_size=size)))


WORTH = (0.015, 0.25, 0.5, 1.0, 2.25)  # bits, of what can be covered
TABLES = {"additive": additive, "covering": covering, "any": any_table}


@st.composite
def drawn(draw: st.DrawFn, kind: str = "any", *, limits: bool = True) -> Drawn:
    """Draw queries of a kind, and prices that only grow; what is refused stays refused."""
    count = draw(st.integers(1, 4 if kind == "any" else 5))
    everything = (1 << count) - 1
    tables = [TABLES[kind](draw, count) for _ in range(draw(st.integers(1, 3)))]
    single = draw(st.lists(st.integers(0, 8), min_size=count, max_size=count))
    steep = 0 if kind == "additive" else draw(st.integers(0, 2))

    def cost(mask: int) -> float:
        size = mask.bit_count()
        return (sum(single[i] for i in members(mask)) + steep * size * (size - 1)) / 4

    held = draw(st.integers(0, everything)) & draw(st.integers(0, everything))
    most = draw(st.none() | st.integers(1, 3)) if limits else None
    free = held | draw(st.integers(0, everything))
    forbidden = draw(st.lists(st.integers(1, everything), max_size=2)) if limits else []
    allowed = tuple(
        not any(each & mask == each and each & ~held for each in forbidden)
        for mask in range(everything + 1)
    )
    prices = replace(tabulate(count, lambda _: 0.0, cost), allowed=allowed)
    numbers = [draw(st.sampled_from([0.5, 1.0, 4.0])) for _ in tables]
    least = draw(st.sampled_from([ROUNDING, 0.02, 0.5])) if limits else ROUNDING
    return Drawn(tables, numbers, prices, Scope(held, 0, most), free, least)


@given(drawn("additive", limits=False))
def test_where_greedy_is_exact_it_is_the_best_of_all(world: Drawn) -> None:
    """Where each attribute counts for itself, in every query and in the cost."""
    portfolio, best = world.planned(), max(map(world.worth, world.portfolios()))
    assert portfolio.value == pytest.approx(best, abs=SUM_ROUNDING)
    assert world.worth(portfolio.mask) == pytest.approx(best, abs=SUM_ROUNDING)


def test_it_is_the_best_of_all_most_of_the_time() -> None:
    """Of random small worlds against every portfolio; the rest come near."""
    rng, shares = np.random.default_rng(5), list[float]()
    sets = [[*members(mask)] for mask in range(1 << 6)]
    for _ in range(200):
        parts = rng.random((3, 6, 8)) * (rng.random((3, 6, 8)) < 0.3)
        tables = [tuple(float(p[each].max(0, initial=0.0).sum()) for each in sets) for p in parts]
        price = rng.random(6) * 3
        costs = tuple(float(price[each].sum()) * len(each) for each in sets)
        prices = Tabulated((0.0,) * len(sets), costs, (True,) * len(sets))
        world = Drawn(tables, [1.0, 2.0, 4.0], prices, Scope(0), 63)
        best = max(map(world.worth, world.portfolios()))
        shares.append(world.planned().value / best if best > 0 else 1.0)
    assert np.mean(np.array(shares) > 1 - 1e-9) >= 0.9
    assert min(shares) > 0.75


@given(drawn())
def test_what_it_says_of_itself_is_true(world: Drawn) -> None:
    """Each query uses a part of it, within the cap; and its value is theirs less its cost."""
    portfolio, scope = world.planned(), world.scope
    assert portfolio.mask == scope.sent | union(portfolio.order)
    assert union(portfolio.order) & ~world.free & ~scope.sent == 0
    bits = [table[use] for table, use in zip(world.tables, portfolio.uses, strict=True)]
    assert portfolio.bits == pytest.approx(bits)
    total = sum(number * each for number, each in zip(world.numbers, bits, strict=True))
    assert portfolio.value == pytest.approx(total - world.prices.cost(portfolio.mask))
    for use in portfolio.uses:
        assert use & ~portfolio.mask == 0
        assert scope.most is None or use.bit_count() <= scope.most
    assert portfolio.value <= world.worth(portfolio.mask) + SUM_ROUNDING


@given(drawn(), st.lists(st.integers(0, 15), max_size=3))
def test_limits_hold_for_the_whole_of_it(world: Drawn, starts: list[int]) -> None:
    """What is refused would break a limit."""
    portfolio = world.planned(starts)
    assert portfolio.mask == world.scope.sent or world.prices.feasible(portfolio.mask)
    for each in members(portfolio.refused):
        assert not world.prices.feasible(portfolio.mask | 1 << each)


@given(drawn("covering", limits=False), st.lists(st.integers(0, 31), max_size=3))
def test_no_attribute_would_better_be_left_out(world: Drawn, starts: list[int]) -> None:
    """Nor is it worth less than what was sent alone (DESIGN.md 2.4)."""
    portfolio = world.planned(starts)
    assert portfolio.value == pytest.approx(world.worth(portfolio.mask), abs=SUM_ROUNDING)
    assert portfolio.value >= world.worth(world.scope.sent) - SUM_ROUNDING
    for each in members(portfolio.mask & ~world.scope.sent):
        assert world.worth(portfolio.mask & ~(1 << each)) <= portfolio.value + SUM_ROUNDING
    for each in members(world.free & ~portfolio.mask):  # nor better added, of a submodular U
        assert world.worth(portfolio.mask | 1 << each) <= portfolio.value + SUM_ROUNDING


@given(drawn("covering"))
def test_what_this_request_pays_for_is_in_its_answer(world: Drawn) -> None:
    """Whatever else is planned: by its marginal U, within limits and cap (DESIGN.md 2.10)."""
    portfolio, scope, prices = world.planned(), world.scope, world.prices
    answer, table = portfolio.uses[0], world.tables[0]
    for each in members(world.free & ~scope.sent & ~answer):
        more = answer | 1 << each
        gain = table[more] - table[answer]
        if gain >= world.least and scope.has_room(more) and prices.feasible(scope.sent | more):
            assert not portfolio.mask >> each & 1
            dearer = prices.cost(portfolio.mask | 1 << each) - prices.cost(portfolio.mask)
            assert world.numbers[0] * gain <= dearer + SUM_ROUNDING


def test_what_is_planned_for_later_takes_nobody_s_place() -> None:
    """Two facts, of which a limit admits one: the other helps what may come, this one now."""
    now, later = (0.0, 0.5, 0.0, 0.5), (0.0, 0.0, 1.0, 1.0)
    prices = replace(
        tabulate(2, lambda _: 0.0, lambda mask: mask.bit_count() / 8),
        allowed=(True, True, True, False),
    )
    portfolio = Drawn([now, later], [1.0, 20.0], prices, Scope(0), 3).planned(starts=[2])
    assert (portfolio.mask, portfolio.uses, portfolio.refused) == (1, (1, 0), 2)


def test_a_plan_ends_where_nothing_else_can_be_taken_out() -> None:
    """Without the only one, what grows again crowds what this request pays for by itself."""
    now = (0.0, 0.4, 0.5, 0.5, 0.0, 0.4, 0.5, 0.5)
    later = (0.0, 1.0, 0.0, 1.0, 0.9, 1.0, 0.9, 1.0)
    prices = replace(
        tabulate(3, lambda _: 0.0, lambda mask: mask.bit_count() / 8),
        allowed=tuple(mask & 6 != 6 for mask in range(8)),
    )
    assert Drawn([now, later], [1.0, 20.0], prices, Scope(0), 7).planned().mask == 1


@given(drawn(), st.data())
def test_an_answer_tells_what_helps_it_enough(world: Drawn, data: st.DataObject) -> None:
    """What is held is used as soon as it helps at all; whatever is new adds at least the least."""
    query, table = world.queries()[0], world.tables[0]
    options = data.draw(st.integers(0, world.prices.everything))
    order = query.best(0, options, world.scope.has_room, world.scope.sent)
    for place, each in enumerate(order):
        before = union(order[:place])
        least = 0.0 if world.scope.sent >> each & 1 else world.least
        assert table[before | 1 << each] - table[before] >= least
    answer = union(order)
    for each in members(options & ~answer):
        least = ROUNDING if world.scope.sent >> each & 1 else world.least
        enough = table[answer | 1 << each] - table[answer] >= least
        assert not (enough and world.scope.has_room(answer | 1 << each))


@given(drawn(), st.data())
def test_what_is_remembered_changes_nothing(world: Drawn, data: st.DataObject) -> None:
    """Whatever was planned before with the same queries, the plan is that of a fresh start."""
    queries, scope = world.queries(), world.scope
    for most in (None, 1, 2):
        other = data.draw(st.integers(0, world.free)) & world.free
        plan(queries, world.numbers, world.prices, Scope(other, 0, most), world.free)
    for changed in ({"most": data.draw(st.integers(0, 2))}, {}):
        wanted = world._replace(scope=scope._replace(**changed))
        again = plan(queries, world.numbers, world.prices, wanted.scope, world.free)
        assert again == wanted.planned()


@given(figures(), st.integers(0, 3), st.floats(1.0, 20.0), st.data())
def test_among_more_attributes_by_pairs_others_add_nothing(
    given_: tuple[Floats, Floats], others: int, unit: float, data: st.DataObject
) -> None:
    """A set has what its own singles and pairs have, times the unit; where none are, it is counted.

    Other figures of the query have no say.
    """
    stored, own = rows_of(*given_), len(given_[0])
    never = Mock(side_effect=AssertionError("a utility was made"))
    assert (alone := QueryPlanner(never, own, {0: given_[0]})).by_pairs is alone
    stored |= {7: np.full(own, 9.0)} if own > 2 else {}
    count = own + others
    places = data.draw(st.permutations(range(count)))[:own]
    query = QueryPlanner(never, own, stored).embedded(places, count, unit)
    order = np.argsort(places)  # of equals the first in the world counts before
    estimate = Pairwise(unit * np.array([stored[1 << each][order] for each in order.tolist()]))
    for mask in range(1 << count if own > 1 else 0):
        inside = union(at for at, place in enumerate(sorted(places)) if mask >> place & 1)
        rest, utility = [*members((1 << count) - 1 & ~mask)], query.by_pairs.utility()
        assert utility.value(mask) == estimate.value(inside)  # to the last bit
        assert utility.extensions(mask, rest) == [utility.value(mask | 1 << each) for each in rest]


@given(drawn("covering"))
def test_what_is_soon_computed_for_all_is_never_out_of_date(world: Drawn) -> None:
    """The plan is that where every gain is computed when it matters, at no more evaluations."""
    one, other = world.planned(), world.planned(quick=True)
    assert one == replace(other, evaluations=one.evaluations)
    assert other.evaluations <= one.evaluations

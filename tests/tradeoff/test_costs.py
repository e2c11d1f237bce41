"""Costs other than one recipient's identifiability, and how each bends (paper 9.6)."""

from itertools import product
from math import inf, nan

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from agent.errors import UsageError
from agent.tradeoff.anonymity_set import AnonymitySet
from agent.tradeoff.costs import Convex, Cost, Identifiability, Polynomial, WeightedSum, pooled
from agent.tradeoff.coverage import Coverage
from agent.tradeoff.measures import METRICS, Curvature
from agent.tradeoff.objective import Objective
from agent.tradeoff.search import ALGORITHMS, maximise
from agent.tradeoff.study import supermodularity
from agent.tradeoff.tables import Floats, Population, subsets, union
from tests.tradeoff import naive
from tests.tradeoff.test_search import check_result
from tests.tradeoff.worlds import World, all_pairs, rich_worlds

COUNT, EVERYTHING = 4, 15
SETS = st.integers(0, EVERYTHING)
PRICES = st.lists(st.tuples(SETS, st.sampled_from([0.0, 0.1, 0.7, 2.0])), max_size=4)
WEIGHTS = st.lists(st.sampled_from([0.0, 0.5, 2.0]), min_size=COUNT, max_size=COUNT)
FUNCTIONS = (lambda x: x**2, lambda x: max(0.0, x - 1.5), lambda x: 0.3 * x, lambda _: 2.0)
EACH_COMBINATION = np.array([*product(range(2), repeat=COUNT)], np.uint8)
PEOPLE = [AnonymitySet(Population(EACH_COMBINATION[::by]), (2,) * COUNT) for by in (1, 3)]
SINGLE = (
    st.builds(Polynomial, PRICES, SETS)
    | st.builds(Convex, WEIGHTS, st.sampled_from(FUNCTIONS))
    | st.builds(Identifiability, st.sampled_from(PEOPLE), st.sampled_from(METRICS), st.just(2))
)
PARTS = st.lists(st.tuples(st.sampled_from([0.0, 0.5, 3.0]), SINGLE, SETS | st.just(-1)))
PAIR = Polynomial([(3, 0.1)])
COSTS = SINGLE | PARTS.map(WeightedSum)


def bends(cost: Cost, mask: int) -> Curvature:
    """How it does by brute force; unknown where what an attribute adds gets less somewhere."""
    pairs = all_pairs(mask)
    if supermodularity(cost, pairs).violating:
        return "unknown"
    rising = supermodularity(lambda each: -cost(each), pairs).violating
    return "supermodular" if rising else "modular"


@given(COSTS, SETS)
@example(WeightedSum([(1.0, Identifiability(PEOPLE[1], "entropy"), -1), (1.0, PAIR, -1)]), 15)
def test_each_bends_as_it_says(cost: Cost, mask: int) -> None:
    """Over the sets within any: what an attribute adds never gets less, or is always the same."""
    said, found = cost.curvature(mask), bends(cost, mask)
    assert said in ("unknown", found) or (said, found) == ("supermodular", "modular")
    assert said == found or not isinstance(cost, Polynomial)
    assert said != "unknown" or isinstance(cost, Identifiability | WeightedSum)


@given(rich_worlds(people=20), st.data())
def test_a_pool_holds_what_each_of_it_does(world: World, data: st.DataObject) -> None:
    """So that one more fact is charged beside all of that."""
    pairs = st.sampled_from([*enumerate(world.population.codes[0].tolist())])
    held = data.draw(st.lists(st.sets(pairs), max_size=3))
    mask, every = data.draw(st.integers(0, world.everything)), sorted(set().union(*held))
    told = mask | union(each for each, _ in every)
    lost = naive.identifiability(world.population, told, (*every,), "maxprob", 1)
    assert pooled(world.population, world.cards, held)(mask) == pytest.approx(lost, abs=1e-8)


def test_the_largest_cost_of_several_recipients_bends_down() -> None:
    """So it is no cost here: what one gets is free beside what costs more at another."""
    alone, mask, parts = Identifiability(PEOPLE[0]), 0b11, (0b01, 0b10)
    assert bends(alone, mask) == alone.curvature(mask) == "supermodular"
    assert bends(WeightedSum([(1.0, alone, part) for part in parts]), mask) == "modular"
    most = [max(alone(each & part) for part in parts) for each in range(4)]
    assert most[0b11] - most[0b10] < most[0b01] - most[0b00]


@given(COSTS, arrays(np.float64, (2, COUNT), elements=st.floats(0, 1)), st.sampled_from([0.0, 1.0]))
def test_a_search_claims_what_follows_where_it_does(
    cost: Cost, parts: Floats, trade_off: float
) -> None:
    """Where the cost says that it does not bend down; and then no set is above the bound."""
    objective = Objective(Coverage(np.array([0.5, 3.0]), parts), cost, COUNT, trade_off)
    certain = not trade_off or cost.curvature(EVERYTHING) != "unknown"
    assert objective.claims_submodularity == certain
    best = max(map(objective.value, subsets(EVERYTHING)))
    for algorithm in ALGORITHMS:
        result = maximise(objective, algorithm)
        check_result(objective, result, algorithm)
        assert result.proof == "enumerated" or (result.proof == "if-submodular") == certain
        assert result.bound is None or result.bound >= best - 1e-9


def test_what_would_bend_down_is_refused() -> None:
    """And prices below 0 and without end, and a pool that holds two values of a fact."""
    bent = (lambda x: x**0.5, lambda x: -x, lambda x: 1e9 + min(x, 1.0), lambda x: x and inf)
    for function in bent:
        with pytest.raises(UsageError, match="falls, rises less and less, or is no number"):
            Convex((1.0, 2.0), function)
    assert Convex((1.0, 2.0), lambda x: 1e3 + x)(3) == 1e3 + 3
    for bits in (-1.0, inf, nan):
        for make in (lambda bits: Convex((1.0, bits), abs), lambda bits: Polynomial([(3, bits)])):
            with pytest.raises(UsageError, match=f"a price cannot be {bits}"):
                make(bits)
    for wrong in (lambda: Convex((1e308, 1e308), abs), lambda: Polynomial([(-1, 1.0)])):
        with pytest.raises(UsageError, match=r"too large|below 0"):
            wrong()
    with pytest.raises(UsageError, match="different values of one fact"):
        pooled(Population(EACH_COMBINATION), (2,) * COUNT, [[(0, 0)], [(0, 1)]])

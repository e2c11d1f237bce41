"""A utility less prices is a set function like any other, and as submodular as before."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from agent.tradeoff.objective import Objective
from agent.tradeoff.search import maximise
from agent.tradeoff.tables import members, singleton, subsets, union
from agent.tradeoff.utility import MOST_PRICE, Function, Priced
from tests.tradeoff.worlds import World, rich_worlds

PRICES = st.floats(0, MOST_PRICE) | st.floats(0, 0.1)


def priced(world: World, data: st.DataObject) -> Priced:
    """Return the world's utility less prices that are drawn."""
    count = len(world.cards)
    prices = data.draw(st.lists(PRICES, min_size=count, max_size=count))
    return Priced(world.utility(), np.array(prices))


@given(rich_worlds(), st.data())
def test_a_price_is_paid_for_each_attribute_of_the_set(world: World, data: st.DataObject) -> None:
    """Nothing is worth nothing, and no price is rounded by more than shows."""
    count = len(world.cards)
    prices = data.draw(st.lists(PRICES, min_size=count, max_size=count))
    utility, plain = Priced(world.utility(), np.array(prices)), world.utility()
    assert utility.value(0) == 0.0
    for mask in subsets(world.everything):
        paid = sum(prices[each] for each in members(mask))
        assert abs(utility.value(mask) - (plain.value(mask) - paid)) < 1e-9
        for each in members(mask):
            [bound] = utility.potentials(mask & ~singleton(each), [each])
            assert utility.value(mask) <= min(utility.limit, bound) + 1e-9
            assert utility.value(world.everything) <= bound + 1e-9


@given(rich_worlds(), st.data())
def test_a_set_is_worth_the_same_however_it_is_reached(world: World, data: st.DataObject) -> None:
    """Equal, not nearly equal, attribute by attribute or many at once, whatever the order."""
    utility = priced(world, data)
    for mask in subsets(world.everything):
        new = data.draw(st.permutations([*members(world.everything & ~mask)]))
        values = [utility.value(mask | singleton(each)) for each in new]
        assert utility.extensions(mask, new) == values


@given(st.data())
def test_lazy_and_eager_search_agree(data: st.DataObject) -> None:
    """Of what covers most at a price, which is submodular: the same set in the same order."""
    covers = data.draw(st.lists(st.sets(st.integers(0, 7)), min_size=1, max_size=6))
    prices = data.draw(st.lists(PRICES, min_size=len(covers), max_size=len(covers)))

    def covered(mask: int) -> float:
        return float(len(set[int]().union(*(covers[each] for each in members(mask)))))

    utility = Priced(Function(covered), np.array(prices))

    def searched(algorithm: str) -> tuple[int, float]:
        objective = Objective(utility, float, len(covers), 0.0, submodular=True)
        found = maximise(objective, algorithm)  # type: ignore[arg-type]  # one of three
        assert union(found.order) == found.mask
        return found.mask, found.value

    assert searched("lls") == searched("ls")

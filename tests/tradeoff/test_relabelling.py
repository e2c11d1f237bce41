"""What things are called, and in which order they are listed, changes nothing."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from agent.tradeoff.anonymity_set import METRICS
from agent.tradeoff.sets import members, singleton, subsets
from agent.tradeoff.tables import Population, QueryRows
from agent.tradeoff.utility import Estimator
from tests.tradeoff.worlds import ESTIMATORS, World, rich_worlds

CLOSE = 1e-9


def permutation(draw: st.DrawFn, size: int) -> NDArray[np.intp]:
    """Draw an order of so many things."""
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return generator.permutation(size).astype(np.intp)


def renamed(
    codes: NDArray[np.unsignedinteger], names: Sequence[NDArray[np.intp]]
) -> NDArray[np.uint8]:
    """Give each attribute's values their new names."""
    columns = [name[column] for name, column in zip(names, codes.T, strict=True)]
    shape = codes.shape
    return np.array(columns, np.uint8).T.reshape(shape)


@st.composite
def called_otherwise(draw: st.DrawFn) -> tuple[World, World]:
    """Draw a world and the same with other names for users, intents and values.

    Rows and people are listed in another order, too; "not specified" keeps its code 0.
    """
    world = draw(rich_worlds())
    rows, people = world.rows, world.population
    names = [np.r_[0, 1 + permutation(draw, card - 1)] for card in world.cards]
    person, request = names[: world.persons], names[world.persons :]
    users, intents = permutation(draw, len(rows.person)), permutation(draw, rows.intents)
    order, crowd = permutation(draw, len(rows.user)), permutation(draw, people.people)
    codes = renamed(rows.person, person)
    other = QueryRows(
        user=users[rows.user][order],
        intent=intents[rows.intent][order],
        person=codes[np.argsort(users)],
        request=renamed(rows.request, request)[order],
        intents=rows.intents,
    )
    population = Population(
        codes=renamed(people.codes, person)[crowd],
        weights=None if people.weights is None else people.weights[crowd],
        request_counts=tuple(
            table[:, np.argsort(name)][crowd]
            for table, name in zip(people.request_counts, request, strict=True)
        ),
    )
    return world, World(world.cards, world.persons, other, population)


@given(called_otherwise(), st.sampled_from(ESTIMATORS))
def test_utility_does_not_depend_on_names(
    worlds: tuple[World, World], estimator: Estimator
) -> None:
    """Users, intents, values and rows; values, ceilings and limits."""
    one, other = (world.utility(estimator) for world in worlds)
    assert one.limit == pytest.approx(other.limit, abs=CLOSE)
    for mask in subsets(worlds[0].everything):
        assert one.value(mask) == pytest.approx(other.value(mask), abs=CLOSE)
        assert one.ceiling(mask) == pytest.approx(other.ceiling(mask), abs=CLOSE)


@given(called_otherwise(), st.integers(2, 5))
def test_cost_does_not_depend_on_names(worlds: tuple[World, World], k: int) -> None:
    """People and values; every metric, guards, and the number of people left."""
    one, other = (world.crowd() for world in worlds)
    for mask in subsets(worlds[0].everything):
        for metric in METRICS:
            found = one.identifiability(mask, metric, k)
            assert found == pytest.approx(other.identifiability(mask, metric, k), abs=CLOSE)
        assert one.people_left(mask) == pytest.approx(other.people_left(mask))
        assert one.guard_bits(0, mask) == pytest.approx(other.guard_bits(0, mask), abs=CLOSE)
        assert one.best_guess(0, mask) == pytest.approx(other.best_guess(0, mask), abs=CLOSE)


@given(rich_worlds(requests=0), st.sampled_from(ESTIMATORS), st.data())
def test_values_do_not_depend_on_the_order_of_attributes(
    world: World, estimator: Estimator, data: st.DataObject
) -> None:
    """Utility and cost of a set of attributes listed in another order."""
    order = data.draw(st.permutations(range(world.persons)))
    rows, people = world.rows, world.population
    other = World(
        tuple(world.cards[each] for each in order),
        world.persons,
        QueryRows(rows.user, rows.intent, rows.person[:, order], rows.request, rows.intents),
        Population(people.codes[:, order], people.weights),
    )
    utilities = world.utility(estimator), other.utility(estimator)
    crowds = world.crowd(), other.crowd()
    for mask in subsets(world.everything):
        moved = sum(singleton(order.index(each)) for each in members(mask))
        found = utilities[1].value(moved)
        assert utilities[0].value(mask) == pytest.approx(found, abs=CLOSE)
        for metric in METRICS:
            found = crowds[1].identifiability(moved, metric, 3)
            assert crowds[0].identifiability(mask, metric, 3) == pytest.approx(found, abs=CLOSE)

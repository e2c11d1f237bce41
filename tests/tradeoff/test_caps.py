"""Caps on how many attributes a set may have, in all and new to the recipient."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.tradeoff.objective import DisclosureObjective, Settings
from agent.tradeoff.search import ALGORITHMS, Algorithm, maximise
from agent.tradeoff.sets import members, singleton, subsets, union
from agent.tradeoff.tables import Population, QueryRows
from tests.tradeoff.worlds import World, known, rich_worlds, settings_for

ALGORITHM = st.sampled_from(ALGORITHMS)
CAP = st.none() | st.integers(0, 4)


@given(rich_worlds(requests=1, people=25), st.data(), CAP, CAP)
def test_caps_count_and_nothing_else(
    world: World, data: st.DataObject, most: int | None, most_new: int | None
) -> None:
    """A set is feasible where it was without caps and is small enough; what it costs stays."""
    crowd = world.crowd(data.draw(known(world)))
    plain = replace(data.draw(settings_for(world)), most=None, most_new=None)
    free = DisclosureObjective(world.utility(), crowd, plain)
    capped = DisclosureObjective(
        world.utility(), crowd, replace(plain, most=most, most_new=most_new)
    )
    for mask in subsets(world.everything):
        new = [i for i in members(mask) if i < world.persons and not crowd.known >> i & 1]
        few = most is None or len(list(members(mask))) <= most
        few_new = most_new is None or len(new) <= most_new
        assert capped.feasible(mask) == (free.feasible(mask) and few and few_new)
        assert capped.hopeless(mask) == (free.hopeless(mask) or not few or not few_new)
        assert capped.value(mask) == free.value(mask)


@given(rich_worlds(), st.data())
def test_re_sending_is_not_new(world: World, data: st.DataObject) -> None:
    """What adds nothing new breaks no limit but ``most``; nothing at all breaks none."""
    crowd = world.crowd(data.draw(known(world)))
    objective = DisclosureObjective(world.utility(), crowd, data.draw(settings_for(world)))
    most = data.draw(st.integers(0, 4))
    few = replace(data.draw(settings_for(world)), most=most, most_new=0)
    tight = DisclosureObjective(world.utility(), crowd, few)
    assert objective.feasible(0)
    assert tight.feasible(0)
    for mask in subsets(crowd.known):
        assert tight.feasible(mask) == (mask.bit_count() <= most)


def four_ways() -> World:
    """Return a world in which each of four attributes tells one bit more of the intent."""
    user = np.arange(160)
    codes = np.stack([user >> i & 1 for i in range(4)], axis=1).astype(np.uint8)
    rows = QueryRows(user, user % 16, codes, np.zeros((160, 0), np.uint8), 16)
    return World((2,) * 4, 4, rows, Population(codes))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("cap", range(5))
def test_a_cap_is_used_up(algorithm: Algorithm, cap: int) -> None:
    """Where every attribute is worth its price, as many go as may."""
    world, free = four_ways(), Settings(0b1111, (0.0,) * 4, trade_off=0.0)
    for settings in (replace(free, most=cap), replace(free, most_new=cap)):
        objective = DisclosureObjective(world.utility("plugin", 0.0), world.crowd(), settings)
        assert maximise(objective, algorithm).mask.bit_count() == cap


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_what_is_known_counts_where_all_count(algorithm: Algorithm) -> None:
    """Two attributes are held already: they use up ``most``, and nothing of ``most_new``."""
    world, held = four_ways(), union(range(2))
    crowd = world.crowd(((0, 0), (1, 1)))
    free = Settings(0b1111, (0.0,) * 4, trade_off=0.0)

    def found(settings: Settings) -> int:
        return maximise(
            DisclosureObjective(world.utility("plugin", 0.0), crowd, settings), algorithm
        ).mask

    assert found(replace(free, most=2)).bit_count() == 2
    assert found(replace(free, most_new=0)) == held
    assert found(replace(free, most_new=1)) & held == held
    assert found(replace(free, most_new=1)).bit_count() == 3


def test_request_attributes_are_no_facts_to_keep() -> None:
    """They count towards what is sent, not towards what is new."""
    user = np.arange(8)
    person = (user % 2).astype(np.uint8)[:, np.newaxis]
    request = np.stack([user // 2 % 2, user // 4], axis=1).astype(np.uint8)
    rows = QueryRows(user, user, person, request, 8)
    counts = (np.ones((8, 2), np.uint16),) * 2
    world = World((2, 2, 2), 1, rows, Population(person, None, counts))
    settings = Settings(0b111, (0.0,) * 3, most=2, most_new=0)
    objective = DisclosureObjective(world.utility(), world.crowd(), settings)
    assert [m for m in subsets(0b111) if objective.feasible(m)] == [0, 0b010, 0b100, 0b110]
    assert objective.hopeless(singleton(0))

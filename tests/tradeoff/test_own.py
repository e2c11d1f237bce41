"""Limits kept for the user's own class too: ``protect = "me"`` (DESIGN.md 2.6)."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.tradeoff.objective import DisclosureObjective, Settings
from agent.tradeoff.search import ALGORITHMS, Algorithm, maximise
from agent.tradeoff.sets import subsets
from agent.tradeoff.tables import Population, QueryRows
from tests.tradeoff import naive
from tests.tradeoff.test_limits import keeps_own
from tests.tradeoff.worlds import Known, World, known, owns, rich_worlds, settings_for

ALGORITHM = st.sampled_from(ALGORITHMS)


@given(rich_worlds(people=25), st.data())
def test_the_class_is_counted(world: World, data: st.DataObject) -> None:
    """Who agrees with knowledge and with the own codes, and how likely the likeliest is."""
    what, own = data.draw(known(world)), data.draw(owns(world))
    crowd = world.crowd(what)
    for mask in subsets(world.everything):
        alike = naive.own_weights(world.population, mask, what, own)
        people, peak = crowd.own_class(mask, dict(own))
        assert people == len(alike)
        assert peak == pytest.approx(max(alike) / sum(alike) if alike else 1.0)


@given(rich_worlds(people=40), st.data())
def test_it_only_takes_away(world: World, data: st.DataObject) -> None:
    """A set is feasible where it was and the own class is safe; what it is worth stays."""
    what, own = data.draw(known(world)), data.draw(owns(world))
    plain = replace(data.draw(settings_for(world)), own=None)
    crowd = world.crowd(what)
    free = DisclosureObjective(world.utility(), crowd, plain)
    mine = DisclosureObjective(world.utility(), crowd, replace(plain, own=own))
    for mask in subsets(world.everything):
        nothing_new = not mask & ~crowd.known
        kept = nothing_new or keeps_own(world, what, replace(plain, own=own), mask)
        assert mine.feasible(mask) == (free.feasible(mask) and kept)
        assert mine.value(mask) == free.value(mask)
        if mine.hopeless(mask):
            more = subsets(world.everything & ~mask)
            assert not any(mine.feasible(mask | each) for each in more)
        if crowd.monotone("k-anonymity", world.everything):
            assert mine.hopeless(mask) == (not mine.feasible(mask))


@given(rich_worlds(), st.data(), ALGORITHM)
def test_without_a_limit_it_changes_nothing(
    world: World, data: st.DataObject, algorithm: Algorithm
) -> None:
    """There is nothing to keep for the user that is not kept for everybody."""
    settings = replace(data.draw(settings_for(world)), k=None, max_risk=None)
    crowd = world.crowd(data.draw(known(world)))

    def found(own: Known | None) -> object:
        objective = DisclosureObjective(world.utility(), crowd, replace(settings, own=own))
        return maximise(objective, algorithm)

    assert found(data.draw(owns(world))) == found(None)


def rare() -> World:
    """Return twenty people of whom two have value 1 of attribute 0, and one of them 1 of 1."""
    codes = np.zeros((20, 2), np.uint8)
    codes[:2, 0], codes[0, 1] = 1, 1
    user = np.arange(20)
    rows = QueryRows(user, np.minimum(user, 2), codes, np.zeros((20, 0), np.uint8), 3)
    return World((2, 2), 2, rows, Population(codes))


@pytest.mark.parametrize(
    ("own", "feasible"),
    [
        (((0, 0), (1, 0)), [0, 1, 2, 3]),
        (((0, 1), (1, 0)), [0, 2]),  # one of two, where attribute 0 is told
        (((0, 1), (1, 1)), [0]),
        ((), [0, 1, 2, 3]),  # nothing specified is a value too
        (((0, 7),), [0, 2]),  # nobody has it: as good as recognised
        (None, [0, 1, 2, 3]),
    ],
)
def test_a_rare_value_is_withheld_though_few_have_it(
    own: Known | None, feasible: list[int]
) -> None:
    """On average a guess succeeds three times in twenty; it would not with this user."""
    settings = Settings(0b11, (0.0, 0.0), k=3, max_violations=0.2, max_risk=0.2, own=own)
    objective = DisclosureObjective(rare().utility(), rare().crowd(), settings)
    assert [mask for mask in subsets(0b11) if objective.feasible(mask)] == feasible
    assert [mask for mask in subsets(0b11) if not objective.hopeless(mask)] == feasible


def test_nobody_is_no_class_at_all() -> None:
    """A risk of 1 lets a single person be recognised, but not one whom the model has not."""
    settings = Settings(0b11, (0.0, 0.0), max_risk=1.0, own=((0, 1), (1, 1)))
    crowd = rare().crowd()
    assert DisclosureObjective(rare().utility(), crowd, settings).feasible(0b11)
    nobody = replace(settings, own=((0, 0), (1, 1)))
    assert not DisclosureObjective(rare().utility(), crowd, nobody).feasible(0b11)


def test_values_that_contradict_what_is_known_leave_nobody() -> None:
    """The recipient takes the user for somebody else: what the class will be is not known."""
    settings = Settings(0b11, (0.0, 0.0), max_risk=0.6, own=((0, 1), (1, 0)))
    objective = DisclosureObjective(rare().utility(), rare().crowd(((0, 0),)), settings)
    assert [mask for mask in subsets(0b11) if objective.feasible(mask)] == [0, 1, 2]


def test_telling_more_may_make_the_likeliest_less_likely() -> None:
    """With weights the own class may lose the one who stands out: nothing is hopeless yet."""
    codes = np.array([[0, 0], *[[0, 1]] * 3, *[[1, 1]] * 28], np.uint8)
    rows = QueryRows(np.arange(32), np.arange(32), codes, np.zeros((32, 0), np.uint8), 32)
    world = World((2, 2), 2, rows, Population(codes, np.array([9.0, *[1.0] * 31])))
    crowd, own = world.crowd(), ((0, 0), (1, 1))
    assert crowd.own_class(0b01, dict(own)) == (4, 0.75)
    assert crowd.own_class(0b11, dict(own)) == (3, 1 / 3)
    objective = DisclosureObjective(
        world.utility(), crowd, Settings(0b11, (0.0,) * 2, max_risk=0.5, own=own)
    )
    assert [objective.feasible(mask) for mask in range(4)] == [True, False, True, True]
    assert not any(objective.hopeless(mask) for mask in range(4))


def test_the_codes_are_not_shown() -> None:
    """They are what the profile keeps."""
    assert "1234" not in repr(Settings(0, (), own=((0, 1234),)))

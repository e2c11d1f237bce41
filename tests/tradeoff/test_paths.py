"""The value of a set depends on the set only, not on what was asked before (DESIGN.md 2.5)."""

from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.tradeoff.anonymity_set import METRICS
from agent.tradeoff.objective import DisclosureObjective
from agent.tradeoff.sets import members, pairs, singleton, subsets
from agent.tradeoff.utility import Estimator, MeanUtility, Utility, query_utility
from tests.tradeoff.worlds import ESTIMATORS, World, known, rich_worlds, settings_for

Step = tuple[Literal["value", "focus", "ceiling", "extensions", "forget"], int]
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["value", "focus", "ceiling", "extensions", "forget"]), st.integers(0, 63)
    ),
    max_size=40,
)


def walk(utility: Utility, steps: list[Step], everything: int) -> None:
    """Ask for this and that, in this order."""
    for step, number in steps:
        mask = number & everything
        if step == "extensions":
            utility.extensions(mask, list(members(everything & ~mask)))
        elif step == "forget":
            utility.forget()
        else:
            getattr(utility, step)(mask)


@given(rich_worlds(), st.sampled_from(ESTIMATORS), STEPS)
def test_a_utility_is_the_same_by_every_path(
    world: World, estimator: Estimator, steps: list[Step]
) -> None:
    """Equal, not nearly equal: ties between sets must not depend on what was asked first."""

    def fresh() -> Utility:
        parts = [world.utility(estimator, beta) for beta in (5.0, 7.3)]
        return MeanUtility(parts, np.array([1.0, 2.0]))

    used = fresh()
    walk(used, steps, world.everything)
    for mask in subsets(world.everything):
        assert used.value(mask) == fresh().value(mask)


@given(rich_worlds(), st.sampled_from(ESTIMATORS), st.data())
def test_extensions_are_values(world: World, estimator: Estimator, data: st.DataObject) -> None:
    """Many attributes at once, or one at a time: the same."""
    utility, plain = world.utility(estimator), world.utility(estimator)
    for mask in data.draw(st.lists(st.integers(0, world.everything), max_size=5)):
        utility.focus(data.draw(st.integers(0, world.everything)))
        new = list(members(world.everything & ~mask))
        expected = [plain.value(mask | singleton(each)) for each in new]
        assert utility.extensions(mask, new) == expected


@given(rich_worlds(), st.data())
def test_identifiability_is_the_same_by_every_path(world: World, data: st.DataObject) -> None:
    """Whatever the crowd was asked before, and in whose neighbourhood."""
    what = data.draw(known(world))
    used = world.crowd(what)
    for mask in data.draw(st.lists(st.integers(0, world.everything), max_size=20)):
        used.focus(data.draw(st.integers(0, world.everything)))
        near = data.draw(st.integers(0, world.everything))
        measures = data.draw(st.sampled_from([METRICS, METRICS[:1]]))
        used.survey(near, list(members(world.everything & ~near)), [(m, 3) for m in measures])
        fresh = world.crowd(what)
        for metric in METRICS:
            expected = fresh.identifiability(mask, metric, 3)
            assert used.identifiability(mask, metric, 3) == expected
        assert used.people_left(mask) == fresh.people_left(mask)
        assert used.guard_bits(0, mask) == fresh.guard_bits(0, mask)
        assert used.best_guess(0, mask) == fresh.best_guess(0, mask)


@given(rich_worlds(), st.data())
def test_the_objective_is_the_same_by_every_path(world: World, data: st.DataObject) -> None:
    """Surveys, memories of other people's demands, and stored figures included."""
    settings = data.draw(settings_for(world))
    crowd = world.crowd()
    sets = [singleton(each) for each in members(world.everything)]
    stored = {each: world.utility().value(each) for each in (*sets, *pairs(len(sets)))}
    first = DisclosureObjective(world.utility(), crowd, data.draw(settings_for(world)), stored)
    used = first.given(crowd, settings)
    for mask in data.draw(st.lists(st.integers(0, world.everything), max_size=10)):
        used.survey(mask, list(members(world.everything & ~mask)))
        first.value(mask)
        if data.draw(st.booleans()):
            used.forget()
    for mask in subsets(world.everything):
        fresh = DisclosureObjective(world.utility(), world.crowd(), settings)
        assert used.parts(mask) == fresh.parts(mask)


@given(rich_worlds(), STEPS, st.data())
def test_what_is_remembered_never_shows(
    world: World, steps: list[Step], data: st.DataObject
) -> None:
    """With hardly any memory, every answer is the same."""
    settings, everything = data.draw(settings_for(world)), list(subsets(world.everything))
    plain = DisclosureObjective(world.utility(), world.crowd(), settings)
    expected = [plain.parts(mask) for mask in everything]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("agent.tradeoff.counts.CELLS_KEPT", 1)
        patch.setattr("agent.tradeoff.grouping.KEPT", 1)
        patch.setattr("agent.tradeoff.anonymity_set.REMEMBERED", 2)
        utility, crowd = world.utility(), world.crowd()
        walk(utility, steps, world.everything)
        forgetful = DisclosureObjective(utility, crowd, settings)
        assert [forgetful.parts(mask) for mask in everything] == expected


@given(rich_worlds(), STEPS)
def test_shrinkages_that_share_their_counts_do_not_show(world: World, steps: list[Step]) -> None:
    """Counts made for one are right for the next, though cells were divided anew in between."""
    sets = list(subsets(world.everything))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("agent.tradeoff.counts.CELLS_KEPT", 1)
        first = query_utility(world.rows, world.cards, "louo", 5.0)
        for shrinkage in (5.0, 20.0, 200.0):
            shared = first.at(shrinkage)
            walk(shared, steps, world.everything)
            for mask in (*sets, *reversed(sets)):
                fresh = query_utility(world.rows, world.cards, "louo", shrinkage)
                assert shared.value(mask) == fresh.value(mask)

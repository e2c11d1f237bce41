"""The objective: its parts, and the bounds on them (DESIGN.md 2.3 to 2.5)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.tradeoff.measures import METRICS, Metric
from agent.tradeoff.objective import DisclosureObjective, Settings
from agent.tradeoff.plan import QueryPlanner
from agent.tradeoff.tables import members, singleton, subsets
from tests.tradeoff import naive
from tests.tradeoff.worlds import World, known, objectives, rich_worlds, settings_for, stored_of

ROUNDING = 1e-9  # bits


@given(rich_worlds(requests=1, people=40), st.data())
def test_it_is_the_formula(world: World, data: st.DataObject) -> None:
    """F = U - lambda (I(A u D|d) - I(0|d)) - sum of w G - S, every term from its definition."""
    what, settings = data.draw(known(world)), data.draw(settings_for(world))
    crowd, population = world.anonymity_set(what), world.population
    objective = DisclosureObjective(world.utility("louo", 5.0), crowd, settings)
    mask = data.draw(st.integers(0, world.everything)) & settings.candidates

    def reached(also: int) -> float:
        told, k = also | crowd.known, settings.metric_k
        return naive.identifiability(population, told, what, settings.metric, k)

    parts = objective.parts(mask)
    new = mask & ~crowd.known
    assert parts.utility == pytest.approx(naive.louo(world.rows, mask, 5.0), abs=1e-8)
    assert parts.identifiability_cost == pytest.approx(reached(mask) - reached(0), abs=1e-8)
    assert parts.sensitivity == pytest.approx(sum(settings.sensitivity[i] for i in members(new)))
    guard = sum(
        weight * naive.guard_bits(population, mask | crowd.known, what, guarded)
        for guarded, weight in settings.guards
    )
    assert parts.guard == pytest.approx(guard, abs=1e-8)
    expected = parts.utility - parts.guard - parts.sensitivity
    expected -= settings.trade_off * parts.identifiability_cost
    assert parts.objective == pytest.approx(expected)


@given(objectives())
def test_nothing_is_worth_nothing(objective: DisclosureObjective) -> None:
    """F(0) = 0, whatever is known already, and adding nothing is allowed."""
    assert objective.parts(0) == (0, 0, 0, 0, 0)
    assert objective.feasible(0)
    assert not objective.hopeless(0)


@given(rich_worlds(), st.data(), st.floats(0, 2))
def test_what_may_not_exceed_does_not(world: World, data: st.DataObject, gap: float) -> None:
    """A quick no is never wrong; without smoothing, attributes that tell all reach the limit."""
    settings = data.draw(settings_for(world))
    objective = DisclosureObjective(world.utility("plugin", 0.0), world.anonymity_set(), settings)
    for mask in subsets(settings.candidates):
        value = objective.value(mask)
        assert objective.may_exceed(mask, value - 1e-6)
        assert objective.may_exceed(mask, value - gap - 1e-6)


@given(rich_worlds(), st.data())
def test_what_is_at_hand_is_the_objective(world: World, data: st.DataObject) -> None:
    """For each attribute that may be added, whatever the demands, and for the set itself."""
    settings, what = data.draw(settings_for(world)), data.draw(known(world))
    utility, near = world.utility(), data.draw(st.lists(st.integers(0, world.everything)))
    stored = stored_of(utility.value, len(world.cards), near)
    uses = QueryPlanner(lambda: utility, len(world.cards), stored)
    objective = DisclosureObjective(uses, world.anonymity_set(what), settings)
    plain = DisclosureObjective(world.utility(), world.anonymity_set(what), settings)
    for mask in {0, *near, *map(singleton, members(world.everything))}:
        row = objective.at_hand([mask]).get(mask)
        if row is None:
            continue
        for each in members(world.everything):
            with_it = mask | singleton(each)
            if mask == with_it:
                assert row[each] == pytest.approx(plain.value(mask), abs=1e-12)
            elif settings.candidates >> each & 1 and plain.feasible(with_it):
                assert row[each] == pytest.approx(plain.value(with_it), abs=1e-12)
            else:
                assert row[each] == -np.inf


@given(rich_worlds(), st.data())
def test_costs_beside_are_costs_but_for_guards(world: World, data: st.DataObject) -> None:
    """Which a larger set never tells less of."""
    settings, what = data.draw(settings_for(world)), data.draw(known(world))
    objective = DisclosureObjective(world.utility(), world.anonymity_set(what), settings)
    persons = world.anonymity_set(what).persons
    mask = data.draw(st.integers(0, world.everything)) & persons
    options = np.array([*members(persons & ~mask)], dtype=np.intp)
    for each, least in zip(options, objective.costs_beside(mask, options), strict=True):
        with_it = mask | singleton(int(each))
        told = objective.guard(with_it) - objective.guard(mask)
        assert told >= -ROUNDING
        assert least + told == pytest.approx(objective.cost(with_it), abs=ROUNDING)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("guards", [(), ((0, 1.0),)])
@given(world=rich_worlds())
def test_what_is_claimed(
    world: World, metric: Metric, guards: tuple[tuple[int, float], ...]
) -> None:
    """Bounds that assume submodularity mean nothing for entropy, k-anonymity or guards."""
    none = (0.0,) * len(world.cards)
    settings = Settings(world.everything & ~1, none, metric=metric, guards=guards)
    objective = DisclosureObjective(world.utility(), world.anonymity_set(), settings)
    assert objective.claims_submodularity == (metric in ("maxprob", "log-maxprob") and not guards)

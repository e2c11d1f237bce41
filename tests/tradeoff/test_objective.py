"""The objective: its parts, and the bounds on them (DESIGN.md 2.3 to 2.5)."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.tradeoff.anonymity_set import METRICS, Metric
from agent.tradeoff.bounds import free_bound
from agent.tradeoff.objective import DisclosureObjective, Settings
from agent.tradeoff.plan import QueryPlanner
from agent.tradeoff.sets import members, singleton, subsets
from tests.tradeoff import naive
from tests.tradeoff.worlds import World, known, objectives, rich_worlds, settings_for

ROUNDING = 1e-9  # bits


@given(rich_worlds(requests=1, people=40), st.data())
def test_it_is_the_formula(world: World, data: st.DataObject) -> None:
    """F = U - lambda (I(A u D|d) - I(0|d)) - sum of w G - S, every term from its definition."""
    what, settings = data.draw(known(world)), data.draw(settings_for(world))
    crowd, population = world.crowd(what), world.population
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
def test_the_parts_add_up(objective: DisclosureObjective) -> None:
    """F is utility less cost, and the parts say the same."""
    for mask in subsets(objective.candidates):
        parts = objective.parts(mask)
        assert parts.objective == objective.value(mask)
        assert objective.value(mask) == objective.utility(mask) - objective.cost(mask)
        assert parts.utility == objective.utility(mask)


@given(rich_worlds(requests=1, people=40), st.data())
def test_looking_around_changes_no_answer(world: World, data: st.DataObject) -> None:
    """Bit for bit, whether or not a utility that remembers is between."""
    settings = data.draw(settings_for(world))
    looked, plain = (world.utility("louo", 5.0) for _ in range(2))
    remembering = QueryPlanner(lambda: looked, len(world.cards), {})
    around = DisclosureObjective(remembering, world.crowd(()), settings)
    mask = data.draw(st.integers(0, world.everything)) & settings.candidates
    around.survey(mask)
    alone = DisclosureObjective(plain, world.crowd(()), settings)
    for each in members(settings.candidates):
        other = mask ^ singleton(each)
        assert around.parts(other) == alone.parts(other)


@given(objectives())
def test_nothing_is_worth_nothing(objective: DisclosureObjective) -> None:
    """F(0) = 0, whatever is known already, and adding nothing is allowed."""
    assert objective.parts(0) == (0, 0, 0, 0, 0)
    assert objective.feasible(0)
    assert not objective.hopeless(0)


@given(rich_worlds(), st.data())
def test_what_is_known_is_free_to_send(world: World, data: st.DataObject) -> None:
    """Neither sensitivity nor identifiability nor a guard is charged a second time."""
    crowd = world.crowd(data.draw(known(world)))
    drawn = replace(data.draw(settings_for(world)), candidates=world.everything)
    settings = replace(drawn, most=None, own=None)  # which look at what is sent
    objective = DisclosureObjective(world.utility(), crowd, settings)
    for mask in subsets(world.everything):
        fresh = mask & ~crowd.known
        assert objective.cost(mask) == objective.cost(fresh)
        assert objective.feasible(mask) == objective.feasible(fresh)
        assert objective.sensitivity(mask) == objective.sensitivity(fresh)


@given(rich_worlds(), st.lists(st.sampled_from([0.0, 0.125, 0.5]), min_size=6, max_size=6))
def test_sensitivity_counts_only_what_is_new(world: World, bits: list[float]) -> None:
    """Additive over the new attributes, in the units it was given in."""
    what = ((0, int(world.population.codes[0, 0])),)
    settings = Settings(world.everything, tuple(bits[: len(world.cards)]))
    objective = DisclosureObjective(world.utility(), world.crowd(what), settings)
    for mask in subsets(world.everything):
        assert objective.sensitivity(mask) == sum(bits[i] for i in members(mask) if i)


@given(objectives())
def test_no_larger_set_costs_less_than_the_floor(objective: DisclosureObjective) -> None:
    """For every metric, monotone or not; and the floor rises with the set."""
    for mask in subsets(objective.candidates):
        floor = objective.cost_floor(mask)
        for more in subsets(objective.candidates & ~mask):
            assert objective.cost(mask | more) >= floor - ROUNDING
            assert objective.cost_floor(mask | more) >= floor - ROUNDING


@given(objectives(), st.data())
def test_the_free_bound_is_a_bound(objective: DisclosureObjective, data: st.DataObject) -> None:
    """F(S) for all S between A and A u R; no submodularity, whatever the metric."""
    chosen = data.draw(st.integers(0, 63)) & objective.candidates
    open_ = data.draw(st.integers(0, 63)) & objective.candidates & ~chosen
    bound = free_bound(objective, chosen, open_)
    for more in subsets(open_):
        assert objective.value(chosen | more) <= bound + 1e-8


@given(rich_worlds(), st.data(), st.floats(0, 2))
def test_what_may_not_exceed_does_not(world: World, data: st.DataObject, gap: float) -> None:
    """A quick no is never wrong; without smoothing, attributes that tell all reach the limit."""
    settings = data.draw(settings_for(world))
    objective = DisclosureObjective(world.utility("plugin", 0.0), world.crowd(), settings)
    for mask in subsets(settings.candidates):
        value = objective.value(mask)
        assert objective.may_exceed(mask, value - 1e-6)
        assert objective.may_exceed(mask, value - gap - 1e-6)


@given(rich_worlds(), st.data())
def test_the_same_query_for_others(world: World, data: st.DataObject) -> None:
    """Utilities computed for one person serve another, and nothing else is shared."""
    first, second = data.draw(settings_for(world)), data.draw(settings_for(world))
    crowd = world.crowd(data.draw(known(world)))
    objective = DisclosureObjective(world.utility(), world.crowd(), first)
    for mask in subsets(first.candidates):
        objective.value(mask)
    other, plain = (
        objective.given(crowd, second),
        DisclosureObjective(world.utility(), crowd, second),
    )
    for mask in subsets(second.candidates):
        assert other.parts(mask) == plain.parts(mask)
        assert other.feasible(mask) == plain.feasible(mask)


@given(rich_worlds(), st.data())
def test_stored_utilities_are_taken_as_they_are(world: World, data: st.DataObject) -> None:
    """What the model says of single attributes is not computed again."""
    settings = data.draw(settings_for(world))
    stored = {singleton(each): 1000.0 + each for each in range(len(world.cards))}
    objective = DisclosureObjective(world.utility(), world.crowd(), settings, stored)
    assert {each: objective.utility(each) for each in stored} == stored
    assert objective.utility(0) == 0.0


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("guards", [(), ((0, 1.0),)])
@given(world=rich_worlds())
def test_what_is_claimed(
    world: World, metric: Metric, guards: tuple[tuple[int, float], ...]
) -> None:
    """Bounds that assume submodularity mean nothing for entropy, k-anonymity or guards."""
    none = (0.0,) * len(world.cards)
    settings = Settings(world.everything & ~1, none, metric=metric, guards=guards)
    objective = DisclosureObjective(world.utility(), world.crowd(), settings)
    assert objective.claims_submodularity == (metric in ("maxprob", "log-maxprob") and not guards)

"""The objective: its parts, the bounds on them, and hard limits (DESIGN.md 2.3 to 2.5)."""

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from agent.tradeoff.anonymity_set import COMBINATIONS, AnonymitySet
from agent.tradeoff.coverage import Coverage
from agent.tradeoff.measures import Measure
from agent.tradeoff.objective import DisclosureObjective, Limit, Objective, Settings
from agent.tradeoff.plan import QueryPlanner
from agent.tradeoff.search import ALGORITHMS, maximise
from agent.tradeoff.shares import KindShares, Shares
from agent.tradeoff.study import submodularity
from agent.tradeoff.tables import Kinds, Population, QueryRows, members, subsets
from agent.tradeoff.utility import Function, Mixture, Priced
from tests.tradeoff import naive
from tests.tradeoff.test_shares import knowledge, shared_worlds
from tests.tradeoff.worlds import (
    Cards,
    Known,
    World,
    all_pairs,
    crossed,
    judged_objectives,
    known,
    objectives,
    rich_worlds,
    settings_for,
    stored_of,
)

ROUNDING = 1e-9  # bits


@given(rich_worlds(requests=1, people=40), st.data())
def test_it_is_the_formula(world: World, data: st.DataObject) -> None:
    """F = U - lambda (I(A u D|d) - I(0|d)) - sum of w G - S, every term from its definition.

    S has what is priced together too, where all of it is told or held, and some of it told anew.
    """
    what, settings = data.draw(known(world)), data.draw(settings_for(world))
    crowd, population = world.anonymity_set(what), world.population
    objective = DisclosureObjective(world.utility("louo", 5.0), crowd, settings)
    mask = data.draw(st.integers(0, world.everything)) & settings.candidates

    def reached(also: int) -> float:
        disclosed, k = also | crowd.disclosed, settings.metric_k
        return naive.identifiability(population, disclosed, what, settings.metric, k)

    parts, new = objective.parts(mask), mask & ~crowd.disclosed
    assert parts.utility == pytest.approx(naive.louo(world.rows, mask, 5.0), abs=1e-8)
    assert parts.identifiability_cost == pytest.approx(reached(mask) - reached(0), abs=1e-8)
    dislike = sum(settings.sensitivity[i] for i in members(new))
    reached_sets = [e for e in settings.together if not e[0] & ~(mask | crowd.disclosed)]
    dislike += sum(bits for each, bits in reached_sets if each & new)
    assert parts.sensitivity == pytest.approx(dislike)
    guard = sum(
        weight * naive.guard_bits(population, mask | crowd.disclosed, what, guarded)
        for guarded, weight in settings.guards
    )
    assert parts.guard == pytest.approx(guard, abs=1e-8)
    expected = parts.utility - parts.guard - parts.sensitivity
    expected -= settings.trade_off * parts.identifiability_cost
    assert parts.objective == pytest.approx(expected)


@given(rich_worlds(), st.data())
def test_what_is_at_hand_is_the_objective(world: World, data: st.DataObject) -> None:
    """For each attribute that may be added, whatever the demands, and for the set itself."""
    settings, what = data.draw(settings_for(world)), data.draw(known(world))
    utility, near = world.utility(), data.draw(st.lists(st.integers(0, world.everything)))
    stored = stored_of(utility.value, len(world.cards), near)
    uses = QueryPlanner(lambda: utility, len(world.cards), stored)
    objective = DisclosureObjective(uses, world.anonymity_set(what), settings)
    plain = DisclosureObjective(world.utility(), world.anonymity_set(what), settings)
    for mask in {0, *near, *(1 << each for each in members(world.everything))}:
        row = objective.at_hand(mask)
        if row is None:
            continue
        for each in members(world.everything):
            with_it = mask | 1 << each
            if mask == with_it:
                assert row[each] == pytest.approx(plain.value(mask), abs=1e-12)
            elif settings.candidates >> each & 1 and plain.feasible(with_it):
                assert row[each] == pytest.approx(plain.value(with_it), abs=1e-12)
            else:
                assert row[each] == -np.inf


@pytest.mark.parametrize(("held", "mask"), [((), 0b100), (((2, 0),), 0b001)])
def test_what_is_priced_together_is_at_hand(held: Known, mask: int) -> None:
    """F of the second of two facts has their price, beside the first or where that is held."""
    grid = np.array([*product(range(2), repeat=3)], np.uint8)
    utility, crowd = (
        Coverage(np.ones(1), np.eye(1, 3)),
        AnonymitySet(Population(grid), (2,) * 3, held),
    )
    uses = QueryPlanner(lambda: utility, 3, stored_of(utility.value, 3))
    free, priced = (
        DisclosureObjective(uses, crowd, Settings(0b111, (0.0,) * 3, together=each)).at_hand(mask)
        for each in ((), ((0b110, 0.5),))
    )
    assert (np.array(free) - np.array(priced)).tolist() == pytest.approx([0.0, 0.5, 0.0])


@given(shared_worlds(), st.booleans(), st.data())
def test_no_bound_is_below_what_it_bounds(world: World, closed: bool, data: st.DataObject) -> None:
    """What sets cost at the least, and so what F is at the most, whatever is known of whom."""
    what, count = data.draw(knowledge(world)), len(world.cards)
    settings = data.draw(settings_for(replace(world, persons=world.population.tabled)))
    parts = data.draw(arrays(np.float64, (2, count), elements=st.floats(0, 1)))
    utility = Coverage(np.array([0.5, 2.0]), parts)
    stored = {} if closed else stored_of(utility.value, count)
    uses = QueryPlanner(lambda: utility, count, stored, quick=closed)
    objective = DisclosureObjective(uses, world.anonymity_set(what), settings)
    plain = DisclosureObjective(utility, world.anonymity_set(what), settings)
    mask, larger = (data.draw(st.integers(0, settings.candidates)) for _ in range(2))
    mask, larger = mask & settings.candidates, (mask | larger) & settings.candidates
    options = [*members(larger & ~mask)]
    some = np.array(options, np.intp)
    floors, helps = objective.costs_beside(mask, some), objective.helps(mask, some, count=False)
    assert (helps is not None) == (closed or mask in stored)
    if helps is not None:
        assert helps.tolist() == [plain.utility(mask | 1 << each) for each in options]
    for each, least in zip(options, floors, strict=True):
        assert least <= plain.cost(mask | 1 << each) + ROUNDING
    assert objective.cost_floor(mask) <= plain.cost(larger) + ROUNDING
    if plain.feasible(larger):
        assert objective.above(mask, larger & ~mask) >= plain.value(larger) - ROUNDING
        assert objective.feasible(mask, larger=True)


def test_facts_that_follow_from_a_column_tell_less_beside_it() -> None:
    """Two that say nearly the same of a guarded fact: what they cost bounds no larger set."""
    shares = np.array([[0.5, 0.5], [0.98, 0.02], [0.02, 0.98]])
    kind = KindShares(shares[0], column=1, given=shares)
    codes = np.array([[1, 1], [1, 1], [1, 2], [2, 2], [2, 2], [2, 1]] * 50, np.uint8)
    crowd = AnonymitySet(Population(codes, shares=Shares((kind, kind), (0, 1))), (3,) * 4)
    demands = Settings(0b1110, (0.0,) * 4, 0.0, guards=((0, 1.0),))
    objective = DisclosureObjective(Function(lambda _: 0.0, limit=0.0), crowd, demands)
    assert objective.cost(0b1100) > objective.cost(0b1110) >= objective.cost_floor(0b1100)


@given(objectives() | judged_objectives())
def test_nothing_is_worth_nothing(objective: DisclosureObjective) -> None:
    """Whatever is known already; and adding nothing is allowed."""
    assert objective.parts(0) == (0, 0, 0, 0, 0)
    assert objective.feasible(0)
    assert objective.feasible(0, larger=True)


@given(objectives() | judged_objectives())
def test_a_claim_of_submodularity_is_true(objective: DisclosureObjective) -> None:
    """No attribute adds more to a larger set, and no set of candidates breaks a limit."""
    if objective.claims_submodularity:
        candidates = objective.candidates
        assert submodularity(objective.value, all_pairs(candidates)).violating == 0
        assert all(map(objective.feasible, subsets(candidates)))


@given(crossed(), st.sampled_from([0.0, 0.3, 5.12]), st.booleans())
def test_a_claim_needs_utility_cost_and_limits(
    people: tuple[Population, Cards, Known], trade_off: float, priced: bool
) -> None:
    """All three: a U that is submodular, a cost that is not known to bend down, no limit."""
    population, cards, what = people
    everything, nothing = (1 << len(cards)) - 1, (0.0,) * len(cards)
    judged = Coverage(np.ones(1), np.full((1, len(cards)), 0.5))
    crowd, bound = AnonymitySet(population, cards, what), 1 << 1
    together = ((everything, 0.5),) if priced else ()
    demands = Settings(everything, nothing, trade_off, together=together, k=1)
    assert DisclosureObjective(judged, crowd, demands).claims_submodularity
    mixed = Mixture([Priced(judged, np.ones(len(cards))), judged], [0.3, 0.7])
    assert DisclosureObjective(mixed, crowd, demands).claims_submodularity
    unclaimed = Mixture([judged, Function(judged.value)], [0.3, 0.7])
    assert not DisclosureObjective(unclaimed, crowd, demands).claims_submodularity
    guarded = replace(demands, candidates=everything & ~bound, guards=((1, 0.1),))
    limited = replace(demands, most=len(cards) - 1)
    for other in (guarded, limited):
        assert not DisclosureObjective(judged, crowd, other).claims_submodularity
    own = Objective(judged, population, len(cards), trade_off)
    assert own.claims_submodularity == (own.curvature() != "unknown")
    assert not Objective(judged, int.bit_count, len(cards)).claims_submodularity
    assert Objective(judged.value, int.bit_count, 3, submodular=True).claims_submodularity
    assert not Objective(judged, int.bit_count, 3, most=2, submodular=True).claims_submodularity


LIFTED: dict[Limit, dict[str, None]] = {
    "attributes_per_request": {"most": None},
    "new_facts_per_week": {"most_new": None},
    "risk": {"max_risk": None},
    "k": {"k": None},
}


def keeps_limits(world: World, what: Known, settings: Settings, mask: int) -> bool:
    """Whether a set is allowed, from the definitions; a hair's breadth counts as kept."""
    crowd = world.anonymity_set(what)
    new = [each for each in members(mask) if not crowd.disclosed >> each & 1]
    if settings.most is not None and len(list(members(mask))) > settings.most:
        return False
    if not new:
        return True
    new_persons = [each for each in new if each < world.persons]
    if settings.most_new is not None and len(new_persons) > settings.most_new:
        return False
    if crowd.closed or crowd.combinations(mask) > COMBINATIONS:
        return False
    disclosed = mask | crowd.disclosed
    limits: list[tuple[Measure, int, float | None]] = [("maxprob", 1, settings.max_risk)]
    if settings.k is not None:
        limits.append(("k-anonymity", settings.k, settings.max_violations))
    return all(
        limit is None
        or naive.identifiability(world.population, disclosed, what, metric, k) <= limit + 1e-9
        for metric, k, limit in limits
    )


@given(rich_worlds(requests=1, people=25), st.data())
def test_what_is_allowed(world: World, data: st.DataObject) -> None:
    """Both limits test what is reached, not what is added."""
    what, settings = data.draw(known(world)), data.draw(settings_for(world))
    wider = replace(
        settings,
        max_risk=None if settings.max_risk is None else settings.max_risk + 1e-8,
        max_violations=settings.max_violations + 1e-8,
    )
    strict = DisclosureObjective(world.utility(), world.anonymity_set(what), settings)
    loose = DisclosureObjective(world.utility(), world.anonymity_set(what), wider)
    for mask in subsets(settings.candidates):
        allowed = keeps_limits(world, what, settings, mask)
        assert allowed or not strict.feasible(mask)
        assert loose.feasible(mask) or not allowed


@given(rich_worlds(requests=1, people=25), st.data())
def test_the_limit_that_is_named_is_broken(world: World, data: st.DataObject) -> None:
    """Without it the set keeps all limits, or breaks another; what keeps all breaks none."""
    what, settings = data.draw(known(world)), data.draw(settings_for(world))
    crowd = world.anonymity_set(what)
    objective = DisclosureObjective(world.utility(), crowd, settings)
    for mask in subsets(settings.candidates):
        broken = objective.broken(mask)
        if objective.feasible(mask):
            assert broken is None
        elif not crowd.closed and crowd.combinations(mask) <= COMBINATIONS:
            assert broken is not None
        if broken is not None:
            changes: dict[str, Any] = {**LIFTED[broken]}
            lifted = DisclosureObjective(world.utility(), crowd, replace(settings, **changes))
            assert lifted.broken(mask) != broken


def test_telling_more_may_keep_a_limit_that_telling_less_breaks() -> None:
    """With request attributes k may get easier: nothing may be ruled out too early.

    Five people look alike; two facts of the request, each of its own likely to come from one of
    them, and both together from nobody in particular. Attribute 1 helps.
    """
    codes, user = np.zeros((5, 0), np.uint8), np.arange(40)
    request = np.stack([user % 2, user // 2 % 2], axis=1).astype(np.uint8)
    rows = QueryRows(user, user // 2 % 2, np.zeros((40, 0), np.uint8), request, 2)
    counts = (
        np.array([[2, 2], [4, 2], [6, 6], [0, 2], [4, 2]], np.uint16),
        np.array([[0, 27], [9, 27], [0, 9], [9, 27], [18, 27]], np.uint16),
    )
    world = World((2, 2), 0, rows, Population(codes, None, (*map(Kinds.of, counts),)))
    settings = Settings(0b11, (0.0, 0.0), 0.01, "k-anonymity", 4, k=4, max_violations=0.4)
    objective = DisclosureObjective(world.utility("plugin", 0.0), world.anonymity_set(), settings)
    assert [objective.feasible(mask) for mask in range(4)] == [True, False, True, True]
    assert all(objective.feasible(mask, larger=True) for mask in range(4))
    assert objective.cost(0b11) < objective.cost(0b01)
    assert objective.cost_floor(0b01) <= objective.cost(0b11)


def test_larger_sets_are_no_candidates(monkeypatch: pytest.MonkeyPatch) -> None:
    """No search sums over more than 256 combinations, not even to rule a set out."""
    generator, people = np.random.default_rng(0), 80
    cards = (3, 3, *[7] * 5, 300)
    codes = generator.integers(0, 3, (people, 2)).astype(np.uint8)
    request = generator.integers(0, cards[2:], (people, 6)).astype(np.uint16)
    intent = (request[:, 0] + request[:, 1]) % 5
    rows = QueryRows(np.arange(people), intent.astype(np.intp), codes, request, 5)
    counts = [generator.integers(1, 5, (people, card)).astype(np.uint16) for card in cards[2:]]
    world = World(cards, 2, rows, Population(codes))
    population, counted = Population(codes, None, tuple(map(Kinds.of, counts))), set[int]()
    crowd = AnonymitySet(population, cards)
    plain = AnonymitySet.identifiability

    def counting(crowd: AnonymitySet, mask: int, metric: Measure, k: int) -> float:
        counted.add(crowd.combinations(mask))
        return plain(crowd, mask, metric, k)

    monkeypatch.setattr(AnonymitySet, "identifiability", counting)
    for algorithm, k, trade_off in product(ALGORITHMS, (None, 3), (0.01, 5.0)):
        counted.clear()
        settings = Settings(0xFF, (0.0,) * 8, trade_off, k=k)
        objective = DisclosureObjective(world.utility("plugin", 0.0), crowd, settings)
        result = maximise(objective, algorithm, nodes=60)
        assert crowd.combinations(result.mask) <= COMBINATIONS
        assert 1 < max(counted) <= COMBINATIONS

"""Bounds hold, and sample sizes are those of the lemmas."""

from itertools import product
from math import ceil, log, log2, prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.tradeoff.anonymity_set import AnonymitySet
from agent.tradeoff.local_search import Memo
from agent.tradeoff.objective import DisclosureObjective, Settings
from agent.tradeoff.search import (
    Evidence,
    additive_bound,
    maximise,
    possible,
)
from agent.tradeoff.study import (
    online_bound,
    sample_size,
    sampling_error,
    submodularity,
    supermodularity,
)
from agent.tradeoff.tables import Population, QueryRows, members, singleton, subsets
from tests.tradeoff.doubles import Tabulated, arbitrary, submodular
from tests.tradeoff.worlds import World, all_pairs, objectives

ERRORS = st.floats(1e-3, 10)
DELTAS = st.floats(1e-6, 1, exclude_max=True)


@st.composite
def conditionally_independent(draw: st.DrawFn) -> World:
    """Draw rows whose empirical distribution is exactly P(x) times the product of P(v_i|x).

    For each intent x, attribute i takes the values of one short list, equally often; the rows
    of x are all combinations of places in these lists, as often as x is likely.
    """
    attributes, places = draw(st.integers(2, 3)), draw(st.integers(2, 3))
    frequencies = draw(st.lists(st.integers(1, 3), min_size=2, max_size=3))
    lists = st.lists(st.integers(0, 2), min_size=places, max_size=places)
    told, intents = [], []
    for intent, times in enumerate(frequencies):
        values = [draw(lists) for _ in range(attributes)]
        combinations = list(product(*values)) * times
        told += combinations
        intents += [intent] * len(combinations)
    codes = np.array(told, np.uint8)
    rows = QueryRows(
        user=np.arange(len(codes)),
        intent=np.array(intents),
        person=codes,
        request=np.zeros((len(codes), 0), np.uint8),
        intents=len(frequencies),
    )
    return World((3,) * attributes, attributes, rows, Population(codes))


class Rewarding(DisclosureObjective):
    """Pays a bit for attribute 0: its cost may be negative (log-maxprob with weights)."""

    def cost(self, mask: int) -> float:
        """Return the cost, less the reward."""
        return super().cost(mask) - (mask & 1)


@st.composite
def assumptions(
    draw: st.DrawFn, kind: type[DisclosureObjective] = DisclosureObjective
) -> DisclosureObjective:
    """Draw an objective for which the paper's assumptions hold: Thm 3.1 and Thm 3.2.

    Attributes are independent given the intent, and the people are all there can be, each as
    likely as the product of their values' chances.
    """
    world: World = draw(conditionally_independent())
    chances = [draw(st.lists(st.integers(1, 9), min_size=3, max_size=3)) for _ in world.cards]
    codes = np.array(list(product(range(3), repeat=len(chances))), np.uint8)
    weights = np.array([float(prod(part)) for part in product(*chances)])
    trade_off = draw(st.sampled_from([0.3, 1.0, 5.12]))
    sensitivity = tuple(draw(st.sampled_from([0.0, 0.1])) for _ in chances)
    settings = Settings(world.everything, sensitivity, trade_off)
    crowd = AnonymitySet(Population(codes, weights), world.cards)
    return kind(world.utility("plugin", 0.0), crowd, settings)


@given(assumptions())
def test_the_paper_s_assumptions_make_f_submodular(objective: DisclosureObjective) -> None:
    """U by Thm 3.1, C by Thm 3.2: the instances below are what they claim to be."""
    pairs = all_pairs(objective.candidates)
    assert submodularity(objective.utility, pairs).violating == 0
    assert supermodularity(objective.cost, pairs).violating == 0
    assert submodularity(objective.value, pairs).violating == 0


@given(assumptions() | assumptions(Rewarding))
def test_the_online_bound_holds_at_every_set(objective: DisclosureObjective) -> None:
    """Thm 4.5, for any A', not only for one that a search returned."""
    optimum = max(objective.value(mask) for mask in subsets(objective.candidates))
    for mask in subsets(objective.candidates):
        assert online_bound(objective, mask) >= optimum - 1e-9


@given(assumptions())
def test_search_under_the_paper_s_assumptions(objective: DisclosureObjective) -> None:
    """The certificate is honest, and no violation is met."""
    for algorithm in ("lls", "ls", "greedy"):
        result = maximise(objective, algorithm)
        best = maximise(objective, "exhaustive").value
        assert result.violations == 0
        assert result.proof == "if-submodular"
        assert result.bound is not None
        assert result.bound >= best - 1e-9
        assert result.bound <= additive_bound(Memo(objective)) + 1e-9
        assert result.value >= (result.certified or 0.0) * best - 1e-9


@given(objectives(limits=False))
def test_the_online_bound_needs_a_monotone_utility(objective: DisclosureObjective) -> None:
    """Otherwise only the empty set will do."""
    online_bound(objective, 0)
    if objective.candidates and not objective.monotone_utility:
        with pytest.raises(ValueError, match="monotone"):
            online_bound(objective, objective.candidates)


@given(submodular())
def test_the_additive_bound_is_one_where_f_is_submodular(function: Tabulated) -> None:
    """No monotone utility is needed."""
    assert additive_bound(Memo(function)) >= function.optimum


@given(arbitrary())
def test_attributes_that_no_feasible_set_contains_are_left_out(function: Tabulated) -> None:
    """And no others."""
    reachable = 0
    for mask in subsets(function.candidates):
        reachable |= mask if function.feasible(mask) else 0
    assert possible(function) == list(members(reachable))
    values = (function.value(singleton(each)) for each in members(reachable))
    assert additive_bound(Memo(function)) == sum(max(0.0, value) for value in values)


@pytest.mark.parametrize(
    ("value", "bound", "share"),
    [
        (1.0, 2.0, 0.5),
        (2.0, 2.0, 1.0),
        (0.0, 2.0, 0.0),
        (0.0, 0.0, 1.0),  # nothing to gain, and nothing gained
        (-1.0, 2.0, None),
        (1.0, None, None),  # nothing is proven
        (1.0 + 1e-15, 1.0, 1.0),
    ],
)
def test_the_certified_share(value: float, bound: float | None, share: float | None) -> None:
    """F over its bound, and nothing where that would mean nothing."""
    assert Evidence(value, bound=bound).certified == share


@given(st.integers(1, 10_000), ERRORS, DELTAS)
def test_lemmas_4_2_and_4_3_as_printed(intents: int, error: float, delta: float) -> None:
    """The natural logarithm, one-sided; rounding may move a whole number by one."""
    printed = 1 / 2 * (log2(intents) / error) ** 2 * log(1 / delta)
    found = sample_size(error, delta, log2(intents))
    assert found == pytest.approx(ceil(printed), rel=1e-12, abs=1)
    assert found >= printed * (1 - 1e-12)
    printed = 1 / (2 * error**2) * log(1 / delta)
    assert sample_size(error, delta) == pytest.approx(ceil(printed), rel=1e-12, abs=1)


@pytest.mark.parametrize("delta", [0.0, 1.0, -0.1, 2.0, float("nan")])
def test_delta_is_a_probability(delta: float) -> None:
    """Neither certainty nor nonsense."""
    with pytest.raises(ValueError, match="delta"):
        sample_size(0.1, delta)
    with pytest.raises(ValueError, match="delta"):
        sampling_error(9, delta)


@pytest.mark.parametrize("two_sided", [False, True])
def test_so_many_samples_suffice(two_sided: bool) -> None:
    """Group entropies scored against the full counts: at most a share delta of runs is off.

    The entropies are as far apart as they can be, the hardest case for a mean.
    """
    generator, runs, error, delta = np.random.default_rng(0), 4000, 0.4, 0.1
    entropies = np.array([0.0, log2(8), 0.0, log2(8), 1.5])
    chances = np.array([0.3, 0.3, 0.15, 0.15, 0.1])
    rows = sample_size(error, delta, log2(8), two_sided=two_sided)
    means = generator.choice(entropies, (runs, rows), p=chances).mean(axis=1)
    off = means - entropies @ chances
    missed = np.mean(np.abs(off) > error) if two_sided else np.mean(off > error)
    assert 0 < missed <= delta

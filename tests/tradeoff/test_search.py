"""The search and its bounds: on any function, and beside a mixed-integer programme."""

from dataclasses import replace
from itertools import product
from math import inf, log, log2, prod

import highspy
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agent.tradeoff.anonymity_set import AnonymitySet
from agent.tradeoff.local_search import FLOOR, LocalSearch, SetFunction, eager_pass, lazy_pass
from agent.tradeoff.objective import DisclosureObjective, Objective, Settings
from agent.tradeoff.search import (
    ALGORITHMS,
    EPSILON,
    Algorithm,
    Result,
    additive_bound,
    branch_and_bound,
    greedy_order,
    maximise,
)
from agent.tradeoff.study import sample_size, submodularity, supermodularity
from agent.tradeoff.tables import Population, QueryRows, members, subsets, union
from tests.tradeoff.worlds import (
    Tabulated,
    World,
    all_pairs,
    arbitrary,
    known,
    objectives,
    renamed,
    rich_worlds,
    settings_for,
    submodular,
    tabulate,
)

ROUNDING = 1e-9  # bits: two ways to add up the same score


def check_result(function: SetFunction, result: Result, algorithm: Algorithm) -> None:
    """Check what every result owes its reader."""
    assert function.feasible(result.mask)
    assert result.mask & ~function.candidates == 0
    assert sorted(result.order) == list(members(result.mask))
    assert result.value == function.value(result.mask)
    assert result.value >= 0
    assert result.exact == (result.proof == "enumerated")
    assert not (result.node_limit_hit and result.exact)
    assert (result.bound is None) == (result.proof == "none")
    if result.exact:
        sets = filter(function.feasible, subsets(function.candidates))
        assert result.value == pytest.approx(max(map(function.value, sets)), abs=ROUNDING)
        assert result.bound == pytest.approx(result.value, abs=ROUNDING)
    assert result.exact or algorithm != "exhaustive"
    if result.proof == "if-submodular":
        assert result.violations == 0
        assert additive_bound(LocalSearch(function)) >= result.value - ROUNDING
    # No single feasible move improves the set by more than the threshold of DESIGN.md 2.5.
    pairs = max(1, function.candidates.bit_count()) ** 2
    least = max(EPSILON / pairs * abs(result.value), FLOOR)
    moves = filter(function.feasible, (result.mask ^ 1 << v for v in members(function.candidates)))
    assert max(map(function.value, moves), default=-inf) - result.value <= least


def table(*values: float) -> Tabulated:
    """A function that claims, falsely, to be submodular."""
    return tabulate(len(values).bit_length() - 1, lambda mask: values[mask])


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@settings(max_examples=100)
@given(function=arbitrary(), nodes=st.integers(0, 12))
@example(function=table(0, 0, -1, 1, -2, -2, -1, 2), nodes=3)  # cut off, it left a move undone
@example(function=table(0, -1, -2, 2, 0, -1, 2, 1), nodes=5)
def test_a_result_on_any_function(function: Tabulated, algorithm: Algorithm, nodes: int) -> None:
    """Any table of numbers, any sets forbidden, branch and bound cut off anywhere."""
    check_result(function, maximise(function, algorithm, EPSILON, nodes), algorithm)
    unlimited = maximise(function, "exact")  # needs no assumption: a bound that holds for any F
    assert (unlimited.exact, unlimited.node_limit_hit) == (True, False)
    assert unlimited.value == function.optimum


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@given(objective=objectives(), nodes=st.sampled_from([0, 3, 5000]))
def test_a_result_on_any_objective(
    objective: DisclosureObjective, algorithm: Algorithm, nodes: int
) -> None:
    """Both estimators, every metric, guards, knowledge, limits."""
    check_result(objective, maximise(objective, algorithm, EPSILON, nodes), algorithm)


def test_a_search_tells_of_the_violations_it_sees() -> None:
    """A gain that grows before it is taken; one that only the nodes before the limit see."""
    assert maximise(table(0, 1, 1, 3, 1, -2, -1, -1)).proof == "none"
    function = table(0, 2, -1, 2, 3, 0, 1, -2, 3, 2, 4, 0, -2, -3, -2, -1)
    assert maximise(function, "lls", again=False).proof == "if-submodular"
    result = maximise(function, "exact", EPSILON, 2, again=False)
    assert (result.node_limit_hit, result.proof) == (True, "none")
    assert result.violations > 0


@pytest.mark.parametrize("algorithm", ["lls", "ls"])
def test_an_attribute_gives_way_to_another_or_to_several(algorithm: Algorithm) -> None:
    """Where no move of a single attribute leads there."""
    other = table(0, 5, 4, 5, 2.5, 5.5, 6, 5.2)
    several = table(0, 5, 3, 5, 3, 5, 6, 5, 0.1, 4.9, 2, 4, 2, 4, 1, 3)
    for function, stuck in (other, 0b101), (several, 0b001):
        assert maximise(function, algorithm, again=False).mask == stuck
        assert maximise(function, algorithm).mask == 0b110


@given(submodular())
def test_lazy_and_eager_are_alike(function: Tabulated) -> None:
    """The same rank of all attributes, the same set in the same order; no more evaluations."""
    (one, lazily), (other, eagerly) = (greedy_order(function, x) for x in (lazy_pass, eager_pass))
    assert one == other
    assert lazily <= eagerly
    lazy, eager = maximise(function, "lls"), maximise(function, "ls")
    assert (lazy.mask, lazy.order) == (eager.mask, eager.order)
    assert lazy.evaluations <= eager.evaluations
    assert lazy.violations == eager.violations == 0


@given(submodular(), st.sampled_from([0.01, 0.5, 1.0]))
def test_local_search_finds_a_third(function: Tabulated, epsilon: float) -> None:
    """Where F of all that has a gain of its own is not negative (Thm 4.1, DESIGN.md 2.5)."""
    everything = function.everything
    promising = union(a for a in members(everything) if function.value(1 << a) > 0)
    if function.value(promising) >= 0:
        share = 1 / 3 - epsilon / max(1, everything.bit_count())
        for algorithm in ("lls", "ls"):
            found = maximise(function, algorithm, epsilon, again=False)  # the paper's alone
            assert found.value >= share * function.optimum


def trap(others: int, junk: int) -> Tabulated:
    """A function whose best first attribute spoils all others a little.

    Attribute 0 alone is worth a bit more than each other, and each adds up with its like but not
    with it. ``junk`` attributes cost 100 each and bring nothing.
    """
    plain = ((1 << others) - 1) << 1

    def value(mask: int) -> float:
        count = (mask & plain).bit_count()
        useful = others + 1 - count if mask & 1 else others * count
        return useful - 100 * (mask & ~plain & ~1).bit_count()

    return tabulate(1 + others + junk, value)


@pytest.mark.parametrize("junk", [0, 1])
@pytest.mark.parametrize("algorithm", ["lls", "ls"])
def test_the_complement_saves_the_guarantee(junk: int, algorithm: Algorithm) -> None:
    """The complement within V': an attribute nobody wants must not spoil it."""
    result = maximise(trap(6, junk), algorithm, again=False)  # with it, it is found all the same
    assert result.mask == 0b1111110
    assert result.value == trap(6, junk).optimum


@given(submodular(), st.sampled_from(ALGORITHMS), st.integers(0, 6))
def test_the_bound_is_above_the_optimum(
    function: Tabulated, algorithm: Algorithm, nodes: int
) -> None:
    """Also where branch and bound is cut off; and the certificate is no promise too much."""
    result = maximise(function, algorithm, EPSILON, nodes)
    assert result.proof in ("enumerated", "if-submodular")
    assert result.bound is not None
    assert result.certified is not None
    assert result.bound >= function.optimum
    assert result.value >= result.certified * function.optimum - 1e-9
    assert additive_bound(LocalSearch(function)) >= function.optimum
    plain = replace(function, claims_submodularity=False)
    unclaimed = maximise(plain, "lls")
    assert (unclaimed.proof, unclaimed.bound, unclaimed.certified) == ("none", None, None)
    searched = maximise(plain, algorithm, EPSILON, nodes)
    assert not searched.exact or searched.value == function.optimum
    assert searched.exact or searched.bound is None
    assert searched.exact or searched.node_limit_hit == (algorithm == "exact")


@given(submodular(ties=False), st.sampled_from(ALGORITHMS), st.data())
def test_names_do_not_matter(
    function: Tabulated, algorithm: Algorithm, data: st.DataObject
) -> None:
    """Relabelling the attributes relabels the answer, where no two sets are alike."""
    names = data.draw(st.permutations(list(members(function.everything))))
    one, other = maximise(function, algorithm), maximise(function.relabelled(names), algorithm)
    assert renamed(one.mask, names) == other.mask
    assert one.value == other.value
    if algorithm == "greedy":  # a set that was jumped to has no order of moves
        assert tuple(names[each] for each in one.order) == other.order


def nemhauser_wolsey(function: Tabulated) -> tuple[float, int]:
    """The optimum of a submodular F and a set that has it, by HiGHS.

    Maximise eta over 0/1 vectors x with, for every set S,
    eta <= F(S) + sum over j outside S of r_j(S) x_j - sum over j in S of r_j(V - j) (1 - x_j),
    where r_j(S) = F(S + j) - F(S). Source: Nemhauser & Wolsey 1981.
    """
    whole = function.everything
    attributes = list(members(whole))
    model = highspy.Highs()  # type: ignore[no-untyped-call]  # the package is not typed
    model.setOptionValue("output_flag", False)
    chosen = [model.addBinary() for _ in attributes]
    eta = model.addVariable(lb=-highspy.kHighsInf, ub=highspy.kHighsInf)
    for mask in range(whole + 1):
        limit, terms = function.value(mask), [(eta, 1.0)]
        for j in attributes:
            if mask >> j & 1:
                loss = function.value(whole) - function.value(whole ^ 1 << j)
                limit -= loss
                terms.append((chosen[j], -loss))
            else:
                gain = function.value(mask | 1 << j) - function.value(mask)
                terms.append((chosen[j], -gain))
        model.addConstr(sum(weight * variable for variable, weight in terms) <= limit)
    model.maximize(eta)
    solution = np.rint(model.vals(chosen))
    return model.getObjectiveValue(), sum(1 << j for j in attributes if solution[j])


@settings(max_examples=60)
@given(submodular(most=6))
def test_exact_search_agrees_with_a_mip(function: Tabulated) -> None:
    """The optimum; ``exact`` and ``exhaustive`` find it, and the set that HiGHS names has it."""
    optimum, mask = nemhauser_wolsey(function)
    assert optimum == pytest.approx(function.value(mask), abs=1e-6)
    assert maximise(function, "exact").value == pytest.approx(optimum, abs=1e-6)
    assert maximise(function, "exhaustive").value == pytest.approx(optimum, abs=1e-6)
    assert maximise(function, "lls").value <= optimum + 1e-6
    state = LocalSearch(function)  # by the same bounds alone, from nothing
    bound, _ = branch_and_bound(state, 2**7, submodular=True)
    assert bound == state.level == pytest.approx(optimum, abs=1e-6)


@st.composite
def assumptions(draw: st.DrawFn) -> DisclosureObjective:
    """Draw an objective for which the paper's assumptions hold: Thm 3.1 and Thm 3.2.

    Attributes are independent given the intent: each takes the values of one short list, equally
    often, and the rows of an intent are all combinations, as often as it is likely. The people are
    all there can be, each as likely as the product of their values' chances.
    """
    attributes, places = draw(st.integers(2, 3)), draw(st.integers(2, 3))
    lists = st.lists(st.integers(0, 2), min_size=places, max_size=places)
    answers: list[tuple[int, ...]] = []
    for intent in range(draw(st.integers(2, 3))):
        values = [draw(lists) for _ in range(attributes)]
        answers += [*product([intent], *values)] * draw(st.integers(1, 3))
    intents, person = np.array(answers)[:, 0], np.array(answers, np.uint8)[:, 1:]
    none = np.zeros((len(answers), 0), np.uint8)
    rows = QueryRows(np.arange(len(answers)), intents, person, none, int(intents.max()) + 1)
    world = World((3,) * attributes, attributes, rows, Population(person))
    chances = [draw(st.lists(st.integers(1, 9), min_size=3, max_size=3)) for _ in world.cards]
    codes = np.array(list(product(range(3), repeat=attributes)), np.uint8)
    weights = np.array([float(prod(part)) for part in product(*chances)])
    sensitivity = tuple(draw(st.sampled_from([0.0, 0.1])) for _ in chances)
    settings = Settings(world.everything, sensitivity, draw(st.sampled_from([0.3, 1.0, 5.12])))
    crowd = AnonymitySet(Population(codes, weights), world.cards)
    return DisclosureObjective(world.utility("plugin", 0.0), crowd, settings)


@given(assumptions())
def test_the_paper_s_assumptions_make_f_submodular(objective: DisclosureObjective) -> None:
    """U by Thm 3.1, C by Thm 3.2; the certificate is honest, and no violation is met."""
    pairs = all_pairs(objective.candidates)
    assert submodularity(objective.utility, pairs).violating == 0
    assert supermodularity(objective.cost, pairs).violating == 0
    assert submodularity(objective.value, pairs).violating == 0
    count = objective.candidates.bit_count()
    declared = Objective(objective.utility, objective.cost, count, submodular=True)
    assert not objective.claims_submodularity  # which no table tells
    for algorithm in ("lls", "ls", "greedy"):
        result = maximise(declared, algorithm)
        best = maximise(objective, "exhaustive").value
        assert result.violations == 0
        assert result.proof == "if-submodular"
        assert result.bound is not None
        assert result.bound >= best - 1e-9
        assert result.bound <= additive_bound(LocalSearch(declared)) + 1e-9
        assert result.value >= (result.certified or 0.0) * best - 1e-9


@given(rich_worlds(requests=0), st.data())
def test_copies_of_rows_change_no_set(world: World, data: st.DataObject) -> None:
    """Each row twice, of half the weight: what is chosen does not depend on how many rows are.

    But a guard does: fewer than 30 rows say nothing of it.
    """
    demands, people = replace(data.draw(settings_for(world)), guards=()), world.population
    known_ = data.draw(known(world))
    weights = 2.0 + 2.0 * (np.arange(people.rows, dtype=np.float64) % 3)
    one = replace(people, weights=weights)
    twice = replace(
        people,
        codes=np.repeat(people.codes, 2, axis=0),
        weights=np.repeat(weights / 2, 2),
        respondents=np.repeat(np.arange(people.rows), 2),
    )
    chosen = [
        maximise(DisclosureObjective(world.utility(), each.anonymity_set(known_), demands))
        for each in (replace(world, population=one), replace(world, population=twice))
    ]
    assert chosen[0].mask == chosen[1].mask
    assert chosen[0].value == pytest.approx(chosen[1].value, abs=ROUNDING)


@given(arbitrary())
def test_attributes_that_no_feasible_set_contains_are_left_out(function: Tabulated) -> None:
    """And no others."""
    reachable = 0
    for mask in subsets(function.candidates):
        reachable |= mask if function.feasible(mask) else 0
    assert LocalSearch(function).possible() == list(members(reachable))
    values = (function.value(1 << each) for each in members(reachable))
    assert additive_bound(LocalSearch(function)) == sum(max(0.0, value) for value in values)


def test_the_certified_share() -> None:
    """F over its bound, and nothing where that would mean nothing."""
    cases = [(1.0, 2.0, 0.5), (2.0, 2.0, 1.0), (0.0, 2.0, 0.0), (1.0 + 1e-15, 1.0, 1.0)]
    nothing_to_gain, nothing_proven = (0.0, 0.0, 1.0), [(-1.0, 2.0, None), (1.0, None, None)]
    for value, bound, share in (*cases, nothing_to_gain, *nothing_proven):
        assert Result(0, (), value, bound=bound).certified == share


@given(st.integers(2, 10_000), st.floats(1e-3, 1), st.floats(1e-6, 0.999))
def test_lemmas_4_2_and_4_3_as_printed(intents: int, error: float, delta: float) -> None:
    """The natural logarithm, one-sided."""
    for spread in (1.0, log2(intents)):
        printed = 1 / 2 * (spread / error) ** 2 * log(1 / delta)
        assert -1e-9 * printed <= sample_size(error, delta, spread) - printed <= 1 + 1e-9 * printed


def test_so_many_samples_suffice() -> None:
    """At most a share delta of runs is off, where losses are as far apart as they can be."""
    generator, delta, chances = np.random.default_rng(0), 0.1, [0.3, 0.3, 0.15, 0.15, 0.1]
    losses = np.array([0.0, 3.0, 0.0, 3.0, 1.5])
    for two_sided in (False, True):
        rows = sample_size(0.4, delta, 3, two_sided=two_sided)
        off = generator.choice(losses, (4000, rows), p=chances).mean(axis=1) - losses @ chances
        assert 0 < np.mean((np.abs(off) if two_sided else off) > 0.4) <= delta
    for error, chance in [(0.0, 0.1), (np.nan, 0.1), *((0.1, each) for each in (0, 1, 2, np.nan))]:
        with pytest.raises(ValueError, match="chance"):
            sample_size(error, chance)

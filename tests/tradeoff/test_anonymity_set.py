"""Classes of people, identifiability and guards are the definitions (DESIGN.md 2.2)."""

from collections import Counter
from dataclasses import replace
from functools import partial
from itertools import product
from math import log, prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.tradeoff import tables
from agent.tradeoff.anonymity_set import AnonymitySet
from agent.tradeoff.grouping import CodeColumn, Grouping, Presence, tally
from agent.tradeoff.measures import FEWEST, METRICS, Curvature, Metric
from agent.tradeoff.study import submodularity, supermodularity
from agent.tradeoff.tables import (
    UNSPECIFIED,
    Kinds,
    Population,
    SetFigures,
    members,
    subsets,
    union,
)
from tests.tradeoff import naive
from tests.tradeoff.worlds import (
    Cards,
    Known,
    World,
    all_pairs,
    crossed,
    known,
    rich_worlds,
    worlds,
)

KS = st.integers(2, 5)
METRIC = st.sampled_from(METRICS)


@given(worlds() | rich_worlds(requests=1, people=25), st.data(), KS)
def test_it_is_the_sum_over_answers(world: World, data: st.DataObject, k: int) -> None:
    """Weights, request attributes, knowledge; all metrics and people left, for every set."""
    what = data.draw(known(world))
    crowd = world.anonymity_set(what)
    already = sum(1 << attribute for attribute, _ in what)
    for mask in subsets(world.everything):
        for metric in METRICS:
            expected = naive.identifiability(world.population, mask | already, what, metric, k)
            found = crowd.identifiability(mask, metric, k)
            assert found == pytest.approx(expected, abs=1e-9), metric
        left = naive.people_left(world.population, mask | already, what)
        assert crowd.people_left(mask) == pytest.approx(left)


@given(rich_worlds(), st.data(), METRIC, KS)
def test_silence_about_what_hangs_on_another_tells_of_that(
    world: World, data: st.DataObject, metric: Metric, k: int
) -> None:
    """It is as if those for whom nothing follows had been silent in the data."""
    by, silent = data.draw(st.permutations(range(world.persons)))[:2]
    codes = world.population.codes.copy()
    codes[:, silent] = np.maximum(codes[:, silent], 1)
    nothing = frozenset(data.draw(st.sets(st.integers(0, world.cards[by] - 1), min_size=1)))
    unsaid = codes.copy()
    unsaid[np.isin(codes[:, by], [*nothing]), silent] = 0
    hanging = {silent: (by, nothing)}
    mine = replace(world, population=replace(world.population, codes=codes, hanging=hanging))
    plain = replace(world, population=replace(world.population, codes=unsaid))
    rest = tuple(pair for pair in data.draw(known(world)) if pair[0] not in (silent, by))
    what = ((silent, 0), *rest)
    found, wanted = mine.anonymity_set(what), plain.anonymity_set(what)
    assert found.disclosed == wanted.disclosed
    for mask in subsets(world.everything):
        level, left = found.identifiability(mask, metric, k), found.people_left(mask)
        if world.population.weights is None:
            expected = wanted.identifiability(mask, metric, k), wanted.people_left(mask)
        elif naive.agreeing(mine.population, what):
            # How silence depends on other facts is not how that does of which it tells.
            about = mine.population, mask & ~found.disclosed, what
            expected = naive.identifiability(*about, metric, k), naive.people_left(*about)
        else:
            continue
        assert (level, left) == pytest.approx(expected)
    both_said = *what, (by, max(nothing))  # what it hangs on is disclosed too: it adds nothing
    both, one = mine.anonymity_set(both_said), mine.anonymity_set(both_said[1:])
    for mask in subsets(world.everything & ~(1 << silent)):
        assert both.identifiability(mask, metric, k) == one.identifiability(mask, metric, k)


@given(worlds() | rich_worlds(people=25), st.data(), METRIC, KS)
def test_it_bends_as_is_claimed(world: World, data: st.DataObject, metric: Metric, k: int) -> None:
    """For every two sets of candidates of a recipient, whatever it knows."""
    crowd, mask = world.anonymity_set(data.draw(known(world))), data.draw(st.integers(0, 31))
    check_curvature(crowd, metric, k, mask & world.everything)


def check_curvature(crowd: AnonymitySet, metric: Metric, k: int, candidates: int) -> Curvature:
    claimed, pairs = crowd.curvature(metric, candidates), all_pairs(candidates)
    loss = partial(crowd.identifiability, metric=metric, k=k)
    assert claimed == "unknown" or supermodularity(loss, pairs).violating == 0
    assert claimed != "modular" or submodularity(loss, pairs).violating == 0
    return claimed


@given(crossed())
def test_classes_multiply_where_people_have_each_combination(
    people: tuple[Population, Cards, Known],
) -> None:
    """Of those who agree with what is known; Thm 3.2, by counts. One who differs is enough."""
    twins = AnonymitySet(Population(np.array([[0, 0], [1, 1]] * 2, np.uint8)), (2, 2))
    assert check_curvature(twins, "maxprob", 1, 0b11) == "unknown"
    population, cards, what = people
    everything = (1 << len(cards)) - 1
    crowd = AnonymitySet(population, cards, what)
    new = "supermodular" if len(cards) > 2 and crowd.people > 1 else "modular"
    assert check_curvature(crowd, "maxprob", 1, everything) == new
    assert check_curvature(crowd, "log-maxprob", 1, everything) in ("modular", "unknown")
    if prod(cards) > 2:
        without = replace(population, codes=population.codes[1:])
        check_curvature(AnonymitySet(without, cards, what), "maxprob", 1, everything)
        weighted = replace(population, weights=np.full(population.rows, 9.0))
        sample = AnonymitySet(weighted, cards, what)
        assert check_curvature(sample, "maxprob", 1, everything) in ("modular", "unknown")


@given(rich_worlds(), st.data(), METRIC, KS)
def test_no_larger_set_falls_below_what_is_promised(
    world: World, data: st.DataObject, metric: Metric, k: int
) -> None:
    """Whatever is known; and where rows are people, and no request asks, I itself is promised."""
    crowd = world.anonymity_set(data.draw(known(world)))
    others = data.draw(st.sampled_from([crowd.persons, world.everything]))
    for mask in subsets(others):
        least = crowd.least(mask, metric, k, others)
        if not crowd.sampled and others == crowd.persons:
            assert least == crowd.identifiability(mask, metric, k)
        for more in subsets(others & ~mask):
            assert crowd.identifiability(mask | more, metric, k) >= least - 1e-9


def test_one_person_or_none_is_certainty() -> None:
    """One person agrees with code 1, nobody with code 2: both are the dangerous case."""
    population = Population(np.array([[0, 0], [0, 1], [1, 1]], np.uint8))
    certainty = {"maxprob": 1.0, "log-maxprob": log(4), "k-anonymity": 1.0, "entropy": 0.0}
    for code, metric, mask in product((1, 2), METRICS, range(4)):
        crowd = AnonymitySet(population, (3, 2), [(0, code)])
        assert crowd.people == crowd.people_left(mask) == (1 if code == 1 else 0)
        assert crowd.identifiability(mask, metric, 3) == pytest.approx(certainty[metric])
        assert crowd.guard_bits(1, mask) == 0.0


@given(rich_worlds(people=20), METRIC, KS)
def test_certainty_is_the_loss_of_one_person(world: World, metric: Metric, k: int) -> None:
    """The value for one person is the formula's, not another one, whatever else is sent."""
    codes = np.append(world.population.codes, np.full((1, world.persons), 9, np.uint8), axis=0)
    requests = world.population.requests
    joined = tuple(Kinds(each.counts, np.append(each.of_row, each.of_row[:1])) for each in requests)
    alone = tuple(Kinds(each.counts, each.of_row[:1]) for each in requests)
    crowd = AnonymitySet(Population(codes, None, joined), [10] * len(world.cards), [(0, 9)])
    expected = naive.identifiability(Population(codes[-1:], None, alone), 0, (), metric, k)
    if metric == "log-maxprob":
        expected = log(len(codes) + 1)
    assert crowd.people == 1
    for mask in (0, world.everything):
        assert crowd.identifiability(mask, metric, k) == pytest.approx(expected)


def test_the_oldest_is_forgotten_and_what_is_stored_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures that are full make room for one more."""
    monkeypatch.setattr(tables, "VALUES_KEPT", 2)
    monkeypatch.setattr(tables, "ROWS_KEPT", 2)
    counted = list[int]()

    def one(mask: int) -> float:
        counted.append(mask)
        return float(mask)

    figures = SetFigures(
        3, one, lambda mask, new: [mask + 2.0**each for each in new], {0: np.array([1.0, 2, 4])}
    )
    for _ in range(2):
        assert [figures.value(each) for each in (0b010, 0b011, 0b101, 0b110)] == [2, 3, 5, 6]
        assert [figures.beside(each, 0b100)[2] for each in (0b010, 0b011, 0b001)] == [6, 7, 5]
    assert counted == [0b011, 0b101, 0b110, 0b011, 0b110]


@given(rich_worlds(), st.data(), KS)
def test_the_worst_class_tells_whether_k_is_kept(world: World, data: st.DataObject, k: int) -> None:
    """By all, for whatever k, where rows are a sample."""
    crowd = world.anonymity_set(data.draw(known(world)))
    for mask in subsets(world.everything) if crowd.sampled and not crowd.closed else ():
        enough = crowd.identifiability(mask, "worst", 1) <= (1 + 1e-12) / k
        assert enough == (crowd.identifiability(mask, "k-anonymity", k) == 0.0)


@given(rich_worlds(requests=1, people=90), st.data())
def test_it_is_the_information_about_the_guarded_fact(world: World, data: st.DataObject) -> None:
    """H(V|d) - H(V|A,d) over people who specify V, and the success of the best guess."""
    what, guarded = data.draw(known(world)), data.draw(st.integers(0, world.persons - 1))
    what = tuple(pair for pair in what if pair[0] != guarded)
    crowd = world.anonymity_set(what)
    for mask in subsets(world.everything & ~(1 << guarded)):
        reached = mask | crowd.disclosed
        bits = naive.guard_bits(world.population, reached, what, guarded)
        guess = naive.best_guess(world.population, reached, what, guarded)
        assert crowd.guard_bits(guarded, mask) == pytest.approx(bits, abs=1e-9)
        assert crowd.guard(guarded).best_guess(mask) == pytest.approx(guess, abs=1e-9)


def test_a_few_people_say_nothing_about_a_fact() -> None:
    """Under 30 people who specify it, it costs nothing; from 30 on, it costs the whole bit.

    They say yes or no by turns, and the other answer tells which; fifty more say nothing about
    the guarded fact, and would drown it if they counted.
    """
    for specified in (0, 2, FEWEST - 2, FEWEST, FEWEST + 2):
        fact = np.r_[1 + np.arange(specified) % 2, np.full(50, UNSPECIFIED)]
        codes = np.stack([fact, np.maximum(fact, 1)], axis=1).astype(np.uint8)
        crowd = AnonymitySet(Population(codes), (3, 3))
        assert crowd.guard_bits(0, 0b10) == pytest.approx(float(specified >= 30))


SIZES = [1, 3, 21_845, 21_846, 65_537]  # about where 16 bits end, for 3 values or 1


@given(
    st.sampled_from(SIZES),
    st.lists(st.sampled_from([1, 2, 3, 7, 8, 9, 17, 300]), min_size=1, max_size=12),
    st.integers(1, 60),
    st.integers(0, 2**32 - 1),
)
def test_every_table_is_the_count_of_its_attribute(
    size: int, cards: list[int], items: int, seed: int
) -> None:
    """The last group and the last value, where an overflow would show, occur.

    Classes are the pairs of group and value that occur, also with more values than a byte has
    bits, or than a byte has values.
    """
    random = np.random.default_rng(seed)
    labels = random.integers(0, size, items)
    labels[0] = size - 1
    columns = []
    for card in cards:
        codes = random.integers(0, card, items).astype(np.min_scalar_type(card - 1))
        codes[0] = card - 1
        columns.append(CodeColumn(codes, card))
    for column, table in zip(columns, tally(labels, size, columns), strict=True):
        items_of = Counter(zip(column.codes.tolist(), labels.tolist(), strict=True))
        cells = np.nonzero(table.reshape(column.card, size))
        assert dict(zip(zip(*cells, strict=True), table[table > 0], strict=True)) == items_of
    used, numbered = np.unique(labels, return_inverse=True)
    classes = [len({*zip(labels.tolist(), each.codes.tolist(), strict=True)}) for each in columns]
    assert Presence(columns).classes(Grouping(numbered, len(used))) == classes


@given(st.lists(st.integers(1, 4), min_size=2, max_size=4))
def test_the_closed_form_of_theorem_3_2(cards: list[int]) -> None:
    """I_m(A) is the product, over i outside A, of the largest chance of a value of i.

    Of everybody there can be, each as likely as the others.
    """
    codes = np.array([*product(*map(range, cards))], np.uint8)
    crowd, everything = AnonymitySet(Population(codes), cards), (1 << len(cards)) - 1
    for mask in subsets(everything):
        expected = prod(1 / cards[i] for i in members(everything & ~mask))
        assert crowd.identifiability(mask, "maxprob", 1) == pytest.approx(expected)


@given(st.sets(st.integers(0, 70)))
def test_a_set_is_its_members(attributes: set[int]) -> None:
    """In ascending order, however it was put together; more than 64 are no trouble."""
    mask = union(attributes)
    assert list(members(mask)) == sorted(attributes)
    assert mask == sum(1 << each for each in attributes) == union(sorted(attributes, reverse=True))

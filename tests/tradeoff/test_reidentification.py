"""People are estimated as DESIGN.md 2.7 and 2.8 say: by quadrature, and law by law."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st
from scipy.integrate import IntegrationWarning

from agent.tradeoff.agreement import DependenceTree, ExpectedPeople
from agent.tradeoff.anonymity_set import AnonymitySet
from agent.tradeoff.measures import (
    METRICS,
    Alike,
    rate_of,
    risk_elsewhere,
    risk_outside,
    risk_unseen,
)
from agent.tradeoff.tables import Population, members, subsets
from tests.tradeoff import naive
from tests.tradeoff.naive_shares import one_of_poisson
from tests.tradeoff.worlds import World, known, rich_worlds

SHARES = st.one_of(st.just(1.0), st.floats(-4, 0).map(lambda power: 10**power))
EXPECTED = st.floats(-6, 18).map(np.exp)


def of(rows: float, people: float, expected: float, share: float = 1.0) -> float:
    return naive.chance(naive.Group(1.0, rows, people, expected), share)


@st.composite
def parts(draw: st.DrawFn, most: int = 60) -> list[tuple[float, float, float]]:
    """Draw groups that make up a larger one: rows, people, and the share of those expected.

    The shares of several may add up to more than the whole: a larger set has another tree.
    """
    scale = 10 ** draw(st.floats(0, 4))
    sizes = draw(st.lists(st.integers(1, most), min_size=2, max_size=4))
    weights = [max(1.0, scale * draw(st.floats(0.3, 3))) for _ in sizes]
    shares = [draw(st.floats(0.01, 1)) for _ in sizes]
    return [(s, s * w, e) for s, w, e in zip(sizes, weights, shares, strict=True)]


@given(
    st.one_of(st.integers(1, 9).map(float), st.floats(0, 12).map(np.exp)),
    st.floats(0, 9).map(np.exp),
    EXPECTED,
    SHARES,
)
def test_it_is_the_integral(rows: float, weight: float, expected: float, share: float) -> None:
    """By adaptive quadrature of another form of it; for who is no row, and like no row, too."""
    rate = float(rate_of(np.array(1 / weight), np.array(expected)))
    try:
        wanted = naive.one_in(rows, rows * weight, expected, share)
        outside = naive.one_in(rows, rows * weight, expected, share, outside=True)
        unseen = naive.one_in(0, weight, expected, share, outside=True)
    except IntegrationWarning:  # an error here: where the quadrature gives up, there is no oracle
        reject()
    assert of(rows, rows * weight, expected, share) == pytest.approx(wanted, rel=1e-6)
    assert risk_outside(rows, rate, share) == pytest.approx(outside, rel=1e-4)
    assert risk_unseen(np.array([rate]), share)[0] == pytest.approx(unseen, rel=1e-6)
    assert risk_outside(0, rate, share) == risk_unseen(np.array([rate]), share)[0]


@given(st.integers(1, 400), SHARES)
def test_rows_that_are_people_are_counted(rows: int, share: float) -> None:
    """One in f; with others who agree with probability rho, (1 - (1-rho)^f) / (rho f)."""
    everybody = 1 / rows if share == 1 else (1 - (1 - share) ** rows) / (share * rows)
    assert of(rows, rows, 5.0, share) == pytest.approx(everybody, rel=1e-9)
    assert risk_outside(rows - 1, 1.0, share) == pytest.approx(everybody, rel=1e-6)


@given(parts(), st.floats(-2, 16).map(np.exp), st.floats(-3, 0).map(lambda power: 10**power))
def test_a_part_is_never_safer_than_the_whole(
    groups: list[tuple[float, float, float]], expected: float, share: float
) -> None:
    """Each part of a group in which no more are expected; with a share below 1 the mean."""
    rows, people = (sum(each[place] for each in groups) for place in range(2))
    whole = of(rows, people, expected)
    assert min([of(f, w, expected * e) for f, w, e in groups]) >= whole * (1 - 1e-12)
    whole = of(rows, people, expected, share)
    mean = sum(w / people * of(f, w, expected * e, share) for f, w, e in groups)
    assert mean >= whole * (1 - 1e-9)


@given(
    st.floats(0, 8).map(np.exp),
    st.floats(0, 8).map(np.exp),
    st.floats(-3, 16).map(np.exp),
    st.lists(SHARES, min_size=2, max_size=2),
)
def test_it_never_falls_with_the_share(
    rows: float, weight: float, expected: float, shares: list[float]
) -> None:
    """And never below what it is where nothing else is held: no limit gets laxer."""
    many, few = (of(rows, rows * weight, expected, each) for each in sorted(shares, reverse=True))
    assert few >= many * (1 - 1e-9)
    assert few >= of(rows, rows * weight, expected) * (1 - 1e-9)
    assert few <= 1
    assert of(rows, rows * weight, expected, 0.0) == 1.0


@given(st.lists(st.floats(0.01, 1), min_size=1, max_size=30), st.data())
def test_rows_may_count_in_parts(likely: list[float], data: st.DataObject) -> None:
    """A fact of the request splits each row by its chances: the mean never falls."""
    weights = np.array([data.draw(st.floats(1, 1e4)) for _ in likely])
    first = np.array(likely)
    expected = data.draw(st.floats(1, 1e6))
    whole, mean = of(len(first), float(weights.sum()), expected), 0.0
    for each in (first, 1.0 - first + 1e-12):
        mass, peak = float(weights @ each), float(each.max())
        split = of(float(each.sum()) / peak, mass / peak, expected)
        mean += mass / float(weights.sum()) * split
    assert mean >= whole * (1 - 1e-9)


@given(rich_worlds(requests=1, people=25), st.data(), SHARES)
def test_a_set_is_the_mean_over_its_answers(
    world: World, data: st.DataObject, share: float
) -> None:
    """Every measure and people left, surveyed or not, at every share, by whomever rows are."""
    world = replace(world, population=data.draw(drawn_from_others(world.population)))
    what = data.draw(known(world))
    crowd = AnonymitySet(world.population, world.cards, what, share)
    already = sum(1 << attribute for attribute, _ in what)
    if data.draw(st.booleans()):
        crowd.survey(data.draw(st.integers(0, (1 << world.persons) - 1)) & ~already)
    for mask in subsets(world.everything):
        for measure in METRICS:
            if world.population.weights is None and share == 1:
                continue
            disclosed = mask | already
            wanted = naive.identifiability(world.population, disclosed, what, measure, 3, share)
            assert crowd.identifiability(mask, measure, 3) == pytest.approx(wanted, abs=1e-9)
        left = naive.people_left(world.population, mask | already, what, share)
        assert crowd.people_left(mask) == pytest.approx(left)


@given(rich_worlds(requests=1, people=25), st.data(), SHARES)
def test_no_answer_lowers_the_risk(world: World, data: st.DataObject, share: float) -> None:
    """Below that of what is held, whatever the tree of the larger set says, nor misinforms."""
    world = replace(world, population=data.draw(drawn_from_others(world.population)))
    crowd = AnonymitySet(world.population, world.cards, data.draw(known(world)), share)
    before = crowd.identifiability(0, "maxprob", 1)
    for mask in subsets(world.everything):
        assert crowd.identifiability(mask, "maxprob", 1) >= before * (1 - 1e-9)
        assert crowd.identifiability(mask, "entropy", 1) >= 0


@given(
    *(st.floats(0, 9).map(np.exp) for _ in range(2)),
    EXPECTED,
    st.lists(st.floats(-9, 6).map(np.exp), min_size=2, max_size=2).map(sorted),
)
def test_elsewhere_a_person_is_one_among_a_poisson_number(
    rows: float, weight: float, expected: float, others: list[float]
) -> None:
    """Summed one by one; a chance, which falls as more people live there, and as more agree."""
    alike = Alike(*np.array([[1.0], [rows], [rows * weight], [expected]]))
    few, many = (float(risk_elsewhere(alike, np.array([each]))[0]) for each in others)
    nobody = risk_elsewhere(alike, np.array(others[:1]), np.array([1 / weight]))
    for found, alike_rows in ((few, rows), (nobody[0], 0)):
        part = (alike_rows + 1) / (1 / weight + 1 / expected)
        assert found == pytest.approx(one_of_poisson(others[0] * part), rel=1e-6)
    assert 0 < many <= few <= 1


@given(rich_worlds(people=40), st.data(), st.floats(1, 1e6))
def test_people_elsewhere_are_all_who_live_there(
    world: World, data: st.DataObject, residents: float
) -> None:
    """The user is one of them, so that none is outside; no bound is promised that fails."""
    weights = np.full(world.population.rows, data.draw(st.floats(1, 500)))
    people = replace(world.population, weights=weights, residents=residents)
    crowd = AnonymitySet(people, world.cards)
    assert crowd.people == pytest.approx(1 / one_of_poisson(residents))
    crowd = AnonymitySet(people, world.cards, data.draw(known(world)))
    assert crowd.success == pytest.approx(crowd.identifiability(0, "maxprob", 1))
    for mask in subsets(crowd.persons):
        least = crowd.least(mask, "maxprob", 1, crowd.persons)
        assert least <= crowd.identifiability(mask, "maxprob", 1) <= 1


@st.composite
def drawn_from_others(draw: st.DrawFn, people: Population) -> Population:
    """Draw whose copies weighted rows are, from whom blocks come, and who lives elsewhere."""
    if people.weights is None or draw(st.booleans()):
        return people
    if draw(st.booleans()):
        people = replace(people, residents=draw(st.floats(0, 12).map(np.exp)))
    numbers = st.lists(st.integers(0, 9), min_size=people.rows, max_size=people.rows)
    blocks = draw(st.lists(st.integers(1, (1 << people.tabled) - 1), max_size=2, unique=True))
    donors = [draw(numbers) for _ in blocks]
    return replace(
        people,
        respondents=np.array(draw(numbers), np.uint8) if draw(st.booleans()) else None,
        donors=np.array(donors, np.uint8) if blocks else None,
        blocks=tuple(blocks),
    )


def copies(people: Population, times: int, most: int) -> tuple[Population, Population]:
    """Return people with ``most`` times their weights, and the same with each row copied."""
    weights = most * (np.ones(people.rows) if people.weights is None else people.weights)
    copied, before = np.repeat(np.arange(people.rows), times), replace(people, weights=weights)
    return before, replace(
        before,
        codes=people.codes[copied],
        weights=(weights / times)[copied],
        requests=tuple(each._replace(of_row=each.of_row[copied]) for each in people.requests),
        respondents=copied.astype(np.uint8),
    )


@given(rich_worlds(requests=1, people=20), st.data(), st.integers(2, 4))
def test_a_copy_of_a_row_is_nobody_else(world: World, data: st.DataObject, times: int) -> None:
    """Rows copied, their weights divided among the copies, change no loss, whatever is known."""
    both = copies(world.population, data.draw(st.integers(1, times)), times)
    what = data.draw(known(world))
    one, many = (AnonymitySet(each, world.cards, what) for each in both)
    for mask in subsets(world.everything):
        for measure in METRICS:
            level = one.identifiability(mask, measure, 3)
            assert many.identifiability(mask, measure, 3) == pytest.approx(level, abs=1e-9)
    assert many.success == pytest.approx(one.success)


@given(rich_worlds(), st.data())
def test_weights_of_one_are_people_counted(world: World, data: st.DataObject) -> None:
    """A census says what no weights say; a row for two people is never as sure as one for one."""
    what = data.draw(known(world))
    counts, codes = world.population.requests, world.population.codes
    plain = AnonymitySet(Population(codes, None, counts), world.cards, what)
    ones = Population(codes, np.ones(len(codes)), counts)
    census = AnonymitySet(ones, world.cards, what)
    assert census.people == pytest.approx(plain.people)
    assert census.success == pytest.approx(plain.success)
    for mask in subsets((1 << world.persons) - 1):
        for measure in METRICS:
            if plain.people > 1:
                wanted = plain.identifiability(mask, measure, 3)
                assert census.identifiability(mask, measure, 3) == pytest.approx(wanted)
        assert census.people_left(mask) == pytest.approx(plain.people_left(mask))


@given(rich_worlds(people=40), st.data(), st.floats(1.5, 500))
def test_a_recipient_is_closed_by_risk_and_not_by_rows(
    world: World, data: st.DataObject, weight: float
) -> None:
    """Where a guess is right half of the time; somebody who is no row is told apart less."""
    codes = world.population.codes
    people = Population(codes, np.full(len(codes), weight), world.population.requests)
    crowd = AnonymitySet(people, world.cards, data.draw(known(world)))
    level = crowd.identifiability(0, "maxprob", 1)
    assert crowd.closed == (level >= 0.5)
    assert crowd.people == pytest.approx(1 / level)
    assert crowd.success <= level * (1 + 1e-6)
    assert not crowd.unseen


@given(rich_worlds(people=40), st.data(), st.floats(1, 500), SHARES)
def test_where_there_are_no_data_the_prior_alone_tells(
    world: World, data: st.DataObject, weight: float, share: float
) -> None:
    """How many people there are; what they may add is as for those who agree with most of it."""
    codes = world.population.codes
    people = Population(codes, np.full(len(codes), weight))
    mixed = [int(data.draw(st.sampled_from(sorted({*column.tolist()})))) for column in codes.T]
    what = tuple(enumerate(mixed[: data.draw(st.integers(2, world.persons))]))
    crowd = AnonymitySet(people, world.cards, what, share)
    if not crowd.unseen:
        return
    expected = naive.expected_people(people, naive.events(people, what))
    rate = rate_of(np.array(1 / weight), np.array(expected))
    assert crowd.success == pytest.approx(float(risk_unseen(rate[None], share)[0]))
    assert crowd.people == pytest.approx(1 / crowd.success)
    assert crowd.closed == (crowd.success >= 0.5)
    for mask in subsets(crowd.persons):
        least = crowd.least(mask, "maxprob", 1, crowd.persons)
        assert least <= crowd.identifiability(mask, "maxprob", 1) <= 1
        assert crowd.people_left(mask) >= 1


def test_who_agrees_with_nothing_is_outside() -> None:
    """Nobody is certainty, for a sample too."""
    people = Population(np.zeros((4, 1), np.uint8), np.full(4, 9.0))
    crowd = AnonymitySet(people, (2,), [(0, 1)])
    assert crowd.people == crowd.success == 1
    assert crowd.closed
    assert crowd.unseen
    assert crowd.people_left(0) == 1
    for measure in METRICS:
        assert crowd.identifiability(0, measure, 3) >= (measure != "entropy")


@given(rich_worlds(people=40), st.data())
def test_the_tree_has_the_largest_information(world: World, data: st.DataObject) -> None:
    """Of all trees; one more attribute is an edge to others, in place of some."""
    people = weighted(world.population)
    built = DependenceTree(people, world.cards)
    some = data.draw(st.sets(st.integers(0, world.persons - 1), min_size=1))
    edges = {*built.edges(tuple(sorted(some)))}
    assert edges == naive.tree(people, sorted(some))
    information = {pair: naive.information(people, *pair) for pair in combinations(sorted(some), 2)}
    best = max(sum(map(information.__getitem__, each)) for each in _trees(sorted(some)))
    assert sum(information[pair] for pair in edges) == best
    for new in {*range(world.persons)} - some:
        assert all(new in each for each in {*built.edges((*sorted({*some, new}),))} - edges)


def _trees(attributes: list[int]) -> list[list[tuple[int, int]]]:
    """Return every tree over these: as many edges as reach all of them."""
    trees = list[list[tuple[int, int]]]()
    for edges in combinations([*combinations(attributes, 2)], len(attributes) - 1):
        reached = {attributes[0]}
        for _ in attributes:
            reached |= {i for edge in edges for i in edge if reached & {*edge}}
        if len(reached) == len(attributes):
            trees.append([*edges])
    return trees


@given(rich_worlds(people=40), st.data())
def test_people_are_expected_by_the_tree(world: World, data: st.DataObject) -> None:
    """Term by term; never more than have any one of the values."""
    people = weighted(world.population)
    expected = ExpectedPeople(people, world.cards, {})
    someone = people.codes[data.draw(st.integers(0, people.rows - 1))]
    for mask in subsets((1 << world.persons) - 1):
        codes = {each: someone[[each]] for each in members(mask)}
        found = expected.bits(codes)
        events = {each: frozenset([int(someone[each])]) for each in codes}
        assert np.exp2(found) == pytest.approx(naive.expected_people(people, events))
        assert found <= expected.bits(codes, most=True) + 1e-9


def weighted(people: Population) -> Population:
    """Return people who stand for others."""
    if people.weights is not None:
        return people
    return replace(people, weights=np.arange(people.rows) % 3 + np.ones(people.rows))

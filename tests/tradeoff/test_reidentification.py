"""People are estimated as DESIGN.md 2.7 and 2.8 say: by quadrature, and law by law."""

import numpy as np
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st
from scipy.integrate import IntegrationWarning

from agent.tradeoff.anonymity_set import AnonymitySet
from agent.tradeoff.measures import METRICS, Measure
from agent.tradeoff.tables import Population, subsets
from tests.tradeoff import naive
from tests.tradeoff.worlds import World, known, rich_worlds

SHARES = st.one_of(st.just(1.0), st.floats(-4, 0).map(lambda power: 10**power))
ERROR = 1.001  # of the table
MEASURES: tuple[Measure, ...] = (*METRICS, "risk", "k")


def of(rows: float, people: float, expected: float, share: float = 1.0) -> float:
    return naive.chance(naive.Group(1.0, rows, people, expected), share)


@st.composite
def parts(draw: st.DrawFn, most: int = 60) -> list[tuple[float, float, float]]:
    """Draw groups that make up a larger one: rows, people, and the share of those expected."""
    scale = 10 ** draw(st.floats(0, 4))
    sizes = draw(st.lists(st.integers(1, most), min_size=2, max_size=4))
    weights = [max(1.0, scale * draw(st.floats(0.3, 3))) for _ in sizes]
    shares = np.array([draw(st.floats(0.01, 1)) for _ in sizes])
    shares = shares / shares.sum() * draw(st.floats(0.3, 1))
    return [(s, s * w, float(e)) for s, w, e in zip(sizes, weights, shares, strict=True)]


@given(
    st.one_of(st.integers(1, 9).map(float), st.floats(0, 12).map(np.exp)),
    st.floats(0, 9).map(np.exp),
    st.floats(-6, 18).map(np.exp),
    SHARES,
)
def test_it_is_the_integral(rows: float, weight: float, expected: float, share: float) -> None:
    """Within 0.1 %, by adaptive quadrature of another form of it."""
    try:
        wanted = naive.one_in(rows, rows * weight, expected, share)
    except IntegrationWarning:  # an error here: where the quadrature gives up, there is no oracle
        reject()
    assert of(rows, rows * weight, expected, share) == pytest.approx(wanted, rel=1e-3)


@given(st.integers(1, 400), SHARES)
def test_rows_that_are_people_are_counted(rows: int, share: float) -> None:
    """One in f; with others who agree with probability rho, (1 - (1-rho)^f) / (rho f)."""
    everybody = 1 / rows if share == 1 else (1 - (1 - share) ** rows) / (share * rows)
    assert of(rows, rows, 5.0, share) == pytest.approx(everybody, rel=1e-9)


def test_many_people_expected_are_found_by_their_weight() -> None:
    """As many as their weight, less about one row: which of them is the sender is not known."""
    for rows in (3, 30, 3_000):
        found = 1 / of(rows, rows * 1_000.0, rows * 1_000.0)
        assert (rows - 1) * 1_000 < found < (rows - 0.7) * 1_000


def test_the_prior_pulls_towards_what_is_expected() -> None:
    """A group where nobody is expected is one person; endless, it is as its weight says."""
    assert of(1, 1_000.0, 1e-30) == pytest.approx(1.0)
    p = 1e-3
    y = (np.arange(2_000_000) + 0.5) / 2_000_000
    plain = float((p * y**2 / (p + (1 - p) * y)).mean())
    tilt = float((p * y**2 * (p + (1 - p) * y) ** -0.7).mean())
    assert of(3, 3_000.0, 1e30) == pytest.approx(tilt, rel=2e-3)
    assert of(3, 3_000.0, 1e30) < plain


@given(parts(), st.floats(-2, 16).map(np.exp), st.floats(-3, 0).map(lambda power: 10**power))
def test_a_part_is_never_safer_than_the_whole(
    groups: list[tuple[float, float, float]], expected: float, share: float
) -> None:
    """Each part of a group, hence their mean; with a share below 1 the mean, but for 0.1 %."""
    rows, people = (sum(each[place] for each in groups) for place in range(2))
    whole = of(rows, people, expected)
    found = [of(f, w, expected * e) for f, w, e in groups]
    assert min(found) * ERROR >= whole
    whole = of(rows, people, expected, share)
    mean = sum(w / people * of(f, w, expected * e, share) for f, w, e in groups)
    assert mean * 1.005 >= whole


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
    assert few * ERROR >= many
    assert few >= of(rows, rows * weight, expected)
    assert few <= 1
    assert of(rows, rows * weight, expected, 0.0) == 1.0


@given(st.lists(st.floats(0.01, 1), min_size=1, max_size=30), st.data())
def test_rows_may_count_in_parts(likely: list[float], data: st.DataObject) -> None:
    """A fact of the request splits each row by its chances: the mean never falls."""
    weights = np.array([data.draw(st.floats(1, 1e4)) for _ in likely])
    first = np.array(likely)
    expected = data.draw(st.floats(1, 1e6))
    whole = of(len(first), float(weights.sum()), expected)
    mean = 0.0
    for each in (first, 1.0 - first + 1e-12):
        mass, peak = float(weights @ each), float(each.max())
        split = of(float(each.sum()) / peak, mass / peak, expected)
        mean += mass / float(weights.sum()) * split
    assert mean * ERROR >= whole


@given(rich_worlds(requests=1, people=25), st.data(), SHARES)
def test_a_set_is_the_mean_over_its_answers(
    world: World, data: st.DataObject, share: float
) -> None:
    """Every measure and people left, surveyed or not, at every share."""
    what = data.draw(known(world))
    crowd = AnonymitySet(world.population, world.cards, what, share)
    already = sum(1 << attribute for attribute, _ in what)
    if data.draw(st.booleans()):
        base = data.draw(st.integers(0, (1 << world.persons) - 1)) & ~already
        crowd.survey(base, crowd.persons, [(each, 3) for each in MEASURES])
    for mask in subsets(world.everything):
        for measure in MEASURES:
            if world.population.weights is None and share == 1:
                continue
            disclosed = mask | already
            wanted = naive.identifiability(world.population, disclosed, what, measure, 3, share)
            assert crowd.identifiability(mask, measure, 3) == pytest.approx(wanted, abs=1e-9)
        left = naive.people_left(world.population, mask | already, what, share)
        assert crowd.people_left(mask) == pytest.approx(left)


@given(rich_worlds(), st.data())
def test_weights_of_one_are_people_counted(world: World, data: st.DataObject) -> None:
    """A census says what no weights say; a row for two people is never as sure as one for one."""
    what = data.draw(known(world))
    counts, codes = world.population.requests, world.population.codes
    plain = AnonymitySet(Population(codes, None, counts), world.cards, what)
    ones = Population(codes, np.ones(len(codes)), counts)
    census = AnonymitySet(ones, world.cards, what)
    assert census.people == pytest.approx(plain.people)
    for mask in subsets((1 << world.persons) - 1):
        for measure in MEASURES:
            if plain.people > 1:
                wanted = plain.identifiability(mask, measure, 3)
                assert census.identifiability(mask, measure, 3) == pytest.approx(wanted)
        assert census.people_left(mask) == pytest.approx(plain.people_left(mask))


@given(rich_worlds(people=40), st.data(), st.floats(1.5, 500))
def test_fewer_than_three_rows_keep_no_limit(
    world: World, data: st.DataObject, weight: float
) -> None:
    """They count as one person, whatever their weights, and nothing new is added to so few."""
    codes = world.population.codes
    people = Population(codes, np.full(len(codes), weight), world.population.requests)
    what = data.draw(known(world))
    crowd = AnonymitySet(people, world.cards, what)
    rows = len(naive.agreeing(people, what))
    assert crowd.closed == (rows < 3 or crowd.identifiability(0, "maxprob", 1) >= 0.5)
    for mask in subsets((1 << world.persons) - 1):
        found = naive.groups(people, mask | crowd.disclosed, what)
        few = sum(group.mass for group in found if group.rows < 3)
        assert crowd.identifiability(mask, "k", 2) >= few - 1e-9
        assert crowd.identifiability(mask, "risk", 1) >= few - 1e-9


def test_who_agrees_with_nothing_is_outside() -> None:
    """Nobody is certainty, for a sample too."""
    people = Population(np.zeros((4, 1), np.uint8), np.full(4, 9.0))
    crowd = AnonymitySet(people, (2,), [(0, 1)], 0.5)
    assert crowd.people == 0
    assert crowd.closed
    assert crowd.people_left(0) == 0
    for measure in MEASURES:
        assert crowd.identifiability(0, measure, 3) >= (measure != "entropy")

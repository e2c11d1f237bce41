"""Utilities are their definitions, less their prices (DESIGN.md 2.1)."""

from dataclasses import replace
from math import log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.tradeoff.tables import Floats, Kinds, Population, QueryRows, members, subsets
from agent.tradeoff.utility import MOST_PRICE, Estimator, Mixture, Priced, query_utility
from tests.tradeoff import naive
from tests.tradeoff.worlds import ESTIMATORS, SHRINKAGES, World, rich_worlds, worlds

ROUNDING = 1e-8  # bits
ANY_SHRINKAGE = SHRINKAGES | st.floats(0.01, 1e3)
CARDS = (2, 3, 4, 5)
SETS = (0b0001, 0b1000, 0b0110, 0b1111)
TABLES = 60
MANY = 16  # sets, from which on not each is looked at
FEWER = settings(max_examples=settings().max_examples // 2)
SIGMAS = 3.5  # beyond which a mean of so many tables is no longer luck (one case in 4,000)


def sets_of(world: World) -> list[int]:
    """Every set of few attributes; of more, some of them."""
    everything = world.everything
    if everything < MANY:
        return [*subsets(everything)]
    return [everything, everything >> 1, everything & 0b10101]


@FEWER
@given(worlds() | rich_worlds(), SHRINKAGES | st.floats(1e-3, 1e3))
def test_it_is_its_definition(world: World, shrinkage: float) -> None:
    """Several rows per user, repeated pairs, intents that occur once or depend on attributes."""
    cases: list[tuple[Estimator, float]] = [(each, shrinkage) for each in ESTIMATORS]
    for estimator, beta in (*cases, ("plugin", 0.0)):
        utility, plain = world.utility(estimator, beta), getattr(naive, estimator)
        for mask in sets_of(world):
            expected = plain(world.rows, mask, beta)
            assert utility.value(mask) == pytest.approx(expected, abs=ROUNDING)


@given(rich_worlds(), ANY_SHRINKAGE, st.sampled_from([1, 1 << 40]))
def test_counts_apart_are_those_of_divided_rows(world: World, shrinkage: float, keys: int) -> None:
    """The value of every set, to the last bit, whether its keys have to be renumbered."""
    divided, apart = (world.utility("louo", shrinkage) for _ in range(2))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("agent.tradeoff.grouping.KEYS", keys)
        for mask in subsets(world.everything):
            for each in members(mask):
                expected = divided.extensions(mask & ~(1 << each), [each])
                assert [apart.value(mask), divided.value(mask)] == 2 * expected


@given(rich_worlds())
def test_without_smoothing_it_never_falls(world: World) -> None:
    """Information does not hurt, on any table."""
    utility = world.utility("plugin", 0.0)
    for mask in subsets(world.everything):
        for each in members(world.everything & ~mask):
            assert utility.value(mask | 1 << each) >= utility.value(mask) - 1e-9


@pytest.mark.parametrize("shrinkage", [-1.0, float("nan"), 0.0])
def test_a_shrinkage_is_a_number_of_rows(shrinkage: float) -> None:
    """Not negative; and without a prior, a row whose group holds nobody else has no score."""
    none = np.zeros((1, 0), np.uint8)
    rows = QueryRows(np.zeros(1, np.intp), np.zeros(1, np.intp), none, none, 1)
    if shrinkage != 0:
        with pytest.raises(ValueError, match="not negative"):
            query_utility(rows, (), "plugin", shrinkage)
    with pytest.raises(ValueError, match="above 0"):
        query_utility(rows, (), "louo", shrinkage)


@given(worlds(), SHRINKAGES)
def test_a_value_that_nobody_else_has_earns_nothing(world: World, shrinkage: float) -> None:
    """Not a small number: nothing, for every set that holds such an attribute."""
    rows = world.rows
    names = np.arange(len(rows.person), dtype=np.uint8)[:, np.newaxis]
    own = replace(rows, person=np.concatenate([names, rows.person], axis=1))
    utility = query_utility(own, (len(names), *world.cards), "louo", shrinkage)
    for mask in subsets(world.everything):
        assert utility.value(mask << 1 | 1) == 0.0


def test_one_user_with_thousands_of_rows_is_no_trap() -> None:
    """Left out of the others' group, which is just as large, they once left 0 to divide by."""
    mine, others, beta = 5000, 4995, 5.0
    rows = QueryRows(
        user=np.r_[np.zeros(mine, np.intp), 1 + np.arange(others)],
        intent=np.r_[np.zeros(mine, np.intp), np.arange(others) % 2],
        person=np.r_[0, np.ones(others)].astype(np.uint8)[:, np.newaxis],
        request=np.zeros((mine + others, 0), np.uint8),
        intents=2,
    )
    total = 0.0
    for here, everywhere in ((2498, 7498), (2497, 2497)):
        prior = (everywhere - 1 + 0.5) / (mine + others - 1 + 1)
        chance = (here - 1 + beta * prior) / (others - 1 + beta)
        total += here * log2(chance / prior)
    value = query_utility(rows, (2,), "louo", beta).value(1)
    assert value == pytest.approx(total / (mine + others), abs=1e-9)


def test_an_attribute_may_have_256_values() -> None:
    """Beside one with a single value, 256 did not fit into the byte they were counted with."""
    codes = np.random.default_rng(0).integers(0, 256, 1500)
    rows = QueryRows(
        user=np.arange(3000) % 1500,
        intent=np.arange(3000) % 2,
        person=np.stack([np.zeros(1500), codes], axis=1).astype(np.uint8),
        request=np.zeros((3000, 0), np.uint8),
        intents=2,
    )
    utility = query_utility(rows, (1, 256), "louo", 5.0)
    assert utility.extensions(0, [0, 1]) == [utility.value(1), utility.value(2)]


@given(worlds(), st.sampled_from(ESTIMATORS), st.lists(st.integers(1, 9), min_size=2, max_size=2))
def test_the_mean_over_queries_is_a_weighted_mean(
    world: World, estimator: Estimator, weights: list[int]
) -> None:
    """The a-priori case: values, limits and bounds alike."""
    parts = [world.utility(estimator, beta) for beta in (5.0, 20.0)]
    shares = [weight / sum(weights) for weight in weights]
    mean = Mixture(parts, shares)
    with pytest.raises(ValueError, match="at least one"):
        Mixture((), ())
    for mask in subsets(world.everything):
        expected = sum(w * p.value(mask) for w, p in zip(shares, parts, strict=True))
        assert mean.value(mask) == pytest.approx(expected, abs=1e-12)
        rest = [*members(world.everything & ~mask)]
        bounds = np.array([each.potentials(mask, rest) for each in parts])
        assert mean.potentials(mask, rest) == pytest.approx([*(shares @ bounds)], abs=ROUNDING)
        one_more = [mean.value(mask | 1 << each) for each in rest]
        assert mean.extensions(mask, rest) == pytest.approx(one_more, abs=ROUNDING)
    assert mean.limit == pytest.approx(sum(w * p.limit for w, p in zip(shares, parts, strict=True)))


@st.composite
def camps(draw: st.DrawFn) -> World:
    """Draw users with many rows each, most of them for one intent, in groups of a few.

    Here leaving a user out helps most: the sum over intents of what different users are told
    exceeds 1.
    """
    users = draw(st.integers(2, 5))
    rows = draw(st.lists(st.integers(1, 12), min_size=users, max_size=users))
    intents = draw(st.lists(st.integers(0, 2), min_size=users, max_size=users))
    strays = draw(st.lists(st.tuples(st.integers(0, users - 1), st.integers(0, 2)), max_size=4))
    user = np.r_[np.repeat(np.arange(users), rows), [who for who, _ in strays]].astype(np.intp)
    intent = np.r_[np.repeat(intents, rows), [what for _, what in strays]].astype(np.intp)
    codes = st.lists(st.integers(0, 1), min_size=users, max_size=users)
    person = np.array([draw(codes), draw(codes)], np.uint8).T
    request = np.array([draw(st.integers(0, 1)) for _ in user], np.uint8)[:, np.newaxis]
    numbered = np.unique(intent, return_inverse=True)[1]
    query = QueryRows(user, numbered, person, request, int(numbered.max()) + 1)
    return World(
        (2, 2, 2), 2, query, Population(person, None, (Kinds.of(np.ones((users, 2), np.uint8)),))
    )


@given(worlds() | rich_worlds() | camps(), st.sampled_from(ESTIMATORS), ANY_SHRINKAGE)
def test_no_superset_is_above_the_potential(
    world: World, estimator: Estimator, shrinkage: float
) -> None:
    """In small tables users with many rows weigh most; in larger ones attributes tell much."""
    utility, everything = world.utility(estimator, shrinkage), world.everything
    for mask in subsets(everything):
        rest = [*members(everything & ~mask)]
        for each, bound in zip(rest, utility.potentials(mask, rest), strict=True):
            with_it = mask | 1 << each
            assert bound <= utility.limit + ROUNDING
            for more in subsets(everything & ~with_it):
                assert utility.value(with_it | more) <= bound + ROUNDING


def test_smoothing_can_tell_more_than_the_counts() -> None:
    """A hundred small groups, evenly divided, are pulled to a prior that is sure of itself.

    Their empirical entropy is no bound then: the potential must not count on it.
    """
    code = np.r_[np.repeat(np.arange(100), 3), np.full(2700, 100)].astype(np.uint8)
    intent = np.r_[np.tile([0, 1, 2], 100), np.zeros(2700)].astype(np.intp)
    none = np.zeros((3000, 0), np.uint8)
    rows = QueryRows(np.arange(3000), intent, code[:, np.newaxis], none, 3)
    smooth = query_utility(rows, (101,), "plugin", 5.0)
    counted = query_utility(rows, (101,), "plugin", 0.0)
    entropy = counted.limit - counted.value(1)
    assert smooth.value(1) > smooth.limit - entropy
    assert smooth.value(1) <= smooth.potentials(0, [0])[0]


def table(seed: int, users: int, most: int, once: float, loyal: float) -> QueryRows:
    """Rows whose intents do not depend on the attributes.

    ``most``: rows of one user; ``once``: share of rows with an intent of their own; ``loyal``:
    share of the others in which users want what they always want.
    """
    generator = np.random.default_rng(seed)
    user = np.repeat(np.arange(users), generator.integers(1, most + 1, users))
    rows, popularity = len(user), 1 / np.arange(1, 13) ** 1.2
    popularity /= popularity.sum()
    favourite = generator.choice(12, users, p=popularity)[user]
    intent = generator.choice(12, rows, p=popularity)
    intent = np.where(generator.random(rows) < loyal, favourite, intent)
    intent = np.where(generator.random(rows) < once, 12 + np.arange(rows), intent)
    codes = np.stack([generator.integers(0, card, users) for card in CARDS], axis=1)
    return QueryRows(
        user=user,
        intent=np.unique(intent, return_inverse=True)[1],
        person=codes.astype(np.uint8),
        request=np.zeros((rows, 0), np.uint8),
        intents=len(np.unique(intent)),
    )


def gains(
    estimator: Estimator, shrinkage: float, users: int, most: int, tail: tuple[float, float]
) -> Floats:
    """U of each of the SETS in each of the TABLES."""
    utilities = (
        query_utility(table(seed, users, most, *tail), CARDS, estimator, shrinkage)
        for seed in range(TABLES)
    )
    return np.array([[utility.value(mask) for mask in SETS] for utility in utilities])


def test_noise_earns_nothing() -> None:
    """On the mean of many tables, up to the noise of that mean."""
    for users, most, tail in (
        (200, 1, (0.0, 0.0)),
        (200, 1, (0.5, 0.0)),
        (100, 4, (0.0, 0.8)),  # a user's rows are alike: everybody else's say nothing about them
        (100, 4, (0.5, 0.8)),
        (30, 8, (0.0, 1.0)),
        (100, 1, (1.0, 0.0)),
    ):
        for shrinkage in (5.0, 200.0):
            drawn = gains("louo", shrinkage, users, most, tail)
            error = drawn.std(axis=0, ddof=1) / np.sqrt(TABLES)
            assert np.all(drawn.mean(axis=0) <= SIGMAS * error)
    deceived = gains("plugin", 5.0, 200, 1, (0.5, 0.0))  # hard enough: four attributes of noise
    assert deceived[:, SETS.index(0b1111)].mean() > 0.5  # "gain" half a bit


PRICES = st.floats(0, MOST_PRICE) | st.floats(0, 0.1)


@given(rich_worlds(), st.data())
def test_a_price_is_paid_for_each_attribute_of_the_set(world: World, data: st.DataObject) -> None:
    """Nothing is worth nothing, and no price is rounded by more than shows."""
    count = len(world.cards)
    prices = data.draw(st.lists(PRICES, min_size=count, max_size=count))
    utility, plain = Priced(world.utility(), np.array(prices)), world.utility()
    assert utility.value(0) == 0.0
    for mask in subsets(world.everything):
        paid = sum(prices[each] for each in members(mask))
        assert abs(utility.value(mask) - (plain.value(mask) - paid)) < 1e-9
        for each in members(mask):
            [bound] = utility.potentials(mask & ~(1 << each), [each])
            assert utility.value(mask) <= min(utility.limit, bound) + 1e-9
            assert utility.value(world.everything) <= bound + 1e-9

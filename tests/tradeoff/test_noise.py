"""Attributes that have nothing to do with the intent must earn nothing (DESIGN.md 2.1)."""

import numpy as np
import pytest
from numpy.typing import NDArray

from agent.tradeoff.tables import QueryRows
from agent.tradeoff.utility import Estimator, query_utility

CARDS = (2, 3, 4, 5)
SETS = (0b0001, 0b1000, 0b0110, 0b1111)
TABLES = 60
SIGMAS = 3.5  # beyond which a mean of so many tables is no longer luck (one case in 4,000)


def table(seed: int, users: int, most: int, once: float, loyal: float) -> QueryRows:
    """Return rows whose intents do not depend on the attributes.

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
) -> NDArray[np.float64]:
    """Return U of each of the SETS in each of the TABLES."""
    utilities = (
        query_utility(table(seed, users, most, *tail), CARDS, estimator, shrinkage)
        for seed in range(TABLES)
    )
    return np.array([[utility.value(mask) for mask in SETS] for utility in utilities])


@pytest.mark.parametrize("shrinkage", [5.0, 50.0, 200.0])
@pytest.mark.parametrize(
    ("users", "most", "tail"),
    [
        (200, 1, (0.0, 0.0)),
        (200, 1, (0.5, 0.0)),
        (100, 4, (0.0, 0.8)),  # a user's rows are alike: everybody else's say nothing about them
        (100, 4, (0.5, 0.8)),
        (30, 8, (0.0, 1.0)),
        (100, 1, (1.0, 0.0)),
    ],
)
def test_noise_earns_nothing(
    users: int, most: int, tail: tuple[float, float], shrinkage: float
) -> None:
    """On the mean of many tables, up to the noise of that mean."""
    drawn = gains("louo", shrinkage, users, most, tail)
    error = drawn.std(axis=0, ddof=1) / np.sqrt(TABLES)
    assert np.all(drawn.mean(axis=0) <= SIGMAS * error)


def test_the_same_noise_deceives_the_plug_in_estimate() -> None:
    """The tables above are hard enough to matter: four attributes of noise "gain" half a bit."""
    drawn = gains("plugin", 5.0, 200, 1, (0.5, 0.0))
    assert drawn[:, SETS.index(0b1111)].mean() > 0.5


def test_what_is_no_noise_earns_something() -> None:
    """An attribute that tells much of the intent: 0 is not all there is."""
    plain = table(0, 200, 1, 0.0, 0.0)
    telling = np.minimum(plain.intent, 4)[:, np.newaxis].astype(np.uint8)
    rows = QueryRows(plain.user, plain.intent, telling, plain.request, plain.intents)
    assert query_utility(rows, (5,), "louo", 5.0).value(1) > 1

"""Where people ask from, as a reverse look-up of their address would tell (paper, section 5.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from agent.lab.synth.draws import Arrays, by_rank, top_share
from agent.lab.synth.marginals import PUBLISHED

if TYPE_CHECKING:
    from agent.lab.synth.draws import Flags, Ints

COUNTRIES = ("US", "CA", "GB", "DE", "FR", "IN", "JP")  # city c is in number c % 7
_BY_REGION = np.array([[0, 1], [2, 3], [5, 6]])  # by code of the region
_FIRST = np.array([0.88, 0.5, 0.6])  # how many of a region live in the first of its countries
CITIES, ZIPS = 1_400, 6  # of the world, a multiple of the countries; of a city
_FLAT = 5  # cities of a country that are about as large
NOWHERE = -1
_UNPLACED = 0.04  # of the people have a provider that tells no place
_ODD = 0.01  # have several zips in one city, and as many several cities of unknown zip
_AWAY = 0.25  # of the queries of somebody who asks from two places


@dataclass(frozen=True, slots=True, eq=False)
class Places(Arrays):
    """Where each query is asked, and who asks from several places.

    ``zip``, ``city``: of each query, codes, NOWHERE where the look-up does not say; a zip code
    belongs to the city zip // ZIPS; ``moves``: of each person.
    """

    zip: Ints
    city: Ints
    moves: Flags


def places(region: Ints, person: Ints, generator: np.random.Generator) -> Places:
    """Return where each query comes from, from several places for as many as the paper says.

    ``region``: of each person; ``person``: who asks each query, ascending.
    """
    count = np.bincount(person, minlength=len(region))
    mobile = generator.logistic(size=len(count)) + 0.5 * np.log(count)
    able = (by_rank(generator.random(len(count)), [_UNPLACED, 1 - _UNPLACED]) == 1) & (count > 1)
    far = top_share(mobile, PUBLISHED["several_cities"], able)  # in another city, at times
    vague = top_share(generator.random(len(count)), _ODD, far)
    near = top_share(mobile, PUBLISHED["several_zips"] - far.mean() + vague.mean(), able & ~far)
    abroad = top_share(generator.random(len(count)), PUBLISHED["several_countries"], far & ~vague)
    home = _cities(region, generator)
    other = np.where(far, _others(home, abroad, generator), home)
    house = generator.integers(ZIPS, size=len(home))
    second = (house + 1) % ZIPS
    away = _away(far | near, person, generator)
    city = np.where(away, other[person], home[person])
    code = city * ZIPS + np.where(away, second[person], house[person])
    silent = ~able[person] & (count[person] > 1)
    code = np.where(silent | (away & vague[person]), NOWHERE, code)
    return Places(code, np.where(silent, NOWHERE, city), far | near)


def _away(moves: Flags, person: Ints, generator: np.random.Generator) -> Flags:
    """Return which queries are asked elsewhere: never the first of somebody, always the last."""
    away = moves[person] & (generator.random(len(person)) < _AWAY)
    ends = np.diff(person, append=-1) != 0
    away = np.where(ends, moves[person], away)
    away[np.diff(person, prepend=-1) != 0] = False
    return away


def _cities(region: Ints, generator: np.random.Generator) -> Ints:
    """Return a city for each, in a country of their region; large ones more often."""
    first = generator.random(len(region)) < _FIRST[region]
    country = _BY_REGION[region, np.where(first, 0, 1)]
    sizes = 1.0 / (np.arange(CITIES // len(COUNTRIES)) + _FLAT)
    rank = generator.choice(len(sizes), size=len(region), p=sizes / sizes.sum())
    cities: Ints = rank * len(COUNTRIES) + country
    return cities


def _others(home: Ints, abroad: Flags, generator: np.random.Generator) -> Ints:
    """Return another city for each: in another country, or else in the same."""
    countries, ranks = len(COUNTRIES), CITIES // len(COUNTRIES)
    rank = (home // countries + generator.integers(1, ranks, size=len(home))) % ranks
    move = np.where(abroad, generator.integers(1, countries, size=len(home)), 0)
    others: Ints = rank * countries + (home + move) % countries
    return others

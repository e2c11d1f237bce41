"""A block of people: laws of what they ask, when, from where, and what they choose."""

import numpy as np
import pytest
from numpy.typing import NDArray

from agent.lab.synth.clicks import LONG
from agent.lab.synth.log import Block, block, world_of
from agent.lab.synth.marginals import MIN_USERS, PEOPLE, PUBLISHED, QUERIES, TEXTS
from agent.lab.synth.queries import DAY, GAP, NOWHERE, ZIPS
from agent.lab.synth.world import UNSAID, World
from tests.lab.synth.conftest import SEED


def same_person(made: Block) -> NDArray[np.bool_]:
    """Return of each query but the first, whether the one before was the same person's."""
    same: NDArray[np.bool_] = np.diff(made.queries.person) == 0
    return same


def test_it_has_the_size_of_the_paper(made: Block, world: World) -> None:
    """Section 5: so many queries, so many different ones, and enough people behind each."""
    asked = made.queries
    assert len(asked.person) == QUERIES
    assert len(set(world.texts)) == TEXTS == len(world.texts)
    assert np.array_equal(np.unique(asked.person), np.arange(PEOPLE))
    pairs = asked.person * TEXTS + asked.text
    assert np.array_equal(np.unique(pairs), asked.pair_person * TEXTS + asked.pair_text)
    assert np.bincount(asked.pair_text, minlength=TEXTS).min() >= MIN_USERS
    again = 1 - len(asked.pair_text) / QUERIES
    assert again == pytest.approx(PUBLISHED["asked_before"], abs=1 / QUERIES)


def test_time_goes_on_for_everybody(made: Block) -> None:
    """A person's queries follow each other, and no page of one is opened after the next."""
    asked, pages = made.moment.asked, made.pages
    assert np.all(np.diff(asked)[same_person(made)] >= GAP)
    assert pages.after.min() >= 0
    assert pages.after.max() < GAP
    assert np.all(np.diff(pages.row) >= 0)
    assert np.all(np.diff(pages.after)[np.diff(pages.row) == 0] > 0)
    moments = asked.astype("datetime64[s]")
    assert moments.min() >= np.datetime64("2005-12-01")
    assert moments.max() < np.datetime64("2007-02-01")


def test_who_asks_daily_is_who_asks_in_fewer_days_than_times(made: Block) -> None:
    """Nobody is near the border, so that it does not matter how a day is counted."""
    asked, person = made.moment.asked, made.queries.person
    first = asked[np.flatnonzero(np.diff(person, prepend=-1))]
    last = asked[np.flatnonzero(np.diff(person, append=-1))]
    times, days = np.bincount(person), (last - first) / DAY
    daily = (times >= days + 0.5) & (days > 7)
    assert daily.mean() == pytest.approx(PUBLISHED["daily"], abs=1e-3)
    assert np.all((times < days) | (times == 1) | daily)


def test_the_target_is_the_first_page_that_holds_them(made: Block, world: World) -> None:
    """It is an answer to their query, and what they saw before did not hold them."""
    pages = made.pages
    long = np.flatnonzero(pages.dwell >= LONG)
    rows, first = np.unique(pages.row[long], return_index=True)
    assert np.array_equal(rows, np.arange(QUERIES))
    assert np.array_equal(pages.host[long[first]], made.target)
    assert pages.dwell.min() > 0
    for text in range(0, TEXTS, 50):
        hosts, _ = world.answer(text)
        assert {*made.target[made.queries.text == text]} <= {*hosts}


def test_a_zip_code_lies_in_its_city(made: Block) -> None:
    """Where both are known; and no zip code is known of an unknown city."""
    places = made.moment
    known = places.zip != NOWHERE
    assert np.array_equal(places.zip[known] // ZIPS, places.city[known])
    assert not np.any(known & (places.city == NOWHERE))


def test_people_say_what_is_true_or_nothing(made: Block) -> None:
    """Gender is coded the other way round in what is said: female comes first."""
    crowd = made.people
    said = (
        (crowd.says_occupation, crowd.circle),
        (crowd.says_gender, 1 - crowd.woman),
        (crowd.says_age, crowd.age),
        (crowd.says_region, crowd.region),
    )
    for says, truth in said:
        assert np.array_equal(says[says != UNSAID], truth[says != UNSAID])
        assert np.any(says == UNSAID)


def test_another_seed_or_number_makes_another(made: Block, world: World) -> None:
    """That the same ones make the same is tested on the files."""
    other = block(SEED, 2, world)
    assert not np.array_equal(other.target, made.target)
    assert not np.array_equal(world_of(SEED + 1).visited, world.visited)


def test_nothing_can_be_written_to(made: Block, world: World) -> None:
    """Values stay what they are."""
    for array in (world.answers, made.people.taste, made.queries.text, made.pages.host):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0

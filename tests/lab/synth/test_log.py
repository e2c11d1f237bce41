"""A block of people, the files of a log, and what they say of it."""

from functools import cache
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray

from agent.build.log import open_log, source_of
from agent.build.observe import Observations, observe
from agent.build.options import BuildOptions, LogFiles
from agent.errors import UsageError
from agent.lab import synth
from agent.lab.synth import log
from agent.lab.synth.log import Block, Measured, block, measured, world_of, write_log
from agent.lab.synth.queries import DAY, GAP, LONG, NOWHERE, ZIPS
from agent.lab.synth.world import (
    MARGINALS,
    MIN_USERS,
    PEOPLE,
    PUBLISHED,
    QUERIES,
    SOURCE,
    TEXTS,
    UNSAID,
    SyntheticWorld,
)
from agent.tradeoff.anonymity_set import AnonymitySet
from agent.tradeoff.tables import singleton
from agent.tradeoff.utility import Estimator, MeanUtility, query_utility
from tests.build.worlds import QUIET
from tests.lab.synth.conftest import SEED

TOLERANCE = 0.01


def same_person(made: Block) -> NDArray[np.bool_]:
    """Return of each query but the first, whether the one before was the same person's."""
    same: NDArray[np.bool_] = np.diff(made.queries.person) == 0
    return same


def test_it_has_the_size_of_the_paper(made: Block, world: SyntheticWorld) -> None:
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


def test_the_target_is_the_first_page_that_holds_them(made: Block, world: SyntheticWorld) -> None:
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


def test_another_seed_makes_another_world(world: SyntheticWorld) -> None:
    """That the same one makes the same, and another number another, is tested on the files."""
    assert not np.array_equal(world_of(SEED + 1).visited, world.visited)


def test_nothing_can_be_written_to(made: Block, world: SyntheticWorld) -> None:
    """Values stay what they are."""
    for array in (world.answers, made.people.taste, made.queries.text, made.pages.host):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


pytestmark = QUIET


def nothing(_what: str, _share: float) -> None:
    """Tell nobody how far it is."""


@pytest.fixture(scope="module")
def found(files: LogFiles) -> Measured:
    """What a model's own code counts in the log."""
    return measured(files)


def test_the_sizes_are_the_papers(found: Measured) -> None:
    """People, queries, different queries; and none is of fewer people than the paper's were."""
    assert (found.people, found.queries, found.texts) == (PEOPLE, QUERIES, TEXTS)
    assert found.min_users >= MIN_USERS


@pytest.mark.parametrize("name", [each.name for each in MARGINALS])
def test_a_share_is_the_papers(found: Measured, name: str) -> None:
    """To within one in a hundred of what is counted."""
    shares = {each.name: (each.share, share) for each, share in found.shares}
    paper, here = shares[name]
    assert here == pytest.approx(paper, abs=TOLERANCE)


def test_every_host_is_a_site(files: LogFiles) -> None:
    """And sites have a topic or none, each once."""
    hosts = {*pq.read_table(files.log, columns=["host"])["host"].to_pylist()}
    sites = pq.read_table(files.sites).to_pylist()
    assert hosts <= {each["host"] for each in sites}
    assert len({(each["host"], each["topic"]) for each in sites}) == len(sites)
    assert any(each["topic"] is None for each in sites)


def test_rows_stand_in_the_order_of_time(files: LogFiles) -> None:
    """Of each person, whose rows stand together."""
    table = pq.read_table(files.log, columns=["user", "asked", "time", "dwell"])
    user = table["user"].to_numpy()
    asked, time = (table[name].to_numpy() for name in ("asked", "time"))
    same = user[1:] == user[:-1]
    assert np.count_nonzero(~same) == PEOPLE - 1
    assert np.all(np.diff(time)[same] > np.timedelta64(0))
    assert np.all(time >= asked)
    assert table["dwell"].to_numpy().min() >= 0


def test_the_same_seed_writes_the_same_bytes(files: LogFiles, tmp_path: Path) -> None:
    """All files of it."""
    shares: list[float] = []
    again = write_log(tmp_path / "again", 1, SEED, lambda _what, share: shares.append(share))
    assert shares == [0, 1]
    for one, other in zip(files, again, strict=True):
        assert one.read_bytes() == other.read_bytes()


def test_twice_the_size_begins_with_the_same_people(
    files: LogFiles, made: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And goes on with others."""
    monkeypatch.setattr(log, "block", lambda *each: made if each[1] == 1 else block(*each))
    twice = write_log(tmp_path / "twice", 2, SEED, nothing)
    for one, other in ((files.log, twice.log), (files.people, twice.people)):
        assert pq.ParquetFile(other).metadata.num_row_groups == 2
        assert pq.ParquetFile(other).read_row_group(0) == pq.read_table(one)
    users = pq.read_table(twice.people, columns=["user"])["user"]
    assert len(users.unique()) == 2 * PEOPLE
    first, second = (pq.ParquetFile(twice.log).read_row_group(each)["host"] for each in (0, 1))
    assert first != second
    assert pq.read_table(twice.sites) == pq.read_table(files.sites)


def test_the_source_says_that_it_is_synthetic(files: LogFiles) -> None:
    """With the seed, and every assumption."""
    said = (files.log.parent / SOURCE).read_text()
    assert said.startswith("# Synthetic\n")
    assert f"seed {SEED}" in said
    for assumption in (synth.__doc__ or "").split("\n- ")[1:]:
        assert " ".join(assumption.split()) in " ".join(said.split())


def test_nothing_is_written_over(files: LogFiles, tmp_path: Path) -> None:
    """Neither into a folder that holds anything, nor in the place of a file."""
    before = files.log.stat()
    with pytest.raises(UsageError, match="not empty"):
        write_log(files.log.parent, 1, SEED, nothing)
    assert files.log.stat() == before
    (tmp_path / "file").touch()
    with pytest.raises(UsageError):
        write_log(tmp_path / "file", 1, SEED, nothing)


def test_what_fails_leaves_nothing(
    made: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No part of a log that could be taken for a whole one."""
    monkeypatch.setattr(log, "block", lambda *_: made)

    def stop(_what: str, share: float) -> None:
        if share:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_log(tmp_path / "log", 1, SEED, stop)
    assert [*(tmp_path / "log").iterdir()] == []


SMALL, LARGE = 0.1, 100.0  # shrinkages: as little smoothing as fits the paper's; what louo wants
EVERY = 12  # of the queries are enough
# The order of Fig. 6.
ORDER = [
    *("occupation", "top_level_domain", "age_group", "several_cities", "asked_before"),
    *("visited_before", "working_hours", "topic_adult", "workday", "topic_home"),
    *("topic_consumer_information", "gender", "topic_games", "topic_regional"),
]
SEARCH = ["top_level_domain", "workday", "working_hours", "daily"]


@pytest.fixture(scope="module")
def seen(files: LogFiles) -> Observations:
    """What a model of the log is made of."""
    options = BuildOptions(**files._asdict())
    return observe(source_of(open_log(files)), options)


def mean(seen: Observations, estimator: Estimator, shrinkage: float) -> MeanUtility:
    """Return the utility over some of the queries, weighted by how often they are asked."""
    some = seen.queries[::EVERY]
    each = [query_utility(query.rows, seen.cards, estimator, shrinkage) for query in some]
    return MeanUtility(each, np.array([len(query.rows.user) for query in some], dtype=float))


def mask(seen: Observations, names: list[str]) -> int:
    """Return the set of some attributes."""
    places = {attribute.name: place for place, attribute in enumerate(seen.attributes)}
    return sum(singleton(places[name]) for name in names)


def test_utility_levels_off_where_the_papers_does(seen: Observations) -> None:
    """Fig. 6: about 1.92 bits, most of them by the first seven; Fig. 11: 0.8 by the search."""
    plugin = mean(seen, "plugin", SMALL)
    along = [plugin.value(mask(seen, ORDER[:count])) for count in range(len(ORDER) + 1)]
    gains = np.diff(along)
    assert along[-1] == pytest.approx(1.92, abs=0.3)
    assert along[7] > 0.85 * along[-1]
    assert gains[:3].min() > 4 * gains[-5:].max()
    everything = plugin.value((1 << len(seen.attributes)) - 1)
    assert everything == pytest.approx(along[-1], abs=0.1)
    assert plugin.value(mask(seen, SEARCH)) == pytest.approx(0.8, abs=0.15)


def test_some_of_it_is_true(seen: Observations) -> None:
    """Others' rows predict: by what people do and their age, not by what says nothing here."""
    louo = mean(seen, "louo", LARGE)
    found = {each.name: louo.value(mask(seen, [each.name])) for each in seen.attributes}
    assert min(found["age_group"], found["occupation"]) > 0.05
    assert found["top_level_domain"] > 0.01
    assert found["children"] < 0.005 > found["several_countries"]


def test_people_are_recognised_by_everything_and_by_little_not(seen: Observations) -> None:
    """Fig. 7: the cost grows slowly at first, and in the end nearly everybody is alone."""
    crowd = AnonymitySet(seen.population, seen.cards)
    persons = [each.name for each in seen.attributes if each.scope == "person"]

    @cache
    def cost(count: int) -> float:
        return crowd.identifiability(mask(seen, persons[:count]), "maxprob", 1)

    assert cost(len(persons)) > 0.8
    assert cost(len(persons) // 2) < 0.5 * cost(len(persons))
    topics = mask(seen, [name for name in persons if name.startswith("topic_")])
    assert crowd.identifiability(topics, "maxprob", 1) == pytest.approx(0.6, abs=0.1)
    assert crowd.identifiability(topics, "k-anonymity", 100) < 1

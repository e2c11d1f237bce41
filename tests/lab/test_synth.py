"""A synthetic log has the published sizes and shares, and the shape that figures are drawn of."""

from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from agent.build.log import open_log, source_of
from agent.build.observe import Observations, observe
from agent.build.options import BuildOptions, LogFiles
from agent.errors import UsageError
from agent.lab import synth
from agent.lab import synth_world as invented
from agent.lab.synth_world import PUBLISHED, top_share
from agent.tradeoff.anonymity_set import AnonymitySet
from agent.tradeoff.utility import Estimator, Mixture, query_utility
from tests.build.worlds import QUIET
from tests.lab.worlds import quiet

SEED = 3
SCORES = arrays(np.float64, st.integers(1, 60), elements=st.floats(-5, 5))
SEEDS = st.integers(0, 2**32)
SMALL, LARGE = 0.1, 100.0  # shrinkages: as little smoothing as fits the paper's; what louo wants
EVERY = 12  # of the queries are enough
SEARCH = ["top_level_domain", "workday", "working_hours", "daily"]

pytestmark = QUIET


@given(SCORES, st.floats(0, 1), SEEDS)
def test_the_highest_are_chosen(scores: NDArray[np.float64], share: float, seed: int) -> None:
    """As many as wanted, as far as there are so many, and none above them is missed."""
    among = np.random.default_rng(seed).random(len(scores)) < 0.6
    chosen = top_share(scores, share, among)
    assert abs(chosen.sum() - min(share * len(scores), among.sum())) <= 1
    assert not np.any(chosen & ~among)
    missed = scores[among & ~chosen]
    assert scores[chosen].min(initial=np.inf) >= missed.max(initial=-np.inf)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> LogFiles:
    """A log, written once for all tests."""
    return synth.write_log(tmp_path_factory.mktemp("synth") / "log", SEED, quiet)


def test_the_sizes_and_shares_are_the_papers(files: LogFiles) -> None:
    """People, queries, different queries; shares to within one in a hundred of what is counted."""
    found = synth.measured(files)
    assert (found.people, found.queries, found.texts) == (
        invented.PEOPLE,
        invented.QUERIES,
        invented.TEXTS,
    )
    assert found.min_users >= invented.MIN_USERS
    assert found.shares == pytest.approx(PUBLISHED, abs=0.01)


def test_rows_follow_each_other_and_every_host_is_a_site(files: LogFiles) -> None:
    """Of each person, whose rows stand together; a query's first long page is one that answers."""
    table = pq.read_table(files.log)
    user = table["user"].to_numpy()
    asked, time = (table[name].to_numpy() for name in ("asked", "time"))
    same = user[1:] == user[:-1]
    assert np.count_nonzero(~same) == invented.PEOPLE - 1
    assert np.all(np.diff(time)[same] > np.timedelta64(0))
    gaps = np.diff(asked)[same]
    assert np.all(gaps[gaps != np.timedelta64(0)] >= np.timedelta64(invented.GAP, "s"))
    assert np.all(time >= asked)
    assert np.datetime64("2005-12-01") <= asked.min() <= asked.max() < np.datetime64("2007-02-01")
    assert table["dwell"].to_numpy().min() > 0
    sites = pq.read_table(files.sites).to_pylist()
    assert {*table["host"].unique().to_pylist()} <= {each["host"] for each in sites}
    assert len({each["host"] for each in sites}) == len(sites)
    places = {tuple(each.values()) for each in table.select(["zip", "city", "country"]).to_pylist()}
    assert len({code for code, *_ in places}) == len(places)  # a zip code lies in one city


@pytest.mark.soak
def test_the_same_seed_writes_the_same_bytes(files: LogFiles, tmp_path: Path) -> None:
    """All files of it."""
    again = synth.write_log(tmp_path / "again", SEED, quiet)
    assert all(one.read_bytes() == two.read_bytes() for one, two in zip(files, again, strict=True))


def test_the_source_says_what_is_assumed_and_nothing_is_written_over(
    files: LogFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither into a folder that holds anything, nor in place of a file; a failure leaves none."""
    rng, other = (np.random.default_rng(seed) for seed in (SEED, SEED + 1))
    assert not np.array_equal(invented.people(rng).taste, invented.people(other).taste)
    source = (files.log.parent / synth.SOURCE).read_text()
    assert source.startswith("# Synthetic\n")
    assert f"seed {SEED}" in source
    for assumption in (synth.__doc__ or "").split("\n- ")[1:]:
        assert " ".join(assumption.split()) in " ".join(source.split())
    with pytest.raises(UsageError, match="not empty"):
        synth.write_log(files.log.parent, SEED, quiet)
    (tmp_path / "file").touch()
    with pytest.raises(UsageError):
        synth.write_log(tmp_path / "file", SEED, quiet)
    monkeypatch.setattr(synth, "tables_of", lambda _seed: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        synth.write_log(tmp_path / "log", SEED, quiet)
    assert [*(tmp_path / "log").iterdir()] == []


@pytest.fixture(scope="module")
def seen(files: LogFiles) -> Observations:
    """What a model of the log is made of."""
    return observe(source_of(open_log(files)), BuildOptions(**files._asdict()))


def mean(seen: Observations, estimator: Estimator, shrinkage: float) -> Mixture:
    """The utility over some of the queries, weighted by how often they are asked."""
    some = seen.queries[::EVERY]
    each = [query_utility(query.rows, seen.cards, estimator, shrinkage) for query in some]
    rows = [len(query.rows.user) for query in some]
    return Mixture(each, [each / sum(rows) for each in rows])


def mask(seen: Observations, names: list[str]) -> int:
    places = {attribute.name: place for place, attribute in enumerate(seen.attributes)}
    return sum(1 << places[name] for name in names)


def test_attributes_help_and_some_of_it_is_true(seen: Observations) -> None:
    """By the paper's estimator nearly two bits; others' rows predict by work and age as well."""
    plugin, louo = mean(seen, "plugin", SMALL), mean(seen, "louo", LARGE)
    assert plugin.value((1 << len(seen.attributes)) - 1) == pytest.approx(1.92, abs=0.3)
    assert plugin.value(mask(seen, SEARCH)) == pytest.approx(0.8, abs=0.15)
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

    assert all(one <= two for one, two in pairwise(map(cost, range(len(persons) + 1))))
    assert cost(len(persons)) > 0.8
    assert cost(len(persons) // 2) < 0.5 * cost(len(persons))

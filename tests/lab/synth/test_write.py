"""The files of a synthetic log: the paper's shares, the same bytes, and what they say of it."""

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from agent.build.options import LogFiles
from agent.errors import UsageError
from agent.lab import synth
from agent.lab.synth.log import Measured, measured, write_log
from agent.lab.synth.marginals import MARGINALS, MIN_USERS, PEOPLE, QUERIES, SOURCE, TEXTS
from tests.build.worlds import QUIET
from tests.lab.synth.conftest import SEED

pytestmark = QUIET
TOLERANCE = 0.01


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
    """All files of it; and twice the size begins with the same people."""
    shares: list[float] = []
    again = write_log(tmp_path / "again", 1, SEED, lambda _what, share: shares.append(share))
    assert shares == [0, 1]
    for one, other in zip(files, again, strict=True):
        assert one.read_bytes() == other.read_bytes()
    twice = write_log(tmp_path / "twice", 2, SEED, nothing)
    for one, other in ((files.log, twice.log), (files.people, twice.people)):
        rows = pq.read_table(one)
        assert pq.ParquetFile(other).metadata.num_row_groups == 2
        assert pq.ParquetFile(other).read_row_group(0) == rows
    users = pq.read_table(twice.people, columns=["user"])["user"]
    assert len(users.unique()) == 2 * PEOPLE
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


def test_what_fails_leaves_nothing(tmp_path: Path) -> None:
    """No part of a log that could be taken for a whole one."""

    def stop(_what: str, share: float) -> None:
        if share:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_log(tmp_path / "log", 1, SEED, stop)
    assert [*(tmp_path / "log").iterdir()] == []

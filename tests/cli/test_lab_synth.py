"""`reticent lab synth`: a synthetic log, and its shares beside the paper's."""

from pathlib import Path

import pytest

from agent.build.options import LogFiles
from agent.lab.synth.log import Measured
from agent.lab.synth.marginals import MARGINALS, MIN_USERS, PEOPLE, QUERIES, TEXTS
from tests.cli.conftest import Run, builds

SHARES = tuple((each, each.share + 0.001) for each in MARGINALS)
COUNTED = Measured(10 * PEOPLE, 10 * QUERIES, TEXTS, 10 * MIN_USERS, SHARES)


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Path, int, int]]:
    """What is asked to be written, and is not; all that is counted is a little more."""
    calls: list[tuple[Path, int, int]] = []

    def write(folder: Path, times: int, seed: int, _progress: object) -> LogFiles:
        calls.append((folder, times, seed))
        return LogFiles(*(folder / name for name in LogFiles._fields))

    monkeypatch.setattr("agent.lab.synth.log.write_log", write)
    monkeypatch.setattr("agent.lab.synth.log.measured", lambda _files: COUNTED)
    return calls


@builds
def test_it_writes_a_log_that_a_model_can_be_built_of(run: Run, tmp_path: Path) -> None:
    """Each share stands beside the paper's, and no other number is made up."""
    out = tmp_path / "log"
    found = run("lab", "synth", out, "--seed", "5", "--json").record
    assert (found["synthetic"], found["seed"], found["times"]) == (True, 5, 1)
    assert (found["people"], found["queries"], found["texts"]) == (PEOPLE, QUERIES, TEXTS)
    assert [each["name"] for each in found["shares"]] == [each.name for each in MARGINALS]
    assert all(abs(each["paper"] - each["here"]) < 0.01 for each in found["shares"])
    names = sorted(path.name for path in out.iterdir())
    assert names == ["SOURCE.md", "log.parquet", "people.parquet", "sites.parquet"]


def test_it_shows_every_share_beside_the_papers(
    run: Run, tmp_path: Path, written: list[tuple[Path, int, int]]
) -> None:
    """The sizes are those of so many times the paper's people."""
    out = tmp_path / "log"
    said = run("lab", "synth", out, "--times", "10", "--seed", "2")
    assert (said.code, said.err, written) == (0, "", [(out, 10, 2)])
    assert "synthetic" in said.out
    rows = [" ".join(line.split()) for line in said.out.splitlines()]
    assert "people 95,230 95,230 5" in rows
    assert f"different queries {TEXTS} {TEXTS} 5" in rows
    for each in MARGINALS:
        assert f"{each.words} {each.share:.0%} {each.share + 0.001:.1%} {each.place}" in rows


def test_it_need_not_count(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: list[tuple[Path, int, int]]
) -> None:
    """Counting a large log takes memory that writing it does not."""
    monkeypatch.setattr("agent.lab.synth.log.measured", None)  # it is not even called
    found = run("lab", "synth", tmp_path, "--times", "100", "--uncounted", "--json").record
    assert found == {"synthetic": True, "folder": str(tmp_path), "times": 100, "seed": 0}
    assert "paper" not in run("lab", "synth", tmp_path, "--uncounted").out
    assert len(written) == 2


def test_it_refuses_other_sizes_seeds_and_full_folders(run: Run, tmp_path: Path) -> None:
    """Each in one sentence, with a way out."""
    error, hint = run("lab", "synth", tmp_path / "log", "--times", "3").refusal()
    assert (error, hint) == ("unknown value of --times '3'", "known: 1, 10, 100")
    assert "--seed" in run("lab", "synth", tmp_path / "log", "--seed", "-1").refusal()[0]
    (tmp_path / "mine").touch()
    error, hint = run("lab", "synth", tmp_path).refusal()
    assert error == f"{tmp_path}: this folder is not empty"
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_it_says_which_extra_it_needs(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the extra `build`, and before anything is written."""
    monkeypatch.setitem(__import__("sys").modules, "agent.lab.synth.log", None)
    error, hint = run("lab", "synth", tmp_path / "log").refusal(code=1)
    assert "which is not installed" in error
    assert hint == "pip install 'reticent[build]'"
    assert [*tmp_path.iterdir()] == []

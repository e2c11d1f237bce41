"""`reticent lab attack`: the files, the sentence about them, and every way to ask wrongly."""

import csv
from pathlib import Path

import pytest

from agent.lab.attack.ways import EXACT
from tests.cli.conftest import Run, builds
from tests.house.tree import ROOT

pytestmark = builds
TABLES = ROOT / "examples" / "own_tables"
SMALL = (
    *("lab", "attack", "--users", TABLES / "users.csv", "--events", TABLES / "events.csv"),
    *("--people", "6", "--requests", "3", "--exact", "2", "--processes", "1"),
)
FIGURES = ["attack-frontier", "attack-requests"]


def test_every_figure_is_written_and_listed(run: Run, tmp_path: Path) -> None:
    """As PNG, SVG and CSV, and on the page; every way in the table, with all its requests."""
    out = tmp_path / "new" / "folder"
    found = run(*SMALL, "--out", out, "--json").record
    assert found["figures"] == FIGURES
    page = (out / "report.md").read_text()
    for name in FIGURES:
        assert f"({name}.png)" in page
        assert {each.suffix for each in out.glob(f"{name}.*")} == {".png", ".svg", ".csv"}
    rows = list(csv.DictReader((out / "attack.csv").read_text().splitlines()))
    assert {row["requests"] for row in rows} == {"1", "2", "3"}
    exact = {row["people"]: row["way"] for row in rows if "searched exactly" in row["way"]}
    assert exact == {"2": EXACT.name}
    assert {row["people"] for row in rows} == {"2", "6"}
    for row in rows:
        assert f"| {row['way']} |" in page
    for bar in found["bars"]:
        assert bar["what"] in page
    assert {bar["met"] for bar in found["bars"]} <= {True, False, None}
    assert found["bars"][0]["met"] is True  # absence tells nothing


def test_what_is_said_in_the_terminal(run: Run, tmp_path: Path) -> None:
    """Where the page is, and how many bars are met."""
    said = "".join(
        run(*SMALL, "--people", "2", "--requests", "1", "--out", tmp_path).out.split()
    )  # it breaks a long path anywhere
    assert "bars" in said
    assert "report.md" in said


@pytest.mark.parametrize(
    "asked",
    [
        (),
        ("--users", "users.csv"),
        ("--users", "users.csv", "--events", "events.csv", "--log", "here"),
    ],
)
def test_one_source_is_studied(run: Run, tmp_path: Path, asked: tuple[str, ...]) -> None:
    """Before any work, and before a folder is made."""
    out = tmp_path / "out"
    what, hint = run("lab", "attack", *asked, "--out", out).refusal()
    assert what == "the people are of one source"
    assert hint == "give --users and --events, or --log"
    assert not out.exists()


def test_a_folder_without_a_log_is_refused(run: Run, tmp_path: Path) -> None:
    """It says what a log is called."""
    what, _ = run("lab", "attack", "--log", tmp_path, "--out", tmp_path / "out").refusal()
    assert what.endswith("there is no table log")


def test_a_file_in_the_way_is_named(run: Run, tmp_path: Path) -> None:
    """It stays as it is."""
    (tmp_path / "file").write_text("mine")
    what, _ = run(*SMALL, "--out", tmp_path / "file").refusal()
    assert what.endswith("cannot write the figures here")
    assert (tmp_path / "file").read_text() == "mine"

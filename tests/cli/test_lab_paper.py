"""`reticent lab paper`: the files, the sentence about them, and every way to ask wrongly."""

from pathlib import Path

from tests.cli.conftest import Run

FIGURES = [
    *("fig-06-utility", "fig-07-cost", "fig-08a-curve", "fig-09-metrics", "fig-10-calibrated"),
    *("fig-11-heuristics", "fig-12-running", "fig-13-shape", "fig-14-sampling"),
]
ASK = ("--processes", "1", "--samples", "50")


def test_every_figure_is_written_and_listed(run: Run, village: Path, tmp_path: Path) -> None:
    """As PNG, SVG and CSV, and on the page."""
    out = tmp_path / "new" / "folder"
    found = run("lab", "paper", "--model", village, "--out", out, *ASK, "--json").record
    assert found["figures"] == FIGURES
    assert found["report"] == str(out / "report.md")
    page = (out / "report.md").read_text()
    for name in FIGURES:
        assert f"({name}.png)" in page
        assert {each.suffix for each in out.glob(f"{name}.*")} == {".png", ".svg", ".csv"}
    assert page.count("| yes |") == found["same"] > 0
    assert page.count("| no |") == found["other"]
    assert "Fig. 8b is missing" in page
    assert page.count("Data: invented") >= len(FIGURES)


def test_two_processes_find_what_one_finds(run: Run, village: Path, tmp_path: Path) -> None:
    """Every number but the running times; and where the page is, in 80 columns."""
    for processes in ("1", "2"):
        out = tmp_path / processes
        asked = ("lab", "paper", "--model", village, "--out", out, "--samples", "50")
        page = run(*asked, "--processes", processes).out
        assert "9 figures" in " ".join(page.split())
        assert max(map(len, page.splitlines())) <= 80 or str(tmp_path) in page
    for name in FIGURES:
        if name != "fig-12-running":
            one, two = (tmp_path / each / f"{name}.csv" for each in ("1", "2"))
            assert one.read_bytes() == two.read_bytes()


def test_one_thing_is_studied_at_a_time(run: Run, village: Path, tmp_path: Path) -> None:
    """Before any work."""
    asked = ("lab", "paper", "--model", village, "--survey", "--out", tmp_path)
    what, hint = run(*asked).refusal()
    assert what == "the figures are of one thing"
    assert hint == "give --model, --survey or --log"


def test_a_folder_without_a_log_is_refused(run: Run, tmp_path: Path) -> None:
    """It says what a log is called."""
    what, hint = run("lab", "paper", "--log", tmp_path, "--out", tmp_path / "out").refusal()
    assert what.endswith("there is no table log")
    assert "log.parquet" in hint


def test_a_file_in_the_way_is_named(run: Run, village: Path, tmp_path: Path) -> None:
    """It stays as it is."""
    (tmp_path / "file").write_text("mine")
    asked = ("lab", "paper", "--model", village, "--out", tmp_path / "file", *ASK)
    what, _ = run(*asked).refusal()
    assert what.endswith("cannot write the figures here")
    assert (tmp_path / "file").read_text() == "mine"

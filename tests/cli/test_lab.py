"""`reticent lab`: the files, the sentences about them, and every way to ask wrongly."""

import re
from pathlib import Path

import pytest

from agent.build.relevance import Sheet
from agent.decision.engine import load_model
from agent.lab.attack.material import EVERYDAY
from agent.lab.attack.month import MONTHLY, Ground, ground_of
from agent.lab.attack.profiles import SHARES, Kept
from agent.lab.attack.study import EVERY
from agent.lab.charts import StudyFinding
from agent.model.model import Model
from tests.build.worlds import write_everyday
from tests.cli.conftest import Run, builds
from tests.house.tree import ROOT

TABLES = ROOT / "examples" / "own_tables"
SMALL = (
    *("lab", "attack", "--data", TABLES),
    *("--people", "2", "--requests", "2", "--processes", "1"),
)
ATTACK = ["attack-frontier"]
PAPER = [
    *("fig-06-utility", "fig-07-cost", "fig-08a-curve", "fig-09-metrics", "fig-10-calibrated"),
    *("fig-11-heuristics", "fig-12-running", "fig-13-shape"),
]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few resamples, and nothing drawn: both are tested where they are made."""
    monkeypatch.setattr("agent.lab.attack.outcome.DRAWS", 200)
    monkeypatch.setattr("matplotlib.figure.Figure.savefig", lambda *_file, **_kind: None)


def untaught(ground: Ground) -> list[list[Kept]]:
    return [[(Sheet(e.facts, e.questions[:9]), ground.model) for e in some] for some in ground[-2:]]


def report(out: Path, figures: list[str]) -> str:
    """Return a report, after checking that it shows each figure, whose numbers lie beside it."""
    page = (out / "report.md").read_text()
    for name in figures:
        assert f"({name}.png)" in page
        assert (out / f"{name}.csv").exists()
    return page


@builds
def test_an_attack_writes_every_strategy_with_all_its_requests(run: Run, tmp_path: Path) -> None:
    """In the table and on the page."""
    out = tmp_path / "new" / "folder"
    found = run(*SMALL, "--out", out, "--json").record
    assert found["figures"] == ATTACK
    page = report(out, ATTACK)
    assert all(f"| {each.name} |" in page for each in EVERY)
    assert all(each["what"] in page for each in found["criteria"])
    assert {each["met"] for each in found["criteria"]} <= {True, False, None}
    assert found["criteria"][0]["met"] is True  # absence tells nothing


@builds
def test_drawn_columns_are_compared_with_real_ones(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a page that says how many criteria are met."""
    write_everyday(tmp_path)
    monkeypatch.chdir(tmp_path)
    page = run("lab", "attack", "--matching", "--data", tmp_path, "--out", "attack").page
    assert page.startswith("Wrote attack/report.md. Of 13 criteria, ")
    assert "the shuffled control fails" in report(tmp_path / "attack", [])


@builds
def test_silence_is_measured_by_family(run: Run, tmp_path: Path) -> None:
    """In a table, with what it means, that the page has too."""
    found = run("lab", "attack", "--silence", "--requests", "1", "--out", tmp_path).page
    assert re.search(r"all +4708 +[1-9]\d?% +0\.\d\d ± 0\.0\d +\d\.\d +5\.5\b", found)
    assert found in " ".join(report(tmp_path, []).split())


@builds
def test_a_month_is_told_by_strategy(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a table and a figure; what nobody asked for is told to nobody."""
    monkeypatch.setattr("agent.lab.attack.month.apart", untaught)
    asked = ("lab", "month", "--people", "2", "--requests", "3", "--out", tmp_path, "--json")
    found = run(*asked).record
    page = report(tmp_path, ["month"])
    assert all(f"| {each.name} |" in page for each in MONTHLY)
    assert page.count("| nothing | 0.0 | cannot be said | 0 % [0, 0] |") == 3
    assert len(found["criteria"]) == 4 * 3
    assert '\n"needed, 1 recipient",nothing,1.0,,0.0,,\n' in (tmp_path / "month.csv").read_text()


@builds
def test_the_whole_is_on_one_page(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With three pictures; with nothing told the reader has everybody in the middle."""
    ground = ground_of(EVERYDAY, load_model())
    few = ground._replace(statements=ground.statements[::60])
    monkeypatch.setattr("agent.lab.attack.month.ground_of", lambda *_: few)
    monkeypatch.setattr("agent.lab.attack.month.apart", untaught)
    monkeypatch.setattr("agent.lab.attack.whole.SILENT_FOR", 1)
    monkeypatch.setattr("agent.lab.attack.reader.TRIED", 10)
    few_shares = (EVERYDAY / SHARES).read_text("utf-8").splitlines(keepends=True)[::9]
    (tmp_path / SHARES).write_text("".join(few_shares))
    monkeypatch.setattr("agent.lab.attack.profiles.SHARES", tmp_path / SHARES)
    asked = ("lab", "report", "--people", "1", "--requests", "2", "--out", tmp_path, "--json")
    found = run(*asked).record
    page = report(tmp_path, ["month", "reader", "silence"])
    assert page.count("| 5,000.5 | 5,000.5 |") == 2
    assert "After 10 requests, of 1 people:" in page
    assert all(f"| {each['what']} |" in page for each in found["criteria"])
    assert len(found["criteria"]) == 4 * 3 + 6


def test_the_papers_figures_are_on_a_page(
    run: Run, village: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It counts what has the same shape; where the page is, in 80 columns."""
    monkeypatch.chdir(tmp_path)
    asked = ("lab", "paper", "--model", village, "--out")
    found = run(*asked, "new/1", "--json").record
    assert (found["figures"], found["report"]) == (PAPER, "new/1/report.md")
    page = report(Path("new/1"), PAPER)
    assert page.count("| yes |") == found["same"] > 0
    assert page.count("| no |") == found["other"]
    assert page.count("Data: invented") >= len(PAPER)


def test_without_a_model_the_paper_is_drawn_of_the_developer_survey(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everyday life has no rows of what people chose."""
    drawn: list[str] = []

    def draws(model: Model, *_: object) -> tuple[list[str], list[StudyFinding]]:
        drawn.append(model.id)
        return [], []

    monkeypatch.setattr("agent.lab.paper.study.study", draws)
    assert "0 figures" in run("lab", "paper", "--out", tmp_path).page
    assert drawn == ["so2017"]


@builds
def test_what_cannot_be_read_or_written_is_named(run: Run, tmp_path: Path) -> None:
    """It says what a table is called; a file in the way stays as it is."""
    (tmp_path / "file").write_text("mine")
    asked = ("lab", "attack", "--data", tmp_path, "--out")
    what, hint = run(*asked, tmp_path / "out").refusal()
    assert what.endswith("there is no table users")
    assert "users.parquet" in hint
    assert run(*asked, tmp_path / "file").refusal(1)[0].endswith("file exists")
    assert (tmp_path / "file").read_text() == "mine"


def test_it_says_which_extra_it_needs(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the extra `build`, and before anything is written."""
    monkeypatch.setitem(__import__("sys").modules, "agent.lab.attack.material", None)
    error, hint = run("lab", "attack", "--out", tmp_path / "out").refusal(code=1)
    assert "which is not installed" in error
    assert "'scikit-learn" in hint  # as this one was installed
    assert [*tmp_path.iterdir()] == []

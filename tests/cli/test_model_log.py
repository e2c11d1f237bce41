"""`reticent model build` from a raw search log: the invented one in examples/own_log."""

import runpy
from pathlib import Path

import pytest

from agent.lab.questions.defaults import default_sensitivities, within_outcomes
from tests.cli.conftest import Run, builds
from tests.house.tree import ROOT

LOG = ROOT / "examples/own_log"
NAMES = ("log", "people", "sites")


@pytest.fixture
def files(tmp_path: Path) -> list[str | Path]:
    """The options that name the three tables, and where the model goes."""
    named = [part for each in NAMES for part in (f"--{each}", LOG / f"{each}.csv")]
    return [*named, "--out", tmp_path / "walks.safetensors", "--min-users", "10"]


def test_its_tables_are_those_that_the_script_invents(tmp_path: Path) -> None:
    """Byte for byte: `python examples/own_log/make_log.py`."""
    runpy.run_path(str(LOG / "make_log.py"))["main"](tmp_path)
    for name in NAMES:
        assert (tmp_path / f"{name}.csv").read_bytes() == (LOG / f"{name}.csv").read_bytes()


@builds
def test_a_model_of_a_log_decides(run: Run, files: list[str | Path]) -> None:
    """From three tables to an answer: where they live decides the weather, age the shoes."""
    built = run("model", "build", *files, "--sensitivities", "none", "--json").record
    assert (built["people"], len(built["queries"]), len(built["attributes"])) == (20, 3, 33)
    titles = {each["name"]: each["title"] for each in built["attributes"]}
    assert titles["daily"] == "asks once a day or more (AFRQ)"
    out = files[files.index("--out") + 1]
    for query, helpful in (("weather", "region"), ("shoes", "age_group"), ("map", "region")):
        record = run("model", "decide", "--model", out, "--query", query, "--json").record
        assert record["disclose"] == [helpful]


@builds
def test_its_attributes_have_the_sensitivities_of_the_surveys(
    run: Run, files: list[str | Path]
) -> None:
    """Scaled, as answered or none; the model says whose word they are, and `info` shows them."""

    def bits(*asked: str) -> dict[str, float]:
        built = run("model", "build", *files, *asked, "--json").record
        return {each["name"]: each["sensitivity"] for each in built["attributes"]}

    names, whole = [*bits()], bits("--sensitivities", "as-answered")
    expected = default_sensitivities(names)
    assert {name: each for name, each in whole.items() if each} == pytest.approx(expected)
    assert not any(bits("--sensitivities", "none").values())
    assert bits() == pytest.approx({n: each * within_outcomes() for n, each in whole.items()})
    out = files[files.index("--out") + 1]
    assert (
        run("model", "decide", "--model", out, "--query", "shoes", "--json").record["disclose"]
        == []
    )
    page = run("model", "info", out).out
    assert "adults_2020" in page
    assert "gender (DGDR), must bring 0.1" in " ".join(page.split())


@pytest.mark.parametrize("missing", NAMES)
def test_a_log_comes_with_its_people_and_sites(
    run: Run, files: list[str | Path], missing: str
) -> None:
    """One sentence says what belongs together."""
    place = files.index(f"--{missing}")
    error, hint = run("model", "build", *files[:place], *files[place + 2 :]).refusal(code=2)
    assert error.endswith("from users and events, or from a log, its people and its sites")
    assert hint == "give --users and --events, or --log, --people and --sites"


@pytest.mark.parametrize("extra", ["--users", "--events"])
def test_tables_and_a_log_are_not_mixed(run: Run, files: list[str | Path], extra: str) -> None:
    """Nor guessed apart, and nothing is written."""
    error, _ = run("model", "build", *files, extra, LOG / "people.csv").refusal(code=2)
    assert "from users and events, or from a log" in error
    assert not Path(files[files.index("--out") + 1]).exists()


@builds
def test_a_damaged_log_is_refused_in_one_sentence(
    run: Run, files: list[str | Path], tmp_path: Path
) -> None:
    """Which says what is wrong, with an example and a way out."""
    lines = (LOG / "log.csv").read_text().splitlines()
    (tmp_path / "log.csv").write_text("\n".join([*lines, lines[-1].replace(",95,", ",-95,")]))
    error, hint = run("model", "build", *files, "--log", tmp_path / "log.csv").refusal(code=1)
    what = "the log table has 1 rows in which 'dwell' is not a number of seconds"
    assert error == f"{what}: '-95', for example"
    assert hint == "write seconds as a number from 0, and nothing where they are not known"

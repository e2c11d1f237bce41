"""`reticent model build` and `info`: from tables or a log, and what is in a model."""

import signal
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from agent.cli.interrupt import Interrupted, Progress
from agent.lab.paper.survey import default_sensitivities, within_outcomes
from agent.model.file import shipped_model, write
from agent.model.model import Model
from tests.cli.conftest import Run, builds
from tests.cli.examples import PEOPLE, cli_model
from tests.house.tree import ROOT

TABLES = ROOT / "examples/own_tables"
KEYS: dict[str, type] = {
    **dict.fromkeys(("id", "source", "licence", "digest", "estimator"), str),
    "people": int,
    "stands_for": str,
    "population_rows": int,
    "person_level_rows": bool,
    "attributes": list,
    "queries": list,
    **dict.fromkeys(("options", "validation"), dict),
    **dict.fromkeys(("signed_with", "signature_problem"), type(None)),
}
QUERY_KEYS = (
    "text title rows users intents shrinkage prior_entropy_bits predicted_bits heldout_bits "
    "events error_bits"
)
ATTRIBUTE_KEYS = "name title scope values refines sensitivity concept value_concepts implies words"


def test_the_description_has_these_keys_of_these_types(run: Run, village: Path) -> None:
    """Others read it, so that a key may be added, and none may change or go."""
    record = run("model", "info", village, "--json").record
    assert [*record] == [*KEYS]
    assert {key: kind for key, kind in KEYS.items() if not isinstance(record[key], kind)} == {}
    for each in record["queries"]:
        assert [*each] == QUERY_KEYS.split()
    for each in record["attributes"]:
        assert [*each] == ATTRIBUTE_KEYS.split()


def test_the_page_says_whom_the_rows_count(run: Run, tmp_path: Path) -> None:
    """With weights, the people of them all and not the rows; about, since it is an estimate."""
    village = cli_model()
    weights = np.full(PEOPLE, 1_234.56)
    population = replace(village.population, weights=weights)
    tables = replace(village.tables, population=population)
    path = tmp_path / "land.safetensors"
    write(replace(village, id="land", tables=tables, stands_for="people of the land"), path)
    record = run("model", "info", path, "--json").record
    assert (record["people"], record["population_rows"]) == (74_074, PEOPLE)
    shown = " ".join(run("model", "info", path).out.split())
    assert "learned from 60 people, who stand for about 74,000 people of the land." in shown


def test_a_model_is_named_by_its_file_or_by_its_name(run: Run) -> None:
    """Without either it is the shipped one; values stand in their order, by their titles."""
    found = run("model", "info", "--json").record
    assert found == run("model", "info", shipped_model(), "--json").record
    assert found == run("model", "info", found["id"], "--json").record
    assert run("model", "info", "so217").refusal()[1] == "did you mean 'so2017'?"
    page = " ".join(run("model", "info", "so2017").out.split())
    assert "hour at which work would best begin: at night or early in the morning; 7 am; 8" in page


@pytest.fixture
def tables(tmp_path: Path) -> list[str | Path]:
    """The options that name the tables of the README, and where the model goes."""
    named = {each: TABLES / f"{each}.csv" for each in ("users", "events")}
    out = tmp_path / "library.safetensors"
    return ["--users", named["users"], "--events", named["events"], "--out", out]


@builds
def test_a_description_says_what_columns_do_not(
    run: Run, tables: list[str | Path], tmp_path: Path
) -> None:
    """Weights and columns left out are no attributes; without an id, the file's name is it."""
    header, *rows = (TABLES / "users.csv").read_text(encoding="utf-8").splitlines()
    lines = [f"{header},heavy,year", *(f"{row},10.5,2026" for row in rows)]
    users, described = tmp_path / "users.csv", tmp_path / "model.toml"
    users.write_text("\n".join(lines) + "\n", encoding="utf-8")
    described.write_text(
        'weights = "heavy"\nwithout = ["year"]\nstands_for = "people of the town"\n'
        '[attributes.region]\ntitle = "part of town"\n'
        '[queries.bus]\ntitle = "going by bus"\n',
        encoding="utf-8",
    )
    given = (*tables, "--users", users, "--describe", described)
    record = run("model", "build", *given, "--json").record
    assert (record["id"], record["people"], record["stands_for"]) == (
        "library",
        3_150,
        "people of the town",
    )
    titles = {each["name"]: each["title"] for each in record["attributes"]}
    assert titles["region"] == "part of town"
    assert not {"heavy", "year"} & {*titles}
    assert "going by bus" in [each["title"] for each in record["queries"]]
    described.write_text('without = ["yera"]')
    refused = run("model", "build", *given).refusal()
    assert refused == ("unknown column 'yera'", "did you mean 'year'?")


@builds
def test_a_model_of_ones_own_tables_decides(run: Run, tables: list[str | Path]) -> None:
    """From two tables to an answer."""
    given = (*tables, "--shrinkage", "7.5", "--half", "B")
    record = run("model", "build", *given, "--estimator", "plugin", "--json").record
    assert record.items() <= run("model", "info", tables[-1], "--json").record.items()
    options = record["options"]
    assert (record["estimator"], options["shrinkage"], options["half"]) == ("plugin", 7.5, "B")
    built = run("model", "build", *tables)
    assert (built.code, built.err) == (0, "")
    assert "library knows 3 queries and 4 attributes" in " ".join(built.out.split())
    info = run("model", "info", tables[-1], "--json").record
    assert (info["id"], info["people"]) == ("library", 300)
    for query, helpful in (("weather", "region"), ("music", "age"), ("bus", "working_hours")):
        record = run("model", "decide", "--model", tables[-1], "--query", query, "--json").record
        assert record["disclosed"] == [helpful]
        assert record["figures"]["identifiability"] >= 1 / 300
        assert record["figures"]["identifiability_cost"] >= 0


@builds
def test_a_build_says_which_queries_and_people_it_kept(
    run: Run, tables: list[str | Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And so does the page of the model."""
    whole = run("model", "build", *tables, "--json").record
    monkeypatch.setattr("agent.build.observe.MOST_PEOPLE", 200)
    said = " ".join(run("model", "build", *tables, "--queries", "1").out.split())
    most = max(each["rows"] for each in whole["queries"])
    every = sum(each["rows"] for each in whole["queries"]) + whole["options"]["dropped_thin_rows"]
    kept = f"the queries are the most frequent, {100 * most / every:.1f} % of all requests; "
    kept += "200 of 300 people; a share of them may be off by 2.04 points, one standard error"
    assert f"Kept: {kept}" in said
    assert "learned from 200 people, who stand for about 300 people" in said
    out = tables[tables.index("--out") + 1]
    assert f"sample {kept}" in " ".join(run("model", "info", out).out.split())


@builds
def test_a_build_says_what_it_dropped(run: Run, tables: list[str | Path], tmp_path: Path) -> None:
    """In words, after it is done and whenever the model is described; nothing if all was used."""
    assert "Dropped" not in run("model", "build", *tables).out
    assert "dropped" not in run("model", "info", tables[-1]).page
    events = tmp_path / "events.csv"
    lines = (TABLES / "events.csv").read_text().splitlines()
    cells = lines[1].split(",")
    place = {name: lines[0].split(",").index(name) for name in ("user", "query", "intent")}
    spoilt = {"user": ["nobody"], "query": [""], "intent": ["", ""]}
    for name, values in spoilt.items():
        for value in values:
            lines.append(",".join((*cells[: place[name]], value, *cells[place[name] + 1 :])))
    rare = [*cells]
    rare[place["query"]] = "rare"
    events.write_text("\n".join([*lines, ",".join(rare)]) + "\n")
    expected = {"unknown user: 1", "no query: 1", "no intent: 2", "thin queries: 1", "thin rows: 1"}
    said = run("model", "build", *tables, "--events", events).page
    dropped = said.partition("Dropped from the tables: ")[2].partition(".")[0]
    assert {*dropped.split(", ")} == expected
    assert f"dropped {dropped} What it can" in run("model", "info", tables[-1]).page


def test_an_interruption_that_got_lost_leaves_no_model(
    run: Run, tables: list[str | Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A destructor below us may have swallowed it; nothing is written after it."""

    def deaf(*_: object) -> Model:
        with suppress(Interrupted):
            signal.raise_signal(signal.SIGINT)
        return cli_model()

    monkeypatch.setattr("agent.build.build.build_model", deaf)
    error, hint = run("model", "build", *tables).refusal(code=130)
    assert (error, "completed steps were kept" in hint) == ("interrupted", True)
    assert not Path(tables[-1]).exists()


def test_a_build_that_cannot_be_says_why(run: Run, tables: list[str | Path]) -> None:
    """Before any work, and without a file left behind."""
    for options, error, hint in (
        (("--estimator", "loou"), "unknown value of --estimator 'loou'", "did you mean 'louo'?"),
        (("--min-users", "9" * 23), "--min-users cannot be 1e+23", "from 1 to"),
        (("--queries", "0"), "--queries cannot be 0", "from 1 up"),
        (("--shrinkage", "nan"), "--shrinkage cannot be nan", "from 1e-06 to"),
        (("--spark", "so2017"), "Spark reads parquet files only", "leave out --spark"),
        (("--out", "x" * 241 + ".safetensors"), "more than 240 bytes", "shorter"),
        (("--out", "model.csv"), "model.csv: the name of a model ends in", "call it"),
        (("--out", "no/m.safetensors"), "nothing can be written here", "that is there"),
        (("--users", f"{TABLES}/user.csv"), "no such file", "users.csv"),
        (("--users", f"{TABLES}/events.csv"), "'query'", "swapped"),
    ):
        said = run("model", "build", *tables, *options)
        assert said.code in (1, 2)
        assert error in said.err
        assert hint in said.err
        assert not Path(tables[-1]).exists()


def test_a_place_that_cannot_be_written_is_refused_first(
    run: Run, tables: list[str | Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder of that name, or a folder of somebody else."""
    monkeypatch.setattr("agent.build.build.build_model", None)  # it is not even called
    folder = Path(tables[-1]).parent
    monkeypatch.setattr("os.access", lambda path, _mode: Path(path) != folder)
    assert "nothing can be written here" in run("model", "build", *tables).refusal()[0]
    monkeypatch.undo()
    Path(tables[-1]).mkdir()
    assert "nothing can be written here" in run("model", "build", *tables).refusal()[0]


def test_progress_is_drawn_for_a_terminal_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """On the error stream, and wiped in the end."""
    with Progress() as progress:
        progress("count", 0.5)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with Progress() as progress:
        progress("count", 0.5)
    drawn = capsys.readouterr()
    assert f"{20 * '#'}{20 * '.'}]  50%" in drawn.err
    bar, blank = drawn.err.strip("\r").split("\r")
    assert (len(bar), blank.strip()) == (len(blank), "")
    assert drawn.out == ""


LOG = ROOT / "examples/own_log"
NAMES = ("log", "people", "sites")


@pytest.fixture
def files(tmp_path: Path) -> list[str | Path]:
    """The options that name the three tables, and where the model goes."""
    named = [part for each in NAMES for part in (f"--{each}", LOG / f"{each}.csv")]
    return [*named, "--out", tmp_path / "walks.safetensors", "--min-users", "10"]


@builds
def test_a_model_of_a_log_decides(run: Run, files: list[str | Path]) -> None:
    """From three tables to an answer: where they live decides the weather, age the shoes."""
    built = run("model", "build", *files, "--sensitivities", "none", "--json").record
    assert (built["people"], len(built["queries"]), len(built["attributes"])) == (20, 3, 33)
    assert not any(each["sensitivity"] for each in built["attributes"])
    titles = {each["name"]: each["title"] for each in built["attributes"]}
    assert titles["daily"] == "asks once a day or more (AFRQ)"
    out = files[files.index("--out") + 1]
    for query, helpful in (("weather", "region"), ("shoes", "age_group"), ("map", "region")):
        decide = ("model", "decide", "--model", out, "--query", query, "--set", "lambda=1")
        record = run(*decide, "--json").record
        assert record["disclosed"] == [helpful]


def test_a_log_comes_with_its_people_and_sites_alone(run: Run, files: list[str | Path]) -> None:
    """Nor is it mixed with tables: one sentence says what belongs together, nothing is written."""
    lacking = []
    for name in NAMES:
        place = files.index(f"--{name}")
        lacking.append([*files[:place], *files[place + 2 :]])
    for given in (*lacking, [*files, "--users", LOG / "people.csv"]):
        error, hint = run("model", "build", *given).refusal(code=2)
        assert error.endswith("from users and events, or from a log, its people and its sites")
        assert hint == "give --users and --events, or --log, --people and --sites"
    assert not Path(files[files.index("--out") + 1]).exists()


@builds
def test_its_attributes_have_the_sensitivities_of_the_surveys(
    run: Run, files: list[str | Path]
) -> None:
    """Scaled or as answered; the model says whose word they are, and `info` shows them."""

    def bits(*asked: str) -> dict[str, float]:
        built = run("model", "build", *files, *asked, "--json").record
        return {each["name"]: each["sensitivity"] for each in built["attributes"]}

    whole = bits("--sensitivities", "as-answered")
    expected = default_sensitivities([*whole])
    assert {name: each for name, each in whole.items() if each} == pytest.approx(expected)
    assert bits() == pytest.approx({n: each * within_outcomes() for n, each in whole.items()})
    out = files[files.index("--out") + 1]
    assert (
        run("model", "decide", "--model", out, "--query", "shoes", "--json").record["disclosed"]
        == []
    )
    assert "adults_2020" in run("model", "info", out, "--json").out
    assert "gender (DGDR), must bring 0.1" in run("model", "info", out).page

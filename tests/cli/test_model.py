"""`reticent model`: add, list, remove; sign, and say who signed; compare."""

import signal
import stat
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from shutil import copyfile

import numpy as np
import pytest

from agent.cli.interrupt import Interrupted, Progress
from agent.model.file import SHIPPED, shipped_model, write
from agent.model.model import Model
from agent.paths import paths
from tests.cli.conftest import Run, builds
from tests.cli.examples import PEOPLE, cli_model
from tests.house.tree import ROOT
from tests.model.examples import judged_model, reading_model
from tests.wire.fake import FakeDaemon


def test_models_are_added_listed_and_removed(run: Run, home: Path, village: Path) -> None:
    """The shipped ones are always there; a daemon looks at once, where one runs."""
    assert home.is_dir()
    added = run("model", "add", village)
    assert 'population = "village"' in added.out
    assert (paths().models / village.name).read_bytes() == village.read_bytes()
    names = [each["name"] for each in run("model", "list", "--json").record["models"]]
    assert names == [*SHIPPED, "village"]
    assert "comes with reticent" in run("model", "list").out
    with FakeDaemon(paths().control, {"models": list}) as fake:
        assert run("model", "remove", "village", "--json").record == {"done": True}
        assert fake.calls == [("models", {})]
    assert [each.name for each in paths().models.iterdir()] == ["facts.txt"]


@pytest.fixture
def mine(village: Path, tmp_path: Path) -> Path:
    """A copy of a model, to sign."""
    return copyfile(village, tmp_path / village.name)


def test_who_signed_is_who_made_the_key(run: Run, mine: Path, tmp_path: Path) -> None:
    """The key is made where there is none, for its owner only, and the description names it.

    A signature that does not verify is said above the description, with the code of an error.
    """
    key = tmp_path / "maker.pem"
    assert run("model", "info", mine, "--json").record["signed_with"] is None
    signed = run("model", "sign", mine, "--key", key)
    public = signed.out.splitlines()[-1]
    assert signed.code == 0
    assert public.startswith("ed25519:")
    assert "Wrote a new private key to" in signed.out
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    again = run("model", "sign", mine, "--key", key, "--json").record
    place = mine.with_suffix(".sig")
    assert again == {"path": str(mine), "signature": str(place), "key": public}
    assert run("model", "info", mine, "--json").record["signed_with"] == public
    place.write_text("{}")
    ran = run("model", "info", mine)
    assert ran.code == 1
    assert "signed with  the signature does not fit the format" in ran.out


def test_a_key_is_never_written_over(run: Run, mine: Path, tmp_path: Path) -> None:
    """It may be the only one; and none is made for a model that is not there."""
    key = tmp_path / "maker.pem"
    key.write_text("precious")
    assert "not a private key" in run("model", "sign", mine, "--key", key).refusal()[0]
    assert key.read_text() == "precious"
    new, missing = tmp_path / "new.pem", tmp_path / "none.safetensors"
    assert "no such file" in run("model", "sign", missing, "--key", new).refusal()[0]
    assert not new.exists()


TABLES, LOG = ROOT / "examples/own_tables", ROOT / "examples/own_log"
KEYS = (
    "id source licence digest estimator people stands_for population_rows person_level_rows "
    "attributes donors kinds queries options validation signed_with signature_problem"
)
QUERY_KEYS = (
    "text title rows users intents shrinkage prior_entropy_bits predicted_bits heldout_bits "
    "events error_bits bits"
)
ATTRIBUTE_KEYS = (
    "name title scope values refines sensitivity concept value_concepts implies words shared"
)


def test_the_description_has_these_keys(run: Run, village: Path) -> None:
    """Others read it, so that a key may be added, and none may change or go."""
    record = run("model", "info", village, "--json").record
    assert [*record] == KEYS.split()
    assert {" ".join(each) for each in record["queries"]} == {QUERY_KEYS}
    assert {" ".join(each) for each in record["attributes"]} == {ATTRIBUTE_KEYS}


def test_the_page_says_whom_the_rows_count(run: Run, tmp_path: Path) -> None:
    """With weights, the people of them all and not the rows; about, since it is an estimate."""
    village, weights = cli_model(), np.full(PEOPLE, 1_234.56)
    population = replace(village.population, weights=weights)
    tables = replace(village.tables, population=population)
    path = tmp_path / "land.safetensors"
    write(replace(village, id="land", tables=tables, stands_for="people of the land"), path)
    record = run("model", "info", path, "--json").record
    assert (record["people"], record["population_rows"]) == (74_074, PEOPLE)
    shown = " ".join(run("model", "info", path).out.split())
    assert "learned from 60 people, who stand for about 74,000 people of the land." in shown


def test_the_page_says_which_facts_were_drawn(run: Run, tmp_path: Path) -> None:
    """From which survey, by what, and how otherwise."""
    path = tmp_path / "drawn.safetensors"
    write(replace(reading_model(), options={"drawn_by_share": "region"}), path)
    page = " ".join(run("model", "info", path).out.split())
    survey = "Town from the survey of towns, for people alike in Region"
    assert f"drawn {survey}; Region in finer values, by their shares" in page
    record = run("model", "info", path, "--json").record
    assert [each["attributes"] for each in record["donors"]] == [["town"]]


def test_the_page_of_a_model_of_topics_has_an_example_of_each(run: Run, tmp_path: Path) -> None:
    """And how far apart the best answers are; facts of one kind are listed once."""
    path = tmp_path / "judged.safetensors"
    write(judged_model(), path)
    shown = run("model", "info", path).out
    lines = [line.split() for line in shown.splitlines()]
    assert ["what", "to", "cook", "quick", "dinner", "1.500"] in lines
    assert ["sums", "0.000"] in lines
    assert "traits_2" not in shown
    assert "judged knows 2 topics and 4 kinds of facts, learned" in " ".join(shown.split())
    record = run("model", "info", path, "--json").record
    assert [each["name"] for each in record["kinds"]] == ["traits", "diet"]
    assert [each["bits"] for each in record["queries"]] == [1.5, 0.0]


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
def test_a_model_of_ones_own_tables_decides(run: Run, tables: list[str | Path]) -> None:
    """From two tables to an answer."""
    given = (*tables, "--shrinkage", "7.5", "--half", "B")
    record = run("model", "build", *given, "--estimator", "plugin", "--json").record
    assert record.items() <= run("model", "info", tables[-1], "--json").record.items()
    options = record["options"]
    assert (record["estimator"], options["shrinkage"], options["half"]) == ("plugin", 7.5, "B")
    built = run("model", "build", *tables)
    assert (built.code, built.err) == (0, "")
    assert "library knows 3 queries and 4 kinds of facts" in " ".join(built.out.split())
    info = run("model", "info", tables[-1], "--json").record
    assert (info["id"], info["people"]) == ("library", 300)
    for query, helpful in (("weather", "region"), ("music", "age"), ("bus", "working_hours")):
        decide = ("model", "decide", "--model", tables[-1], "--query", query, "--json")
        record = run(*decide, "--set", "anonymity_price=0.001").record
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
    kept += "200 of 300 people"
    assert f"Kept: {kept}" in said
    assert "learned from 200 people, who stand for about 300 people" in said
    out = tables[tables.index("--out") + 1]
    assert f"sample {kept}" in " ".join(run("model", "info", out).out.split())


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
    assert (error, "no file is half-written" in hint) == ("interrupted", True)
    assert not Path(tables[-1]).exists()


def test_a_build_of_the_wrong_tables_says_why(run: Run, tables: list[str | Path]) -> None:
    """Without a file left behind."""
    for options, error, hint in (
        (("--spark", "so2017"), "Spark reads parquet files only", "leave out --spark"),
        (("--users", f"{TABLES}/user.csv"), "no such file", "users.csv"),
        (("--users", f"{TABLES}/events.csv"), "'query'", "swapped"),
    ):
        said = run("model", "build", *tables, *options)
        assert said.code in (1, 2)
        assert error in said.err
        assert hint in said.err
        assert not Path(tables[-1]).exists()


def test_progress_is_drawn_for_a_terminal_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """On the error stream, and wiped in the end."""
    with Progress() as progress:
        progress("count", 0.5)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    times = iter((4.0, 5.0, 7.0))
    monkeypatch.setattr("agent.cli.interrupt.monotonic", lambda: next(times))
    with Progress() as progress:
        for share in (0.25, 0.25, 0.5):  # what comes before the second one is no measure
            progress("count", share)
    drawn = capsys.readouterr()
    assert drawn.err.split("\r\x1b[K") == ["", *["count 25%"] * 2, "count 50%, 4 s left", ""]
    assert drawn.out == ""


@builds
def test_a_log_is_built_as_well(run: Run, tmp_path: Path) -> None:
    """Its three tables are named by their options."""
    tables = [(f"--{each}", LOG / f"{each}.csv") for each in ("log", "people", "sites")]
    options = [part for each in tables for part in each]
    out = ("--out", tmp_path / "walks.safetensors", "--min-users", "10", "--json")
    built = run("model", "build", *options, *out).record
    assert (built["people"], len(built["queries"]), len(built["attributes"])) == (20, 3, 33)

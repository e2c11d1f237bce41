"""`reticent model update`: what has become of promises, as a page and as an object."""

import csv
from pathlib import Path

import pytest

from tests.build.worlds import QUIET
from tests.cli.conftest import Run, builds

pytestmark = [builds, QUIET]
WANTED = {"weather": {"coast": "tides", "hills": "snow"}, "music": {"no": "choir", "yes": "club"}}


def write(folder: Path, first: int, people: int, queries: dict[str, str]) -> tuple[str, ...]:
    """Write tables of people who want what ``queries`` say decides; return their options."""
    users, events = [("user", "region", "young")], [("user", "query", "intent")]
    for at in range(first, first + people):
        region, young = ("coast", "hills")[at % 2], ("no", "yes")[at // 2 % 2]
        users.append((f"{at}", region, young))
        for query, decides in queries.items():
            wanted = WANTED.get(query, WANTED["music"])
            odd = at % 12 < 3  # whom the facts say nothing about
            by = {"region": region, "young": young}.get(decides, region)
            want = wanted.get(by, decides)
            events.append((f"{at}", query, f"{want}{'?' if odd else ''}"))
    folder.mkdir()
    for name, rows in (("users", users), ("events", events)):
        with (folder / f"{name}.csv").open("w", newline="") as file:
            csv.writer(file).writerows(rows)
    return "--users", f"{folder / 'users.csv'}", "--events", f"{folder / 'events.csv'}"


@pytest.fixture
def old(run: Run, tmp_path: Path) -> Path:
    """Return a model by which a region decides about the weather, and youth about music."""
    place = tmp_path / "old.safetensors"
    tables = write(tmp_path / "a", 0, 240, {"weather": "region", "music": "young", "tea": "green"})
    run("model", "build", *tables, "--out", place)
    return place


def test_the_page_says_what_has_become_of_promises(run: Run, old: Path, tmp_path: Path) -> None:
    """Which query changed, which fact no longer helps; and of how many periods a model is."""
    new, place = (
        write(tmp_path / "b", 240, 240, {"weather": "region", "music": "choir", "bus": "young"}),
        tmp_path / "new.safetensors",
    )
    shown = run("model", "update", old, *new, "--half-life", "1", "--out", place)
    assert shown.page.startswith("The facts no longer help: 0.")
    assert "queries 2 queries are in both periods" in shown.page
    assert "new queries bus not asked now tea no longer help young" in shown.page
    assert "somebody who is in several of its 2 periods counts as several people" in shown.page
    assert "old knows 4 queries and 2 attributes, learned from" in shown.page
    assert "periods 2; somebody who is in several of them" in run("model", "info", place).page
    again = run("model", "update", old, *new, "--half-life", "1", "--out", place, "--json").record
    drift = again["drift"]
    assert again["options"]["half_life"] == 1
    assert again["digest"] == run("model", "info", place, "--json").record["digest"]
    assert 360 > again["people"] > 300
    by_query = {each["query"]: each for each in drift["queries"]}
    assert by_query["music"]["change_bits"] < -0.5 < by_query["weather"]["change_bits"]
    assert by_query["bus"]["promised_bits"] is None
    assert [each["name"] for each in drift["attributes"]] == ["young", "region"]
    assert drift["helped_bits"] == pytest.approx(
        sum(by_query[name]["helped_bits"] for name in ("music", "weather")) / 2
    )
    assert by_query["weather"]["asked_now"] == pytest.approx(1 / 3)


def test_what_stays_as_it_was_keeps_its_promises(run: Run, old: Path, tmp_path: Path) -> None:
    """And where nothing can be compared, the page says that."""
    place = tmp_path / "new.safetensors"
    same = write(tmp_path / "b", 240, 240, {"weather": "region", "music": "young"})
    page = run("model", "update", old, *same, "--out", place).page
    assert page.startswith("The facts help as much as promised: ")
    assert "no longer help" not in page
    other = write(tmp_path / "c", 480, 40, {"bus": "young"})
    assert run("model", "update", old, *other, "--out", place).page.startswith(
        "No query is in both"
    )
    dull = write(tmp_path / "d", 520, 60, {"tea": "green"})
    run("model", "build", *dull, "--out", tmp_path / "dull.safetensors")
    found = run("model", "update", tmp_path / "dull.safetensors", *dull, "--out", place).page
    assert found.startswith("The old model promised no help")
    again = run("model", "update", old, *dull, "--resume", "--out", place)
    assert again.err == "Nothing is left of an earlier build, so this one begins anew.\n"


def test_what_cannot_be_updated_is_refused(run: Run, old: Path, tmp_path: Path) -> None:
    """In a sentence, and nothing is written."""
    tables, place = (
        write(tmp_path / "b", 240, 40, {"weather": "region"}),
        tmp_path / "n.safetensors",
    )
    for changes, what in (
        (("--half-life", "0"), "half-life"),
        (("--weights", "young"), "no weights"),
        (("--log", "x"), "built from users and events, or from a log"),
    ):
        assert what in run("model", "update", old, *tables, *changes, "--out", place).refusal()[0]
    assert not place.exists()
    itself = run("model", "update", old, *tables, "--out", old).refusal()
    assert itself[0].endswith("this would replace the old model")
    missing = run("model", "update", tmp_path / "none.safetensors", *tables, "--out", place)
    assert missing.refusal()[0].endswith("no such file")

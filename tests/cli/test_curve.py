"""`reticent model curve`: the table and the object, what they mark, every way to ask wrongly."""

from pathlib import Path

import pytest
from click import unstyle

from agent.cli.decide import ROWS, curve_text, thinned
from agent.decision.decide import Figures
from agent.decision.request import Request
from agent.decision.terms import Terms
from agent.decision.tradeoff_curve import Curve, Step
from tests.cli.conftest import Run
from tests.cli.examples import PEOPLE

KEYS = (
    *("query", "matched_query", "status", "mode", "algorithm", "cost", "lambda"),
    *("present", "knee", "points"),
)
POINT_KEYS = (
    *("lambda_from", "lambda_to", "disclose", "utility_bits", "identifiability"),
    *("identifiability_cost", "guard_bits", "sensitivity_bits", "objective", "people_left"),
    *("proof", "beaten"),
)


def test_the_object_has_these_keys(run: Run, village: Path) -> None:
    """Others read it, so that a key may be added, and none may go."""
    record = run("model", "curve", "--model", village, "--query", "weather", "--json").record
    assert tuple(record) == KEYS
    assert {tuple(each) for each in record["points"]} == {POINT_KEYS}
    assert record["points"][-1]["disclose"] == []


def test_the_present_point_is_the_decision(run: Run, village: Path) -> None:
    """On the same terms, whichever they are."""
    ask = ("--model", village, "--query", "weather", "--json")
    for options in (
        (),
        ("--lambda", "40", "--know", "hobby=yes", "--cost", "entropy"),
        ("--k", "21", "--max-risk", "0.5", "--algorithm", "exhaustive"),
    ):
        decided = run("model", "decide", *ask, *options).record
        curve = run("model", "curve", *ask, *options).record
        here = curve["points"][curve["present"]]
        assert sorted(here["disclose"]) == sorted(decided["disclose"])
        assert here["utility_bits"] == decided["utility_bits"]
        assert here["people_left"] == decided["people_left"]
        assert curve["lambda"] == decided["lambda"]


def test_the_curve_of_all_queries(run: Run, village: Path) -> None:
    """It is that of the standing set."""
    curve = run("model", "curve", "--model", village, "--all", "--json").record
    ask = ("--model", village, "--query", "weather", "--standing", "--json")
    here = curve["points"][curve["present"]]
    assert sorted(here["disclose"]) == sorted(run("model", "decide", *ask).record["disclose"])
    assert (curve["query"], curve["matched_query"], curve["mode"]) == (None, None, "standing")


@pytest.mark.parametrize("what", [("--query", "weather"), ("--query", "music"), ("--all",)])
def test_the_page_fits_and_marks_by_word(run: Run, village: Path, what: tuple[str, ...]) -> None:
    """In 80 columns of ASCII; one row is that of now."""
    page = run("model", "curve", "--model", village, *what, "--lambda", "1").out
    assert "At lambda 1, as asked," in " ".join(page.split())
    assert max(map(len, page.splitlines())) <= 80
    assert page.isascii()
    assert page.count("> now") == 1
    assert "not that these sets are the best" in page


def test_where_the_present_lambda_is_from_is_said(run: Run, village: Path, tmp_path: Path) -> None:
    """The default is not what a policy says that nobody named."""
    ask = ("model", "curve", "--model", village, "--query", "weather")
    assert "At lambda 5.12, the default (--policy FILE" in " ".join(run(*ask).out.split())
    policy = tmp_path / "policy.toml"
    policy.write_text("lambda = 2.5\n")
    said = " ".join(run("model", "curve", "--policy", policy, "--query", "editor").out.split())
    assert "At lambda 2.5, as the policy has it now, " in said


def test_what_is_proven_is_said(run: Run, village: Path) -> None:
    """Of every set, where all of them were tried."""
    ask = ("model", "curve", "--model", village, "--query", "weather", "--algorithm", "exhaustive")
    assert "no better set exists, at any lambda that was tried" in run(*ask).out


def test_a_page_of_many_sets() -> None:
    """No more than twelve rows, among them both ends, the knee and now; the rest is counted."""
    page = unstyle(curve_text(_staircase(30, present=17, knee=18)))
    rows = [line for line in page.split("\n\n")[1].splitlines()[1:] if line[:8].strip()]
    assert len(rows) == ROWS
    assert ["* knee" in each for each in rows].count(True) == 1
    assert ["> now" in each for each in rows].count(True) == 1
    assert rows[0].split()[0] == "1,029"
    assert rows[-1].split()[0] == "1,000"
    assert "18 of 30 sets; --json has all" in page
    assert max(map(len, page.splitlines())) <= 80


def test_knee_and_now_in_one_row() -> None:
    """Each by its own sign and word."""
    page = unstyle(curve_text(_staircase(3, present=1, knee=1)))
    assert "* knee > now" in page
    assert "This is the knee of the curve." in " ".join(page.split())


@pytest.mark.parametrize("count", [1, 2, 11, 12, 13, 60])
def test_thinned(count: int) -> None:
    """All of a few, both ends and what is kept of many."""
    kept = {0, count // 2, count - 2} - {-1}
    found = thinned(count, kept)
    assert found == sorted({*found})
    assert {0, count - 1} | kept <= {*found}
    assert len(found) == min(count, ROWS)


@pytest.mark.parametrize(
    ("options", "error", "hint"),
    [
        ([], "a curve is that of one query or of all", "give --query TEXT, or --all"),
        (["--query", " "], "the query is empty", "as in --query"),
        (["--query", "weather", "--all"], "a curve is that of one query", "in its place"),
        (["--query", "knee pain"], "the model does not know this query", "with --all"),
        (["--query", "weather", "--lambda", "-1"], "lambda cannot be -1", "a finite number"),
        (["--query", "weather", "--know", "regoin=coast"], "unknown attribute", "'region'"),
        (["--query", "weather", "--recipient", "a.example"], "needs --policy", "only the rules"),
    ],
)
def test_a_mistake_is_one_sentence(
    run: Run, village: Path, options: list[str], error: str, hint: str
) -> None:
    """As it is with `reticent model decide`."""
    said = run("model", "curve", "--model", village, "--json", *options).refusal()
    assert error in said[0]
    assert hint in said[1]


def test_a_policy_sets_the_terms(run: Run, village: Path, tmp_path: Path) -> None:
    """The present lambda is its own, and what it forbids is in no set."""
    policy = tmp_path / "policy.toml"
    policy.write_text('lambda = 2.5\ndisclose = "auto"\n[attributes]\nregion = "never"\n')
    options = ("--policy", policy, "--recipient", "a.example", "--json")
    ask = ("model", "curve", "--model", village, "--query", "weather", *options)
    record = run(*ask).record
    assert record["lambda"] == 2.5
    assert all("region" not in each["disclose"] for each in record["points"])
    assert "--lambda does not go with --policy" in run(*ask, "--lambda", "3").refusal()[0]
    assert "wait for you" not in run(*ask[:-1]).out
    policy.write_text('preset = "strict"\n[attributes]\nhobby = "ask"\n')
    assert "what would wait for you is in no set" in run(*ask[:-1]).out


def test_a_policy_without_a_recipient(run: Run, village: Path, tmp_path: Path) -> None:
    """What it rules for everybody, of one query or of all; not what it rules for some."""
    policy = tmp_path / "policy.toml"
    some = '[[rule]]\nrecipient = "a.example"\nattribute = "region"\nsensitivity = 3\n'
    policy.write_text(f'lambda = 2.5\ndisclose = "auto"\n{some}')
    ask = ("model", "curve", "--model", village, "--policy", policy, "--json")
    one = run(*ask, "--query", "weather").record
    plain = ("model", "curve", "--model", village, "--lambda", "2.5", "--json")
    assert one == run(*plain, "--query", "weather").record
    assert run(*ask, "--all").record == run(*plain, "--all").record
    there = run(*ask, "--all", "--recipient", "a.example").record
    assert there["mode"] == "standing"
    assert there["points"] != run(*ask, "--all").record["points"]
    policy.write_text('mode = "standing"\n')
    assert run(*ask, "--query", "weather").record["matched_query"] is None


def _staircase(count: int, present: int, knee: int) -> Curve:
    """Return a curve of so many sets, one attribute fewer at each lambda."""
    steps = [
        Step(
            least=1000.0 + each,
            most=1000.0 + each,
            disclosed=tuple(f"int_{name}" for name in range(count - 1 - each)),
            figures=Figures("maxprob", count - each, 0.5, 0.1, 0.0, 0.0, 1.0, PEOPLE, 5.5),
            proof="none",
            beaten=False,
        )
        for each in range(count)
    ]
    terms = Terms(trade_off=1000.0 + present)
    return Curve(Request("weather"), terms, "decided", "weather", tuple(steps), present, knee)

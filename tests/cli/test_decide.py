"""`reticent model decide` and `curve`: the object and the page, and every way to ask wrongly."""

from pathlib import Path

import pytest
from click import unstyle

from agent.cli.decide import ROWS, curve_text, thinned
from agent.decision.decide import Figures, decide
from agent.decision.request import Knowledge, Request
from agent.decision.terms import Terms
from agent.decision.tradeoff_curve import Curve, Step
from tests.cli.conftest import Ran, Run
from tests.cli.examples import ATTRIBUTES, PEOPLE, cli_model

TEXTS = ("query", "matched_query", "status", "mode", "algorithm", "cost", "proof")
OBJECTIVE = (
    *("utility_bits", "identifiability", "identifiability_cost", "guard_bits"),
    *("sensitivity_bits", "objective", "people_left"),
)
KEYS: dict[str, type] = {
    **dict.fromkeys(TEXTS, str),
    **dict.fromkeys((*OBJECTIVE, "probability", "lambda", "elapsed_ms"), float),
    **dict.fromkeys(("evaluations", "violations", "people"), int),
    **dict.fromkeys(("exact", "node_limit_hit"), bool),
    **dict.fromkeys(("disclose", "per_attribute", "guarded"), list),
    **dict.fromkeys(("pending", "bound", "certified"), type(None)),
    "because": dict,
}
ATTRIBUTE_KEYS = {
    *("name", "disclosed", "gain_bits", "cost_bits", "reason", "because", "limit", "serves")
}
CURVE_KEYS = {*TEXTS, "lambda", "present", "knee", "points"} - {"proof"}
POINT_KEYS = {*OBJECTIVE, "lambda_from", "lambda_to", "disclose", "proof", "beaten"}


def decide_(run: Run, model: Path, *options: str | Path) -> Ran:
    """Decide about the weather with a model."""
    return run("model", "decide", "--model", model, "--query", "weather", *options)


def curve(run: Run, model: Path, *options: str | Path) -> Ran:
    """Draw the curve of the weather with a model."""
    return run("model", "curve", "--model", model, "--query", "weather", *options)


def test_the_object_has_these_keys_of_these_types(run: Run, village: Path) -> None:
    """Others read it, so that a key may be added, and none may change or go."""
    record = decide_(run, village, "--json").record
    assert record.keys() == KEYS.keys()
    assert {key: kind for key, kind in KEYS.items() if not isinstance(record[key], kind)} == {}
    assert [each["name"] for each in record["per_attribute"]] == [each.name for each in ATTRIBUTES]
    for each in record["per_attribute"]:
        assert each.keys() == ATTRIBUTE_KEYS


def test_the_answer_is_that_of_the_decision(run: Run, village: Path) -> None:
    """The command line adds nothing of its own, and its defaults are those of the terms."""
    record = decide_(run, village, "--json").record
    decision = decide(Request("weather"), Terms(), Knowledge(), cli_model())
    assert record["disclose"] == [*decision.disclosed] == ["region"]
    assert record["utility_bits"] == decision.figures.utility
    assert record["objective"] == decision.figures.objective
    assert record["people"] == PEOPLE
    assert record["people_left"] == 20
    assert (record["lambda"], record["cost"], record["algorithm"]) == (5.12, "maxprob", "lls")


def test_an_unknown_query_gets_nothing_and_is_told_so(run: Run, village: Path) -> None:
    """That is an answer and no mistake."""
    record = run("model", "decide", "--model", village, "--query", "knee pain", "--json").record
    assert record["status"] == "unknown query"
    assert record["matched_query"] is None
    assert (record["disclose"], record["per_attribute"]) == ([], [])
    ran = decide_(run, village, "--explain", "--query", "knee pain")
    assert ran.code == 0
    assert ran.out.startswith("Send nothing: not understood, so it goes as it is")


def test_the_page_has_one_plain_sentence_on_top(run: Run, village: Path) -> None:
    """Then, where it is wanted, every attribute with its figures, and what is proven."""
    verdict = "Send 1 fact (Region); about 20 of the 60 people still look like you."
    more = "Add --explain to see what each fact would gain and cost.\n"
    brief = decide_(run, village).out
    assert brief.split("\n\n") == [verdict, "  read as  'weather'", more]
    ran = decide_(run, village, "--explain", "--query", "WEATHER")
    assert ran.out.partition("\n\n")[0] == verdict
    assert all(each.title in ran.out for each in ATTRIBUTES)
    assert "\n  how good " in ran.out
    assert ran.out.isascii()
    huge = decide_(run, village, "--explain", "--lambda", "1e300")  # of three hundred digits
    assert max(map(len, (ran.out + huge.out).splitlines())) <= 80


def test_the_page_names_what_never_was_a_candidate(run: Run, village: Path) -> None:
    """By the reason, and with what is told about a guarded one."""
    options = ("--only", "region,hobby,shoe_size", "--guard", "hobby=1")
    page = decide_(run, village, "--explain", *options).out
    said = {" ".join(line.split()) for line in page.splitlines()}
    assert {"kept secret, so never sent Hobby", "not allowed to leave At work"} <= said
    assert "the best guess is right" in " ".join(page.split())


def test_of_a_profile_only_what_is_set_counts(run: Run, village: Path, tmp_path: Path) -> None:
    """Whatever the values are: what is not in it is no candidate."""
    found = []
    for text in ('region = "coast"', 'region = "unspecified"', ""):
        (tmp_path / "p.toml").write_text(text)
        record = decide_(run, village, "--json", "--profile", tmp_path / "p.toml").record
        reasons = {each["name"]: each["reason"] for each in record["per_attribute"]}
        found.append((record["disclose"], reasons["region"] == "not set"))
        assert reasons["hobby"] == "not set"
    assert found == [(["region"], False), (["region"], False), ([], True)]


def test_the_page_says_what_the_query_was_read_as(run: Run, village: Path) -> None:
    """The same but for a plural is known, and what is only alike is not."""
    page = decide_(run, village, "--explain", "--query", "Weathers?").out
    assert "read as          'weather'" in page
    page = decide_(run, village, "--explain", "--query", "weather station").out
    assert page.startswith("Send nothing")
    assert "read as  nothing that the models know" in page


@pytest.mark.parametrize(
    ("options", "error", "hint"),
    [
        (["--know", "regoin=coast"], "unknown attribute 'regoin'", "did you mean 'region'?"),
        (["--know", "region=coast", "--know", "region=hills"], "--know gives region two", "once"),
        (["--know", "region"], "'region' is not a pair", "write NAME=VALUE"),
        (["--only", "region,hoby"], "unknown attribute 'hoby'", "did you mean 'hobby'?"),
        (["--exclude", "atwork"], "unknown attribute 'atwork'", "did you mean 'at_work'?"),
        (["--guard", "sho_size=1"], "unknown attribute 'sho_size'", "did you mean 'shoe_size'?"),
        (["--sensitivity", "hobbi=1"], "unknown attribute 'hobbi'", "did you mean 'hobby'?"),
        (["--cost", "maxprop"], "unknown value of --cost 'maxprop'", "did you mean 'maxprob'?"),
        (["--algorithm", "LLS"], "unknown value of --algorithm 'LLS'", "did you mean 'lls'?"),
        (["--max-violations", "0.1"], "--max-violations needs --k", "say with --k how many people"),
        (["--epsilon", "3"], "unknown option '--epsilon'", "see `reticent model decide --help`"),
        (["--quary", "x"], "unknown option '--quary'", "did you mean '--query'?"),
        (["-k", "3"], "unknown option '-k'", "did you mean '--k'?"),
        (["--lambda", "much"], "'--lambda'", "see `reticent model decide --help`"),
        (["--lambda", "-1"], "--lambda: lambda cannot be -1", "a finite number from 0"),
        (["--k", "0"], "--k: k cannot be 0", "k is a whole number from 1"),
        (["--max-risk", "0"], "--max-risk: a risk cannot be 0", "above 0 and at most 1"),
        (["--k", "2", "--max-violations", "1"], "--max-violations: ", "from 0 to below 1"),
        (["--sensitivity", "hobby=-1"], "--sensitivity: the sensitivity of hobby", "from 0"),
        (["--guard", "hobby=-1"], "--guard: the guard on hobby", "from 0"),
        (["--know", "at_work=yes"], "'at_work' changes with every request", "only attributes"),
        (["--query", " "], "the query is empty", "write what is asked"),
        (["extra"], "unexpected extra argument", "see `reticent model decide --help`"),
    ],
)
def test_a_mistake_is_one_sentence_and_the_nearest_name(
    run: Run, village: Path, options: list[str], error: str, hint: str
) -> None:
    """With exit code 2, and nothing on the output that a script would read."""
    said = run(
        "model", "decide", "--model", village, "--query", "weather", "--json", *options
    ).refusal()
    assert error in said[0]
    assert hint in said[1]


def test_a_missing_model_names_the_nearest_file(run: Run, village: Path) -> None:
    """As a missing attribute does; a damaged one is an error of another kind."""
    near = village.with_name("vilage.safetensors")
    error, hint = run("model", "decide", "--model", near, "--query", "weather").refusal()
    assert error == f"{near}: no such file"
    assert hint == f"did you mean '{village}'?"
    near.write_bytes(village.read_bytes()[:-1])  # which is not the user's mistake
    assert near.name in decide_(run, near).refusal(code=1)[0]
    near.unlink()


def test_the_object_has_these_keys(run: Run, village: Path) -> None:
    """Others read it, so that a key may be added, and none may go."""
    record = curve(run, village, "--json").record
    assert record.keys() == CURVE_KEYS
    assert all(each.keys() == POINT_KEYS for each in record["points"])
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
    assert "better sets may exist" in page


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

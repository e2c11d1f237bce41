"""`reticent model decide`: the answer as an object and as a page, and every way to ask wrongly."""

from pathlib import Path

import pytest

from agent.decision.decide import Decision, decide
from agent.decision.request import Knowledge, Request
from agent.decision.terms import Limits, Terms
from agent.model.model import Model
from tests.cli.conftest import Run
from tests.cli.examples import ATTRIBUTES, PEOPLE, cli_model

KEYS = {
    "query": str,
    "matched_query": str,
    "status": str,
    "mode": str,
    "algorithm": str,
    "cost": str,
    "lambda": float,
    "disclose": list,
    "utility_bits": float,
    "identifiability": float,
    "identifiability_cost": float,
    "guard_bits": float,
    "sensitivity_bits": float,
    "objective": float,
    "proof": str,
    "bound": float,
    "certified": float,
    "exact": bool,
    "node_limit_hit": bool,
    "evaluations": int,
    "violations": int,
    "elapsed_ms": float,
    "people": int,
    "people_left": float,
    "per_attribute": list,
    "guarded": list,
    "pending": type(None),
    "because": dict,
}
ATTRIBUTE_KEYS = [
    "name",
    "disclosed",
    "gain_bits",
    "cost_bits",
    "reason",
    "because",
    "limit",
    "serves",
]


def test_the_object_has_these_keys_of_these_types(run: Run, village: Path) -> None:
    """Others read it, so that a key may be added, and none may change or go."""
    record = run("model", "decide", "--model", village, "--query", "weather", "--json").record
    assert [*record] == [*KEYS]
    assert {key: kind for key, kind in KEYS.items() if not isinstance(record[key], kind)} == {}
    assert [each["name"] for each in record["per_attribute"]] == [each.name for each in ATTRIBUTES]
    for each in record["per_attribute"]:
        assert [*each] == [*ATTRIBUTE_KEYS]


def test_the_answer_is_that_of_the_decision(run: Run, village: Path) -> None:
    """The command line adds nothing of its own, and its defaults are those of the terms."""
    record = run("model", "decide", "--model", village, "--query", "weather", "--json").record
    decision = decide(Request("weather"), Terms(), Knowledge(), cli_model())
    assert record["disclose"] == [*decision.disclosed] == ["region"]
    assert record["utility_bits"] == decision.figures.utility
    assert record["objective"] == decision.figures.objective
    assert record["people"] == PEOPLE
    assert record["people_left"] == 20
    assert (record["lambda"], record["cost"], record["algorithm"]) == (5.12, "maxprob", "lls")


def test_every_option_reaches_the_terms(
    run: Run, village: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is given a value that is not its default."""
    asked: list[tuple[Terms, Knowledge]] = []

    def spy(
        request: Request, terms: Terms, knowledge: Knowledge, model: Model, own: None
    ) -> Decision:
        asked.append((terms, knowledge))
        return decide(request, terms, knowledge, model, own)

    monkeypatch.setattr("agent.cli.decide.decide_request", spy)
    options = "--lambda 2 --cost k-anonymity --k 7 --max-violations 0.25 --max-risk 0.5 "
    options += "--know region=coast --know hobby=yes --only region,hobby --only at_work "
    options += "--exclude at_work --sensitivity region=0.5 --guard shoe_size=2 "
    options += "--algorithm exact --standing --json"
    ran = run(
        "model", "decide", "--explain", "--model", village, "--query", "weather", *options.split()
    )
    assert ran.code == 0
    terms = Terms(
        allowed=frozenset({"region", "hobby", "at_work"}),
        excluded=frozenset({"at_work"}),
        trade_off=2,
        metric="k-anonymity",
        metric_k=7,
        limits=Limits(k=7, max_violations=0.25, max_risk=0.5),
        sensitivity=(("region", 0.5),),
        guards=(("shoe_size", 2.0),),
        mode="standing",
        algorithm="exact",
    )
    assert asked == [(terms, Knowledge((("hobby", 2), ("region", 1))))]


def test_the_metric_k_anonymity_counts_to_a_hundred_by_default(run: Run, village: Path) -> None:
    """In a village of 60 everybody is then among too few; with a k of 3 nobody is."""
    ask = ("model", "decide", "--model", village, "--query", "weather", "--json")
    by = (*ask, "--cost", "k-anonymity")
    assert run(*by).record["identifiability"] == 1
    assert run(*by, "--k", "3").record["identifiability"] == 0


def test_a_limit_is_kept(run: Run, village: Path) -> None:
    """Regions have 20 people each."""
    ask = ("model", "decide", "--model", village, "--query", "weather", "--json", "--k")
    assert run(*ask, "20").record["disclose"] == ["region"]
    record = run(*ask, "21").record
    assert record["disclose"] == []
    first = record["per_attribute"][0]
    assert (first["reason"], first["limit"]) == ("would break a limit", "k")
    assert "would break a limit: k" in run(*ask[:-2], "--explain", "--k", "21").out


def test_only_nothing_allows_nothing(run: Run, village: Path) -> None:
    """An empty list is a list, and not the absence of one."""
    ask = ("model", "decide", "--model", village, "--query", "weather", "--only", "", "--json")
    record = run(*ask).record
    assert {each["reason"] for each in record["per_attribute"]} == {"not allowed"}
    assert {each["gain_bits"] for each in record["per_attribute"]} == {None}


def test_an_unknown_query_gets_nothing_and_is_told_so(run: Run, village: Path) -> None:
    """That is an answer and no mistake."""
    record = run("model", "decide", "--model", village, "--query", "knee pain", "--json").record
    assert record["status"] == "unknown query"
    assert record["matched_query"] is None
    assert (record["disclose"], record["per_attribute"]) == ([], [])
    ran = run("model", "decide", "--explain", "--model", village, "--query", "knee pain")
    assert ran.code == 0
    assert ran.out.startswith("Send nothing: the model does not cover this request")


def test_a_huge_price_still_fits_the_page(run: Run, village: Path) -> None:
    """Three hundred digits of a cost help nobody."""
    ask = ("model", "decide", "--explain", "--model", village, "--query", "weather")
    ran = run(*ask, "--lambda", "1e300")
    assert ran.code == 0
    assert max(map(len, ran.out.splitlines())) <= 80


def test_without_figures_the_verdict_is_all(run: Run, village: Path) -> None:
    """And how to see them."""
    page = run("model", "decide", "--model", village, "--query", "weather").out
    first, read, rest = page.split("\n\n")
    assert first == "Send 1 fact (Region); about 20 people still look like you."
    assert (read, rest) == (
        "  read as  'weather'",
        "Add --explain to see what each fact would gain and cost.\n",
    )


def test_the_page_has_one_plain_sentence_on_top(run: Run, village: Path) -> None:
    """Then every attribute with its figures, and what is proven."""
    ran = run("model", "decide", "--explain", "--model", village, "--query", "WEATHER")
    sentence = " ".join(ran.out.partition("\n\n")[0].split())
    assert sentence == "Send 1 fact (Region); about 20 people still look like you."
    assert all(each.title in ran.out for each in ATTRIBUTES)
    assert "\n  proven " in ran.out
    assert max(map(len, ran.out.splitlines())) <= 80
    assert ran.out.isascii()


def test_the_page_names_what_never_was_a_candidate(run: Run, village: Path) -> None:
    """By the reason, and with what is told about a guarded one."""
    options = ("--only", "region,hobby,shoe_size", "--guard", "hobby=1")
    page = run(
        "model", "decide", "--explain", "--model", village, "--query", "weather", *options
    ).out
    said = {" ".join(line.split()) for line in page.splitlines()}
    assert {"guarded, so never sent Hobby", "not allowed to leave At work"} <= said
    assert "the best guess is right" in page


def test_of_a_profile_only_what_is_set_counts(run: Run, village: Path, tmp_path: Path) -> None:
    """Whatever the values are: what is not in it is no candidate."""
    found = []
    for text in ('region = "coast"', 'region = "unspecified"', ""):
        (tmp_path / "p.toml").write_text(text)
        ask = ("model", "decide", "--model", village, "--query", "weather", "--json")
        record = run(*ask, "--profile", tmp_path / "p.toml").record
        reasons = {each["name"]: each["reason"] for each in record["per_attribute"]}
        found.append((record["disclose"], reasons["region"] == "not set"))
        assert reasons["hobby"] == "not set"
    assert found == [(["region"], False), (["region"], False), ([], True)]


def test_the_page_says_what_the_query_was_read_as(run: Run, village: Path) -> None:
    """The same but for a plural is known, and what is only alike is not."""
    page = run("model", "decide", "--explain", "--model", village, "--query", "Weathers?").out
    assert "read as          'weather'" in page
    page = run("model", "decide", "--explain", "--model", village, "--query", "weather station").out
    assert page.startswith("Send nothing")
    assert "read as  none of the model's known queries" in page


@pytest.mark.parametrize(
    ("options", "error", "hint"),
    [
        (["--know", "regoin=coast"], "unknown attribute 'regoin'", "did you mean 'region'?"),
        (["--know", "region=Coats"], "unknown value of region 'Coats'", "did you mean 'coast'?"),
        (
            ["--know", "region=coast", "--know", "region=hills"],
            "--know gives region two values, coast and hills",
            "give region once",
        ),
        (["--know", "region"], "'region' is not a pair", "write NAME=VALUE"),
        (["--only", "region,hoby"], "unknown attribute 'hoby'", "did you mean 'hobby'?"),
        (["--exclude", "atwork"], "unknown attribute 'atwork'", "did you mean 'at_work'?"),
        (["--guard", "sho_size=1"], "unknown attribute 'sho_size'", "did you mean 'shoe_size'?"),
        (["--sensitivity", "hobbi=1"], "unknown attribute 'hobbi'", "did you mean 'hobby'?"),
        (["--cost", "maxprop"], "unknown value of --cost 'maxprop'", "did you mean 'maxprob'?"),
        (["--algorithm", "LLS"], "unknown value of --algorithm 'LLS'", "did you mean 'lls'?"),
        (
            ["--sensitivity", "hobby=much"],
            "'much' is not a number",
            "write a number, as in hobby=0.5",
        ),
        (
            ["--max-violations", "0.1"],
            "--max-violations needs --k",
            "say with --k how many people must look alike",
        ),
        (["--lamda", "2"], "unknown option '--lamda' of `reticent model decide`", "'--lambda'"),
        (["--epsilon", "3"], "unknown option '--epsilon'", "see `reticent model decide --help`"),
        (["--quary", "x"], "unknown option '--quary'", "did you mean '--query'?"),
        (["-k", "3"], "unknown option '-k'", "did you mean '--k'?"),
        (["--lambda", "much"], "'--lambda'", "see `reticent model decide --help`"),
        (["--lambda", "nan"], "--lambda: lambda cannot be nan", "a finite number from 0"),
        (["--lambda", "-1"], "--lambda: lambda cannot be -1", "a finite number from 0"),
        (["--k", "0"], "--k: k cannot be 0", "k is a whole number from 1"),
        (["--k", "0", "--cost", "k-anonymity"], "--k: k cannot be 0", "a whole number from 1"),
        (["--k", "2.5"], "'--k'", "see `reticent model decide --help`"),
        (["--max-risk", "0"], "--max-risk: a risk cannot be 0", "above 0 and at most 1"),
        (["--k", "2", "--max-violations", "1"], "--max-violations: ", "from 0 to below 1"),
        (["--sensitivity", "hobby=nan"], "'nan' is not a finite number", "as in hobby=0.5"),
        (["--guard", "hobby=inf"], "'inf' is not a finite number", "as in hobby=0.5"),
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
    """As a missing attribute does."""
    near = village.with_name("vilage.safetensors")
    error, hint = run("model", "decide", "--model", near, "--query", "weather").refusal()
    assert error == f"{near}: no such file"
    assert hint == f"did you mean '{village}'?"


def test_a_damaged_model_is_refused_as_such(run: Run, village: Path, tmp_path: Path) -> None:
    """It is not the user's mistake, so that the exit code is another."""
    damaged = tmp_path / "damaged.safetensors"
    damaged.write_bytes(village.read_bytes()[:-1])
    error, _ = run("model", "decide", "--model", damaged, "--query", "weather").refusal(code=1)
    assert error.startswith(f"{damaged}: ")


def test_a_query_is_asked_for(run: Run) -> None:
    """It is the one option without a default."""
    assert run("model", "decide").refusal()[0] == "missing option '--query'"

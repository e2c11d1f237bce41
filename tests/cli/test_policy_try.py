"""`reticent policy try`: past requests under another policy, and every way to name them wrongly."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.cli.policy_try import read_history
from agent.errors import UsageError
from agent.model.file import read, shipped_model
from agent.model.model import Model
from agent.model.signature import generate_key, sign, signature_path
from tests.cli.conftest import Run, Try
from tests.cli.examples import PEOPLE, cli_model
from tests.house.tree import ROOT

LINE: dict[str, Any] = {
    "at": "2026-03-02T09:00:00+01:00",
    "recipient": "a.example",
    "query": "weather",
    "asked": None,
    "disclosed": {},
}
EXAMPLES = ROOT / "examples/policies"


def line(**changes: object) -> str:
    """Return one line of a history."""
    return json.dumps({**LINE, **changes})


REQUEST_KEYS = [
    *("at", "recipient", "host", "pool", "query", "matched_query", "bits_was", "bits_would_be"),
    *("people_left_was", "people_left_would_be", "newly_disclosed", "newly_withheld"),
    *("would_have_asked", "expected"),
]
SUMMARY_KEYS = [
    *("requests", "changed", "would_have_asked", "mean_bits_was", "mean_bits_would_be", "pools"),
    *("newly_disclosed", "newly_withheld", "expected", "worlds", "like_the_history", "sorted"),
]


def test_what_a_policy_would_have_disclosed(attempt: Try) -> None:
    """To a recipient that holds it from then on; none of the keys may change or go."""
    lines = line(), line(query="knee pain"), line(recipient="b.example", query="music")
    record = attempt("", *lines, profile='region = "coast"\nhobby = "yes"').record
    assert [*record] == ["requests", "summary"]
    assert [[*each] for each in record["requests"]] == [REQUEST_KEYS] * 3
    assert [*record["summary"]] == SUMMARY_KEYS
    first, unknown, other = record["requests"]
    assert first["newly_disclosed"] == [{"name": "region", "share": 1.0}]
    assert (first["bits_was"], first["people_left_was"]) == (0, PEOPLE)
    assert first["bits_would_be"] > 0.9
    assert (first["people_left_would_be"], unknown["people_left_would_be"]) == (20, 20)
    assert (unknown["matched_query"], unknown["bits_would_be"]) == (None, 0)
    assert other["newly_disclosed"] == [{"name": "hobby", "share": 1.0}]
    summary = record["summary"]
    assert (summary["requests"], summary["changed"], summary["worlds"]) == (3, 2, 1)
    assert [each["pool"] for each in summary["pools"]] == ["a.example", "b.example"]
    assert summary["mean_bits_would_be"] == pytest.approx(
        (first["bits_would_be"] + other["bits_would_be"]) / 3
    )


def test_what_is_not_in_the_profile_would_not_have_left(attempt: Try) -> None:
    """But what the request itself carried was set then, unless it was "unspecified"."""
    text = 'disclose = "always"'
    (bare,) = attempt(text, line(), profile="").record["requests"]
    assert {each["name"] for each in bare["newly_disclosed"]} == {"at_work"}
    (silent,) = attempt(text, line(), profile='hobby = "unspecified"').record["requests"]
    assert {each["name"] for each in silent["newly_disclosed"]} == {"at_work", "hobby"}
    told = line(disclosed={"region": "coast", "hobby": "unspecified"})
    (request,) = attempt(text, told, profile="").record["requests"]
    assert {each["name"] for each in request["newly_disclosed"]} == {"at_work"}
    assert request["newly_withheld"] == [{"name": "hobby", "share": 1.0}]


def test_a_substitute_stands_beside_what_it_replaces(attempt: Try) -> None:
    """The attribute that was disclosed may not be any more, and so another is worth it."""
    forced = '[attributes]\nregion = "never"\nhobby = "always"'
    page = attempt(forced, line(disclosed={"region": "coast"}), json=False).out
    rows = page.partition("What would differ")[2].splitlines()[1:3]
    assert [row.split()[1:] for row in rows] == [
        ["newly", "sent", "Hobby", "(to", "a.example)"],
        ["no", "longer", "sent", "Region", "(to", "a.example)"],
    ]


def test_rules_hold_as_on_the_day(attempt: Try) -> None:
    """A rule that has expired since held then; the day is that of the line's own zone."""
    text = '[[rule]]\nnothing = true\nrecipient = "a.example"\nexpires = 2026-03-02'
    late, early = "2026-03-02T23:30:00-05:00", "2026-03-03T00:30:00+14:00"
    record = attempt(text, line(at=early), line(at=late)).record
    changed = {each["at"]: bool(each["newly_disclosed"]) for each in record["requests"]}
    assert changed == {early: True, late: False}


def test_values_that_nobody_knows_are_means(attempt: Try) -> None:
    """Over people of the model, and the page says so; a profile makes an end of it.

    The coast and this size go with nobody in the village.
    """
    told = line(disclosed={"region": "coast", "shoe_size": "s2"})
    odd = attempt('[attributes]\nhobby = "always"', told, json=False).out
    assert "Nobody in the model is like the history." in " ".join(odd.split())
    text = '[attributes]\nshoe_size = "always"'
    ran = attempt(text, line(), json=False)
    assert "those of 20 people of the model who agree with the rest" in " ".join(ran.out.split())
    assert attempt(text, line()).record["summary"]["expected"]
    own = 'protect = "me"\nk = 20\nviolations = 0.9\n[attributes]\nat_work = "never"'
    assert "Hobby (90%)" in attempt(own, line(query="music"), json=False).out  # six have none
    known = attempt(text, line(), profile="", json=False)
    assert "people of the model" not in known.out


def test_an_empty_history_is_said(attempt: Try) -> None:
    """That is no mistake; white space is nothing."""
    assert attempt("", json=False).out.startswith("The history is empty")
    record = attempt("", "", "  ").record
    assert record["requests"] == []
    assert record["summary"]["mean_bits_was"] is None


def test_lines_out_of_order_are_sorted_and_it_is_said(attempt: Try) -> None:
    """By time, whatever the zone; of equal times the first stays first."""
    early, same = "2026-03-02T09:30:00+02:00", "2026-03-02T08:00:00Z"
    lines = line(query="one"), line(at=same, query="two"), line(at=early, query="three")
    record = attempt("", *lines).record
    assert [each["query"] for each in record["requests"]] == ["three", "one", "two"]
    assert record["summary"]["sorted"]
    assert "were sorted" in attempt("", *lines, json=False).out
    assert not attempt("", *lines[:2]).record["summary"]["sorted"]


def test_nothing_changes_under_the_policy_of_the_history(attempt: Try) -> None:
    """And the page says it in one sentence."""
    told = line(disclosed={"region": "hills"}), line(query="knee pain")
    assert attempt("", *told).record["summary"]["changed"] == 0
    page = attempt("", *told, json=False).out
    assert page.startswith("Nothing would change: ")
    assert "->" not in page


def test_the_page_fits_80_columns(attempt: Try) -> None:
    """Whatever was asked, and nothing in it steers the terminal."""
    query = "we\u2028\a[2Jather\n" + "x" * 500
    names = {"region": "coast", "hobby": "no", "shoe_size": "s1", "at_work": "yes"}
    host = ".".join(["sub" * 10] * 6) + ".example"
    lines = line(query=query, recipient=host, disclosed=names), line(query="")
    ran = attempt("nothing = true", *lines, json=False)
    assert ran.code == 0
    assert max(map(len, ran.out.splitlines())) <= 80
    assert ran.out.replace("\n", "").isprintable()


@pytest.mark.parametrize("policy", sorted(EXAMPLES.glob("*.toml")), ids=lambda path: path.stem)
def test_the_example_runs_under_every_example_policy(run: Run, policy: Path) -> None:
    """In words of the shipped model, in 80 columns of ASCII."""
    ran = run("policy", "try", policy, "--history", EXAMPLES / "history.jsonl")
    assert (ran.code, ran.err) == (0, "")
    assert max(map(len, ran.out.splitlines())) <= 80
    assert ran.out.isascii()


def test_another_model_has_to_be_named(run: Run, tmp_path: Path) -> None:
    """Where the policy asks for one, for any of the requests."""
    policy, history = tmp_path / "policy.toml", tmp_path / "history.jsonl"
    policy.write_text('[[rule]]\nrecipient = "b.example"\nmodel = "village"')
    history.write_text(line())
    ask = ("policy", "try", policy, "--history", history)
    assert run(*ask).code == 0
    history.write_text(f"{line()}\n{line(recipient='b.example')}")
    error, hint = run(*ask).refusal()
    assert "asks for the model 'village'" in error
    assert "--model" in hint


def test_a_model_that_the_policy_does_not_trust_is_refused(
    attempt: Try, village: Path, tmp_path: Path
) -> None:
    """As `decide` does."""
    key = tmp_path / "maker.key"
    trusted = generate_key(key)
    assert "not signed" in attempt(f'trusted_keys = ["{trusted}"]', line()).refusal(code=1)[0]
    sign(village, key)
    try:
        assert attempt(f'trusted_keys = ["{trusted}"]', line()).code == 0
    finally:
        signature_path(village).unlink()


def test_the_line_in_the_document_is_one(run: Run, tmp_path: Path) -> None:
    """Of policy/FORMAT.md, on the shipped model."""
    document = (ROOT / "policy/FORMAT.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"```json\n(.*?)```", document, re.DOTALL)
    history = tmp_path / "past.jsonl"
    history.write_text(text)
    policy = ROOT / "examples/policies/developer.toml"
    record = run("policy", "try", policy, "--history", history, "--json").record
    assert len(record["requests"]) == 1


def test_the_example_is_a_history(tmp_path: Path) -> None:
    """Of a few requests to several recipients, most of which the model knows, in order."""
    model = read(shipped_model("so2017"))
    history = read_history(EXAMPLES / "history.jsonl", [model])
    assert 10 <= len(history.requests) <= 12
    assert not history.sorted
    unknown = [each.query for each in history.requests if model.match(each.query) is None]
    assert unknown == ["knee pain"]
    empty = tmp_path / "empty.jsonl"
    empty.write_bytes(b"\xef\xbb\xbf\r\n")
    assert read_history(empty, [model]) == ((), False)


def test_what_another_model_told_is_known_and_stays(run: Run, tmp_path: Path) -> None:
    """It makes those who look alike fewer, and the model that most lines name is tried."""
    own = [
        line(query="editors", disclosed={"gender": "female"}, model="so2017"),
        line(query="editors", model="so2017"),
    ]
    other = line(disclosed={"sex": "female", "marital": "widowed"}, model="atus")
    policy, past = tmp_path / "policy.toml", tmp_path / "past.jsonl"
    policy.write_text("k = 3")
    found = []
    for lines in (own, [other, *own]):
        past.write_text("\n".join(lines))
        found.append(run("policy", "try", policy, "--history", past, "--json").record)
        assert len(found[-1]["requests"]) == 2
    before, after = (each["requests"][0]["people_left_was"] for each in found)
    assert 0 < after < before / 3
    assert "1 request" in run("policy", "try", policy, "--history", past).page
    past.write_text(line(model="so2018"))
    assert "did you mean 'so2017'?" in run("policy", "try", policy, "--history", past).refusal()[1]


@pytest.mark.parametrize(
    ("text", "error", "hint"),
    [
        ("{", "the line is not valid JSON", "a line is one object with at, recipient, query"),
        ("[" * 100_000, "", "a line is one object"),
        ("[]", "the line is not an object", "a line is one object"),
        (line(extra=1), "unknown key 'extra'", "a line is one object"),
        (line(disclose={}), "unknown key 'disclose'", "did you mean 'disclosed'?"),
        ("{}", "at is missing", "a line is one object"),
        (line(at="2026-03-02T09:00:00"), "at is not a time with a zone", "09:14:00+01:00"),
        (line(at=1772438400), "at has the wrong type", "write it as in"),
        (line(at="0001-01-01T00:00:00Z"), "at: 0001-01-01", "a time from 1970 on"),
        (line(recipient="a b"), "recipient: ", ""),
        (line(query=None), "query is not text", "write what was asked"),
        (line(asked=["region", 3]), "an entry of asked is not text", "or null"),
        (line(asked=["regoin"]), "asked: unknown attribute 'regoin'", "did you mean 'region'?"),
        (line(disclosed={"region": 1}), "an entry of disclosed is not text", "region"),
        (line(disclosed={"hoby": "no"}), "disclosed: unknown attribute 'hoby'", "'hobby'?"),
        (line(disclosed={"region": "Coats"}), "disclosed: unknown value of region", "'coast'?"),
    ],
)
def test_a_mistake_in_a_history_names_the_line_and_the_field(
    attempt: Try, text: str, error: str, hint: str
) -> None:
    """In one sentence, with the nearest name, and nothing on the output."""
    said = attempt("", line(), text).refusal()
    assert f"history.jsonl:2: {error}" in said[0]
    assert hint in said[1]


@pytest.fixture(scope="module")
def model() -> Model:
    """The small model, to read histories with."""
    return cli_model()


@given(st.integers(0, 400), st.binary(max_size=4), st.integers(0, 4))
def test_a_damaged_history_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, model: Model, place: int, new: bytes, gone: int
) -> None:
    """Never anything else, whatever bytes have taken the place of others."""
    full = line(disclosed={"region": "coast"}, asked=["region", "hobby"], query="knö\u00df")
    data = bytearray(f"{full}\n{full}\n".encode())
    data[place : place + gone] = new
    path = tmp_path_factory.mktemp("damaged") / "history.jsonl"
    path.write_bytes(data)
    try:
        history = read_history(path, [model])
    except UsageError as error:
        assert str(error).startswith(f"{path}:")  # noqa: PT017 - either way is right
    else:
        assert len(history.requests) in (1, 2, 3)

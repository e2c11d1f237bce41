"""`reticent policy check`, `show` and `try`: what is wrong, and what holds."""

from datetime import datetime, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

import agent
from agent.decision.values import ReplayedRequest
from agent.paths import paths
from agent.wire.policy import Tried, TryPolicy
from tests.cli.conftest import Run
from tests.house.tree import ROOT
from tests.wire.fake import FakeDaemon, says
from tests.worlds.people import MONDAY


def test_the_shipped_policies_are_without_notes(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """For the shipped model, as long as the examples last."""
    monkeypatch.chdir(ROOT / "examples/policies")
    names = sorted(path.name for path in Path().glob("*.toml"))
    said = run("policy", "check", *names)
    assert (said.code, said.err) == (0, "")
    assert [line.split(": ")[0] for line in said.out.splitlines()] == names


def test_a_wrong_policy_is_shown_with_all_its_problems(run: Run, folder: Path) -> None:
    """Each with its place and its hint, and nothing in it steers the terminal."""
    for command in (("show", "--policy"), ("try",)):
        said = run("policy", *command, "wrong.toml")
        assert (said.code, said.out) == (1, "")
        lines = said.err.splitlines()
        assert lines[:2] == [
            "reticent: error: wrong.toml:1: preset: unknown preset 'balnaced'",
            "reticent: hint: did you mean 'balanced'?",
        ]
        assert [line.split(":")[1] for line in lines] == [" error", " hint"] * 4
    (folder / "odd.toml").write_text('"\\u001b[2Jx\\u0007" = 3\n')
    for command in (("check",), ("show", "--policy")):
        said = run("policy", *command, "odd.toml")
        assert said.code == 1
        assert "\a" not in said.out + said.err
        assert "unknown key" in said.out + said.err


UNREAD = {
    "none.toml": (None, "none.toml cannot be read: no such file or directory"),
    "binary.toml": (bytes(range(256)), "binary.toml is not UTF-8 text, line 2"),
    "folder": ("", "folder cannot be read: is a directory"),
}


@pytest.mark.parametrize("name", UNREAD)
def test_what_is_no_text_is_refused(run: Run, folder: Path, name: str) -> None:
    """A file that is not there, one of bytes, and a folder; the others are checked all the same."""
    data, error = UNREAD[name]
    if isinstance(data, bytes):
        (folder / name).write_bytes(data)
    elif data is not None:
        (folder / name).mkdir()
    assert run("policy", "show", "--policy", name).refusal()[0] == error
    ran = run("policy", "check", name, "wrong.toml")
    assert ran.code == 2
    first, second, *_ = ran.out.splitlines()
    assert first.startswith(f"{error} (")
    assert second.startswith("wrong.toml:1: preset: ")


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["show", "--recipient", ""], "'' is not a host name"),
        (["show", "--model", "none.safetensors"], "none.safetensors: no such file"),
    ],
)
def test_a_wrong_call_is_refused(run: Run, folder: Path, options: list[str], error: str) -> None:
    """In a sentence, with how to mend it."""
    assert folder.is_dir()
    assert error in run("policy", *options).refusal()[0]


@pytest.mark.usefixtures("folder")
def test_a_policy_that_others_can_write_is_as_bad_as_for_the_daemon(run: Run) -> None:
    """One's own; what is named may be anybody's."""
    paths().policy.chmod(0o666)
    for command in (("check",), ("show", "--policy", paths().policy)):
        said = run("policy", *command)
        assert said.code == 2
        assert f"{paths().policy}: other users can write to this file" in said.out + said.err
    Path("named.toml").write_text("lambda = 1\n")
    Path("named.toml").chmod(0o666)
    assert run("policy", "check", "named.toml").code == 0


TEXT = 'preset = "strict"\n'
SAME = ReplayedRequest(
    at=MONDAY,
    recipient="www.weather.example",
    query="weather",
    disclosed=("region",),
    would_disclose=("region",),
    would_ask=(),
    utility_was=0.25,
    utility=0.25,
    people_left_was=12.0,
    people_left=12.0,
)
OTHER = replace(
    SAME,
    disclosed=("region",),
    would_disclose=(),
    would_ask=("hobby",),
    utility=0.0,
    people_left=90.0,
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a policy to be tried."""
    path = tmp_path / "other.toml"
    path.write_text(TEXT)
    return path


def test_what_would_differ_is_said(run: Run, fake: FakeDaemon, file: Path) -> None:
    """The verdict on top, then what changes."""
    fake.handlers["try_policy"] = says(Tried(requests=[SAME, OTHER], kept=1))
    ran = run("policy", "try", file)
    assert fake.calls[0] == ("try_policy", {"body": TryPolicy(text=TEXT)})
    said = ran.page
    assert said.startswith("1 of 2 requests would have sent or asked something else;")
    assert "you would have been served worse." in said
    assert all(each in said for each in ("-region,", "?hobby", "12 -> 90", "0.250 -> 0.000"))
    assert "kept as they were 1 request" in said
    record = run("policy", "try", file, "--json").record
    assert record["requests"][1]["would_ask"] == ["hobby"]


def test_nothing_differs_or_is_there(run: Run, fake: FakeDaemon, file: Path) -> None:
    """Each in one sentence; a wrong policy is refused before anything is asked."""
    fake.handlers["try_policy"] = says(Tried(requests=[SAME], kept=0))
    assert run("policy", "try", file).page.startswith("Nothing would change:")
    fake.handlers["try_policy"] = says(Tried(requests=[], kept=0))
    assert run("policy", "try", file).page.startswith("The ledger is empty")
    fake.calls.clear()
    file.write_text("lamda = 1\n")
    assert run("policy", "try", file).code != 0
    assert fake.calls == []


@pytest.mark.usefixtures("folder")
def test_an_explanation_has_these_keys(run: Run) -> None:
    """Others read it, so that a key may be added, and none may change or go."""
    which = ("--policy", "policy.toml", "--model", "village", "--json")
    show = ("policy", "show", "--recipient", "ads.example", "--query", "my debt")
    record = run(*show, *which).record
    keys = ("policy", "recipient", "pool", "query", "today", "matching", "settings", "attributes")
    assert {*keys} <= {*record}
    assert record["pool"] == "@adverts"
    nothing = record["settings"]["nothing"]
    origin = ("rule", "from", "source", "line")
    assert [nothing[key] for key in origin] == ["queries.block", "file", "policy.toml", 8]
    reasons = [(each["rule"], each["because"]) for each in nothing["lost"]]
    assert reasons == [("the defaults", "block"), ("rule 3", "block")]
    assert [*record["attributes"]["hobby"]] == ["disclose", "sensitivity"]
    assert {*record["matching"][0]} >= {*origin, "for", "expired", "settings"}


def test_rules_that_are_over_count_for_nothing(run: Run, folder: Path) -> None:
    """By the day of the machine; they are listed all the same."""
    today = datetime.now().astimezone().date()
    for days, value in ((1, 3), (-1, 5.12)):
        last = today + timedelta(days=days)
        rule = f'[[rule]]\nquery = "flu"\nlambda = 3\nexpires = {last}\n'
        (folder / "ends.toml").write_text(rule)
        ends = ("--policy", "ends.toml", "--json")
        request = ("--recipient", "a.test", "--query", "flu")
        record = run("policy", "show", *request, *ends).record
        assert record["settings"]["lambda"]["value"] == value
        assert len(record["matching"]) == (days > 0)
        (listed,) = run("policy", "show", *ends).record["rules"]
        assert listed["expired"] == (days < 0)
    assert "rule 1 (line 1) (expired)" in run("policy", "show", "--policy", "ends.toml").out


def test_a_rule_holds_at_every_door_by_what_another_model_calls_the_fact(
    run: Run, tmp_path: Path
) -> None:
    """One on `gender`, by its name in so2017, is one on `sex` in atus; and it is named."""
    policy = tmp_path / "policy.toml"
    policy.write_text('[attributes]\ngender = "never"\n')
    asked = ("--policy", policy, "--recipient", "a.example", "--query", "find work as a nurse")
    record = run("policy", "show", *asked, "--json").record
    assert record["attributes"]["sex"]["disclose"]["value"] == "never"
    assert [each["rule"] for each in record["matching"]] == ["attributes.gender"]
    shown = run("policy", "show", "--policy", policy, "--json").record
    assert shown["attributes"]["sex"]["disclose"]["rule"] == "attributes.gender"
    [checked] = run("policy", "check", policy, "--json").record["files"]
    assert checked["remarks"] == []
    changed = ("disclose=auto", "--attribute", "sex", "--policy", policy, "--json")
    [wins] = run("policy", "set", *changed).record["wins"]
    assert wins["rule"] == "attributes.gender"
    decision = agent.open().decide("find work as a nurse", "a.example", policy=policy)
    assert {each.name: each.reason for each in decision.outcomes}["sex"] == "never"

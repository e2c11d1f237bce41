"""`reticent policy set` and `block`: what is written, and refused."""

import tomllib
from pathlib import Path

import pytest

from agent.wire.decide import Allow, Allowed, Refuse
from tests.cli.conftest import Run
from tests.cli.daemon import HOSTILE
from tests.cli.policies import RIGHT, WRONG
from tests.wire.fake import FakeDaemon, says


@pytest.fixture
def file(folder: Path) -> Path:
    """A policy to change, in the folder that the command runs in."""
    return folder / "policy.toml"


OWN = ("--policy", "policy.toml")


def test_the_examples(run: Run, file: Path, village: Path) -> None:
    """At the top, of an attribute, in a rule that is there, and in a new one."""
    every = (*OWN, "--model", village)
    assert run("policy", "set", "lambda=7", *every).out.splitlines() == [
        "Written: lambda = 7 (the top of the file, policy.toml:2)."
    ]
    run("policy", "set", "sensitivity=0.5", "--attribute", "region", *every)
    said = run("policy", "set", "lambda=9", "k=4", "--recipient", "Books.example", *every)
    assert said.out.startswith("Written: lambda = 9 (books, policy.toml:18).\n")
    new = ("--recipient", "adverts", "--query", "Shoes", "--expires", "9999-12-31")
    run("policy", "set", "disclose=never", *new, *every)
    document = tomllib.loads(file.read_text())
    assert document["lambda"] == 7
    assert document["attributes"]["region"] == {"disclose": "auto", "sensitivity": 0.5}
    assert (document["rule"][0]["lambda"], document["rule"][0]["k"]) == (9, 4)
    assert document["rule"][-1]["name"] == "for adverts with shoes until 9999-12-31"
    run("policy", "set", "disclose=", *new, *every)
    assert len(tomllib.loads(file.read_text())["rule"]) == len(tomllib.loads(RIGHT)["rule"])
    shown = run("policy", "show", "--recipient", "books.example", *every, "--json").record
    assert shown["settings"]["lambda"]["value"] == 9


def test_what_still_wins_is_said(run: Run, file: Path, village: Path) -> None:
    """A guard, a stricter entry; as an object as well. The daemon's own policy by default."""
    said = " ".join(run("policy", "set", "disclose=always", "--model", village).out.split())
    assert said.count("This still wins: ") == 3
    assert "This still wins: disclose ask of Hobby, from attributes.hobby, " in said
    assert "This still wins: guard 1 of Size, from attributes.shoe_size, " in said
    set_again = ("policy", "set", "disclose=always", "--model", village, "--json")
    found = run(*set_again).record
    assert found["changed"] is False
    assert [(win["key"], win["attributes"]) for win in found["wins"]] == [
        ("disclose", ["region"]),
        ("disclose", ["hobby"]),
        ("guard", ["shoe_size"]),
    ]
    assert file.read_text() == RIGHT
    assert run("policy", "set", "disclose=", "--json").record["settings"] == [
        {"key": "disclose", "value": None, "in": None}
    ]


@pytest.mark.parametrize(
    ("arguments", "error", "hint"),
    [
        (["lamda=4"], "unknown setting 'lamda'", "did you mean 'lambda'?"),
        (["lambda"], "'lambda' is not a pair", "write NAME=VALUE"),
        (["k=2.5"], "k: 2.5 is not a whole number from 1", "k is a whole number from 1"),
        (["lambda=nan"], "lambda: nan is not a number from 0", "lambda is a number from 0"),
        (["k=1\nrisk=1"], "k: '1\\nrisk=1' is not a whole number from 1", None),
        (
            ["mode=fast"],
            "mode: 'fast' is not one of dynamic, standing, planned",
            "write one of them",
        ),
        (
            ["gender=never"],
            "'gender' is an attribute, not a setting",
            "write disclose=never --attribute gender",
        ),
        (["nothing=yes"], "nothing: 'yes' is not true or false", None),
        (["k=3", "k=4"], "KEY=VALUE gives k two values, 3 and 4", "give k once"),
        (["k=3", "--recipient", "advert"], "unknown group 'advert'", "did you mean 'adverts'?"),
        (["k=3", "--expires", "soon"], "'soon' is not a date", "write it as 2027-03-01"),
        (["k=3", "--expires", "2020-01-01"], "2020-01-01 is over, so this would never hold", None),
    ],
)
def test_bad_input_is_refused(
    run: Run, file: Path, arguments: list[str], error: str, hint: str | None
) -> None:
    """With what is meant, and nothing is written."""
    said = run("policy", "set", *arguments, *OWN).refusal()
    assert said[0] == error.replace("\n", "\N{REPLACEMENT CHARACTER}")
    assert hint is None or said[1] == hint
    assert file.read_text() == RIGHT


def test_a_change_that_is_no_policy_shows_all_problems(run: Run, file: Path) -> None:
    """Also of a file that had mistakes before; it is left as it is."""
    said = run("policy", "set", "k=5", "memory=forgets", "--attribute", "region", *OWN)
    assert (said.code, said.out) == (1, "")
    note, *errors = said.err.splitlines()
    assert note == "reticent: note: this is what the policy would be, and nothing was written"
    assert [line.split(": ")[3] for line in errors[::2]] == ["rule[4].k", "rule[4].memory"]
    assert file.read_text() == RIGHT
    wrong = run("policy", "set", "k=5", "--policy", "wrong.toml")
    assert (wrong.code, wrong.err.count("reticent: error: ")) == (1, 4)
    assert (file.parent / "wrong.toml").read_text() == WRONG


def test_a_misspelt_attribute_is_noted(run: Run, file: Path, village: Path) -> None:
    """It is written all the same: it may be of another model."""
    said = run("policy", "set", "disclose=never", "--attribute", "regoin", *OWN, "--model", village)
    assert (said.code, said.err.count("(did you mean 'region'?")) == (0, 1)
    assert "regoin" in file.read_text()


def test_what_is_not_set_there_cannot_be_taken_out(run: Run, file: Path) -> None:
    """Nor what is no setting."""
    what, _ = run("policy", "set", "k=", "--recipient", "books.example", *OWN).refusal()
    assert what == "the policy file does not set 'k' for exactly this"
    assert run("policy", "set", "regoin=", *OWN).refusal()[0] == "unknown setting 'regoin'"
    assert (
        run("policy", "set", "preset=", *OWN).refusal()[0].startswith("'preset' is not a setting")
    )
    assert file.read_text() == RIGHT


HOST = "shop.example"


@pytest.mark.parametrize(
    ("command", "call", "said"),
    [
        (
            ["block"],
            ("refuse", {"body": Refuse(recipient="a.example")}),
            "gets nothing from now on",
        ),
        (
            ["block", "--undo"],
            ("allow", {"body": Allow(recipient="a.example")}),
            "is treated like others",
        ),
    ],
)
def test_the_word_reaches_the_daemon(
    run: Run, fake: FakeDaemon, command: list[str], call: tuple[str, object], said: str
) -> None:
    """And what holds from now on is said."""
    ran = run("policy", *command, "a.example")
    assert (ran.code, ran.err) == (0, "")
    assert f"a.example {said}" in ran.out
    assert fake.calls == [call]
    assert "\a" not in run("policy", *command, HOSTILE).out


@pytest.mark.parametrize("done", [True, False])
@pytest.mark.parametrize(("line", "place"), [(12, " on line 12 of the policy"), (None, "")])
def test_a_rule_that_is_not_ours_is_named(
    run: Run, fake: FakeDaemon, line: int | None, place: str, *, done: bool
) -> None:
    """Whether or not there was one of ours beside it: it still holds."""
    fake.handlers["allow"] = says(Allowed(done=done, rule="mine", line=line))
    said = " ".join(run("policy", "block", "--undo", "a.example").out.split())
    assert said.startswith(
        f"a.example still gets nothing, by 'mine'{place}, which is not for it alone"
    )
    fake.handlers["allow"] = says(Allowed(done=False))
    left = "a.example was not blocked, so nothing was changed.\n"
    assert run("policy", "block", "--undo", "a.example").out == left

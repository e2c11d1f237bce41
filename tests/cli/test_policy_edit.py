"""`reticent policy set` and `block`: what is written, and refused."""

import tomllib
from math import log2
from pathlib import Path

import pytest

from agent.cli.policy_edit import LARGEST
from agent.paths import paths
from agent.wire.base import RecipientName
from agent.wire.decide import Allowed
from policy.read import load
from tests.cli.conftest import Ran, Run
from tests.cli.daemon import HOSTILE
from tests.cli.examples import RIGHT, WRONG
from tests.house.tree import ROOT
from tests.wire.fake import FakeDaemon, says


@pytest.fixture
def file(folder: Path) -> Path:
    """A policy to change, in the folder that the command runs in."""
    return folder / "policy.toml"


OWN = ("--policy", "policy.toml")


def test_the_examples(run: Run, file: Path) -> None:
    """At the top, of an attribute, in a rule that is there, and in a new one."""
    assert run("policy", "set", "lambda=7", *OWN).out == "Written: lambda = 7 in policy.toml.\n"
    run("policy", "set", "sensitivity=0.5", "--attribute", "region", *OWN)
    said = run("policy", "set", "lambda=9", "k=4", "--recipient", "Books.example", *OWN)
    assert said.out.startswith("Written: lambda = 9 in policy.toml.\n")
    new = ("--recipient", "adverts", "--query", "Shoes", "--expires", "9999-12-31")
    run("policy", "set", "disclose=never", *new, *OWN)
    document = tomllib.loads(file.read_text())
    assert document["lambda"] == 7
    assert document["attributes"]["region"] == {"disclose": "auto", "sensitivity": 0.5}
    assert (document["rule"][0]["lambda"], document["rule"][0]["k"]) == (9, 4)
    assert document["rule"][-1]["name"] == "for adverts with shoes until 9999-12-31"
    run("policy", "set", "disclose=", *new, *OWN)
    assert len(tomllib.loads(file.read_text())["rule"]) == len(tomllib.loads(RIGHT)["rule"])
    shown = run("policy", "show", "--recipient", "books.example", *OWN, "--json").record
    assert shown["settings"]["lambda"]["value"] == 9


def test_what_still_wins_is_said(run: Run, file: Path) -> None:
    """A guard, a stricter entry; as an object as well. The daemon's own policy by default."""
    said = " ".join(run("policy", "set", "disclose=always").out.split())
    assert ", from attributes.hobby (line 13)." in said
    assert "Overridden by: guard 1 of Size, from attributes.shoe_size (line 14)." in said
    found = run("policy", "set", "disclose=always", "--json").record
    assert found["changed"] is False
    wins = [(win["key"], win["names"]) for win in found["wins"]]
    assert ("disclose", ["hobby"]) in wins
    assert ("guard", ["shoe_size"]) in wins
    assert file.read_text() == RIGHT
    removed = run("policy", "set", "disclose=", "--json").record
    assert removed == {"changed": True, "wins": []}


def test_bad_input_is_refused(run: Run, file: Path) -> None:
    """With what is meant, and nothing is written."""
    cases: list[tuple[list[str], str, str]] = [
        (["lamda=4"], "unknown setting 'lamda'", "did you mean 'lambda'?"),
        (["lambda"], "'lambda' is not a pair", "write NAME=VALUE"),
        (["k=2.5"], "k: 2.5 is not a whole number from 1", "k is a whole number from 1"),
        (["lambda=nan"], "lambda: nan is not a number from 0", "lambda is a number from 0"),
        (["k=1\nrisk=1"], "is not a whole number from 1", ""),
        (["mode=fast"], "mode: 'fast' is not one of dynamic, standing, planned", "one of them"),
        (["hobby=never"], "'hobby' is an attribute, not", "write disclose=never --attribute hobby"),
        (["nothing=yes"], "nothing: 'yes' is not true or false", ""),
        (["k=3", "k=4"], "KEY=VALUE gives k two values, 3 and 4", "give k once"),
        (["k=3", "--recipient", "advert"], "unknown group 'advert'", "did you mean 'adverts'?"),
        (["k=3", "--expires", "soon"], "'soon' is not a date", "write it as 2027-03-01"),
        (["k=3", "--expires", "2020-01-01"], "2020-01-01 is over, so this would never hold", ""),
        (["k=", "--recipient", "books.example"], "does not set 'k' for exactly this", ""),
        (["regoin="], "unknown setting 'regoin'", ""),
        (["preset="], "'preset' is not a setting", ""),
    ]
    for arguments, error, hint in cases:
        said = run("policy", "set", *arguments, *OWN).refusal()
        assert error in said[0]
        assert hint in said[1]
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


def test_a_misspelt_attribute_is_noted(run: Run, file: Path) -> None:
    """It is written all the same: it may be of another model."""
    said = run("policy", "set", "disclose=never", "--attribute", "regoin", *OWN)
    assert (said.code, said.err.count("(did you mean 'region'?")) == (0, 1)
    assert "regoin" in file.read_text()


def test_the_word_reaches_the_daemon(run: Run, fake: FakeDaemon) -> None:
    """What holds from now on is said; a rule that is not ours still holds, and is named."""
    for command, call, said in (
        (
            ["block"],
            ("refuse", {"body": RecipientName(recipient="a.example")}),
            "gets nothing from now",
        ),
        (
            ["block", "--undo"],
            ("allow", {"body": RecipientName(recipient="a.example")}),
            "is treated like",
        ),
    ):
        fake.calls.clear()
        assert f"a.example {said}" in run("policy", *command, "a.example").page
        assert fake.calls == [call]
        assert "\a" not in run("policy", *command, HOSTILE).out
    for done in (True, False):
        for line, place in ((12, " on line 12 of the policy"), (None, "")):
            fake.handlers["allow"] = says(Allowed(done=done, rule="mine", line=line))
            said = run("policy", "block", "--undo", "a.example").page
            by = f"by 'mine'{place}, which is not for it alone"
            assert said.startswith(f"a.example still gets nothing, {by}")
    fake.handlers["allow"] = says(Allowed(done=False))
    nothing = "a.example was not blocked, so nothing was changed.\n"
    assert run("policy", "block", "--undo", "a.example").out == nothing


ANSWERS = """
[sensitivity]
region = "100%"
hobby = "50%"
shoe_size = "never"
at_work = "25%"
[one_of]
10 = "4x"
1000 = "25%"
1 = "never"
"""
QUARTER, HALF = log2(1.25), log2(1.5)
BITS = {"region": 1.0, "hobby": HALF, "shoe_size": None, "at_work": QUARTER}
PRICE = (0.1 * 2 + 0.001 * QUARTER) / (0.1**2 + 0.001**2)  # by hand, through the origin


@pytest.fixture
def calibrate(run: Run, village: Path, tmp_path: Path) -> Run:
    """Calibrate with one text of answers and some options."""

    def command(text: str = ANSWERS, *options: str | Path) -> Ran:
        file = tmp_path / "answers.toml"
        file.write_text(text)
        return run("policy", "calibrate", "--answers", file, "--model", village, *options)

    return command


def test_the_example_is_one(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """For the shipped model, as its first line says."""
    monkeypatch.chdir(ROOT)
    example = "examples/calibration/answers.toml"
    first, *_ = Path(example).read_text().splitlines()
    assert f"`reticent policy calibrate --answers {example}`" in first
    said = run("policy", "calibrate", "--answers", example)
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith("λ = 20.85 bits")
    assert max(map(len, said.out.splitlines())) <= 80


def test_answers_become_prices(calibrate: Run) -> None:
    """I is 1/k; what is never allowed is shown, and not fitted."""
    found = calibrate(ANSWERS, "--json").record
    assert found["lambda"] == pytest.approx(PRICE)
    assert found["one_of"] == {"10": 2, "1000": pytest.approx(QUARTER), "1": None}
    assert found["sensitivity"] == pytest.approx(BITS)
    said = calibrate()
    assert (said.code, said.err) == (0, "")
    lines = said.out.splitlines()
    assert lines[0].startswith(f"λ = {PRICE:.4g} bits for being recognised with certainty")
    assert "What you would never allow has no price" in said.out
    assert [line.split() for line in lines[-4:]] == [
        ["region", "1.00"],
        ["hobby", "0.58"],
        ["shoe_size", "never"],
        ["at_work", "0.32"],
    ]


def test_what_nobody_asked_is_refused(calibrate: Run) -> None:
    """With the file, and the nearest that could have been meant."""
    for text, error, hint in (
        ("a = ", "this is not valid TOML", "write lines such as region = '50%'"),
        ("[sensitivty]", "unknown key 'sensitivty'", "did you mean 'sensitivity'?"),
        ("[sensitivity]\nregoin = '4x'", "unknown attribute 'regoin'", "did you mean 'region'?"),
        ("#" * (LARGEST + 1), "bytes", "check that it is the right file"),
    ):
        said = calibrate(text).refusal()
        assert "answers.toml: " in said[0]
        assert error in said[0]
        assert hint in said[1]


def test_it_goes_into_the_policy(calibrate: Run, folder: Path) -> None:
    """λ and what attributes must bring; all else stays, and what is never shared is ruled so."""
    assert folder.is_dir()
    said = calibrate(ANSWERS, "--write", "--yes")
    assert said.code == 0
    assert said.err.startswith("Written into ")
    after, before = tomllib.loads(paths().policy.read_text()), tomllib.loads(RIGHT)
    assert after.pop("lambda") == pytest.approx(PRICE, rel=1e-3)
    assert after.pop("attributes") == {
        "region": {"disclose": "auto", "sensitivity": 1.0},
        "hobby": {"disclose": "ask", "sensitivity": 0.585},
        "shoe_size": {"guard": 1, "disclose": "never"},
        "at_work": {"sensitivity": 0.3219},
    }
    assert before.pop("lambda") == 25
    assert before.pop("attributes")
    assert after == before
    assert len(load(paths().policy).rules) > len(before["rule"])
    once = paths().policy.read_text()
    assert calibrate(ANSWERS, "--write", "--yes").code == 0
    assert paths().policy.read_text() == once


def test_into_a_file_that_is_wrong_nothing_is_written(calibrate: Run, folder: Path) -> None:
    """It stays as it was."""
    assert folder.is_dir()
    paths().policy.write_text('lamda = "5"\n')
    said = calibrate(ANSWERS, "--write", "--yes")
    assert said.code == 1
    assert "unknown key 'lamda'" in said.err
    assert paths().policy.read_text() == 'lamda = "5"\n'


def test_without_a_line_the_trade_off_stays(calibrate: Run, folder: Path) -> None:
    """It is said that none is fitted, and the attributes are written even so."""
    assert folder.is_dir()
    text = "[sensitivity]\nregion = '50%'\n[one_of]\n1 = 'never'\n"
    assert calibrate(text, "--json").record["lambda"] is None
    assert calibrate(text).out.startswith("λ: not fitted")
    assert calibrate(text, "--write", "--yes").code == 0
    after = tomllib.loads(paths().policy.read_text())
    assert after["lambda"] == 25
    assert after["attributes"]["region"] == {"disclose": "auto", "sensitivity": 0.585}

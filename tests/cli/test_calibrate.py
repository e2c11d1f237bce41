"""`reticent policy calibrate`: answers in, prices out, and into the policy on the user's word."""

import tomllib
from math import log2
from pathlib import Path

import pytest

from agent.cli.policy_edit import LARGEST
from agent.paths import paths
from policy.read import load
from tests.cli.conftest import Ran, Run
from tests.cli.policies import RIGHT
from tests.house.tree import ROOT

IMPROVEMENT = '[improvement]\n1 = "25%"\n2 = "50%"\n3 = "100%"\n4 = "4x"\n5 = "never"\n'
ANSWERS = f"""{IMPROVEMENT}
[sensitivity]
region = 3
hobby = 2
shoe_size = 5
at_work = 1
[one_of]
10 = 4
1000 = 1
1 = 5
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
    """For the shipped model, as its first line says; all five improvements are in it."""
    monkeypatch.chdir(ROOT)
    example = "examples/calibration/answers.toml"
    first, *_ = Path(example).read_text().splitlines()
    assert f"`reticent policy calibrate --answers {example}`" in first
    said = run("policy", "calibrate", "--answers", example)
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith("λ = 20.85 bits")
    assert max(map(len, said.out.splitlines())) <= 80
    assert "5" in tomllib.loads(Path(example).read_text())["improvement"]


def test_without_a_ladder_one_of_k_gives_the_pairs(calibrate: Run) -> None:
    """I is 1/k; what is never allowed is shown, and not fitted."""
    found = calibrate(ANSWERS, "--json").record
    assert (found["people"], found["cost"], found["source"]) == (1, "maxprob", "one_of")
    assert found["lambda"] == pytest.approx(PRICE)
    assert [each["name"] for each in found["pairs"]] == ["1", "10", "1000"]
    assert [each["identifiability"] for each in found["pairs"]] == [1, 0.1, 0.001]
    assert [each["wanted_bits"] for each in found["pairs"]] == [None, 2, pytest.approx(QUARTER)]
    residuals = [None, pytest.approx(2 - 0.1 * PRICE), pytest.approx(QUARTER - 0.001 * PRICE)]
    assert [each["residual_bits"] for each in found["pairs"]] == residuals
    assert found["sensitivity"] == pytest.approx(BITS)


def test_the_page_says_the_same(calibrate: Run) -> None:
    """The line, the pairs, what has no price, and the attributes."""
    said = calibrate()
    assert (said.code, said.err) == (0, "")
    lines = said.out.splitlines()
    assert lines[0] == f"λ = {PRICE:.4g} bits for being recognised with certainty"
    assert [line.split() for line in lines if line.startswith("  1 ")] == [
        ["1", "1", "never", f"{PRICE:.2f}"]
    ]
    assert "What you would never allow has no price" in said.out
    assert [line.split() for line in lines[-4:]] == [
        ["region", "1.00"],
        ["hobby", "0.58"],
        ["shoe_size", "never"],
        ["at_work", "0.32"],
    ]


def test_of_several_people_the_median_counts(calibrate: Run, tmp_path: Path) -> None:
    """Each with their own improvements."""
    other = tmp_path / "other.toml"
    other.write_text('[improvement]\n1 = "4x"\n[sensitivity]\nregion = 1\n')
    found = calibrate(ANSWERS, "--answers", other, "--json").record
    assert found["people"] == 2
    assert found["sensitivity"] == pytest.approx({**BITS, "region": 1.5})
    assert calibrate(ANSWERS, "--answers", other).out.startswith("Medians of 2 people.\n")


def test_where_nothing_has_a_price_no_line_is_fitted(calibrate: Run) -> None:
    """It is said, and is no mistake."""
    text = f"{IMPROVEMENT}[sensitivity]\nregion = 2\n[one_of]\n1 = 5\n"
    assert calibrate(text, "--json").record["lambda"] is None
    assert calibrate(text).out.startswith("λ: not fitted")


@pytest.mark.parametrize(
    ("text", "error", "hint"),
    [
        ("a = ", "this is not valid TOML", "write lines such as region = 2"),
        ("\x00", "this is not valid TOML", "write lines such as region = 2"),
        ("[improvment]", "unknown key 'improvment'", "did you mean 'improvement'?"),
        ("one_of = 3", "'one_of' is not a table", "write it as [one_of]"),
        ("[sensitivity]\nregoin = 3", "unknown attribute 'regoin'", "did you mean 'region'?"),
        ("", "no question is answered", "answer sensitivity, one_of, or both"),
        ("#" * (LARGEST + 1), "bytes", "check that it is the right file"),
    ],
)
def test_what_nobody_asked_is_refused(calibrate: Run, text: str, error: str, hint: str) -> None:
    """With the file, and the nearest that could have been meant."""
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


def test_it_asks_before_it_writes(calibrate: Run, folder: Path) -> None:
    """Nobody there to answer: nothing is written, and the page was shown all the same."""
    assert folder.is_dir()
    said = calibrate(ANSWERS, "--write")
    assert said.code == 2
    assert said.out.startswith("λ = ")
    assert "agree with --yes" in said.err
    assert paths().policy.read_text() == RIGHT


@pytest.mark.parametrize(
    ("policy", "error"),
    [
        ('[attributes]\nhobby = { disclose = "ask", expires = 2999-01-01 }\n', "of hobby expires"),
        ('lamda = "5"\n', "the policy file has mistakes"),
    ],
)
def test_what_it_cannot_mean_is_not_written(
    calibrate: Run, folder: Path, policy: str, error: str
) -> None:
    """λ in another unit, a price that would lapse, a file that is wrong: it stays as it was."""
    assert folder.is_dir()
    paths().policy.write_text(policy)
    said = calibrate(ANSWERS, "--write", "--yes")
    assert said.code == 2
    assert error in said.err
    assert paths().policy.read_text() == policy


def test_without_a_line_the_trade_off_stays(calibrate: Run, folder: Path) -> None:
    """The attributes are written even so."""
    assert folder.is_dir()
    text = f"{IMPROVEMENT}[sensitivity]\nregion = 2\n"
    assert calibrate(text, "--write", "--yes").code == 0
    after = tomllib.loads(paths().policy.read_text())
    assert after["lambda"] == 25
    assert after["attributes"]["region"] == {"disclose": "auto", "sensitivity": 0.585}

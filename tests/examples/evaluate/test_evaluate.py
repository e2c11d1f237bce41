"""The command, on the small tables of examples/own_tables."""

import json
import sys

import pytest

from examples.search_service.evaluate import main
from tests.build.worlds import QUIET
from tests.house.tree import ROOT, ran

pytestmark = QUIET
TABLES = ROOT / "examples" / "own_tables"
SMALL = [
    *("--data", str(TABLES)),
    *("--people", "4", "--requests", "2"),
]


def printed(capsys: pytest.CaptureFixture[str], *more: str) -> str:
    """Return what the command prints."""
    assert main([*SMALL, *more]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


def test_the_same_seed_prints_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    """By one process or two, and another seed something else."""
    one = printed(capsys, "--processes", "1", "--json")
    assert printed(capsys, "--processes", "2", "--json") == one
    assert printed(capsys, "--processes", "1", "--json", "--seed", "2") != one


def test_the_tables_and_the_record_say_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    """In at most 80 columns."""
    text = printed(capsys, "--processes", "1")
    found = json.loads(printed(capsys, "--processes", "1", "--json"))
    assert max(map(len, text.splitlines())) <= 80
    assert found["setting"]["people"] == 4
    assert len(found["frontier"]) == 20
    for way in found["lines"]:
        assert way["name"] in text
        assert f"{way['reciprocal_rank']['mean']:.3f}" in text
    by_name = {way["name"]: way for way in found["lines"]}
    assert by_name["nothing"]["left_in_model"]["1%"] == found["setting"]["model"]
    assert by_name["all, best ranking"]["attributes"] == found["setting"]["attributes"]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--people", "0"], "--people cannot be 0"),
        (["--per-day", "0"], "--per-day cannot be 0"),
        (["--seed", "-1"], "--seed cannot be -1"),
        (["--data", "nowhere"], "there is no table users"),
    ],
)
def test_what_cannot_be_is_one_sentence(
    options: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """And a way out, on standard error."""
    assert main([*SMALL, *options]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    first, second = err.splitlines()
    assert first.startswith("evaluate: error: ")
    assert says in first
    assert second.startswith("evaluate: hint: ")


def test_without_the_extra_it_says_what_to_install() -> None:
    """In a sentence: nothing that an extra brings is imported before."""
    libraries = ("ibis", "pyarrow", "sklearn", "scipy", "matplotlib")
    code = f"import sys; sys.modules |= dict.fromkeys({libraries})\n"
    code += "from examples.search_service.evaluate import main; sys.exit(main([]))"
    done = ran(sys.executable, "-c", code, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    error, hint = done.stderr.splitlines()
    assert error == "evaluate: error: building a model needs ibis, which is not installed"
    assert hint.startswith("evaluate: hint: ")
    assert "pip install '.[build]'" in hint

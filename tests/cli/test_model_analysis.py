"""`reticent model design` and `compare`: the report and its picture, the object, and promises."""

from dataclasses import replace
from pathlib import Path

import pytest

from agent.decision.studies import design_of, recommended
from agent.model.file import read, write
from tests.cli.conftest import Run
from tests.cli.examples import cli_model

VERDICT = "Ask for 2 of the 4 facts that village knows: Region and Hobby."


def test_the_object_has_the_figures(run: Run, village: Path) -> None:
    """Those of the design, with what is asked for as the examples take it."""
    record = run("model", "design", village, "--lambda", "0.1", "--json").record
    made = design_of(read(village), 0.1)
    assert record["asked"]["names"] == [*recommended(read(village), 0.1)] == ["region", "hobby"]
    assert record["standing"]["utility"] == made.standing.utility
    assert [each["names"] for each in record["curve"]][:2] == [[], ["region"]]
    added = {each["name"]: each for each in record["attributes"]}
    assert (added["region"]["asked"], added["shoe_size"]["asked"]) == (True, False)


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (["none.safetensors"], "no such file"),
        (["so2018"], "unknown model 'so2018'"),
        (["so2017", "--lambda", "-1"], "lambda cannot be -1"),
    ],
)
@pytest.mark.usefixtures("home")
def test_what_cannot_be_is_refused(run: Run, options: list[str], what: str) -> None:
    """In one sentence, before the work."""
    assert what in run("model", "design", *options).refusal()[0]


def test_the_page_says_whether_promises_were_kept(run: Run, village: Path, tmp_path: Path) -> None:
    """By people who want something else now."""
    model, new = cli_model(), tmp_path / "town.safetensors"
    first, *others = model.queries
    mixed = replace(first, intents=first.intents[::-1])
    write(replace(model, id="town", queries=(mixed, *others)), new)
    page = run("model", "compare", village, new, "--lambda", "0.1").page
    assert "promises The old model overestimated: it predicted 0." in page
    record = run("model", "compare", village, new, "--lambda", "0.1", "--json").record
    assert record["kept_bits"] < record["promised_bits"]

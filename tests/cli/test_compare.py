"""`reticent model compare`: what came, went and changed, and which promises were kept."""

from dataclasses import replace
from pathlib import Path

from agent.model.file import write
from tests.cli.conftest import Run
from tests.cli.examples import cli_model


def test_the_page_says_what_changed(run: Run, village: Path, tmp_path: Path) -> None:
    """In words: a query by another name, and an attribute by another."""
    model, new = cli_model(), tmp_path / "new.safetensors"
    first, *others = model.queries
    hobby, *rest = model.attributes[1:]
    attributes = (model.attributes[0], replace(hobby, name="pastime", title="Pastime"), *rest)
    queries = (replace(first, text="sky", title="sky"), *others)
    write(replace(model, id="town", attributes=attributes, queries=queries), new)
    page = run("model", "compare", village, new, "--lambda", "0.1").page
    assert page.startswith("1 query is in both models; 0 changed by 0.01 bits or more.")
    assert "new queries sky gone queries weather new facts Pastime gone facts Hobby" in page
    assert "+Pastime, -Hobby" in page
    assert "are the same model." in run("model", "compare", village, village).page
    record = run("model", "compare", village, new, "--json").record
    assert [each["id"] for each in record["models"]] == ["village", "town"]
    missing = run("model", "compare", village, "none.safetensors").refusal()
    assert missing[0].endswith("no such file")


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

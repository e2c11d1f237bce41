"""`reticent model diff`: what came, went and changed, either way round."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from agent.cli.diff import Both, diff_record
from agent.decision.decide import decide
from agent.decision.difference import Side
from agent.decision.request import Knowledge, Request
from agent.decision.terms import Terms
from agent.model.file import write
from agent.model.model import Model
from tests.cli.conftest import Run
from tests.cli.examples import cli_model
from tests.decision.drawn import model_of
from tests.decision.made import elsewhere

models = st.builds(
    lambda seed, other: (elsewhere if other else replace)(model_of(seed)),
    st.integers(0, 5),
    st.booleans(),
)
trade_offs = st.sampled_from([0.0, 0.1, 5.12])


def record_of(old: Model, new: Model, trade_off: float) -> dict[str, Any]:
    """Return what changed, the queries of both in the order of the old model."""
    one, other = Side.of(old, trade_off), Side.of(new, trade_off)
    pairs = [(a, b) for a in old.queries for b in new.queries if a.text == b.text]
    both = [Both(a, b, one.best[a.text], other.best[b.text]) for a, b in pairs]
    return diff_record(one, other, both)


@settings(max_examples=30)
@given(models, models, trade_offs)
def test_what_went_one_way_came_the_other(one: Model, other: Model, trade_off: float) -> None:
    """Nothing comes, goes or changes from a model to itself."""
    forth, back = record_of(one, other, trade_off), record_of(other, one, trade_off)
    for came, went in (
        ("new_queries", "gone_queries"),
        ("new_attributes", "gone_attributes"),
        ("help_now", "no_longer_help"),
    ):
        assert sorted(forth[came]) == sorted(back[went])
        assert sorted(forth[went]) == sorted(back[came])
        assert record_of(one, one, trade_off)[came] == []
    assert forth["models"] == back["models"][::-1]
    assert {each["query"]: each["change_bits"] for each in forth["queries"]} == {
        each["query"]: -each["change_bits"] for each in back["queries"]
    }


@settings(max_examples=30)
@given(models, trade_offs)
def test_the_best_set_is_what_decide_sends(model: Model, trade_off: float) -> None:
    """To a recipient that knows nothing."""
    side, terms = Side.of(model, trade_off), Terms(trade_off=trade_off)
    for query in model.queries:
        decision = decide(Request(query.text), terms, Knowledge(), model)
        assert side.best[query.text] == (decision.disclosed, decision.figures)
    standing = decide(Request(""), replace(terms, unknown_queries="standing"), Knowledge(), model)
    assert side.standing == (standing.disclosed, standing.figures)


def test_the_page_says_what_changed(run: Run, village: Path, tmp_path: Path) -> None:
    """In words: a query by another name, and an attribute by another."""
    model, new = cli_model(), tmp_path / "new.safetensors"
    first, *others = model.queries
    hobby, *rest = model.attributes[1:]
    attributes = (model.attributes[0], replace(hobby, name="pastime", title="Pastime"), *rest)
    queries = (replace(first, text="sky", title="sky"), *others)
    write(replace(model, id="town", attributes=attributes, queries=queries), new)
    page = run("model", "diff", village, new, "--lambda", "0.1").page
    assert page.startswith("1 query is in both models; 0 are served better or worse")
    assert "new queries sky gone queries weather new facts Pastime gone facts Hobby" in page
    assert "+Pastime, -Hobby" in page
    assert "are the same model." in run("model", "diff", village, village).page
    record = run("model", "diff", village, new, "--json").record
    assert [each["id"] for each in record["models"]] == ["village", "town"]
    assert run("model", "diff", village, "none.safetensors").refusal()[0].endswith("no such file")

"""The shipped model is the one of the tables beside it, and keeps its promises."""

import numpy as np
import pytest

from agent.build.observe import Observations, observe
from agent.build.options import BuildOptions, TableFiles
from agent.build.read import open_tables
from agent.model.file import read, shipped_model
from agent.model.model import Model
from tests.build.worlds import QUIET
from tests.house.tree import ROOT

pytestmark = QUIET
DATA = ROOT / "examples" / "data" / "so2017"
TABLES = TableFiles(DATA / "users.csv.gz", DATA / "events.csv.gz")


@pytest.fixture(scope="module")
def model() -> Model:
    """Return the shipped model."""
    return read(shipped_model())


@pytest.fixture(scope="module")
def seen() -> Observations:
    """Return what the tables hold."""
    options = BuildOptions(users=TABLES.users, events=TABLES.events)
    return observe(open_tables(*TABLES), options)


@QUIET
def test_the_shipped_model_holds_the_tables(model: Model, seen: Observations) -> None:
    """All 25 questions and 18,991 people; only titles come from elsewhere."""
    assert [query.text for query in model.queries] == [query.text for query in seen.queries]
    assert np.array_equal(model.population.codes, seen.population.codes)
    assert (len(model.queries), model.population.rows, model.persons) == (25, 18_991, 42)
    for number, query in enumerate(seen.queries):
        rows = model.rows(number)
        assert model.queries[number].intents == query.intents
        for name in ("user", "intent", "person", "request"):
            assert np.array_equal(getattr(rows, name), getattr(query.rows, name))
    for ours, theirs in zip(model.attributes, seen.attributes, strict=True):
        assert (ours.name, ours.scope, ours.values) == (theirs.name, theirs.scope, theirs.values)
        assert ours.title != theirs.title or "_" not in ours.name


def test_the_shipped_model_keeps_its_promises(model: Model) -> None:
    """The bars of issue 2, as the model itself states them; tests/bench/heldout.py has splits."""
    heldout = [query.heldout_bits for query in model.queries]
    predicted = [query.predicted_bits for query in model.queries]
    assert None not in heldout
    mean = np.mean(np.array(heldout, dtype=float))
    assert mean >= 0.125
    assert np.mean(np.array(predicted, dtype=float)) == pytest.approx(mean, rel=0.05)
    assert model.validation["heldout_bits"] == pytest.approx(mean)


def test_the_licence_goes_with_the_data() -> None:
    """ODbL: attribution and share-alike beside both."""
    for notice in (DATA / "SOURCE.md", shipped_model().parent / "NOTICE.md"):
        text = notice.read_text()
        for words in ("Open Database License 1.0", "Stack Overflow", "share any"):
            assert words in " ".join(text.replace("**", "").split())

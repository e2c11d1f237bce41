"""The shipped models are those of the tables beside them, and keep their promises."""

import numpy as np
import pytest

from agent.build.observe import Observations, observe
from agent.build.options import BuildOptions, TableFiles, read_description
from agent.build.tables import open_tables
from agent.model.file import SHIPPED, read, shipped_model
from agent.model.model import Model
from tests.build.worlds import QUIET
from tests.house.tree import ROOT

pytestmark = QUIET
DATA = ROOT / "examples" / "data"
PEOPLE = {"atus": 145_257, "so2017": 18_991}


@pytest.fixture(scope="module", params=SHIPPED)
def model(request: pytest.FixtureRequest) -> Model:
    """Return a shipped model."""
    return read(shipped_model(request.param))


@pytest.fixture(scope="module")
def seen(model: Model) -> Observations:
    """Return what its tables hold."""
    tables = TableFiles(*(DATA / model.id / f"{each}.csv.gz" for each in ("users", "events")))
    described = read_description(DATA / model.id / "model.toml")
    return observe(open_tables(*tables), BuildOptions(**tables._asdict(), description=described))


@QUIET
def test_a_shipped_model_holds_its_tables(model: Model, seen: Observations) -> None:
    """All questions and people; only titles and the like come from elsewhere."""
    assert [query.text for query in model.queries] == [query.text for query in seen.queries]
    assert np.array_equal(model.population.codes, seen.population.codes)
    assert (len(model.queries), model.population.rows) == (25, PEOPLE[model.id])
    if seen.population.weights is not None:
        assert np.array_equal(seen.population.weights, model.population.weights)  # type: ignore[arg-type]
    for number, query in enumerate(seen.queries):
        rows = model.rows(number)
        assert model.queries[number].intents == query.intents
        for name in ("user", "intent", "person", "request"):
            assert np.array_equal(getattr(rows, name), getattr(query.rows, name))
    assert model.attributes == seen.attributes


def test_the_models_know_the_same_facts_by_the_same_concepts() -> None:
    """What they share, value by value, and nothing else; `region` is of the world and of the US."""
    atus, so2017 = (read(shipped_model(name)).attributes for name in ("atus", "so2017"))
    theirs = {each.concept: each for each in so2017}
    shared = {}
    for each in atus:
        if each.concept in theirs:
            other = theirs[each.concept]
            both = {*each.value_concepts} & {*other.value_concepts} - {None, "unspecified"}
            shared[each.name, other.name] = both
    assert shared == {
        ("sex", "gender"): {"female", "male"},
        ("education", "education"): {
            *("high_school", "some_college", "bachelor", "master", "professional", "doctoral")
        },
        ("race", "race"): {"white", "black"},
        ("student", "student"): {"no"},
    }


def test_a_model_of_everyday_life_counts_people() -> None:
    """As many as the survey's weights stand for; the sensitive facts have a price."""
    model = read(shipped_model("atus"))
    assert model.people == pytest.approx(241e6, rel=0.01)
    assert model.stands_for == "people of the US aged 15 and up"
    priced = {each.name for each in model.attributes if each.sensitivity}
    assert priced == {"race", "hispanic", "citizen", "born_in_us", "income"}
    assert {each.name: each.refines for each in model.attributes}["state"] == "region"
    assert not {"weight", "year"} & {each.name for each in model.attributes}


def test_the_model_of_the_survey_keeps_its_promises() -> None:
    """The bars of issue 2, as the model itself states them."""
    model = read(shipped_model("so2017"))
    heldout = [query.heldout_bits for query in model.queries]
    predicted = [query.predicted_bits for query in model.queries]
    assert None not in heldout
    mean = np.mean(np.array(heldout, dtype=float))
    assert mean >= 0.125
    assert np.mean(np.array(predicted, dtype=float)) == pytest.approx(mean, rel=0.05)
    assert model.validation["heldout_bits"] == pytest.approx(mean)


def test_the_licence_goes_with_the_data() -> None:
    """ODbL: attribution and share-alike beside both; CC0: the source all the same."""
    for notice in (DATA / "so2017" / "SOURCE.md", shipped_model().parent / "NOTICE.md"):
        text = notice.read_text()
        for words in ("Open Database License 1.0", "Stack Overflow", "share any"):
            assert words in " ".join(text.replace("**", "").split())
    for notice in (DATA / "atus" / "SOURCE.md", shipped_model().parent / "NOTICE.md"):
        for words in ("CC0 1.0", "American Time Use Survey 2003-2016", "Name the source"):
            assert words in " ".join(notice.read_text().replace("**", "").split())

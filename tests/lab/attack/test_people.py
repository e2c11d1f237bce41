"""A sample says how it was drawn, a prediction is set beside the truth, and a bar can be missed."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.build.options import BuildOptions, Description
from agent.errors import UsageError
from agent.lab import StudyOptions
from agent.lab.attack.heldout import Person
from agent.lab.attack.people import (
    Disclosed,
    Draw,
    Predictions,
    SampleStudy,
    WholeTable,
    compared,
    criteria_of,
    disclosures,
    drawn,
    holdings,
    model_of_sample,
    page,
    study,
    world_of,
)
from agent.lab.attack.simulation import Trace
from agent.model.model import Model
from agent.tradeoff import Population
from tests.build.worlds import QUIET
from tests.lab.attack.made import TOWN, write_town

pytestmark = QUIET
SHARES = st.floats(0.01, 0.9)
DRAWS = st.sampled_from(("uniformly", "by weight"))


def quiet(_what: str, _share: float) -> None:
    """Tell nobody."""


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> WholeTable:
    """Return the people of a small town."""
    users, events = write_town(tmp_path_factory.mktemp("town"))
    return world_of(
        BuildOptions(users=users, events=events, description=Description(weights="weight"))
    )


@given(SHARES, DRAWS, st.integers(20, 200), st.integers(0, 99))
def test_a_sample_has_its_size_and_says_how_likely_each_was(
    share: float, draw: Draw, people: int, seed: int
) -> None:
    """Nobody twice; a weight is 1 / the chance, so it is at least 1; uniformly all weigh alike."""
    weights = np.random.default_rng(seed).uniform(1, 50, people)
    population = Population(np.zeros((people, 1), np.uint8), weights)
    rows, stands_for = drawn(population, share, draw, seed)
    assert abs(len(rows) - share * people) < 1 + 1e-6
    assert (np.diff(rows) > 0).all()
    assert (stands_for >= 1).all()
    if draw == "uniformly":
        assert np.allclose(stands_for, 1 / share)
    else:
        sure = stands_for == 1
        assert np.allclose(np.ptp((stands_for * weights[rows])[~sure]) if (~sure).any() else 0, 0)


def test_by_weight_everybody_is_as_often_drawn_as_their_weight_says() -> None:
    """Weights of a sample stand for all people, on average over samples."""
    weights = np.array([1.0, 2.0, 4.0, 8.0, 5.0])
    population = Population(np.zeros((5, 1), np.uint8), weights)
    often = np.zeros(5)
    for seed in range(4000):
        rows, _ = drawn(population, 0.4, "by weight", seed)
        often[rows] += 1 / 4000
    assert np.allclose(often, 2 * weights / 20, atol=0.03)


def test_a_model_of_everybody_predicts_what_is_so(town: WholeTable) -> None:
    """Whatever was held before; as it is counted by hand."""
    model = _model(town, 1.0)
    before = ((1, 1),)
    found = Counter({Disclosed(before, 0b111): 2, Disclosed((), 0b11): 1})
    result = compared(found, model, town.population, k=20)
    assert np.allclose(result.predicted, result.realised)
    assert result.times.tolist() == [2, 1]
    codes = town.population.codes
    alike = codes[codes[:, 1] == 1][:, :3]
    sizes = np.unique(alike, axis=0, return_counts=True)[1]
    by_hand = (len(sizes), sizes[sizes < 20].sum(), (sizes**2).sum())
    assert np.allclose(result.realised[0], np.array(by_hand) / len(alike))


def test_a_sample_predicts_about_what_is_so(town: WholeTable) -> None:
    """Rows are not people: a fifth of them predicts the risk of all within a third."""
    model = _model(town, 0.2)
    assert model.people == pytest.approx(TOWN)
    found = compared(Counter({Disclosed((), 0b11): 1}), model, town.population, k=20)
    assert 0.7 < found.ratio[0] < 1.35


def test_disclosures_are_what_was_new_and_holdings_forget_what_was_before() -> None:
    """Each with the values held before it; what adds nothing is none."""
    person = Person(0, (2, 1), ())
    trace = Trace((1, 1, 3), (1, 1, 3), np.zeros(3))
    found = disclosures([person], [trace])
    assert found == {Disclosed((), 1): 1, Disclosed(((0, person.codes[0]),), 3): 1}
    assert holdings(found) == {Disclosed((), 1): 1, Disclosed((), 3): 1}


def _model(town: WholeTable, share: float) -> Model:
    sample = drawn(town.seen.population, share, "uniformly", 1)
    return model_of_sample(town, sample, "sample", quiet)


@given(st.lists(st.floats(0.2, 3.0), min_size=1, max_size=40), st.floats(1e-4, 0.01))
@settings(max_examples=50)
def test_criteria_are_plain_arithmetic(ratios: list[float], risk: float) -> None:
    """The share of sets within 1.35 times, the ratio of means, points of the share below k."""
    size = len(ratios)
    predicted = np.column_stack([np.full(size, risk), np.full(size, 0.1), np.full(size, 50.0)])
    realised = predicted * np.column_stack([ratios, np.linspace(0.5, 2, size), np.ones(size)])
    result = criteria_of("x", Predictions(predicted, realised, np.ones(size, np.intp)), 50)
    low = realised[:, 1] - predicted[:, 1]
    assert [each.met for each in result] == [
        np.mean(np.array(ratios) <= 1.35) >= 0.95,
        realised[:, 0].mean() / predicted[:, 0].mean() >= 0.5,
        np.mean(low <= 0.05) >= 0.95,
    ]


def test_no_criterion_speaks_of_what_is_far_beyond_the_limits() -> None:
    """Where the predicted risk is above a percent, it cannot be said."""
    one = np.array([[0.02, 0.0, 50.0]])
    found = Predictions(one, 100 * one, np.ones(1, np.intp))
    assert [each.met for each in criteria_of("x", found, 50)] == [None]
    assert found.beyond.ratio.tolist() == [100.0]


def test_a_study_of_a_small_town(town: WholeTable) -> None:
    """The samples that are large enough, each beside the truth; on the page every criterion."""
    found = study(town, StudyOptions(people=4, requests=4, k=5, processes=1), quiet)
    assert isinstance(found, SampleStudy)
    assert [each.share for each in found.samples] == [0.2, 0.2]
    (intro,), charts = page(found, "a town")
    assert all(each.what in intro for each in found.criteria)
    assert [len(each.chart.panels) for each in charts] == [2, 2, 2]


def test_too_few_people_are_refused(tmp_path: Path) -> None:
    """A sample of them says nothing."""
    users, events = write_town(tmp_path, 80)
    few = world_of(
        BuildOptions(users=users, events=events, description=Description(weights="weight"))
    )
    with pytest.raises(UsageError, match="80 people are too few"):
        study(few, StudyOptions(), quiet)

"""A sample stands for everybody, a prediction is set beside the truth, and a bar can be missed."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.build.observe import HALF_KEY, in_half_a
from agent.build.options import BuildOptions, Description
from agent.errors import UsageError
from agent.lab import StudyOptions
from agent.lab.attack.criteria import grid, limits_of
from agent.lab.attack.material import (
    WholeTable,
    compared,
    criteria_of,
    disclosures,
    holdings,
    model_of_sample,
    samples_of,
    whole,
    world_of,
)
from agent.lab.attack.simulation import Person, Trace
from agent.lab.attack.strategies import ANSWERED, PAPERS
from agent.tradeoff import Population
from tests.build.worlds import QUIET
from tests.lab.worlds import TOWN, quiet, write_town

pytestmark = QUIET


def world(folder: Path, people: int = TOWN) -> WholeTable:
    """The people of a small town."""
    users, events = write_town(folder, people)
    described = Description(weights="weight")
    return world_of(BuildOptions(users=users, events=events, description=described))


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> WholeTable:
    """The same town for all."""
    return world(tmp_path_factory.mktemp("town"))


def test_a_model_of_everybody_predicts_what_is_so(town: WholeTable) -> None:
    """Whatever was held before; as it is counted by hand."""
    model = model_of_sample(town, 1.0, 1, quiet)
    codes = town.observations.population.codes
    disclosed = Counter({(((1, 1),), 0b111): 2, ((), 0b11): 1})
    predicted, realised = compared(disclosed, model, Population(codes))
    assert np.allclose(predicted, realised)
    alike = codes[codes[:, 1] == 1][:, :3]
    assert realised[0] == pytest.approx(len(np.unique(alike, axis=0)) / len(alike))


def test_a_sample_predicts_about_what_is_so(town: WholeTable) -> None:
    """Rows are not people: a fifth of them predicts the risk of all within a third."""
    model = model_of_sample(town, 0.2, 1, quiet)
    assert model.population.rows == TOWN / 5
    assert model.people == pytest.approx(TOWN)
    everybody = Population(town.observations.population.codes)
    predicted, realised = compared(Counter({((), 0b11): 1}), model, everybody)
    assert 0.7 < realised[0] / predicted[0] < 1.35


def test_disclosures_are_what_was_new_and_holdings_forget_what_was_before() -> None:
    """Each with the values held before it; what adds nothing is none."""
    person, trace = Person(0, (2, 1)), Trace((1, 1, 3), (1, 1, 3))
    found = disclosures([person], [trace])
    assert found == {((), 1): 1, (((0, 2),), 3): 1}
    assert holdings(found) == {((), 1): 1, ((), 3): 1}


@given(st.lists(st.floats(0.2, 3.0), min_size=1, max_size=40), st.floats(1e-4, 0.01))
@settings(max_examples=30)
def test_criteria_are_plain_arithmetic(ratios: list[float], risk: float) -> None:
    """The share of sets within 1.35 times, and the ratio of means; beyond a percent none speaks."""
    predicted, times = np.full(len(ratios), risk), np.ones(len(ratios), np.intp)
    realised = predicted * ratios
    found = criteria_of("x", np.array([predicted, realised]), times.tolist())
    assert [each.met for each in found] == [
        np.mean(realised / predicted <= 1.35) >= 0.95,
        realised.mean() / predicted.mean() >= 0.5,
    ]
    far = np.array([predicted + 0.02, realised])
    assert [each.met for each in criteria_of("x", far, times.tolist())] == [None]


def test_a_study_of_a_small_town(town: WholeTable) -> None:
    """The samples that are large enough, each beside the truth; on the page every criterion."""
    options = StudyOptions(people=4, requests=4, processes=1)
    finding, judged = samples_of(town, options, quiet)
    assert [each.title for each in finding.chart.panels] == ["a sample of 20 %"]
    assert all(each.what in finding.text[0] for each in judged)


def test_too_few_people_are_refused(tmp_path: Path) -> None:
    """A sample of them says nothing."""
    with pytest.raises(UsageError, match="80 people are too few"):
        samples_of(world(tmp_path, 80), StudyOptions(), quiet)


def test_everybody_is_on_the_list_and_every_limit_on_the_page(tmp_path: Path) -> None:
    """The rows of one half stand for everybody; only those ask whom the model has not seen."""
    users, events = write_town(tmp_path)
    described = Description(weights="weight")
    material = whole(BuildOptions(users=users, events=events, description=described), quiet)
    model, others = material.model, material.others
    known = int(in_half_a([f"u{each}" for each in range(TOWN)], HALF_KEY).sum())
    assert model.population.rows == known
    assert model.people == pytest.approx(TOWN)
    assert len(others.codes) == TOWN
    assert len(others.askers) == TOWN - known
    assert len(others.query) == others.starts[-1] == 2 * (TOWN - known)
    assert others.unranked == 0
    options = StudyOptions(people=10, requests=2, processes=1)
    finding, best = limits_of(material, options, quiet)
    first, others_ = finding.chart.panels[0].series
    assert first.names == tuple(each.name for each in (PAPERS, *ANSWERED))
    # Where k is more than there are people, nobody is told from the others.
    crowded = [y for y, each in zip(others_.y, grid(), strict=True) if (each.k or 0) > TOWN]
    assert crowded == pytest.approx([100 / TOWN] * len(crowded))
    _, met, table = finding.text
    assert all(each.name in table for each in (PAPERS, *ANSWERED, *grid()))
    assert all(each.what in met for each in best)
    # The best meet most criteria, and of those keep the most utility.
    rows = [line.strip("| ").split(" | ") for line in table.splitlines()[6:]]
    ranked = max(rows, key=lambda row: (row[-1], float(row[4].split()[0])))
    assert best[0].what.startswith(ranked[0])

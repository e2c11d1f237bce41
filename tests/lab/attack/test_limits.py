"""Everybody is on the list, the model's rows stand for them, and limits are a strategy's."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from agent.build.observe import HALF_KEY, in_half_a
from agent.build.options import BuildOptions, Description
from agent.decision.terms import Limits, Terms
from agent.lab import StudyOptions
from agent.lab.attack.criteria import WANTED, promises
from agent.lab.attack.halves import whole
from agent.lab.attack.heldout import Material
from agent.lab.attack.limits import KS, Frontier, Limited, frontier, grid, page
from agent.lab.attack.outcome import Resamples, StrategyOutcome, figures
from agent.lab.attack.strategies import ANSWERED, PAPERS
from agent.lab.charts import Criterion
from tests.build.worlds import QUIET
from tests.lab.attack.made import TOWN, write_town
from tests.lab.attack.test_people import quiet

pytestmark = QUIET


@pytest.fixture(scope="module")
def material(tmp_path_factory: pytest.TempPathFactory) -> Material:
    """Return a town of which the model knows one half."""
    users, events = write_town(tmp_path_factory.mktemp("town"))
    return whole(_options(users, events), quiet)


def _options(users: Path, events: Path) -> BuildOptions:
    return BuildOptions(users=users, events=events, description=Description(weights="weight"))


def test_the_rows_of_one_half_stand_for_everybody(material: Material) -> None:
    """And everybody is on the list, though only those ask whom the model has not seen."""
    model, others = material.model, material.others
    known = int(in_half_a([f"u{each}" for each in range(TOWN)], HALF_KEY).sum())
    assert model.population.rows == known
    assert model.people == pytest.approx(TOWN)
    assert len(others.codes) == TOWN
    assert len(others.askers) == TOWN - known
    assert len(others.query) == others.starts[-1] == 2 * (TOWN - known)


def test_limits_are_those_of_a_way() -> None:
    """In place of the preset's; a strategy that has none keeps the preset's."""
    terms = Terms(limits=Limits(k=50, max_violations=0.02, max_risk=0.01, per_request=12))
    for strategy in grid():
        limits = strategy.changed(terms).limits
        assert (limits.k, limits.max_violations, limits.max_risk) == (
            strategy.k,
            strategy.violations,
            strategy.risk,
        )
        assert limits.per_request == 12
    assert ANSWERED[1].changed(terms).limits == terms.limits


def test_a_strict_limit_leaves_everybody_alike(material: Material) -> None:
    """No strategy leaves fewer people than its k, or finds somebody more often than its risk."""
    options = StudyOptions(people=20, requests=4, processes=1)
    found = frontier(material, options, quiet)
    assert [each.strategy for each in found.found[:4]] == [PAPERS, *ANSWERED]
    assert {each.strategy.k for each in found.found[4:]} == {*KS}
    for each in found.found[4:]:
        if each.strategy.k is not None and each.strategy.k > TOWN:
            assert {*each.figures.left} == {TOWN}
            assert each.figures.success.mean == pytest.approx(1 / TOWN)
    intro, (finding,) = page(found)
    assert found.best.strategy.name in intro[0]
    assert all(each.strategy.name in finding.text[0] for each in found.found)


def ended(utility: float, *left: int) -> StrategyOutcome:
    """Return an outcome of people after one request; ``left``: as many as agree with each."""
    one = np.ones((len(left), 1))
    return StrategyOutcome(np.array(left)[:, None], utility * one, one, one, one, one, 0.0)


@pytest.mark.parametrize(
    ("ours", "met"),
    [
        (ended(0.91, 1000, 1000), [True, True, True]),
        (ended(0.89, 1000, 1000), [True, True, False]),
        (ended(0.91, 999, 999), [False, False, True]),
        (ended(0.91, 999, 9000), [False, False, True]),  # the worse end of each interval counts
    ],
)
def test_a_bar_is_met_at_its_end(ours: StrategyOutcome, met: list[bool]) -> None:
    """One guess in a thousand, a thousand people left, nine tenths of the utility."""
    found = promises("x", WANTED, ours, ended(1.0, 1, 1), 0, Resamples(2, 0))
    assert [bar.met for bar in found] == met


def test_the_best_limits_meet_most_bars_and_then_keep_most() -> None:
    """Of the grid; what comes before it is shown beside it."""

    def limited(met: Sequence[bool], bits: float) -> Limited:
        found = figures(ended(bits, 1, 1), 0, Resamples(2, 0))
        return Limited(PAPERS, found, [Criterion("", "", "", each, "") for each in met])

    worse = [limited((False, True, True), 9.0)] * len(grid())
    best, other = limited((True, True, True), 0.6), limited((True, True, True), 0.5)
    assert Frontier((best, *worse[2:], other, best), "").best is best
    assert Frontier((best, *worse[1:], other), "").best is other

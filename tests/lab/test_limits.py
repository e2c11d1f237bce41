"""Everybody is on the list, the model's rows stand for them, and limits are a strategy's."""

from pathlib import Path

import numpy as np
import pytest

from agent.build.observe import HALF_KEY, in_half_a
from agent.build.options import BuildOptions, Description
from agent.decision.terms import Limits, Terms
from agent.lab import StudyOptions
from agent.lab.attack.criteria import KS, WANTED, grid, limits_of, promises
from agent.lab.attack.halves import whole
from agent.lab.attack.outcome import Resamples, StrategyOutcome
from agent.lab.attack.strategies import ANSWERED, PAPERS
from tests.build.worlds import QUIET
from tests.lab.worlds import TOWN, quiet, write_town

pytestmark = QUIET


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
    first, *risks = finding.chart.panels[0].series
    assert first.names == tuple(each.name for each in (PAPERS, *ANSWERED))
    assert [len(each.x) for each in risks] == [len(KS)] * 3
    for each in risks:  # where k is more than there are people, nobody is told from the others
        assert each.y[-2:] == pytest.approx([100 / TOWN] * 2)
    intro, table = finding.text
    assert all(each.name in table for each in (PAPERS, *ANSWERED, *grid()))
    assert all(each.what in intro for each in best)
    # The best meet most criteria, and of those keep the most utility.
    rows = [line.strip("| ").split(" | ") for line in table.splitlines()[6:]]
    ranked = max(rows, key=lambda row: (row[-1], float(row[4].split()[0])))
    assert best[0].what.startswith(ranked[0])


def test_limits_are_those_of_a_strategy() -> None:
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


def ended(utility: float, *left: int) -> StrategyOutcome:
    """Return an outcome of people after one request; ``left``: as many as agree with each."""
    one = np.ones((len(left), 1))
    return StrategyOutcome(np.array(left)[:, None], utility * one, one, one, one, 0.0)


@pytest.mark.parametrize(
    ("ours", "met"),
    [
        (ended(0.91, 1000, 1000), [True, True, True]),
        (ended(0.89, 1000, 1000), [True, True, False]),
        (ended(0.91, 999, 999), [False, False, True]),
        (ended(0.91, 999, 9000), [False, False, True]),  # the worse end of each interval counts
    ],
)
def test_a_criterion_is_met_at_its_end(ours: StrategyOutcome, met: list[bool]) -> None:
    """One guess in a thousand, a thousand people left, nine tenths of the utility."""
    found = promises("x", WANTED, (ours, ended(1.0, 1, 1)), 0, Resamples(2, 0))
    assert [each.met for each in found] == met

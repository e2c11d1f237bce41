"""Everybody is on the list, the model's rows stand for them, and the limits are those of a way."""

from pathlib import Path

import numpy as np
import pytest

from agent import Limits, Terms
from agent.build.observe import HALF_KEY, in_half_a
from agent.build.options import BuildOptions
from agent.lab.attack.halves import whole
from agent.lab.attack.heldout import Material
from agent.lab.attack.limits import KS, WANTED, Frontier, Limited, frontier, grid, page
from agent.lab.attack.outcome import Interval
from agent.lab.attack.ways import ANSWERED, PAPERS, Options
from tests.build.worlds import QUIET
from tests.lab.people.made import TOWN, write_town
from tests.lab.people.test_people import quiet

pytestmark = QUIET


@pytest.fixture(scope="module")
def material(tmp_path_factory: pytest.TempPathFactory) -> Material:
    """Return a town of which the model knows one half."""
    users, events = write_town(tmp_path_factory.mktemp("town"))
    return whole(_options(users, events), quiet)


def _options(users: Path, events: Path) -> BuildOptions:
    return BuildOptions(users=users, events=events, weights="weight")


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
    """In place of the preset's; a way that has none keeps the preset's."""
    terms = Terms(limits=Limits(k=50, max_violations=0.02, max_risk=0.01, per_request=12))
    for way in grid():
        limits = way.changed(terms).limits
        assert (limits.k, limits.max_violations, limits.max_risk) == (
            way.k,
            way.violations,
            way.risk,
        )
        assert limits.per_request == 12
    assert ANSWERED[1].changed(terms).limits == terms.limits


def test_a_strict_limit_leaves_everybody_alike(material: Material) -> None:
    """No way leaves fewer people than its k, or finds somebody more often than its risk allows."""
    options = Options(people=20, requests=4, processes=1)
    found = frontier(material, options, quiet)
    assert [each.way for each in found.found[:4]] == [PAPERS, *ANSWERED]
    assert {each.way.k for each in found.found[4:]} == {*KS}
    for each in found.found[4:]:
        if each.way.k is not None and each.way.k > TOWN:
            assert {*each.left} == {TOWN}
            assert each.success.mean == pytest.approx(1 / TOWN)
    intro, (finding,) = page(found)
    assert found.best.way.name in intro[0]
    assert all(each.way.name in finding.text[0] for each in found.found)


def test_the_best_limits_meet_most_bars_and_then_keep_most() -> None:
    """A bar is met by the worse end of its interval."""

    def limited(place: int, high: float, low: float, bits: float) -> Limited:
        success, kept = Interval(high, high, high), Interval(low, low, low)
        brought = Interval(bits, bits, bits)
        return Limited(grid()[place], success, (0.0,) * 3, Interval(1, 1, 1), brought, kept)

    ends = [(0.002, 1.0, 9.0), (0.001, 0.9, 0.5), (0.001, 0.9, 0.6), (0.001, 0.89, 0.7)]
    found = [limited(place, *each) for place, each in enumerate(ends)]
    assert [[bar.met for bar in each.bars] for each in found] == [
        [False, True, True],
        [True, True, True],
        [True, True, True],
        [True, True, False],
    ]
    before = (found[0],) * 4
    assert Frontier((*before, *found), "").best is found[2]
    assert np.isclose(WANTED.kept, 0.9)

"""The studies as a whole, on small tables: what holds whatever the numbers are."""

import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from agent.build.observe import HALF_KEY, in_half_a
from agent.lab import StudyOptions
from agent.lab.attack import material as tables
from agent.lab.attack.criteria import criteria
from agent.lab.attack.outcome import Crowd, Remaining, StrategyOutcome
from agent.lab.attack.report import frontier, page_about
from agent.lab.attack.simulation import Material, people_of
from agent.lab.attack.strategies import (
    ANSWERED,
    EVERYTHING,
    FAMILIES,
    NOTHING,
    OWN,
    PAPERS,
    SHIPPED,
    UNSET,
    Strategy,
)
from agent.lab.attack.study import FEW, LISTED, SHORT, AttackStudy, Run, reasoned, study
from agent.lab.charts import Criterion
from tests.build.worlds import QUIET
from tests.lab.worlds import PEOPLE, TOWN, model, others, quiet, write_town

pytestmark = QUIET

OPTIONS = StudyOptions(people=8, requests=7, seed=1, processes=1)
SOURCE = "Synthetic: made for a test"
SAID = (Remaining(np.array([3, 2]), np.array([3, 1]), np.array([True, False])),) * 2
RUN = Run(1, quiet)


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of people who are all alike, or of whom nothing is compared within a hair's breadth."""
    monkeypatch.setattr("agent.lab.attack.outcome.DRAWS", 200)


@cache
def made(options: StudyOptions = OPTIONS) -> AttackStudy:
    """What comes of eight people and seven requests, or as many as are said."""
    return study(Material(model(), others(), SOURCE), options, quiet)


def fixed(utility: float, success: float, long: int = 200) -> StrategyOutcome:
    """An outcome of eight people who are all alike, as after 100 requests too."""
    steps = len(StudyOptions(requests=long).steps)
    one = np.ones((8, steps))
    return StrategyOutcome(np.full((8, steps), round(1 / success)), utility * one, one)


def judged(changed: dict[str, tuple[float, float]]) -> dict[str, Criterion]:
    """The bars where lines go from 1 to 2 bits, with such success at their ends."""
    usual = dict.fromkeys(FAMILIES, (0.5, 0.5)) | changed
    outcomes = {}
    for name, strategies in FAMILIES.items():
        low, high = usual[name]
        levels = np.linspace(1, 0, len(strategies)).tolist()
        for strategy, at in zip(strategies, levels, strict=True):
            outcomes[strategy] = fixed(1 + at, low * (high / low) ** at)
    outcomes |= {strategy: fixed(1.5, 0.001) for strategy in (*ANSWERED, *SHIPPED)}
    outcomes = {**made().outcomes, **outcomes}
    crowd = replace(made().crowd, steps=StudyOptions(requests=200).steps)
    return {each.what: each for each in criteria(replace(made(), outcomes=outcomes, crowd=crowd))}


def test_strategies_lie_between_nothing_and_everything() -> None:
    """Nothing told is nothing learned; each leaves those whom everything leaves, and never more."""
    study, whole, found = made(), made().outcomes[EVERYTHING], made().outcomes[NOTHING]
    assert (found.remaining == len(others().codes)).all()
    assert not found.bits.any()
    assert not found.carried.any()
    for found in study.outcomes.values():
        assert (np.diff(found.remaining, axis=1) <= 0).all()
        assert (found.remaining >= whole.remaining).all()
        assert (found.remaining >= 1).all()


def test_absence_tells_nothing() -> None:
    """Compared for each person, request and preset; seven requests say nothing else of fifty."""
    found = made().reasoned
    assert found.equal == found.compared == 6 * 8 * 7
    first, *others = criteria(made())
    assert first.met is True
    assert {each.met for each in others} == {None}


LEDGER, PLAN, FORGETS, STANDS = ("with the ledger", "planned", "without memory", "standing set")
FORTIETH, TWENTIETH, HALVED = (0.5 / 40, 0.5 / 20, (0.0025, 0.005))
LINES: tuple[tuple[dict[str, tuple[float, float]], str, str, bool], ...] = (
    ({PLAN: (FORTIETH, FORTIETH)}, PLAN, FORGETS, True),
    ({LEDGER: (FORTIETH, FORTIETH)}, LEDGER, FORGETS, True),
    ({PLAN: (TWENTIETH, TWENTIETH)}, PLAN, FORGETS, False),
    ({PLAN: (FORTIETH, TWENTIETH)}, PLAN, FORGETS, False),  # at the worst utility alone
    ({PLAN: (0.5, 0.5)}, PLAN, STANDS, True),
    ({PLAN: (1.0, 1.0)}, PLAN, STANDS, False),
    # as good at one end, half as much at the other
    ({LEDGER: HALVED, PLAN: (0.0025, 0.0025)}, PLAN, LEDGER, True),
    ({LEDGER: HALVED, PLAN: (0.5, 0.5)}, PLAN, LEDGER, False),
)


def test_a_criterion_between_two_lines() -> None:
    """Below a thirtieth of forgetting, not above the standing set, and the plan not the ledger."""
    for changed, of, against, met in LINES:
        found = judged(changed)[f"{of} against {against}, at equal utility, after 50 requests"]
        assert (found.met, changed) == (met, changed)
        assert found.result.endswith("from 1.000 to 2.000 bits")


def test_the_bars_of_balanced() -> None:
    """One in a thousand, a thousand left, three quarters of what forgetting brings."""
    found = judged({})
    name = f"{ANSWERED[1].name}, after 100 requests: "
    assert found[f"{name}a single guess succeeds"].met is True
    assert found[f"{name}people with at least 50 left"].met is True
    assert found[f"{name}utility kept of what {PAPERS.name} has"].met is False


def test_bars_are_higher_where_everybody_is_listed() -> None:
    """The weights of a model say that its rows stand for all people of the tables."""
    half = made().material
    population = replace(half.model.population, weights=np.full(PEOPLE, 2.0))
    tables = replace(half.model.tables, population=population)
    whole = replace(half, model=replace(half.model, tables=tables))
    assert (half.listed, whole.listed) == ("that half, 80 people", "all 80 people")
    wanted = [each.wanted for each in criteria(replace(made(), material=whole))[-3:]]
    assert wanted == ["at most 0.1 %", "at least 95 %", "at least 90 %"]


def test_the_page_has_every_strategy_and_no_gap() -> None:
    """What was found, in words first; and each part says that the data is synthetic."""
    study = made()
    text = page_about(study, frontier(study), criteria(study))
    assert text.index("What this means") < text.index("attack-frontier.png")
    assert re.search(r"[{}]|\bnan\b|\binf\b", text) is None
    for strategy in study.outcomes:
        assert f"| {strategy.name} |" in text
    assert frontier(study).note.startswith("SYNTHETIC")
    assert all("SYNTHETIC" in part for part in text.split("\n## ")[2:])


def leaving(counts: list[int]) -> dict[Strategy, StrategyOutcome]:
    """Outcomes after which so many people are left."""
    left, one = np.array(counts)[:, None], np.ones((len(counts), 1))
    return dict.fromkeys(ANSWERED, StrategyOutcome(left, one, one))


def test_the_rarest_are_looked_for() -> None:
    """Those left with the fewest, in their first requests: as if nobody else had been there."""
    people, codes = people_of(others(), 6, SHORT + 2, 1), others().codes
    crowd = Crowd(people, codes, (SHORT + 2,))
    found = reasoned(model(), crowd, leaving([9, 2, 8, 1, 3, 9]), SAID, RUN)
    rarest = tuple(
        people[each]._replace(requests=people[each].requests[:SHORT]) for each in (3, 1, 4)
    )
    alone = reasoned(model(), replace(crowd, people=rarest), leaving([1, 2, 3]), SAID, RUN)
    assert (found.compared, found.equal) == (4, 2)
    assert {*found.withheld} == {*OWN, *UNSET}
    assert found.listed == len(codes) < LISTED
    for strategy, each in found.withheld.items():
        bits = [one.bits.tolist() for one in each]
        assert bits == [one.bits.tolist() for one in alone.withheld[strategy]]
        assert len(bits) == FEW
        assert min(map(min, bits)) >= 0


def test_what_reasoning_tells_is_on_the_page() -> None:
    """Ten times fewer is something; as many is nothing, and said too."""
    for left, words in ((4, "40 people agreed"), (40, "nothing away here")):
        remaining = Remaining(np.array([40]), np.array([left]), np.array([left == 40]))
        withheld = dict(made().reasoned.withheld) | {own: [remaining] for own in OWN}
        study = replace(made(), reasoned=replace(made().reasoned, withheld=withheld))
        assert words in page_about(study, frontier(study), criteria(study))


def test_everybody_is_on_the_list_where_rows_have_weights(tmp_path: Path) -> None:
    """The rows of one half stand for everybody; only those ask whom the model has not seen."""
    write_town(tmp_path, TOWN)
    (tmp_path / tables.DESCRIPTION).write_text('weights = "weight"')
    material = tables.material_of(tmp_path, quiet)
    model, others = material.model, material.others
    known = int(in_half_a([f"u{each}" for each in range(TOWN)], HALF_KEY).sum())
    assert model.population.rows == known
    assert model.people == pytest.approx(TOWN)
    assert len(others.codes) == TOWN
    assert len(others.askers) == TOWN - known
    assert len(others.query) == others.starts[-1] == 2 * (TOWN - known)
    assert others.unranked == 0


def test_the_source_is_the_first_heading_beside_the_tables(tmp_path: Path) -> None:
    """With the name of their folder, which is all there is where nothing is stated."""
    (folder := tmp_path / "town").mkdir()
    write_town(folder, 1)
    options = tables.tables(folder)
    for text, source in (("no heading", "town"), ("# Invented\n", "Invented: town")):
        assert tables.stated(options) == "town"
        (folder / tables.SOURCE).write_text(text)
        assert tables.stated(options) == source
        (folder / tables.SOURCE).unlink()

"""Which limits suit a model whose rows stand for many people: k and risk, against utility."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from agent.lab import Progress, StudyOptions
from agent.lab.attack.criteria import WANTED, number, promises
from agent.lab.attack.heldout import Material, drawn
from agent.lab.attack.outcome import Crowd, Resamples, StrategyFigures, figures, outcome
from agent.lab.attack.report import SUCCESS, UTILITY
from agent.lab.attack.services import Service
from agent.lab.attack.simulation import Scene
from agent.lab.attack.strategies import ANSWERED, PAPERS, Strategy
from agent.lab.attack.study import Run, traces
from agent.lab.charts import Chart, Criterion, Panel, Series, StudyFinding, criteria_table, table

TITLE = "Limits for models whose rows stand for many people"
KS, RISKS = (300, 500, 700, 1000, 2000), (0.0005, 0.001, 0.002)
VIOLATIONS = (0.0, 0.02, 0.05)  # shares of the people for whom k may fail
HEAD = (
    *("limits", "a guess succeeds", "people left: 1, 5, 50 % have fewer"),
    *(f"have {WANTED.left:,} or more", "bits a request", "utility kept", "criteria"),
)


def grid() -> tuple[Strategy, ...]:
    """Return the preset balanced, every question answered yes, under each pair of limits."""
    cases = [(k, risk, 0.0) for k in KS for risk in RISKS]
    cases += [(k, WANTED.success, share) for share in VIOLATIONS[1:] for k in KS]
    return tuple(
        replace(
            ANSWERED[1],
            name=f"k = {k:,}, risk = {risk:g}, violations = {share:g}",
            k=k,
            risk=risk,
            violations=share,
        )
        for k, risk, share in cases
    )


class Limited(NamedTuple):
    """What came of one strategy in the end."""

    strategy: Strategy
    figures: StrategyFigures
    criteria: Sequence[Criterion]


@dataclass(frozen=True, slots=True, eq=False)
class Frontier:
    """What limits do: deciding without memory and the presets first, then the grid."""

    found: tuple[Limited, ...]
    note: str

    @property
    def best(self) -> Limited:
        """The limits that meet most criteria; of these, those that keep most utility."""
        return max(
            self.found[-len(grid()) :],
            key=lambda each: (
                sum(one.met is True for one in each.criteria),
                each.figures.bits.mean,
            ),
        )


def frontier(material: Material, options: StudyOptions, progress: Progress) -> Frontier:
    """Return what each strategy leaves of people and brings, with everybody on the list."""
    model, others = material.model, material.others
    service = Service(model, options.seed)
    people = drawn(others, options.people, options.requests, options.seed)
    crowd = Crowd(people, others.codes, (), (options.requests,))
    resamples = Resamples(len(people), options.seed)
    strategies = (PAPERS, *ANSWERED, *grid())
    sent = traces(
        model, Scene(seed=options.seed), strategies, people, Run(options.processes, progress)
    )
    outcomes = {strategy: outcome(crowd, each, service) for strategy, each in sent.items()}
    note = (
        f"Data: {material.source}. The {len(others.codes):,} rows of the table are all the people "
        f"there are, and the adversary's list. The model has {model.population.rows:,} of them, "
        f"each of which stands for {model.people / model.population.rows:.2g}. Of the others "
        f"{len(people):,} send {options.requests:,} requests each. Seed {options.seed}. In "
        "brackets: 95 % of resamples of these."
    )
    found = [
        Limited(
            strategy,
            figures(each, -1, resamples),
            promises(strategy.name, WANTED, each, outcomes[PAPERS], -1, resamples),
        )
        for strategy, each in outcomes.items()
    ]
    return Frontier(tuple(found), note)


def page(found: Frontier) -> tuple[list[str], list[StudyFinding]]:
    """Return how the page begins, and the figure with a row for each strategy."""
    rows = [
        (
            each.strategy.name,
            each.criteria[0].found,
            " / ".join(f"{people:,}" for people in each.figures.left),
            each.criteria[1].found,
            number(each.figures.bits, 4),
            each.criteria[2].found,
            f"{sum(one.met is True for one in each.criteria)} of {len(each.criteria)}",
        )
        for each in found.found
    ]
    before = found.found[: -len(grid())]
    lines = [_series("without memory, and the presets as they are", before)]
    for risk in RISKS:
        mine = [
            each
            for each in found.found
            if each.strategy.risk == risk and not each.strategy.violations
        ]
        lines.append(_series(f"risk = {risk:g}, k from {KS[0]} to {KS[-1]:,}", mine))
    panel = Panel("", UTILITY, SUCCESS, tuple(lines), log_y=True, legend="below")
    chart = Chart(
        "attack-limits", "What limits give away, and what they bring", found.note, (panel,)
    )
    intro = "The limits that meet most criteria, and keep most utility:\n\n"
    intro += criteria_table(found.best.criteria)
    return [intro], [StudyFinding(chart, text=(table(HEAD, rows),))]


def _series(label: str, found: Sequence[Limited]) -> Series:
    return Series(
        label,
        tuple(each.figures.bits.mean for each in found),
        tuple(100 * each.figures.success.mean for each in found),
        "points",
        names=tuple(each.strategy.name for each in found),
    )

"""Which limits suit a model whose rows stand for many people: k and risk, against utility."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from agent.lab import Progress
from agent.lab.attack.bars import Bar, Wanted, number, percent, promises
from agent.lab.attack.charts import SUCCESS, UTILITY
from agent.lab.attack.heldout import Material, drawn
from agent.lab.attack.outcome import (
    QUANTILES,
    Crowd,
    Interval,
    Outcome,
    Resamples,
    outcome,
    quantile,
)
from agent.lab.attack.report import BARS, WORDS
from agent.lab.attack.services import chosen
from agent.lab.attack.simulation import Scene
from agent.lab.attack.ways import ANSWERED, PAPERS, Options, Way
from agent.lab.attack.workers import Run, traces
from agent.lab.charts import Chart, Finding, Panel, Series, table

TITLE = "Limits for models whose rows stand for many people"
WANTED = Wanted(success=0.001, left=1000, many=0.95, kept=0.9)
KS, RISKS = (300, 500, 1000, 2000), (0.0005, 0.001, 0.002)
VIOLATIONS = (0.0, 0.02)  # shares of the people for whom k may fail
HEAD = (
    *(
        "limits",
        "a guess succeeds",
        "people left: 1, 5, 50 % have fewer",
        f"have {WANTED.left:,} or more",
    ),
    *("bits a request", "utility kept", "bars"),
)


def grid() -> tuple[Way, ...]:
    """Return the preset balanced, every question answered yes, under each pair of limits."""
    cases = [(k, risk, 0.0) for k in KS for risk in RISKS]
    cases += [(k, WANTED.success, VIOLATIONS[1]) for k in KS]
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


@dataclass(frozen=True, slots=True, eq=False)
class Limited:
    """What came of one way in the end.

    ``kept``: utility, of what deciding without memory has; None where that is nothing.
    """

    way: Way
    success: Interval
    left: tuple[float, ...]
    enough: Interval
    bits: Interval
    kept: Interval | None

    @property
    def bars(self) -> list[Bar]:
        """The three bars."""
        return promises(self.way.name, WANTED, (self.success, self.enough), self.kept)


@dataclass(frozen=True, slots=True, eq=False)
class Frontier:
    """What limits do: deciding without memory and the presets first, then the grid."""

    found: tuple[Limited, ...]
    note: str

    @property
    def best(self) -> Limited:
        """The limits that meet most bars; of these, those that keep most utility."""
        return max(
            self.found[-len(grid()) :],
            key=lambda each: (sum(bar.met is True for bar in each.bars), each.bits.mean),
        )


def frontier(material: Material, options: Options, progress: Progress) -> Frontier:
    """Return what each way leaves of people and brings, with everybody on the list."""
    model, others = material.model, material.others
    service, _ = chosen(model, options.seed, progress)
    people = drawn(others, options.people, options.requests, options.seed)
    crowd = Crowd(people, others.codes, (), (options.requests,))
    resamples = Resamples(len(people), options.seed)
    ways = (PAPERS, *ANSWERED, *grid())
    sent = traces(model, Scene(seed=options.seed), ways, people, Run(options.processes, progress))
    outcomes = {way: outcome(crowd, each, service) for way, each in sent.items()}
    note = (
        f"Data: {material.source}. The {len(others.codes):,} rows of the table are all the people "
        f"there are, and the adversary's list. The model has {model.population.rows:,} of them, "
        f"each of which stands for {model.people / model.population.rows:.2g}. Of the others "
        f"{len(people):,} send {options.requests:,} requests each. Seed {options.seed}. In "
        "brackets: 95 % of resamples of these."
    )
    paper = outcomes[PAPERS]
    return Frontier(tuple(_limited(way, outcomes[way], paper, resamples) for way in ways), note)


def _limited(way: Way, found: Outcome, paper: Outcome, resamples: Resamples) -> Limited:
    left = found.left[:, -1]
    return Limited(
        way,
        resamples.mean(found.success[:, -1]),
        tuple(quantile(left, each) for each in QUANTILES),
        resamples.mean((left >= WANTED.left).astype(np.float64)),
        resamples.mean(found.bits[:, -1]),
        resamples.ratio(found.bits[:, -1], paper.bits[:, -1]),
    )


def page(found: Frontier) -> tuple[list[str], list[Finding]]:
    """Return how the page begins, and the figure with a row for each way."""
    bars = table(BARS, [(*each[:3], WORDS[each.met], each.by) for each in found.best.bars])
    rows = [
        (
            each.way.name,
            percent(each.success, 3),
            " / ".join(f"{people:,.0f}" for people in each.left),
            percent(each.enough),
            number(each.bits, 4),
            "cannot be said" if each.kept is None else percent(each.kept, 0),
            f"{sum(bar.met is True for bar in each.bars)} of {len(each.bars)}",
        )
        for each in found.found
    ]
    before = found.found[: -len(grid())]
    lines = [_series("without memory, and the presets as they are", before)]
    for risk in RISKS:
        mine = [each for each in found.found if each.way.risk == risk and not each.way.violations]
        lines.append(_series(f"risk = {risk:g}, k from {KS[0]} to {KS[-1]:,}", mine))
    panel = Panel("", UTILITY, SUCCESS, tuple(lines), log_y=True, legend="below")
    chart = Chart(
        "attack-limits", "What limits give away, and what they bring", found.note, (panel,)
    )
    intro = f"The limits that meet most bars, and keep most utility:\n\n{bars}"
    return [intro], [Finding(chart, text=(table(HEAD, rows),))]


def _series(label: str, found: Sequence[Limited]) -> Series:
    return Series(
        label,
        tuple(each.bits.mean for each in found),
        tuple(100 * each.success.mean for each in found),
        "points",
        names=tuple(each.way.name for each in found),
    )

"""A report of a replay for people: tables of at most 80 columns."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from agent.cli.printing import Column, paragraph, table
from examples.search_service.replay.figures import KEPT, PEOPLE, QUANTILES, SHARE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agent.lab.attack.outcome import Interval
    from examples.search_service.replay.figures import Figures, Line
    from examples.search_service.replay.report import Report

INTRODUCTION = (
    "Each of {people} people whom the model has not seen sends {requests} requests, five a "
    "day, to one recipient that remembers all it is told; seed {seed}. It "
    "asks for {asked} of the {attributes} attributes, and ranks by what a request carries. "
    "Whatever a preset would ask the user about counts as refused. Brackets hold the middle 95 % "
    "of resamples of the people, which are the same for every line."
)
LEFT = (
    "How many people match everything that was sent, after the last request: among the {model:,} "
    "that the model was built from, and among the {others:,} on an adversary's list, who include "
    "the person. At most 1 %, 5 % and 50 % of the people have fewer left."
)
ALONE = (
    "The preset balanced at other lambdas, with its limits on and off; left: the 5 % figures from "
    "above. The target is {kept:.0%} of the gain with {people} people left, in both halves, for "
    "{share:.0%} of the people: yes if the means reach it, sure if the lower ends of both "
    "intervals do. This judges each line on its own: among many, some look better by chance; "
    "replaying more people makes that rarer."
)


def text(report: Report) -> str:
    """Write a report as it is printed."""
    parts = (
        paragraph(INTRODUCTION.format_map(asdict(report.setting))),
        served_text(report.lines),
        paragraph(LEFT.format_map(asdict(report.setting))),
        left_text(report.lines),
        paragraph(ALONE.format(kept=KEPT, people=PEOPLE, share=SHARE)),
        frontier_text(report.frontier),
        paragraph(_verdict(report)),
    )
    return "\n\n".join(parts)


def served_text(found: Mapping[Line, Figures]) -> str:
    """Tabulate how well each way is served, a line each."""
    columns = (
        Column("told"),
        Column("reciprocal rank", right=True),
        Column("gain kept", right=True),
        Column("attributes", right=True),
    )
    rows = [
        [line.name, _ranged(each.rank), _kept(each.kept), f"{each.told:.2f}"]
        for line, each in found.items()
    ]
    return table(columns, rows)


def left_text(found: Mapping[Line, Figures]) -> str:
    """Tabulate how many people are left of the model's and of the other half's, a line each."""
    shares = [f"{each:.0%}" for each in QUANTILES]
    columns = (
        Column("people left"),
        *(
            Column(f"{whose} {each}" if place == 0 else each, right=True)
            for whose in ("model", "others")
            for place, each in enumerate(shares)
        ),
    )
    rows = [
        [line.name, *(f"{number:,}" for numbers in each.left for number in numbers)]
        for line, each in found.items()
    ]
    return table(columns, rows)


def frontier_text(found: Mapping[Line, Figures]) -> str:
    """Tabulate what each lambda brings and costs, a line each."""
    place = QUANTILES.index(round(1 - SHARE, 2))
    columns = (
        Column("lambda", right=True),
        Column("limits"),
        Column("gain kept", right=True),
        Column("told", right=True),
        Column("left 5%", right=True),
        Column("others", right=True),
        Column(f"{PEOPLE} left", right=True),
        Column("target"),
    )
    rows = [
        [
            f"{line.strategy.trade_off:g}",
            "on" if line.strategy.limits else "off",
            _kept(figures.kept),
            f"{figures.told:.2f}",
            *(f"{numbers[place]:,}" for numbers in figures.left),
            f"{figures.many.mean:.0%}",
            "sure" if figures.surely else "yes" if figures.reached else "no",
        ]
        for line, figures in found.items()
    ]
    return table(columns, rows)


def _verdict(report: Report) -> str:
    """Say which presets reach the target, and with which lambdas it can be."""
    if all(figures.kept is None for figures in report.lines.values()):
        return (
            "With so few people and requests the best ranking may gain nothing, so no share of it "
            "can be stated: replay more of them."
        )
    presets = [str(each.strategy.preset) for each in _reaching(report.lines)]
    on, off = (
        [
            f"{each.strategy.trade_off:g}"
            for each in _reaching(report.frontier)
            if each.strategy.limits is limits
        ]
        for limits in (True, False)
    )
    return (
        f"The target is reached by the presets: {_listed(presets)}; by lambda "
        f"with limits: {_listed(on)}; by lambda without: {_listed(off)}."
    )


def _reaching(found: Mapping[Line, Figures]) -> list[Line]:
    return [
        line for line, each in found.items() if each.reached and line.strategy.telling == "reticent"
    ]


def _listed(words: Sequence[str]) -> str:
    return ", ".join(words) or "none"


def _ranged(interval: Interval) -> str:
    return f"{interval.mean:.3f} [{interval.low:.3f}, {interval.high:.3f}]"


def _kept(interval: Interval | None) -> str:
    return "unknown" if interval is None else _shares(interval)


def _shares(interval: Interval) -> str:
    return f"{interval.mean:.0%} [{interval.low:.0%}, {interval.high:.0%}]"

"""What came of a replay, as a value and as one JSON object."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from examples.search_service.replay.figures import KEPT, PEOPLE, QUANTILES, SHARE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from examples.search_service.replay.figures import Figures, Line


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """Who was replayed, and how.

    ``model``: people that it was built from; ``others``: on an adversary's list; ``people``: who
    were replayed; ``asked``: how many of the model's ``attributes`` the service asks for;
    ``requests``: of each person; ``unranked``: events that the model has no result for.
    """

    model: int
    others: int
    people: int
    asked: int
    attributes: int
    requests: int
    seed: int
    unranked: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The figures of a replay: of the ways that are compared, and of the frontier over lambda."""

    setting: Setting
    lines: Mapping[Line, Figures]
    frontier: Mapping[Line, Figures]


def record(report: Report) -> str:
    """Write a report as one JSON object."""
    target = {"kept": KEPT, "people": PEOPLE, "share": SHARE}
    return json.dumps(
        {
            "setting": asdict(report.setting),
            "target": target,
            "lines": [_line(*each) for each in report.lines.items()],
            "frontier": [_line(*each) for each in report.frontier.items()],
        },
        indent=2,
        allow_nan=False,
    )


def _line(line: Line, figures: Figures) -> dict[str, object]:
    strategy = line.strategy
    return {
        "name": line.name,
        "preset": strategy.preset,
        "lambda": strategy.trade_off,
        "limits": strategy.limits,
        "reciprocal_rank": figures.rank._asdict(),
        "kept": None if figures.kept is None else figures.kept._asdict(),
        "attributes": figures.told,
        "left_in_model": _quantiles(figures.left[0]),
        "left_in_others": _quantiles(figures.left[1]),
        "many_left": figures.many._asdict(),
        "reached": figures.reached,
        "surely": figures.surely,
    }


def _quantiles(numbers: tuple[int, ...]) -> dict[str, int]:
    return {f"{share:.0%}": number for share, number in zip(QUANTILES, numbers, strict=True)}

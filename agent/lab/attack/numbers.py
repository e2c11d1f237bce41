"""All figures of the attack as CSV: a row for each way and number of requests."""

from __future__ import annotations

import csv
from io import StringIO
from typing import TYPE_CHECKING

from agent.lab.attack.figures import QUANTILES, figures

if TYPE_CHECKING:
    from agent.lab.attack.figures import Figures
    from agent.lab.attack.intervals import Interval
    from agent.lab.attack.study import Study

NAME = "attack.csv"
SURE = ("success", "enough_left", "bits", "reciprocal_rank", "learned_bits", "learned_entropy")
HEADER = (
    *("way", "people", "requests", "source", "attributes", "seconds"),
    *(f"left_{share:g}" for share in QUANTILES),
    *(f"{name}{end}" for name in SURE for end in ("", "_low", "_high")),
)


def numbers(study: Study) -> str:
    """Return the table; what nobody has is empty."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEADER)
    for part in (study, study.exactly):
        for way, outcome in part.outcomes.items():
            of = (way.name, len(outcome.left))
            for step, requests in enumerate(study.steps):
                found = figures(outcome, step, part.resamples)
                rest = (requests, study.material.source, found.told, outcome.seconds)
                writer.writerow((*of, *rest, *found.left, *_sure(found)))
    return text.getvalue()


def _sure(found: Figures) -> tuple[float | str, ...]:
    intervals: tuple[Interval | None, ...] = (
        *(found.success, found.enough, found.bits, found.reciprocal),
        *(found.learned, found.doubt),
    )
    return tuple(value for each in intervals for value in each or ("", "", ""))

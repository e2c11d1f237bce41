"""The numbers of a chart as CSV: a row for each point that is drawn."""

from __future__ import annotations

import csv
from io import StringIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent.lab.charts import Chart, Series

HEADER = ("panel", "series", "x", "name", "y", "low", "high")


def numbers(chart: Chart) -> str:
    """Return the table; ``name``, ``low`` and ``high`` are empty where there are none."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEADER)
    for panel in chart.panels:
        for series in panel.series:
            for row in _rows(series, panel.ticks):
                writer.writerow((panel.title, series.label, *row))
    return text.getvalue()


def _rows(series: Series, ticks: tuple[str, ...]) -> Iterator[tuple[object, ...]]:
    blank = ("",) * len(series.x)
    names = series.names or (ticks if len(ticks) == len(series.x) else blank)
    low, high = series.low or blank, series.high or blank
    for x, name, y, least, most in zip(series.x, names, series.y, low, high, strict=True):
        yield repr(x), name, repr(y), least, most

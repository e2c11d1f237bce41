"""The files of a study: pictures, numbers, and the page about them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.files import replace_bytes
from agent.lab.drawing.draw import drawn
from agent.lab.drawing.numbers import numbers
from agent.lab.drawing.report import report

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from agent.lab.charts import Chart, Finding

REPORT = "report.md"


def write_chart(chart: Chart, folder: Path) -> list[Path]:
    """Write a chart's PNG, SVG and CSV, over what is there; UsageError if that cannot be done."""
    files = {**drawn(chart), "csv": numbers(chart).encode()}
    written = []
    for ending, data in files.items():
        path = folder / f"{chart.name}.{ending}"
        replace_bytes(data, path)
        written.append(path)
    return written


def write_report(
    title: str, intro: Sequence[str], findings: Sequence[Finding], folder: Path
) -> Path:
    """Write all charts of the findings, and the page; return where the page is. As above."""
    charts = [each.chart for each in findings]
    return write_page(report(title, intro, findings), charts, folder)


def write_page(text: str, charts: Sequence[Chart], folder: Path) -> Path:
    """Write charts and a page about them; return where the page is. As above."""
    for each in charts:
        write_chart(each, folder)
    replace_bytes(text.encode(), folder / REPORT)
    return folder / REPORT

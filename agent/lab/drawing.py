"""A study's files: charts as PNG and SVG, their numbers as CSV, and the page about them."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from io import BytesIO, StringIO
from math import ceil
from pathlib import Path
from textwrap import fill
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from agent.files import replace_bytes
from agent.lab.charts import Chart, Claim, Finding, Panel, Series

WIDE, HIGH = 6.8, 4.4  # inches, of one panel
COLUMNS = 2  # more, and the words are too small on a page
DPI = 110
BARS = 0.8  # of the room that one place has
LEVEL, LONGEST = 6, 14  # so many names of places, in lines of so many characters, fit side by side
LETTER = 0.075  # inches that a letter of a name on its side takes from the height
DOTTED = 60  # points of a curve, up to which each is seen
LEGENDS: Any = {
    "inside": {"loc": "best"},
    "below": {"loc": "upper center", "bbox_to_anchor": (0.5, -0.14), "ncols": 2},
}
STYLE: Any = {
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 11,
    "figure.titlesize": 13,
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "grid.alpha": 0.3,
    "legend.frameon": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "reticent",
}
HEADER = ("panel", "series", "x", "name", "y", "low", "high")
HEAD = ("| section | published | here | same shape | why |", "| --- | --- | --- | --- | --- |")
OVERVIEW = ("| figure | same | another | cannot be said |", "| --- | --- | --- | --- |")
WORDS = {True: "yes", False: "no", None: "cannot be said"}
REPORT = "report.md"


def drawn(chart: Chart) -> dict[str, bytes]:
    """Return a chart as the content of two files, by their ending: png and svg."""
    with mpl.rc_context(STYLE):
        figure = _figure(chart)
        return {
            "png": _bytes(figure, "png", {"Software": None}),
            "svg": _bytes(figure, "svg", {"Date": None, "Creator": None}),
        }


def _figure(chart: Chart) -> Figure:
    columns = min(COLUMNS, len(chart.panels))
    rows = ceil(len(chart.panels) / columns)
    high = HIGH + LETTER * max(map(_on_its_side, chart.panels))
    figure = Figure(figsize=(WIDE * columns, high * rows), dpi=DPI, layout="constrained")
    FigureCanvasAgg(figure)
    figure.suptitle(chart.title)
    grid = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes, panel in zip(grid, chart.panels, strict=False):
        _draw(axes, panel)
    for axes in grid[len(chart.panels) :]:
        axes.set_axis_off()
    figure.supxlabel(fill(chart.note, 90 * columns), fontsize=8, color="0.35")
    return figure


def _draw(axes: Axes, panel: Panel) -> None:
    axes.set_title(panel.title)
    axes.set_xlabel(panel.x_label)
    axes.set_ylabel(panel.y_label)
    if panel.log_x:
        axes.set_xscale("log")
    if panel.log_y:
        axes.set_yscale("log")
    bars = [each for each in panel.series if each.style == "bars"]
    for number, each in enumerate(panel.series):
        place = (bars.index(each), len(bars)) if each.style == "bars" else (0, 1)
        _series(axes, each, f"C{number % 10}", place)
    for mark in panel.marks:
        axes.plot(mark.x, mark.y, "o", color="black", markersize=7, fillstyle="none", zorder=5)
        axes.annotate(mark.text, (mark.x, mark.y), (6, -12), textcoords="offset points")
    if panel.ticks:
        names = panel.ticks if _on_its_side(panel) else map(_in_lines, panel.ticks)
        axes.set_xticks(range(len(panel.ticks)), list(names))
        axes.tick_params("x", rotation=90 if _on_its_side(panel) else 0, labelsize=8)
        if not panel.log_y and all(min(each.low or each.y) >= 0 for each in panel.series):
            axes.set_ylim(bottom=0)
    if len(panel.series) > 1:
        axes.legend(fontsize=8, **LEGENDS[panel.legend])


def _on_its_side(panel: Panel) -> int:
    """Return how many letters the longest name of a place has if they stand upright, else 0."""
    lines = [line for each in panel.ticks for line in _in_lines(each).splitlines()]
    if len(panel.ticks) > LEVEL or max(map(len, lines), default=0) > LONGEST:
        return max(map(len, panel.ticks))
    return 0


def _in_lines(name: str) -> str:
    return fill(name, LONGEST, break_long_words=False, break_on_hyphens=False)


def _series(axes: Axes, series: Series, colour: str, place: tuple[int, int]) -> None:
    """Draw one series; ``place``: which of how many bars at one place it is."""
    number, among = place
    x = [at + (number - (among - 1) / 2) * BARS / among for at in series.x]
    if series.style == "bars":
        axes.bar(x, series.y, BARS / among, label=series.label, color=colour)
    elif series.style == "points":
        axes.plot(x, series.y, "o", label=series.label, color=colour, markersize=4)
    else:
        steps = "steps-post" if series.style == "steps" else "default"
        many = len(x) > DOTTED
        axes.plot(
            *(x, series.y, "-" if many else ".-"),
            label=series.label,
            color=colour,
            drawstyle=steps,
            linewidth=1.4,
        )
    if series.low and series.style == "line":
        axes.fill_between(x, series.low, series.high, color=colour, alpha=0.18, linewidth=0)
    elif series.low:
        axes.vlines(x, series.low, series.high, color="0.3", linewidth=1)


def _bytes(figure: Figure, kind: str, metadata: dict[str, str | None]) -> bytes:
    file = BytesIO()
    figure.savefig(file, format=kind, metadata=metadata)
    return file.getvalue()


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


def report(title: str, intro: Sequence[str], findings: Sequence[Finding]) -> str:
    """Return the page in Markdown; the pictures lie beside it under their charts' names."""
    lines = [f"# {title}", ""]
    for each in intro:
        lines += [each, ""]
    lines += _overview([each for each in findings if each.claims])
    for finding in findings:
        lines += _section(finding)
    return "\n".join(lines)


def _overview(findings: Sequence[Finding]) -> list[str]:
    """Return how many published results each figure has here, and how many it has not."""
    if not findings:
        return []
    counts = [
        [sum(each.same is same for each in finding.claims) for same in WORDS]
        for finding in findings
    ]
    same, other, _ = (sum(column) for column in zip(*counts, strict=True))
    rows = [
        f"| {finding.chart.title} | {' | '.join(map(str, row))} |"
        for finding, row in zip(findings, counts, strict=True)
    ]
    return [
        f"Published results with the same shape here: {same}; with another: {other}.",
        "",
        *OVERVIEW,
        *rows,
        "",
    ]


def _section(finding: Finding) -> list[str]:
    chart = finding.chart
    lines = [f"## {chart.title}", "", f"![{chart.title}]({chart.name}.png)", ""]
    files = f"[SVG]({chart.name}.svg), [numbers]({chart.name}.csv)"
    lines += [f"{chart.note} {files}", ""]
    for each in finding.text:
        lines += [each, ""]
    if finding.claims:
        lines += [*HEAD, *map(_row, finding.claims), ""]
    return lines


def _row(claim: Claim) -> str:
    cells = (claim.place, claim.published, claim.ours, WORDS[claim.same], claim.why)
    return "| " + " | ".join(each.replace("|", "\\|") for each in cells) + " |"


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

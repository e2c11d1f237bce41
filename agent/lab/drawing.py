"""A study's files: charts as PNG and SVG, their numbers as CSV, and the page about them."""

import csv
from collections.abc import Sequence
from importlib.resources import files
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
from agent.lab.charts import PUBLISHED, Chart, Panel, StudyFinding, criteria_table, section

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
HEADER = ("panel", "series", "x", "name", "y", "low", "high")
REPORT = "report.md"


def drawn(chart: Chart) -> dict[str, bytes]:
    """Draw a chart as the content of two files, by their ending: png and svg."""
    with mpl.rc_context(fname=str(files("agent.lab") / "charts.mplstyle")):
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
        contents = {}
        for kind, left_out in (("png", ("Software",)), ("svg", ("Date", "Creator"))):
            file = BytesIO()
            figure.savefig(file, format=kind, metadata=dict.fromkeys(left_out))
            contents[kind] = file.getvalue()
        return contents


def _draw(axes: Axes, panel: Panel) -> None:
    axes.set(title=panel.title, xlabel=panel.x_label, ylabel=panel.y_label)
    axes.set(yscale="log" if panel.log_y else "linear")
    bars = [each for each in panel.series if each.style == "bars"]
    for number, each in enumerate(panel.series):
        style: Any = {"label": each.label, "color": f"C{number % 10}"}
        if each.style == "bars":
            width = BARS / len(bars)
            shift = (bars.index(each) - (len(bars) - 1) / 2) * width
            axes.bar([x + shift for x in each.x], each.y, width, **style)
        elif each.style == "points":
            axes.plot(each.x, each.y, "o", markersize=4, **style)
        else:
            axes.plot(each.x, each.y, "-" if len(each.x) > DOTTED else ".-", linewidth=1.4, **style)
        if each.low:
            axes.fill_between(
                each.x, each.low, each.high, color=style["color"], alpha=0.18, linewidth=0
            )
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
    """Count the letters of the longest name of a place if names stand upright, else 0."""
    words = {word for each in panel.ticks for word in each.split()}
    is_long = len(panel.ticks) > LEVEL or max(map(len, words), default=0) > LONGEST
    return max(map(len, panel.ticks)) if is_long else 0


def _in_lines(name: str) -> str:
    return fill(name, LONGEST, break_long_words=False, break_on_hyphens=False)


def numbers(chart: Chart) -> str:
    """Write the table as CSV; ``name``, ``low`` and ``high`` are empty where there are none."""
    text = StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(HEADER)
    for panel in chart.panels:
        for each in panel.series:
            blank = ("",) * len(each.x)
            names = each.names or (panel.ticks if len(panel.ticks) == len(each.x) else blank)
            low, high = each.low or blank, each.high or blank
            for x, name, y, *ends in zip(each.x, names, each.y, low, high, strict=True):
                rows.writerow((panel.title, each.label, repr(x), name, repr(y), *ends))
    return text.getvalue()


def report(title: str, intro: Sequence[str], findings: Sequence[StudyFinding]) -> str:
    """Write the page in Markdown; the pictures lie beside it under their charts' names."""
    lines = [f"# {title}", *intro]
    for finding in findings:
        lines += [section(finding.chart, finding.chart.note).rstrip(), *finding.text]
        if finding.criteria:
            lines.append(criteria_table(finding.criteria, PUBLISHED))
    return "\n\n".join(lines) + "\n"


def write_page(text: str, charts: Sequence[Chart], folder: Path) -> Path:
    """Write charts (PNG, SVG, CSV) and a page about them, over what is there.

    Returns where the page is. UsageError if something cannot be written.
    """
    for chart in charts:
        contents = {**drawn(chart), "csv": numbers(chart).encode()}
        for ending, data in contents.items():
            replace_bytes(data, folder / f"{chart.name}.{ending}")
    replace_bytes(text.encode(), folder / REPORT)
    return folder / REPORT

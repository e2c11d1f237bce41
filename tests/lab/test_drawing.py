"""Files that open, numbers that come back, and a page that names every figure."""

import csv
from dataclasses import replace
from functools import cache
from io import StringIO
from pathlib import Path
from struct import unpack
from xml.etree import ElementTree as ET

from agent.lab.charts import Chart, Criterion, Mark, Panel, Series, StudyFinding
from agent.lab.drawing import HEADER, REPORT, drawn, numbers, report, write_page

LINE = Series("line", (0.0, 1.0), (1.0, 0.1), low=(0.5, 0.05), high=(1.5, 0.2), names=("a", "b"))
BARS = (Series.ranked("one", (1.0, 2.0)), Series.ranked("two", (2.0, 1.0)))
PANELS = (
    Panel(
        "lines", "x", "y", (LINE, Series("dots", (0.5,), (0.3,), "points")), (Mark(1, 0.1, "m"),)
    ),
    Panel("bars", "", "bits", BARS, ticks=("left", "a name that is long")),
    Panel("logs", "x", "y", (Series("s", (1.0, 10.0), (1.0, 5.0)),), log_y=True),
)
CHART = Chart("fig-made", "A made figure", "Data: synthetic", PANELS)
SMALL = replace(CHART, panels=PANELS[:1])
CLAIMS = (
    Criterion("7.1", "it rises", "it falls | slowly", met=False, by="the data"),
    Criterion("7.2", "it bends", "it bends", met=True, by="by rule"),
    Criterion("7.3", "an order", "another", met=None, by="no shape"),
)


@cache
def picture() -> dict[str, bytes]:
    """Return the chart, drawn once."""
    return drawn(CHART)


def test_a_chart_is_a_picture_of_its_size_and_a_text_that_parses() -> None:
    """PNG says its width in its header; SVG is XML, and holds the words of the chart."""
    files = picture()
    assert files["png"][:8] == b"\x89PNG\r\n\x1a\n"
    assert size(files["png"]) == (1496, 968)
    root = ET.fromstring(files["svg"])  # noqa: S314 - we wrote it ourselves
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    words = " ".join(" ".join(root.itertext()).split())
    for word in ("A made figure", "Data: synthetic", "lines", "bars", "a name that is long"):
        assert word in words


def size(png: bytes) -> tuple[int, int]:
    """Return the width and height that a picture states."""
    width, height = unpack(">II", png[16:24])
    return width, height


def test_names_on_their_side_take_no_height_from_what_is_drawn() -> None:
    """Many places with long names make the picture higher, by the longest; few do not."""
    heights = []
    for many, letters in ((3, 8), (20, 8), (20, 28)):
        names, places = ("n" * letters,) * many, tuple(map(float, range(many)))
        panel = Panel("", "", "", (Series("s", places, places),), (), names)
        heights.append(size(drawn(Chart("fig-names", "", "", (panel,)))["png"])[1])
    assert heights[0] < heights[1] < heights[2]


def test_the_same_chart_is_the_same_bytes() -> None:
    """No date, and no chance in the names inside."""
    assert drawn(CHART) == picture()


def test_the_numbers_are_those_that_are_drawn() -> None:
    """A row for each point; what has no name or interval leaves it empty."""
    rows = list(csv.DictReader(StringIO(numbers(CHART))))
    assert tuple(rows[0]) == HEADER
    assert len(rows) == sum(len(each.x) for panel in PANELS for each in panel.series)
    first = rows[0]
    assert (first["series"], first["name"], float(first["y"])) == ("line", "a", 1.0)
    assert (float(first["low"]), float(first["high"])) == (0.5, 1.5)
    assert [row["name"] for row in rows if row["series"] == "two"] == [*PANELS[1].ticks]
    assert [row["low"] for row in rows if row["series"] == "two"] == ["", ""]


def test_the_page_names_every_figure_and_says_why(tmp_path: Path) -> None:
    """Each picture lies where the page says, and a bar in a sentence breaks no table."""
    other = replace(SMALL, name="fig-other", title="Another")
    findings = StudyFinding(SMALL, CLAIMS, ("Why.",)), StudyFinding(other)
    charts = [each.chart for each in findings]
    page = write_page(report("A study", ("It begins.",), findings), charts, tmp_path)
    text = page.read_text()
    assert page == tmp_path / REPORT
    for name in ("fig-made", "fig-other"):
        for ending in ("png", "svg", "csv"):
            assert (tmp_path / f"{name}.{ending}").stat().st_size > 0
            assert f"({name}.{ending})" in text
    for row in ("| no | the data |", "| yes | by rule |", "| cannot be said | no shape |"):
        assert row in text
    assert "it falls \\| slowly" in text
    assert {"# A study", "It begins.", "Why."} <= {*text.splitlines()}

"""What a study found, ready to be drawn and written: numbers and words, and nothing that draws."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

Style = Literal["line", "points", "bars"]


@dataclass(frozen=True, slots=True)
class Series:
    """One curve, or one colour of points or bars.

    ``x``, ``y``: as many numbers each; ``low``, ``high``: of an interval around each y, or empty;
    ``names``: of the points, or empty.
    """

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    style: Style = "line"
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    names: tuple[str, ...] = ()

    @classmethod
    def ranked(
        cls, label: str, y: Iterable[float], style: Style = "bars", names: tuple[str, ...] = ()
    ) -> "Series":
        """Place numbers at x = 0, 1, 2 and so on."""
        values = tuple(map(float, y))
        return cls(label, tuple(map(float, range(len(values)))), values, style, names=names)


@dataclass(frozen=True, slots=True)
class Mark:
    """A point that is pointed out, with a word beside it."""

    x: float
    y: float
    text: str


@dataclass(frozen=True, slots=True)
class Panel:
    """One pair of axes; ``ticks``: the names of x = 0, 1, 2 and so on, or empty.

    ``legend``: where it stands; inside it may cover the texts of marks.
    """

    title: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    marks: tuple[Mark, ...] = ()
    ticks: tuple[str, ...] = ()
    log_y: bool = False
    legend: Literal["inside", "below"] = "inside"


@dataclass(frozen=True, slots=True)
class Chart:
    """One figure: ``name`` is that of its files, ``note`` the line below that says of what it is.

    What is synthetic says so in the note.
    """

    name: str
    title: str
    note: str
    panels: tuple[Panel, ...]


class Criterion(NamedTuple):
    """What was wanted, or published, beside what was found here.

    ``what``: of what, or where it was published; ``met``: None where it cannot be said; ``by``: how
    far the end of an interval is that counts, or by which rule it is called the same.
    """

    what: str
    wanted: str
    result: str
    met: bool | None
    by: str


@dataclass(frozen=True, slots=True)
class StudyFinding:
    """A figure with what it shows: results beside what was wanted, and sentences."""

    chart: Chart
    criteria: tuple[Criterion, ...] = ()
    text: tuple[str, ...] = ()


CRITERIA = ("criterion", "wanted", "found", "met", "the end that counts is")
PUBLISHED = ("section", "published", "here", "same shape", "why")
MET = {True: "yes", False: "no", None: "cannot be said"}


def criteria_table(criteria: Iterable[Criterion], head: Sequence[str] = CRITERIA) -> str:
    """Set criteria as a table in Markdown."""
    return table(head, [(*each[:3], MET[each.met], each.by) for each in criteria])


def section(chart: Chart, note: str) -> str:
    """Write the beginning of a section of a page in Markdown: a chart, and a note on its data."""
    files = f"[SVG]({chart.name}.svg), [numbers]({chart.name}.csv)"
    picture = f"![{chart.title}]({chart.name}.png)"
    return f"## {chart.title}\n\n{picture}\n\n{note} {files}\n"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Write a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    cells = [[each.replace("|", "\\|") for each in line] for line in lines]
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)

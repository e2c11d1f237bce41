"""The study as figures and as a page."""

from agent.lab.attack.bars import Bar, chance
from agent.lab.attack.report import BARS, WORDS
from agent.lab.charts import Chart, Finding, Panel, Series, table
from agent.lab.people.predictions import ABOVE, COVERED, Compared
from agent.lab.people.study import WAYS, Sampled, Study

TITLE = "What the model of a sample predicts of people, and what is so"
KINDS = ("held, over everybody", "added, given what was held")
HEAD = (
    *("sample", "sets", "how many", "risk predicted", "realised"),
    *("realised over predicted", "at worst", "people left predicted", "realised"),
)
_NAMES = ("people-risk", "people-below-k", "people-left")


def findings(study: Study, source: str) -> tuple[str, tuple[Finding, ...]]:
    """Return the sentence with which the page begins, and what was found.

    ``source``: where the table is from.
    """
    options = study.options
    note = (
        f"Data: {source}. The {study.people:,} rows of the table are all the people there are; a "
        f"model knows a sample of them. {options.people:,} people send {options.requests:,} "
        f"requests each, decided in {len(WAYS)} ways. Seed {options.seed}."
    )
    k = f"share of people below k = {options.k}"
    labels = ("expected success of one guess", k, "people left")
    titles = ("How surely one guess is right", "How many people are below k", "Who is left")
    charts = [
        Chart(name, title, note, tuple(_panel(each, at, labels[at]) for each in study.samples))
        for at, (name, title) in enumerate(zip(_NAMES, titles, strict=True))
    ]
    rows = [row for each in study.samples for row in _rows(each)]
    beside = (
        f"Each different set counts once. Where the predicted risk is above {COVERED:.0%} no bar "
        "speaks: few rows are left there, and the presets' limits do not let an agent come near."
    )
    found = (
        Finding(charts[0], text=(beside, table(HEAD, rows))),
        *(Finding(each) for each in charts[1:]),
    )
    return _intro(study.bars), found


def _intro(bars: tuple[Bar, ...]) -> str:
    rows = [(each.what, each.wanted, each.found, WORDS[each.met], each.by) for each in bars]
    met = sum(each.met is True for each in bars)
    return f"Of {len(bars)} bars, {met} are met.\n\n{table(BARS, rows)}"


def _rows(sample: Sampled) -> list[tuple[str, ...]]:
    """Return a row for what is held and what is added, within and beyond what bars speak of."""
    rows: list[tuple[str, ...]] = []
    for kind, found in zip(KINDS, (sample.held, sample.added), strict=True):
        for where, part in (("", found.covered), (f", risk above {COVERED:.0%}", found.beyond)):
            if not len(part.times):
                continue
            said, so = part.predicted.mean(axis=0), part.realised.mean(axis=0)
            rows.append(
                (
                    *(sample.name, kind + where, f"{len(part.times):,}"),
                    *(chance(said[0]), chance(so[0]), f"{so[0] / said[0]:.2f}"),
                    *(f"{part.ratio.max():.2f}", f"{said[2]:,.0f}", f"{so[2]:,.0f}"),
                )
            )
    return rows


def _panel(sample: Sampled, figure: int, label: str) -> Panel:
    """Return what was predicted and what is so; ``figure``: the place in `Expected`."""
    parts = [*zip(KINDS, (sample.held, sample.added), strict=True)]
    points = [_points(kind, found, figure) for kind, found in parts]
    ends = [0.0, 1.0] if figure == 1 else [f([*points[0].x, *points[1].x]) for f in (min, max)]
    lines = [Series("as predicted", tuple(ends), tuple(ends))]
    if figure == 0:
        above = tuple(ABOVE * each for each in ends)
        lines.append(Series(f"{ABOVE:g} times as much", tuple(ends), above))
    return Panel(
        f"{sample.name}: {sample.rows:,} people",
        f"{label}, predicted",
        "realised",
        (*points, *lines),
        log_x=figure != 1,
        log_y=figure != 1,
    )


def _points(kind: str, found: Compared, figure: int) -> Series:
    x, y = (tuple(each[:, figure].tolist()) for each in (found.predicted, found.realised))
    return Series(kind, x, y, "points")

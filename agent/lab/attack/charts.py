"""The attack as figures, and as a table of all numbers."""

from collections.abc import Callable, Mapping, Sequence
from math import log
from typing import NamedTuple

from agent.lab.attack import ways
from agent.lab.attack.bars import EARLY, judged_at
from agent.lab.attack.outcome import QUANTILES, Figures, Interval, figures
from agent.lab.attack.study import Study
from agent.lab.attack.ways import ANSWERED, FAMILIES, Way
from agent.lab.charts import Chart, Mark, Panel, Series, csv_text

NAME = "attack.csv"
SURE = ("success", "enough_left", "bits", "reciprocal_rank", "learned_bits", "learned_entropy")
HEADER = (
    *("way", "people", "requests", "source", "attributes", "seconds"),
    *(f"left_{share:g}" for share in QUANTILES),
    *(f"{name}{end}" for name in SURE for end in ("", "_low", "_high")),
)
FRONTIER, REQUESTS = "attack-frontier", "attack-requests"
NEAR = 0.01  # bits; tenfold as a logarithm of success: points so near have one name
UTILITY, SUCCESS = "utility realised, bits a request", "success of a single guess, %"
FOLLOWED: tuple[Way, ...] = (
    *(ways.FORGETFUL[0], ways.FORGETFUL[2], ways.STANDING[1], ways.LEDGER[2], ways.PLANNED[1]),
    *ANSWERED,
)


def numbers(study: Study) -> str:
    """Return the table; what nobody has is empty."""
    rows: list[Sequence[object]] = [HEADER]
    for part in (study, study.exactly):
        for way, outcome in part.outcomes.items():
            of = (way.name, len(outcome.left))
            for step, requests in enumerate(study.steps):
                found = figures(outcome, step, part.resamples)
                rest = (requests, study.material.source, found.carried, outcome.seconds)
                sure = (
                    *(found.success, found.enough, found.bits, found.reciprocal),
                    *(found.learned, found.entropy),
                )
                ends = [value for each in sure for value in each or ("", "", "")]
                rows.append((*of, *rest, *found.left, *ends))
    return csv_text(rows)


class _Curve(NamedTuple):
    """What one panel follows: its title, the label of y, and the figure; ``log``: of y."""

    title: str
    label: str
    of: Callable[[Figures], Interval | float | None]
    log: bool = False


CURVES = (
    _Curve("who is recognised", SUCCESS, lambda each: _percent(each.success), log=True),
    _Curve("people left, at most 5 % have fewer", "people", lambda each: each.left[1], log=True),
    _Curve("people left, half have fewer", "people", lambda each: each.left[2], log=True),
    _Curve("what is gained", UTILITY, lambda each: each.bits),
    _Curve("what a request carries", "attributes a request", lambda each: each.carried),
    _Curve("what is guarded", "bits towards its true value", lambda each: each.learned),
)


def charts(study: Study) -> tuple[Chart, ...]:
    """Return the figures; each says in its note of what it is."""
    note = note_of(study)
    steps = sorted({judged_at(study, EARLY), len(study.steps) - 1})
    frontier = tuple(_frontier(study, each) for each in steps)
    shown_ways = [each for each in FOLLOWED if each in study.outcomes]
    followed = []
    for curve in CURVES:
        lines = [_over_requests(study, way, curve) for way in shown_ways]
        drawn = tuple(each for each in lines if each is not None)
        axes = (curve.title, "requests", curve.label, drawn)
        followed.append(Panel(*axes, log_x=True, log_y=curve.log, legend="below"))
    shown = tuple(each for each in followed if each.series)
    return (
        Chart(FRONTIER, "What is gained, and what it gives away", note, frontier),
        Chart(REQUESTS, "As requests go on", note, shown),
    )


def note_of(study: Study) -> str:
    """Return what the figures and the tables are of, and where the data comes from."""
    material, options = study.material, study.options
    return (
        f"{source_of(study)} Model of one half: "
        f"{material.model.population.rows:,} people. Of the other half "
        f"{len(study.crowd.people):,} send {options.requests:,} requests each; the adversary's "
        f"list has {material.listed}. Seed {options.seed}. Shaded, and in brackets: 95 % of "
        "resamples of the people."
    )


def source_of(study: Study) -> str:
    """Return where the data comes from; what is synthetic says so first."""
    source = study.material.source
    made_up = "SYNTHETIC: nobody asked any of this. " if "synthetic" in source.lower() else ""
    return f"{made_up}Data: {source}."


def _frontier(study: Study, step: int) -> Panel:
    lines = [_line(study, name, family, step) for name, family in FAMILIES.items()]
    presets = {each: each.name.removeprefix("Reticent, ") for each in ANSWERED}
    points = _points(study, "presets, every question answered yes", presets, step)
    fixed = {each: each.name for each in ways.CONSTANT if each in study.outcomes}
    others = _points(study, "the same with every request", fixed, step)
    marks = (*_marks(points), *_marks(others))
    title = f"after {study.steps[step]} requests to one recipient that remembers"
    series = (*lines, points, others)
    return Panel(title, UTILITY, SUCCESS, series, marks, log_y=True, legend="below")


def _line(study: Study, name: str, family: Sequence[Way], step: int) -> Series:
    found = [(figures(study.outcomes[each], step, study.resamples), each) for each in family]
    found.sort(key=lambda each: each[0].bits.mean)
    success = zip(*(_percent(each.success) for each, _ in found), strict=True)
    y, low, high = map(tuple, success)
    return Series(
        label=f"{name}, λ from {family[0].trade_off:g} to {family[-1].trade_off:g}",
        x=tuple(each.bits.mean for each, _ in found),
        y=y,
        low=low,
        high=high,
        names=tuple(f"λ = {way.trade_off:g}" for _, way in found),
    )


def _points(study: Study, label: str, named: Mapping[Way, str], step: int) -> Series:
    found = [figures(study.outcomes[way], step, study.resamples) for way in named]
    utility = tuple(each.bits.mean for each in found)
    success = tuple(100 * each.success.mean for each in found)
    return Series(label, utility, success, "points", names=tuple(named.values()))


def _marks(points: Series) -> tuple[Mark, ...]:
    """Return the names of points; those that nearly coincide share a mark."""
    shared: dict[tuple[float, float], list[tuple[float, float, str]]] = {}
    for x, y, name in zip(points.x, points.y, points.names, strict=True):
        shared.setdefault((round(x / NEAR), round(log(y) / NEAR / 10)), []).append((x, y, name))
    return tuple(
        Mark(*each[0][:2], ", ".join(name for *_, name in each)) for each in shared.values()
    )


def _over_requests(study: Study, way: Way, curve: _Curve) -> Series | None:
    """Return one way over the requests; None where there is no such figure."""
    steps = range(len(study.steps))
    found = [curve.of(figures(study.outcomes[way], each, study.resamples)) for each in steps]
    values = [each for each in found if each is not None]
    if len(values) < len(found):
        return None
    sure = [each for each in values if isinstance(each, Interval)]
    return Series(
        label=way.name,
        x=tuple(float(each) for each in study.steps),
        y=tuple(each.mean if isinstance(each, Interval) else float(each) for each in values),
        low=tuple(each.low for each in sure),
        high=tuple(each.high for each in sure),
    )


def _percent(found: Interval) -> Interval:
    return Interval(*(100 * each for each in found))

"""The attack as figures, as a table of all numbers, and as report.md."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.resources import files
from math import log
from typing import NamedTuple

from agent.lab.attack.criteria import (
    EARLY,
    NONE,
    chance,
    judged_at,
    milliseconds,
    number,
    percent,
)
from agent.lab.attack.outcome import QUANTILES, Interval, StrategyFigures, figures
from agent.lab.attack.strategies import (
    ANSWERED,
    CONSTANT,
    EVERYTHING,
    FAMILIES,
    FORGETFUL,
    LEDGER,
    PAPERS,
    PLANNED,
    STANDING,
    Strategy,
)
from agent.lab.attack.study import SHORT, AttackStudy, Withheld
from agent.lab.charts import (
    Chart,
    Criterion,
    Mark,
    Panel,
    Series,
    criteria_table,
    csv_text,
    section,
    table,
)

NAME = "attack.csv"
SURE = ("success", "enough_left", "bits", "reciprocal_rank", "learned_bits", "learned_entropy")
CSV_HEADER = (
    *("strategy", "people", "requests", "source", "attributes", "seconds"),
    *(f"left_{share:g}" for share in QUANTILES),
    *(f"{name}{end}" for name in SURE for end in ("", "_low", "_high")),
)
FRONTIER, REQUESTS = "attack-frontier", "attack-requests"
NEAR = 0.01  # bits; tenfold as a logarithm of success: points so near have one name
UTILITY, SUCCESS = "utility realised, bits a request", "success of a single guess, %"
FOLLOWED: tuple[Strategy, ...] = (
    *(FORGETFUL[0], FORGETFUL[2], STANDING[1], LEDGER[2], PLANNED[1]),
    *ANSWERED,
)


def numbers(study: AttackStudy) -> str:
    """Return the table; what nobody has is empty."""
    rows: list[Sequence[object]] = [CSV_HEADER]
    for strategy, outcome in study.outcomes.items():
        of = (strategy.name, len(outcome.left))
        for step, requests in enumerate(study.steps):
            found = figures(outcome, step, study.resamples)
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
    of: Callable[[StrategyFigures], Interval | float | None]
    log: bool = False


CURVES = (
    _Curve("who is recognised", SUCCESS, lambda each: _percent(each.success), log=True),
    _Curve("people left, at most 5 % have fewer", "people", lambda each: each.left[1], log=True),
    _Curve("people left, half have fewer", "people", lambda each: each.left[2], log=True),
    _Curve("what is gained", UTILITY, lambda each: each.bits),
    _Curve("what a request carries", "attributes a request", lambda each: each.carried),
    _Curve("what is guarded", "bits towards its true value", lambda each: each.learned),
)


def charts(study: AttackStudy) -> tuple[Chart, ...]:
    """Return the figures; each says in its note of what it is."""
    note = note_of(study)
    steps = sorted({judged_at(study, EARLY), len(study.steps) - 1})
    frontier = tuple(_frontier(study, each) for each in steps)
    followed = []
    for curve in CURVES:
        found = [each for each in FOLLOWED if each in study.outcomes]
        lines = [_over_requests(study, strategy, curve) for strategy in found]
        drawn = tuple(each for each in lines if each is not None)
        axes = (curve.title, "requests", curve.label, drawn)
        followed.append(Panel(*axes, log_x=True, log_y=curve.log, legend="below"))
    shown = tuple(each for each in followed if each.series)
    return (
        Chart(FRONTIER, "What is gained, and what it gives away", note, frontier),
        Chart(REQUESTS, "As requests go on", note, shown),
    )


def note_of(study: AttackStudy) -> str:
    """Return what the figures and the tables are of, and where the data comes from."""
    material, options = study.material, study.options
    return (
        f"{source_of(study)} Model of one half: "
        f"{material.model.population.rows:,} people. Of the other half "
        f"{len(study.crowd.people):,} send {options.requests:,} requests each; the adversary's "
        f"list has {material.listed}. Seed {options.seed}. Shaded, and in brackets: 95 % of "
        "resamples of the people."
    )


def source_of(study: AttackStudy) -> str:
    """Return where the data comes from; what is synthetic says so first."""
    source = study.material.source
    made_up = "SYNTHETIC: nobody asked any of this. " if "synthetic" in source.lower() else ""
    return f"{made_up}Data: {source}."


def _frontier(study: AttackStudy, step: int) -> Panel:
    lines = [_line(study, name, family, step) for name, family in FAMILIES.items()]
    presets = {each: each.name.removeprefix("Reticent, ") for each in ANSWERED}
    points = _points(study, "presets, every question answered yes", presets, step)
    fixed = {each: each.name for each in CONSTANT if each in study.outcomes}
    others = _points(study, "the same with every request", fixed, step)
    marks = (*_marks(points), *_marks(others))
    title = f"after {study.steps[step]} requests to one recipient that remembers"
    series = (*lines, points, others)
    return Panel(title, UTILITY, SUCCESS, series, marks, log_y=True, legend="below")


def _line(study: AttackStudy, name: str, family: Sequence[Strategy], step: int) -> Series:
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
        names=tuple(f"λ = {strategy.trade_off:g}" for _, strategy in found),
    )


def _points(study: AttackStudy, label: str, named: Mapping[Strategy, str], step: int) -> Series:
    found = [figures(study.outcomes[strategy], step, study.resamples) for strategy in named]
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


def _over_requests(study: AttackStudy, strategy: Strategy, curve: _Curve) -> Series | None:
    """Return one strategy over the requests; None where there is no such figure."""
    steps = range(len(study.steps))
    found = [curve.of(figures(study.outcomes[strategy], each, study.resamples)) for each in steps]
    values = [each for each in found if each is not None]
    if len(values) < len(found):
        return None
    sure = [each for each in values if isinstance(each, Interval)]
    return Series(
        label=strategy.name,
        x=tuple(float(each) for each in study.steps),
        y=tuple(each.mean if isinstance(each, Interval) else float(each) for each in values),
        low=tuple(each.low for each in sure),
        high=tuple(each.high for each in sure),
    )


def _percent(found: Interval) -> Interval:
    return Interval(*(100 * each for each in found))


MANY = 10  # times, without a decimal
ENOUGH = 1000  # people of figures that are published
LEFT = "/".join(f"{100 * each:g}" for each in QUANTILES)
HEAD = (
    *("sent", "a guess succeeds", f"people left: {LEFT} %", "bits realised", "reciprocal rank"),
    *("attributes", "guarded: bits, entropy", "ms"),
)
SIDE_HEAD = ("sent", "an adversary who", "a guess succeeds")
ABSENCE = ("bits, mean", "most", "there agree", "would send it")


def page(study: AttackStudy, charts: Sequence[Chart], judged: Sequence[Criterion]) -> str:
    """Return the page in Markdown; the pictures lie beside it by name."""
    source = source_of(study)
    fields = {
        "note": note_of(study),
        "source": source,
        "people": len(study.crowd.people),
        "list_has": study.material.listed,
        "charts": "\n".join(section(each, source) for each in charts),
        "criteria": criteria_table(judged),
        "events": _events(study),
        "strategies": _strategies(study, study.outcomes),
        "met": _met([each.met for each in judged], len(study.crowd.people)),
    }
    for each in (_guesses, _absence):
        fields |= each(study)
    return (files("agent.lab.attack") / "report.md").read_text("utf-8").format(**fields)


def _guesses(study: AttackStudy) -> dict[str, object]:
    """Return how often a guess is right in the end, and what the agent keeps of utility."""
    ours, paper, step = study.outcomes[ANSWERED[1]], study.outcomes[PAPERS], len(study.steps) - 1
    own, forgets, everything = (
        figures(each, step, study.resamples) for each in (ours, paper, study.outcomes[EVERYTHING])
    )
    kept = study.resamples.ratio(ours.bits[:, step], paper.bits[:, step])
    times = forgets.success.mean / own.success.mean
    often = f"{times:.{0 if times >= MANY else 1}f} times less often"
    sides = [
        (each.strategy.name, each.adversary, percent(study.resamples.mean(1 / each.left[:, -1]), 2))
        for each in study.sides
    ]
    return {
        "listed": len(study.crowd.codes),
        "blind": chance(1 / len(study.crowd.codes)),
        "everything": chance(everything.success.mean),
        "requests": study.options.requests,
        "forgets": chance(forgets.success.mean),
        "told": forgets.carried,
        "ours": chance(own.success.mean),
        "times": often if times >= 1 else f"{1 / times:.1f} times as often",
        "left": own.left[1] - 1,
        "kept": "a share that cannot be said" if kept is None else f"{100 * kept.mean:.0f} %",
        "sides": table(SIDE_HEAD, sides),
    }


def _met(found: Sequence[bool | None], people: int) -> str:
    """Return how many criteria are met, and whether there are enough people to say so."""
    unsaid = f", and of {found.count(None)} it cannot be said" if None in found else ""
    words = (
        f"Of {len(found)} criteria below, {found.count(True)} are met and {found.count(False)} are "
        f"not{unsaid}."
    )
    if people < ENOUGH:
        words += f" {people} people leave wide intervals, of which the worse end counts: "
        words += f"judge by {ENOUGH:,}."
    return words


def _absence(study: AttackStudy) -> dict[str, object]:
    """Return what reasoning about absence gives."""
    withheld = study.reasoned.withheld
    strategy, most = max(withheld.items(), key=lambda each: each[1].bits.max())
    alone = "gave nothing away here either, although the study looked at the rarest facts"
    if most.bits.max() > 0:
        alone = (
            f"reveals something: with {strategy.name}, {most.agreeing:,} people agreed with what "
            f"somebody with rare facts sent, and {most.producing:,} of them would have sent it"
        )
    return {
        "equal": study.reasoned.equal,
        "compared": study.reasoned.compared,
        "alone": alone,
        "few": len(most.bits),
        "short": min(SHORT, study.options.requests),
        "short_list": most.listed,
        "withheld": _absences("limits kept for the user alone", withheld),
        "unset": _absences("what was not said is not set", study.reasoned.unset),
    }


def _absences(name: str, withheld: Mapping[Strategy, Withheld]) -> str:
    """Return a table of what withholding reveals, a row for each strategy."""
    rows = [
        (
            *(strategy.name, f"{each.bits.mean():.2f}", f"{each.bits.max():.2f}"),
            *(f"{each.agreeing:,}", f"{each.producing:,}"),
        )
        for strategy, each in withheld.items()
    ]
    return table((name, *ABSENCE), rows)


def _strategies(part: AttackStudy, strategies: Iterable[Strategy]) -> str:
    """Return a table of what came of strategies in the end."""
    rows = []
    for strategy in strategies:
        outcome = part.outcomes[strategy]
        found = figures(outcome, -1, part.resamples)
        learned = [each for each in (found.learned, found.entropy) if each is not None]
        rows.append(
            (
                strategy.name,
                percent(found.success, 2),
                " / ".join(f"{each:,}" for each in found.left),
                number(found.bits),
                f"{found.reciprocal.mean:.3f}",
                f"{found.carried:.2f}",
                ", ".join(f"{each.mean:.2f}" for each in learned) or NONE,
                milliseconds(outcome.seconds),
            )
        )
    return table(HEAD, rows)


def _events(study: AttackStudy) -> str:
    """Say how much of what people asked is in the streams."""
    held = study.material.others
    ranked = len(held.query)
    if not held.unranked:
        return f"all {ranked:,} events of the other half"
    return (
        f"{ranked:,} of the {ranked + held.unranked:,} events of the other half: in the others "
        "something was asked or chosen that the model does not have"
    )

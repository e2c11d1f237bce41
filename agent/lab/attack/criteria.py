"""The criteria that Reticent has to meet, and the lines of the frontier that some compare."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from math import isnan
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from agent.lab.attack.heldout import Floats
from agent.lab.attack.outcome import ENOUGH, Interval, Resamples, StrategyOutcome, between
from agent.lab.attack.strategies import ANSWERED, FAMILIES, PAPERS, SHIPPED, Strategy
from agent.lab.attack.study import AttackStudy
from agent.lab.charts import Criterion

NONE = "-"
EARLY, LATE = 50, 100  # requests after which they are judged
FEWER = 1 / 30  # of the guesses that succeed where nothing is remembered
BALANCED = (SHIPPED[1], ANSWERED[1])
LEDGER, PLANNED = OURS = ("with the ledger", "planned")


def percent(found: Interval | None, digits: int = 1) -> str:
    """Return shares as percentages."""
    if found is None:
        return NONE
    return _sure([f"{100 * each:.{digits}f}" for each in found], " %")


def number(found: Interval, digits: int = 3) -> str:
    """Return numbers."""
    return _sure([f"{each:.{digits}f}" for each in found])


def chance(value: float) -> str:
    """Return a share with two significant digits, as a percentage."""
    return f"{100 * value:.2g} %" if value < 1 / 10 else f"{100 * value:.0f} %"


def multiple(found: Interval) -> str:
    """Return ratios, those below 1 as fractions."""
    return _sure([f"1/{1 / each:.3g}" if each < 1 else f"{each:.3g}" for each in found])


def milliseconds(seconds: float) -> str:
    """Return what a decision took."""
    return NONE if isnan(seconds) else f"{1000 * seconds:.1f}"


def _sure(texts: Sequence[str], unit: str = "") -> str:
    mean, low, high = texts
    return f"{mean}{unit} [{low}, {high}]"


class Targets(NamedTuple):
    """The most guesses that may succeed, people left, for how many of the people, utility kept."""

    success: float
    left: int
    many: float
    kept: float


USUAL = Targets(success=0.005, left=ENOUGH, many=0.95, kept=0.8)
WANTED = Targets(success=0.001, left=1000, many=0.95, kept=0.9)  # where everybody is listed


@dataclass(frozen=True, slots=True, eq=False)
class FrontierLine:
    """The points of one family: strategies that differ in lambda alone.

    ``utility``: float64, shape (points, N), each person's mean bits a request; ``success``: the
    same shape, above 0, the chance of a single guess at each person.
    """

    utility: Floats
    success: Floats


@dataclass(frozen=True, slots=True)
class Ratio:
    """How much more often a guess succeeds on one line than on another, at equal ``utility``."""

    utility: float
    ratio: Interval


def ratios(line: FrontierLine, other: FrontierLine, resamples: Resamples) -> tuple[Ratio, ...]:
    """Return the success on a line as a multiple of that on the other, where the two overlap.

    At the utility of each point of either line that the other reaches too, ascending: between
    them the logarithm of the ratio is linear. Empty where there is no overlap. In a resample in
    which a line ends before, its end counts.
    """
    reach = [each.utility.mean(axis=1) for each in (line, other)]
    low, high = max(each.min() for each in reach), min(each.max() for each in reach)
    knots = [each for each in (*line.utility, *other.utility) if low <= each.mean() <= high]
    found = [_ratio(line, other, each, resamples) for each in knots]
    return tuple(sorted(found, key=lambda each: each.utility))


def _ratio(line: FrontierLine, other: FrontierLine, utility: Floats, resamples: Resamples) -> Ratio:
    mean, wanted, logs = float(utility.mean()), resamples.means(utility), []
    for each in (line, other):
        found = _log_at(each.utility.mean(axis=1), each.success.mean(axis=1), mean)
        points = resamples.means(each.utility.T), resamples.means(each.success.T), wanted
        logs.append((found, np.array([_log_at(*each) for each in zip(*points, strict=True)])))
    (one, ones), (two, twos) = logs
    return Ratio(mean, between(float(np.exp(one - two)), np.exp(ones - twos)))


def _log_at(utility: Floats, success: Floats, wanted: float) -> float:
    """Return log success by linear interpolation over utility; beyond the ends, that of the end."""
    order = np.argsort(utility, kind="stable")
    return float(np.interp(wanted, utility[order], np.log(success[order])))


def criteria(study: AttackStudy) -> tuple[Criterion, ...]:
    """Judge by every criterion."""
    reasoned = study.reasoned
    away = reasoned.compared - reasoned.equal
    equality = Criterion(
        "absence tells nothing, limits kept for everyone: who would have sent the same",
        "exactly those who agree with what was disclosed",
        f"the same people in {reasoned.equal:,} of {reasoned.compared:,} comparisons",
        away == 0,
        f"{away} differ",
    )
    against = [
        _against(study, family, *other)
        for family in OURS
        for other in (("without memory", FEWER), ("standing set", 1.0))
    ]
    against.append(_against(study, PLANNED, LEDGER, 1.0))
    return (
        equality,
        *against,
        *(bar for strategy in BALANCED for bar in _balanced(study, strategy)),
    )


def line_of(study: AttackStudy, family: str, step: int) -> FrontierLine:
    """Return a family's line of the frontier after a step, by its place."""
    outcomes = [study.outcomes[strategy] for strategy in FAMILIES[family]]
    return FrontierLine(
        np.array([each.bits[:, step] for each in outcomes]),
        np.array([each.success[:, step] for each in outcomes]),
    )


def judged_at(study: AttackStudy, requests: int) -> int:
    """Return the place of the step that a bar is judged at: the last where it is not reached."""
    return study.steps.index(requests) if requests in study.steps else len(study.steps) - 1


def _against(study: AttackStudy, family: str, other: str, most: float) -> Criterion:
    step = judged_at(study, EARLY)
    found = ratios(line_of(study, family, step), line_of(study, other, step), study.resamples)
    what = f"{family} against {other}, at equal utility, after {study.steps[step]} requests"
    wanted = f"at most 1/{1 / most:g} of the success" if most < 1 else "not above it, surely"
    if not found:
        return Criterion(what, wanted, "no overlap", None, "")
    worst = max(found, key=lambda each: _counts(each, most))
    end = _counts(worst, most)
    words = f"{multiple(worst.ratio)} at worst, "
    words += f"from {found[0].utility:.3f} to {found[-1].utility:.3f} bits"
    good = [_counts(each, most) <= most for each in found]
    words += "" if all(good) else _where("met", found, good)
    if most == 1:
        words += _where("surely below", found, [each.ratio.high < 1 for each in found])
    by = f"{end / most:.2g} times the bar"
    met = end <= most if EARLY in study.steps else None
    return Criterion(what, wanted, words, met, by)


def _counts(found: Ratio, most: float) -> float:
    """Return the end that counts: where the bar is to be as good, what is surely worse is above."""
    return found.ratio.high if most < 1 else found.ratio.low


def _where(what: str, found: Sequence[Ratio], holds: Sequence[bool]) -> str:
    """Say where something holds: everywhere, or the longest stretch of utility; else nothing."""
    if all(holds):
        return f"; {what} everywhere"
    runs = groupby(zip(found, holds, strict=True), key=itemgetter(1))
    stretches = [[each.utility for each, _ in run] for held, run in runs if held]
    longest = max(stretches, key=lambda each: each[-1] - each[0], default=None)
    return f"; {what} from {longest[0]:.3f} to {longest[-1]:.3f}" if longest else ""


def _balanced(study: AttackStudy, strategy: Strategy) -> list[Criterion]:
    step = judged_at(study, LATE)
    name = f"{strategy.name}, after {study.steps[step]} requests"
    wanted = WANTED if study.material.everybody else USUAL
    both = study.outcomes[strategy], study.outcomes[PAPERS]
    found = promises(name, wanted, *both, step, study.resamples)
    return [each if LATE in study.steps else each._replace(met=None) for each in found]


def promises(
    name: str,
    wanted: Targets,
    ours: StrategyOutcome,
    paper: StrategyOutcome,
    step: int,
    resamples: Resamples,
) -> list[Criterion]:
    """Judge a strategy by three criteria after a step; the worse end of each interval counts.

    ``paper``: of deciding without memory, of whose utility a share is kept.
    """
    success = resamples.mean(ours.success[:, step])
    enough = resamples.mean((ours.left[:, step] >= wanted.left).astype(np.float64))
    kept = resamples.ratio(ours.bits[:, step], paper.bits[:, step])
    return [
        Criterion(
            f"{name}: a single guess succeeds",
            f"at most {100 * wanted.success:g} %",
            percent(success, 3 if wanted.success < USUAL.success else 2),
            success.high <= wanted.success,
            f"{success.high / wanted.success:.2g} times the bar",
        ),
        Criterion(
            f"{name}: people with at least {wanted.left:,} left",
            f"at least {100 * wanted.many:g} %",
            percent(enough, 1),
            enough.low >= wanted.many,
            f"{100 * (enough.low - wanted.many):+.1f} points",
        ),
        Criterion(
            f"{name}: utility kept of what {PAPERS.name} has",
            f"at least {100 * wanted.kept:g} %",
            "cannot be said" if kept is None else percent(kept, 0),
            None if kept is None else kept.low >= wanted.kept,
            "" if kept is None else f"{100 * (kept.low - wanted.kept):+.0f} points",
        ),
    ]

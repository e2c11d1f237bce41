"""The criteria that Reticent has to meet."""

from typing import NamedTuple

import numpy as np

from agent.lab.attack.outcome import ENOUGH, Interval, Resamples, StrategyOutcome, between
from agent.lab.attack.strategies import ANSWERED, FAMILIES, PAPERS, SHIPPED
from agent.lab.attack.study import AttackStudy
from agent.lab.charts import Criterion
from agent.tradeoff.tables import Floats

EARLY, LATE = 50, 100  # requests after which they are judged
FEWER = 1 / 30  # of the guesses that succeed where nothing is remembered
LEDGER, PLANNED = OURS = ("with the ledger", "planned")
UTILITY, SUCCESS = "utility realised, bits a request", "success of a single guess, %"


def percent(shares: Interval, digits: int = 1) -> str:
    """Write shares as percentages."""
    mean, low, high = (f"{100 * each:.{digits}f}" for each in shares)
    return f"{mean} % [{low}, {high}]"


def number(interval: Interval, digits: int = 3) -> str:
    """Write numbers."""
    mean, low, high = (f"{each:.{digits}f}" for each in interval)
    return f"{mean} [{low}, {high}]"


def chance(value: float) -> str:
    """Write a share with two significant digits, as a percentage."""
    return f"{100 * value:.2g} %" if value < 1 / 10 else f"{100 * value:.0f} %"


def multiple(ratio: Interval) -> str:
    """Write ratios, those below 1 as fractions."""
    mean, low, high = (f"1/{1 / each:.3g}" if each < 1 else f"{each:.3g}" for each in ratio)
    return f"{mean} [{low}, {high}]"


class Targets(NamedTuple):
    """The most guesses that may succeed, people left, for how many of the people, utility kept."""

    success: float
    people: int
    many: float
    utility: float


USUAL = Targets(success=0.005, people=ENOUGH, many=0.95, utility=0.8)
WANTED = Targets(success=0.001, people=1000, many=0.95, utility=0.9)  # where everybody is listed


class FrontierLine(NamedTuple):
    """The points of one family: strategies that differ in lambda alone.

    ``utility``: float64, shape (points, N), each person's mean bits a request; ``success``: the
    same shape, above 0, the chance of a single guess at each person.
    """

    utility: Floats
    success: Floats


def ratios(
    line: FrontierLine, other: FrontierLine, resamples: Resamples
) -> list[tuple[float, Interval]]:
    """Compare the success on two lines: pairs of a utility and the ratio there, ascending.

    At the utility of each point of either line that the other reaches too: between points the
    logarithm of the success is linear. Empty where there is no overlap. In a resample in which a
    line ends before, its end counts.
    """
    reach = [each.utility.mean(axis=1) for each in (line, other)]
    low, high = max(each.min() for each in reach), min(each.max() for each in reach)
    knots = [each for each in (*line.utility, *other.utility) if low <= each.mean() <= high]
    compared = []
    for knot in sorted(knots, key=np.mean):
        (one, ones), (two, twos) = (_logs_at(each, knot, resamples) for each in (line, other))
        ratio = between(float(np.exp(one - two)), np.exp(ones - twos))
        compared.append((float(knot.mean()), ratio))
    return compared


def _logs_at(line: FrontierLine, knot: Floats, resamples: Resamples) -> tuple[float, Floats]:
    """Interpolate log success at a utility, over everybody and in each resample."""

    def log_at(utility: Floats, success: Floats, wanted: float) -> float:
        order = np.argsort(utility, kind="stable")
        return float(np.interp(wanted, utility[order], np.log(success[order])))

    utility, success = (resamples.means(each.T) for each in line)
    logs = map(log_at, utility, success, resamples.means(knot).tolist())
    mean = log_at(line.utility.mean(axis=1), line.success.mean(axis=1), float(knot.mean()))
    return mean, np.array([*logs])


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
    step = judged_at(study, LATE)
    wanted, paper = WANTED if study.material.everybody else USUAL, study.outcomes[PAPERS]
    balanced = [
        each if LATE in study.crowd.steps else each._replace(met=None)
        for strategy in (SHIPPED[1], ANSWERED[1])
        for each in promises(
            f"{strategy.name}, after {study.crowd.steps[step]} requests",
            wanted,
            (study.outcomes[strategy], paper),
            step,
            study.resamples,
        )
    ]
    return equality, *against, *balanced


def line_of(study: AttackStudy, family: str, step: int) -> FrontierLine:
    """Draw a family's line of the frontier after a step, by its place."""
    outcomes = [study.outcomes[strategy] for strategy in FAMILIES[family]]
    return FrontierLine(
        np.array([each.bits[:, step] for each in outcomes]),
        np.array([each.success[:, step] for each in outcomes]),
    )


def judged_at(study: AttackStudy, requests: int) -> int:
    """Find the step that a criterion is judged at: the last where it is not reached."""
    steps = study.crowd.steps
    return steps.index(requests) if requests in steps else len(steps) - 1


def _against(study: AttackStudy, family: str, other: str, most: float) -> Criterion:
    step = judged_at(study, EARLY)
    compared = ratios(line_of(study, family, step), line_of(study, other, step), study.resamples)
    what = f"{family} against {other}, at equal utility, after {study.crowd.steps[step]} requests"
    wanted = f"at most 1/{1 / most:g} of the success" if most < 1 else "not above it, surely"
    if not compared:
        return Criterion(what, wanted, "no overlap", None, "")

    def end_of(ratio: Interval) -> float:
        # Where the criterion is to be as good, what is surely worse is above.
        return ratio.high if most < 1 else ratio.low

    worst = max((ratio for _, ratio in compared), key=end_of)
    return Criterion(
        what,
        wanted,
        f"{multiple(worst)} at worst, from {compared[0][0]:.3f} to {compared[-1][0]:.3f} bits",
        end_of(worst) <= most if EARLY in study.crowd.steps else None,
        f"{end_of(worst) / most:.2g} times the bar",
    )


def promises(
    name: str,
    wanted: Targets,
    outcomes: tuple[StrategyOutcome, StrategyOutcome],
    step: int,
    resamples: Resamples,
) -> list[Criterion]:
    """Judge a strategy by three criteria after a step; the worse end of each interval counts.

    ``outcomes``: its own, and that of deciding without memory, of whose utility a share is kept.
    """
    ours, paper = outcomes
    success = resamples.mean(ours.success[:, step])
    enough = resamples.mean(ours.remaining[:, step] >= wanted.people)
    utility = resamples.ratio(ours.bits[:, step], paper.bits[:, step])
    return [
        Criterion(
            f"{name}: a single guess succeeds",
            f"at most {100 * wanted.success:g} %",
            percent(success, 3 if wanted.success < USUAL.success else 2),
            success.high <= wanted.success,
            f"{success.high / wanted.success:.2g} times the bar",
        ),
        Criterion(
            f"{name}: people with at least {wanted.people:,} left",
            f"at least {100 * wanted.many:g} %",
            percent(enough, 1),
            enough.low >= wanted.many,
            f"{100 * (enough.low - wanted.many):+.1f} points",
        ),
        Criterion(
            f"{name}: utility kept of what {PAPERS.name} has",
            f"at least {100 * wanted.utility:g} %",
            "cannot be said" if utility is None else percent(utility, 0),
            None if utility is None else utility.low >= wanted.utility,
            "" if utility is None else f"{100 * (utility.low - wanted.utility):+.0f} points",
        ),
    ]

"""The bars that Reticent has to meet: what was wanted, what was found, how far the two are."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from agent.lab.attack.figures import ENOUGH, figures
from agent.lab.attack.frontier import Line, ratios
from agent.lab.attack.ways import ANSWERED, PAPERS, SHIPPED
from agent.lab.attack.words import multiple, percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.lab.attack.frontier import Ratio
    from agent.lab.attack.study import Study
    from agent.lab.attack.ways import Way

EARLY, LATE = 50, 100  # requests after which they are judged
FEWER = 1 / 30  # of the guesses that succeed where nothing is remembered
RARELY, MANY, KEPT = 0.005, 0.95, 0.8  # of guesses, of people, of utility
BALANCED = (SHIPPED[1], ANSWERED[1])
LEDGER, PLANNED = OURS = ("with the ledger", "planned")


class Bar(NamedTuple):
    """What was wanted and what was found.

    ``met``: None where it cannot be said; ``by``: how far the end of the interval that counts is.
    """

    what: str
    wanted: str
    found: str
    met: bool | None
    by: str


def bars(study: Study) -> tuple[Bar, ...]:
    """Return every bar."""
    found = [_equality(study)]
    for family in OURS:
        found.append(_against(study, family, "without memory", FEWER))
        found.append(_against(study, family, "standing set", 1.0))
    found.append(_against(study, PLANNED, LEDGER, 1.0))
    for way in BALANCED:
        found += _balanced(study, way)
    return tuple(found)


def line_of(study: Study, family: str, step: int) -> Line:
    """Return a family's line of the frontier after a step, by its place."""
    return Line.of([study.outcomes[way] for way in study.families[family]], step)


def judged_at(study: Study, requests: int) -> int:
    """Return the place of the step that a bar is judged at: the last where it is not reached."""
    return study.steps.index(requests) if requests in study.steps else len(study.steps) - 1


def _equality(study: Study) -> Bar:
    found = study.reasoned
    away = found.compared - found.equal
    return Bar(
        "absence tells nothing, limits kept for everyone: who would have sent the same",
        "exactly those who agree with what was disclosed",
        f"the same people in {found.equal:,} of {found.compared:,} comparisons",
        away == 0,
        f"{away} differ",
    )


def _against(study: Study, family: str, other: str, most: float) -> Bar:
    step = judged_at(study, EARLY)
    found = ratios(line_of(study, family, step), line_of(study, other, step), study.resamples)
    what = f"{family} against {other}, at equal utility, after {study.steps[step]} requests"
    wanted = f"at most 1/{1 / most:g} of the success" if most < 1 else "not above it, surely"
    if not found:
        return Bar(what, wanted, "no overlap", None, "")
    worst = max(found, key=lambda each: _counts(each, most))
    end = _counts(worst, most)
    low, high = found[0].utility, found[-1].utility
    words = f"{multiple(worst.ratio)} at worst, from {low:.3f} to {high:.3f} bits"
    good = [_counts(each, most) <= most for each in found]
    words += "" if all(good) else _where("met", found, good)
    if most == 1:
        words += _where("surely below", found, [each.ratio.high < 1 for each in found])
    by = f"{end / most:.2g} times the bar"
    met = end <= most if EARLY in study.steps else None
    return Bar(what, wanted, words, met, by)


def _counts(found: Ratio, most: float) -> float:
    """Return the end that counts: where the bar is to be as good, what is surely worse is above."""
    return found.ratio.high if most < 1 else found.ratio.low


def _where(what: str, found: Sequence[Ratio], holds: Sequence[bool]) -> str:
    """Say where something holds: everywhere, or the longest stretch of utility; else nothing."""
    if all(holds):
        return f"; {what} everywhere"
    stretches: list[list[float]] = [[]]
    for each, held in zip(found, holds, strict=True):
        if held:
            stretches[-1].append(each.utility)
        else:
            stretches.append([])
    longest = max(stretches, key=lambda each: each[-1] - each[0] if each else -1.0)
    return f"; {what} from {longest[0]:.3f} to {longest[-1]:.3f}" if longest else ""


def _balanced(study: Study, way: Way) -> list[Bar]:
    step = judged_at(study, LATE)
    reached = LATE in study.steps
    found = figures(study.outcomes[way], step, study.resamples)
    kept = study.resamples.ratio(
        study.outcomes[way].bits[:, step], study.outcomes[PAPERS].bits[:, step]
    )
    after = f"{way.name}, after {study.steps[step]} requests"
    rows = [
        Bar(
            f"{after}: a single guess succeeds",
            f"at most {100 * RARELY:g} %",
            percent(found.success, 2),
            found.success.high <= RARELY,
            f"{found.success.high / RARELY:.2g} times the bar",
        ),
        Bar(
            f"{after}: people with at least {ENOUGH} left",
            f"at least {100 * MANY:g} %",
            percent(found.enough, 1),
            found.enough.low >= MANY,
            f"{100 * (found.enough.low - MANY):+.1f} points",
        ),
        Bar(
            f"{after}: utility kept of what {PAPERS.name} has",
            f"at least {100 * KEPT:g} %",
            "cannot be said" if kept is None else percent(kept, 0),
            None if kept is None else kept.low >= KEPT,
            "" if kept is None else f"{100 * (kept.low - KEPT):+.0f} points",
        ),
    ]
    return [each if reached else each._replace(met=None) for each in rows]

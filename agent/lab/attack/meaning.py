"""What the attack means, in plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.lab.attack.figures import figures
from agent.lab.attack.ways import ANSWERED, EVERYTHING, PAPERS
from agent.lab.attack.words import chance

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agent.lab.attack.bars import Bar
    from agent.lab.attack.figures import Figures
    from agent.lab.attack.reasoned import Withheld
    from agent.lab.attack.study import Study
    from agent.lab.attack.ways import Way

MANY = 10  # times, without a decimal
SEEN = (
    "Somebody who knows how Reticent works, sees all that a site is told, and has a list of "
    "{listed:,} people with all their facts, guesses who you are. Before you say anything a guess "
    "is right {blind} of the time; if you say everything, {everything}."
)
FORGETS = (
    "An agent that picks the few most useful facts for each request, and forgets what it said "
    "before, does not protect you: after {requests} requests a guess is right {forgets} of the "
    "time, though a request carries only {told:.1f} facts."
)
OURS = (
    "Reticent remembers. With its balanced preset, and yes to what it asks, a guess is right "
    "{ours} of the time after as many requests, {times}, and of 100 people 95 have at least "
    "{left:,} others who cannot be told from them. Of what the forgetful agent brings in better "
    "results it keeps {kept}."
)
ABSENCE = (
    "What it does not say gives nothing away: in {equal:,} of {compared:,} comparisons the people "
    "whose agent would have sent the same were exactly those who agree with what was said."
)
ALONE = (
    "For that, limits are kept for everyone who looks like you. Kept for you alone (protect = "
    '"me", which no preset has), what you leave out {speaks}.'
)
SPEAKS = (
    "speaks: with {way}, {agreeing:,} people agreed with what somebody with rare facts said, and "
    "{producing:,} of them would have said it"
)
SILENT = "gave nothing away here either, though it was looked for with the rarest facts"
MET = "Of {bars} bars below, {met} are met and {missed} are not{unsaid}.{few}"
FEW = " {people} people leave wide intervals, of which the worse end counts: judge by {enough:,}."
ENOUGH = 1000  # people of figures that are published


def meaning(study: Study, judged: Sequence[Bar]) -> tuple[str, ...]:
    """Return what a reader should know first, a paragraph each."""
    people, requests = len(study.crowd.codes), study.options.requests
    forgets, ours, everything = (_last(study, way) for way in (PAPERS, ANSWERED[1], EVERYTHING))
    step = len(study.steps) - 1
    kept = study.resamples.ratio(
        study.outcomes[ANSWERED[1]].bits[:, step], study.outcomes[PAPERS].bits[:, step]
    )
    return (
        SEEN.format(
            listed=people, blind=chance(1 / people), everything=chance(everything.success.mean)
        ),
        FORGETS.format(requests=requests, forgets=chance(forgets.success.mean), told=forgets.told),
        OURS.format(
            ours=chance(ours.success.mean),
            times=_times(forgets.success.mean / ours.success.mean),
            left=ours.left[1] - 1,
            kept="a share that cannot be said" if kept is None else f"{100 * kept.mean:.0f} %",
        ),
        ABSENCE.format(equal=study.reasoned.equal, compared=study.reasoned.compared),
        _alone(study.reasoned.withheld),
        _met([each.met for each in judged], len(study.crowd.people)),
    )


def _last(study: Study, way: Way) -> Figures:
    return figures(study.outcomes[way], len(study.steps) - 1, study.resamples)


def _times(ratio: float) -> str:
    if ratio < 1:
        return f"{1 / ratio:.1f} times as often"
    return f"{ratio:.{0 if ratio >= MANY else 1}f} times less often"


def _alone(withheld: Mapping[Way, Withheld]) -> str:
    way, most = max(withheld.items(), key=lambda each: each[1].bits.max())
    words = SILENT
    if most.bits.max() > 0:
        words = SPEAKS.format(way=way.name, agreeing=most.agreeing, producing=most.producing)
    return ALONE.format(speaks=words)


def _met(found: Sequence[bool | None], people: int) -> str:
    unsaid = found.count(None)
    words = f", and of {unsaid} it cannot be said" if unsaid else ""
    return MET.format(
        bars=len(found),
        met=found.count(True),
        missed=found.count(False),
        unsaid=words,
        few=FEW.format(people=people, enough=ENOUGH) if people < ENOUGH else "",
    )

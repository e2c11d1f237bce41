"""report.md of the attack: what it means, then figures, tables, bars and definitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np

from agent.lab.attack.bars import NONE, Bar, chance, milliseconds, multiple, number, percent, table
from agent.lab.attack.charts import note_of, source_of
from agent.lab.attack.outcome import QUANTILES, Figures, Outcome, Resamples, figures
from agent.lab.attack.services import Trial
from agent.lab.attack.study import SHORT, Study, Withheld
from agent.lab.attack.ways import ANSWERED, EVERYTHING, EXACT, PAPERS, SINGLE, Way
from agent.lab.attack.workers import Compared
from agent.lab.charts import Chart

DEFINITIONS = """\
- **Halves.** The model is made from one half of the users. Streams of requests, and the
  adversary's list, are of the other half; the person who is looked for is on the list. Every
  strategy is shown the same people and the same requests. Exact search, which is slow, is shown
  only the first of them, as is the local search beside it; intervals there are of those people.
- **Success of a single guess.** The mean over people of 1 / (people of the list who agree with
  everything that the recipient holds): the chance of a guess, not a draw of one.
- **People left.** How many of the list agree; of the people at most 1, 5, 50 % have fewer.
- **Bits realised.** The mean over people of the mean over their requests of log2 P(x|.) - log2
  p0(x), x what the person chose, P by one service that sees the request alone and remembers
  nobody. "The service" says how it was chosen.
- **Guarded.** gender and race, where there are such: bits towards the true value, and bits of
  entropy that went, among those of the list who state it. Where it was told, that counts too.
- **Intervals.** 95 % of resamples of the people, the same for every strategy: differences and
  ratios are paired. Success is judged by the upper end, utility by the lower.
- **At equal utility.** Along each line the logarithm of success is linear between points; two
  lines are compared where both reach, at every point of either, and the worst counts.
- **Lines.** In the families limits are off, everything may leave, and lambda alone differs.
  Planned is one of several ways to look ahead that were tried; those that lost are not in the
  program, and not here. How much it counts what was not asked yet was settled on the half that the
  model is of, halved again, and looked at on 600 people of the other; how far it draws a query
  towards the mean of all, by how much queries differ beyond chance (a model's own rows: the two
  weigh the same at 50 to 150 rows, here and in the synthetic log), times two to three, as the best
  of many sets is looked for.
- **Presets.** As shipped. Their numbers were settled with this study on people of the developer
  survey's other half: there the bars of balanced are no test of them. Nobody answers what they ask
  about, so that it is not told; or, as `yes to all`, everybody says yes.
- **Assumed.** Values do not change; the recipient links all requests of a person and remembers
  every value; the requests themselves, addresses and cookies tell nothing here, though in life
  they do; a person's requests are drawn from what that person answered or chose.
- **Not charged.** Attributes of the request, such as the hour, are told like others, and the
  service uses them; but nobody is recognised by them, though values that repeat may reveal much."""
SETTLED = """\
The choice of the service is not from the training half alone. The sets of attributes that services
practise on, and are judged by, are a mixture: 60 % beginnings of what greedy search adds, 30 % any
attributes, 10 % whole groups or everything. This mixture, and the grid of β of the counts, were
settled after looking at what the strategies told of 200 people of the developer survey's other
half. So which service is best here was partly known; all strategies have the same."""
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
TITLE = "What an attacker gains from watching Reticent"
WORDS = {True: "met", False: "not met", None: "cannot be said"}
LEFT = "/".join(f"{100 * each:g}" for each in QUANTILES)
HEAD = (
    *("told", "a guess succeeds", f"people left: {LEFT} %", "bits realised", "reciprocal rank"),
    *("attributes", "guarded: bits, entropy", "ms"),
)
BESIDE = (
    "For the first {few:,} of the {people:,} people, in the order drawn, and a request at a time: "
    "what lasts of a plan is not found by this search. With exact search in place of local search "
    "a guess succeeds {ratio} times as often, and a request realises {more} bits more."
)
ASKED_TOO = (
    "In each state that exact search came to, local search was asked as well: it chose the same "
    "set in {same:,} of {requests:,} requests{missed}. What exact search chose is proven best in "
    "{proven:,}, whatever F looks like{unproven}."
)
UNPROVEN = "; in the others it ended without that proof"
MISSED = ", and elsewhere one with {mean:.4f} bits of F less on average, {most:.4f} at most"


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


def page(study: Study, charts: Sequence[Chart], judged: Sequence[Bar]) -> str:
    """Return the page in Markdown; the pictures lie beside it by name."""
    note = note_of(study)
    lines = [f"# {TITLE}", "", note, "", "## What this means", ""]
    for each in meaning(study, judged):
        lines += [each, ""]
    for chart in charts:
        lines += [f"## {chart.title}", "", f"![{chart.title}]({chart.name}.png)", ""]
        lines += [f"{source_of(study)} [SVG]({chart.name}.svg), [numbers]({chart.name}.csv)", ""]
    sections = [each(study) for each in (_ways, _others, _exactly, _services)]
    return "\n".join(chain(lines, _bars(study, judged), *sections))


def _bars(study: Study, judged: Sequence[Bar]) -> list[str]:
    rows = [(each.what, each.wanted, each.found, WORDS[each.met], each.by) for each in judged]
    head = ("bar", "wanted", "found", "", "the end that counts is")
    return ["## The bars", "", source_of(study), "", *table(head, rows), ""]


def _ways(study: Study) -> list[str]:
    last = len(study.steps) - 1
    rows = [_row(*each, last, study.resamples) for each in study.outcomes.items()]
    title = f"## Every strategy, after {study.steps[last]} requests"
    numbers = "[All figures, after each number of requests](attack.csv)"
    return [title, "", f"{source_of(study)} {numbers}", "", *table(HEAD, rows), ""]


def _row(way: Way, outcome: Outcome, step: int, resamples: Resamples) -> Sequence[str]:
    found = figures(outcome, step, resamples)
    return (
        way.name,
        percent(found.success, 2),
        " / ".join(f"{each:,}" for each in found.left),
        number(found.bits),
        f"{found.reciprocal.mean:.3f}",
        f"{found.told:.2f}",
        _guarded(found),
        milliseconds(outcome.seconds),
    )


def _guarded(found: Figures) -> str:
    if found.learned is None or found.doubt is None:
        return NONE
    return f"{found.learned.mean:.2f}, {found.doubt.mean:.2f}"


def _others(study: Study) -> list[str]:
    """Return what other adversaries make of it."""
    sides = [
        (each.way.name, each.adversary, percent(study.resamples.mean(1 / each.left[:, -1]), 2))
        for each in study.sides
    ]
    withheld = [
        (
            *(way.name, f"{each.bits.mean():.2f}", f"{each.bits.max():.2f}"),
            *(f"{each.agreeing:,}", f"{each.producing:,}"),
        )
        for way, each in study.reasoned.withheld.items()
    ]
    head = ("limits kept for the user alone", "bits, mean", "most", "there agree", "would send it")
    return [
        *("## Other adversaries", "", source_of(study), ""),
        *(*table(("told", "an adversary who", "a guess succeeds"), sides), ""),
        *(_absent(study), "", *table(head, withheld), ""),
    ]


def _absent(study: Study) -> str:
    """Return what is in the table of what absence gives."""
    found = next(iter(study.reasoned.withheld.values()))
    requests = min(SHORT, study.options.requests)
    return (
        "What is left out tells, in bits: log2 of how many agree over how many would have sent it. "
        f"Of each preset for the {len(found.bits)} of {len(study.crowd.people):,} people to whom "
        f"it leaves the fewest others, not people at random; after {requests} requests, on a list "
        f"of {found.listed:,}."
    )


def _exactly(study: Study) -> list[str]:
    """Return what exact search in place of local search changes."""
    last, found = len(study.steps) - 1, study.exactly
    local, exact = found.outcomes[SINGLE], found.outcomes[EXACT]
    ratio = found.resamples.ratio(exact.success[:, last], local.success[:, last])
    more = found.resamples.mean(exact.bits[:, last] - local.bits[:, last])
    words = BESIDE.format(
        few=len(exact.left),
        people=len(study.crowd.people),
        ratio=NONE if ratio is None else multiple(ratio),
        more=number(more, 4),
    )
    rows = [_row(each, found.outcomes[each], last, found.resamples) for each in (SINGLE, EXACT)]
    return [
        *("## Exact search", "", source_of(study), "", words, "", *table(HEAD, rows), ""),
        *(_compared(found.compared), ""),
    ]


def _compared(requests: Sequence[Compared]) -> str:
    """Return how local search does in the states that exact search came to."""
    gained = [each.gained for each in requests if not each.same]
    proven = sum(each.proven for each in requests)
    missed = MISSED.format(mean=np.mean(gained), most=max(gained)) if gained else ""
    return ASKED_TOO.format(
        same=len(requests) - len(gained),
        requests=len(requests),
        missed=missed,
        proven=proven,
        unproven=UNPROVEN if proven < len(requests) else "",
    )


def _services(study: Study) -> list[str]:
    rows = [
        (each.recipe.kind, each.recipe.setting, f"{each.bits:.4f}", mark)
        for each in study.trials
        for mark in ["chosen" if each == study.service else ""]
    ]
    head = ("service", "with", "bits a request, unseen users", "")
    return [
        *("## Definitions", "", source_of(study), "", _events(study), DEFINITIONS, ""),
        *("## The service", "", source_of(study), "", SETTLED, "", _chosen(study), ""),
        *(*table(head, rows), ""),
    ]


def _events(study: Study) -> str:
    """Return how much of what people asked is in the streams."""
    held = study.material.others
    ranked = len(held.query)
    if not held.unranked:
        return f"- **Requests.** Drawn from all {ranked:,} events of the other half."
    return (
        f"- **Requests.** Drawn from {ranked:,} of the {ranked + held.unranked:,} events of the "
        "other half: in the others something was asked or chosen that the model does not have."
    )


def _chosen(study: Study) -> str:
    """Return which service was chosen, and what the best of each other kind is worth."""
    own = study.service
    best: dict[str, Trial] = {}
    for each in sorted(study.trials, key=lambda trial: trial.bits):
        best[each.recipe.kind] = each
    others = " and ".join(
        f"{each.bits:.4f} of {kind} ({each.recipe.setting})"
        for kind, each in best.items()
        if kind != own.recipe.kind
    )
    return (
        f"Of these, cross-validation over users of the training half chose {own.recipe.kind} "
        f"({own.recipe.setting}): {own.bits:.4f} bits a request, against {others}."
    )

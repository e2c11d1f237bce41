"""report.md of the attack: what it means first, then figures, tables, bars and definitions."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from agent.lab.attack.definitions import DEFINITIONS, SETTLED
from agent.lab.attack.drawn import note_of, source_of
from agent.lab.attack.figures import QUANTILES, Figures, figures
from agent.lab.attack.meaning import meaning
from agent.lab.attack.reasoned import SHORT
from agent.lab.attack.ways import EXACT, SINGLE
from agent.lab.attack.words import NONE, milliseconds, multiple, number, percent, table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agent.lab.attack.bars import Bar
    from agent.lab.attack.intervals import Resamples
    from agent.lab.attack.outcome import Outcome
    from agent.lab.attack.reasoned import Withheld
    from agent.lab.attack.searched import Compared
    from agent.lab.attack.service import Trial
    from agent.lab.attack.study import Study
    from agent.lab.attack.ways import Way
    from agent.lab.charts import Chart

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
    found = study.reasoned
    head = ("bits, mean", "most", "there agree", "would send it")
    alone = table(("limits kept for the user alone", *head), _told(found.withheld))
    unset = table(("what was not said is not set", *head), _told(found.unset))
    return [
        *("## Other adversaries", "", source_of(study), ""),
        *(*table(("told", "an adversary who", "a guess succeeds"), sides), ""),
        *(_absent(study), "", *alone, "", *unset, ""),
    ]


def _told(withheld: Mapping[Way, Withheld]) -> list[tuple[str, ...]]:
    """Return what absence tells, a row a way."""
    return [
        (
            *(way.name, f"{each.bits.mean():.2f}", f"{each.bits.max():.2f}"),
            *(f"{each.agreeing:,}", f"{each.producing:,}"),
        )
        for way, each in withheld.items()
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

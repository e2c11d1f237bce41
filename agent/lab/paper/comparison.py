"""Figs. 11 and 12: the optimised set beside sets picked by hand, and running times of search."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import comb

import numpy as np

from agent.lab.charts import Chart, Claim, Panel, Series, StudyFinding
from agent.lab.paper.subject import (
    EXHAUSTIVE_SIZE,
    MINUTES,
    Places,
    Subject,
    claim,
    doubted,
    fresh,
    groups_of,
    prose,
)
from agent.lab.paper.survey import OUTCOMES
from agent.tradeoff import maximise
from agent.tradeoff.study import DisclosureObjective, eager_pass, greedy_order, lazy_pass, union

OPTIMISED = "optimised"
SECOND = "search statistics"  # of the scores in 7.3
STATED = {each.name: each for each in OUTCOMES}
FITTED = (SECOND, "topics")  # in a synthetic log, under the paper's estimator
ADDRESSES = {"whole address": "zip code", "half address": "city"}  # and what stands for them
PROBES = 12  # sets that are evaluated to estimate what one costs
YEAR = 365.25 * 24 * 3600
GREEDY, LAZY_GREEDY, LAZY_LOCAL = "greedy", "lazy greedy", "lazy local"
RUNS: Mapping[str, Callable[[DisclosureObjective], int]] = {
    GREEDY: lambda objective: greedy_order(objective, eager_pass)[1],
    LAZY_GREEDY: lambda objective: greedy_order(objective, lazy_pass)[1],
    "local search": lambda objective: maximise(objective, "ls", restarts=0).evaluations,
    LAZY_LOCAL: lambda objective: maximise(objective, "lls", restarts=0).evaluations,
}


@dataclass(frozen=True, slots=True)
class Scored:
    """A set with the terms of F, in bits; ``identifiability`` in its own unit, above nothing's."""

    name: str
    attributes: tuple[str, ...]
    utility: float
    cost: float
    identifiability: float
    meaning: str

    @property
    def objective(self) -> float:
        """F, in bits."""
        return self.utility - self.cost


def heuristics(subject: Subject, trade_off: float) -> tuple[Scored, ...]:
    """Return the set that LLS finds at lambda, then the groups of `groups_of`."""
    objective = subject.objective(trade_off)
    sets = [(OPTIMISED, maximise(objective, "lls").mask, "by LLS"), *groups_of(subject.model)]
    terms = (objective.utility, objective.cost, objective.identifiability_cost)
    found = []
    for name, mask, meaning in sets:
        utility, cost, identifiability = (each(mask) for each in terms)
        of = subject.names(mask)
        found.append(Scored(name, of, utility, cost, identifiability, meaning))
    return tuple(found)


def addresses(places: Places, trade_off: float) -> tuple[Scored, ...]:
    """Return the whole and the half address, as far as a log tells them; no sensitivity."""
    return tuple(
        Scored(
            name,
            (precision,),
            places.utilities[precision],
            trade_off * places.costs[precision],
            places.costs[precision],
            f"the {precision} that it leads to, for the log has no addresses",
        )
        for name, precision in ADDRESSES.items()
    )


def heuristics_finding(
    scores: Mapping[str, tuple[Scored, ...]], trade_off: float, note: str, *, fitted: bool
) -> StudyFinding:
    """Return Fig. 11; ``scores``: by estimator, the paper's first.

    ``fitted``: whether the data was made so that the paper's estimator finds the sets of FITTED so.
    """
    panels, claims = [], []
    for number, (name, sets) in enumerate(scores.items()):
        bars = (
            Series.ranked("objective F", [each.objective for each in sets]),
            Series.ranked("utility U", [each.utility for each in sets]),
            Series.ranked("cost, weighed by λ", [each.cost for each in sets]),
        )
        ticks = tuple(each.name for each in sets)
        panels.append(Panel(f"estimator {name}", "", "bits", bars, ticks=ticks))
        claims += _claims(name, sets, FITTED if fitted and not number else ())
    title = f"Fig. 11: the optimised set and heuristics, λ = {trade_off:g}"
    first = next(iter(scores.values()))
    text = prose(
        "best-sets",
        sets=" ".join(
            f"{each.name}: {each.meaning} (attributes: {len(each.attributes)})." for each in first
        ),
        best="; ".join(f"{name}: {', '.join(each[0].attributes)}" for name, each in scores.items()),
        there=", ".join(STATED[OPTIMISED].labels),
    )
    chart = Chart("fig-11-heuristics", title, note, tuple(panels))
    return StudyFinding(chart, tuple(claims), (text, prose("fitted-sets")) if fitted else (text,))


def _claims(name: str, scores: tuple[Scored, ...], fitted: Sequence[str]) -> list[Claim]:
    """Compare each score with the paper's, and say whether the same set wins.

    ``fitted``: sets whose scores are no evidence.
    """
    best, rest, there = scores[0], scores[1:], STATED[OPTIMISED]
    second = max(each.objective for each in rest)
    beaten = best.objective >= second
    found = {"best": best, "count": len(best.attributes), "second": second, "there": there}
    stops = "" if beaten else prose("stops")
    claims = [claim("optimised", beaten, name=name, stops=stops, **found)]
    known = [each for each in scores if each.name in STATED]
    for each in known[1:]:
        there = STATED[each.name]
        same = (there.score < 0) == (each.objective < 0) and each.objective < best.objective
        utility = "less than the optimised" if there.bound else there.utility
        less = "less" if each.utility < best.utility else "not less"
        of = {"there": there, "utility": utility, "less": less}
        scored = claim("score", same, name=name, scored=each, **of)
        claims.append(doubted(scored) if each.name in fitted else scored)
    if len(known) == len(STATED):
        ranked = [each.name for each in sorted(known, key=lambda each: -each.objective)]
        ranks = {"there": ", ".join(STATED), "here": ", ".join(ranked)}
        claims.append(claim("ranking", ranked == [*STATED], name=name, **ranks))
    runner_up = next((each for each in rest if each.name == SECOND), best)
    for each in rest:
        if each.name in ADDRESSES:
            others = {"best": best, "second": runner_up}
            worse = each.objective < runner_up.objective
            claims.append(claim("address", worse, name=name, scored=each, **others))
    return claims


@dataclass(frozen=True, slots=True)
class Running:
    """Seconds and evaluations of each of RUNS, from an empty memory.

    ``sets``: of at most EXHAUSTIVE_SIZE attributes, not empty; ``each``: seconds for one of them.
    """

    seconds: Mapping[str, float]
    evaluations: Mapping[str, int]
    sets: int
    each: float

    @property
    def years(self) -> float:
        """What trying all these sets would take."""
        return self.sets * self.each / YEAR


def running(subject: Subject, trade_off: float, seed: int, clock: Callable[[], float]) -> Running:
    """Return the times at lambda; ``clock``: seconds, of this process alone.

    Greedy is the full order over all attributes. Sets for exhaustive search are drawn at random,
    each size as often as there are sets of it, and evaluated from an empty memory.
    """
    seconds, evaluations = {}, {}
    for name, run in RUNS.items():
        objective = fresh(subject).objective(trade_off)
        start = clock()
        evaluations[name] = run(objective)
        seconds[name] = clock() - start
    count = len(subject.model.attributes)
    sizes = [comb(count, each) for each in range(1, min(EXHAUSTIVE_SIZE, count) + 1)]
    draw, shares = np.random.default_rng(seed), np.array(sizes, dtype=np.float64)
    picked = draw.choice(len(sizes), PROBES, p=shares / shares.sum()) + 1
    sets = [union(draw.permutation(count)[:size].tolist()) for size in picked.tolist()]
    objective = fresh(subject).objective(trade_off)
    start = clock()
    for mask in sets:
        objective.value(mask)
    return Running(seconds, evaluations, sum(sizes), (clock() - start) / PROBES)


def running_finding(runs: Mapping[str, Running], note: str) -> StudyFinding:
    """Return Fig. 12; ``runs``: by estimator, the paper's first."""
    seconds = [Series.ranked(name, each.seconds.values()) for name, each in runs.items()]
    counts = [Series.ranked(name, each.evaluations.values()) for name, each in runs.items()]
    panels = (
        Panel("running time", "", "seconds of processor time", tuple(seconds), ticks=tuple(RUNS)),
        Panel("sets looked at", "", "evaluations of F", tuple(counts), ticks=tuple(RUNS)),
    )
    chart = Chart("fig-12-running", "Fig. 12: running times", note, panels)
    factor, claims = MINUTES[0] / MINUTES[1], []
    for name, run in runs.items():
        times = run.evaluations[GREEDY] / run.evaluations[LAZY_GREEDY]
        local, greedy = run.seconds[LAZY_LOCAL], run.seconds[LAZY_GREEDY]
        long = run.years * YEAR > 1000 * max(local, 1e-9)
        claims += [
            claim("lazy", times >= factor * 0.8, name=name, run=run, factor=factor, times=times),
            claim("local-search", local <= 2 * greedy, name=name, run=run),
            claim("exhaustive", long, name=name, run=run, milliseconds=run.each * 1000),
        ]
    return StudyFinding(chart, tuple(claims))

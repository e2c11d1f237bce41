"""Figs. 11 and 12: the optimised set beside sets picked by hand, and running times of search."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import comb

import numpy as np

from agent.lab.charts import Chart, Claim, Finding, Panel, Series
from agent.lab.paper import published
from agent.lab.paper.subject import Places, Subject, fresh, groups_of
from agent.lab.questions.survey import OUTCOMES
from agent.tradeoff.local_search import eager_pass, lazy_pass
from agent.tradeoff.objective import Objective
from agent.tradeoff.search import greedy_order, search
from agent.tradeoff.sets import union

OPTIMISED = "optimised"
SECOND = "search statistics"  # of the scores in 7.3
STATED = {each.name: each for each in OUTCOMES}
FITTED = (SECOND, "topics")  # in a synthetic log, under the paper's estimator
ADDRESSES = {"whole address": "zip code", "half address": "city"}  # and what stands for them
PROBES = 12  # sets that are evaluated to estimate what one costs
YEAR = 365.25 * 24 * 3600
GREEDY, LAZY_GREEDY, LAZY_LOCAL = "greedy", "lazy greedy", "lazy local"
RUNS: Mapping[str, Callable[[Objective], int]] = {
    GREEDY: lambda objective: greedy_order(objective, eager_pass)[1],
    LAZY_GREEDY: lambda objective: greedy_order(objective, lazy_pass)[1],
    "local search": lambda objective: search(objective, "ls").evaluations,
    LAZY_LOCAL: lambda objective: search(objective, "lls").evaluations,
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
    sets = [(OPTIMISED, search(objective, "lls").mask, "by LLS"), *groups_of(subject.model)]
    return tuple(
        Scored(
            name,
            subject.names(mask),
            objective.utility(mask),
            objective.cost(mask),
            objective.identifiability_cost(mask),
            meaning,
        )
        for name, mask, meaning in sets
    )


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
) -> Finding:
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
    text = [f"{each.name}: {each.meaning} (attributes: {len(each.attributes)})." for each in first]
    best = "; ".join(f"{name}: {', '.join(each[0].attributes)}" for name, each in scores.items())
    there = ", ".join(STATED[OPTIMISED].labels)
    text.append(f"The optimised sets are {best}. The paper's: {there}.")
    return Finding(
        Chart("fig-11-heuristics", title, note, tuple(panels)),
        tuple(claims),
        (" ".join(text), *([published.FITTED_SETS] if fitted else [])),
    )


def _claims(name: str, scores: tuple[Scored, ...], doubted: Sequence[str]) -> list[Claim]:
    """Compare each score with the paper's, and say whether the same set wins.

    ``doubted``: sets whose scores are no evidence.
    """
    best, rest, there = scores[0], scores[1:], STATED[OPTIMISED]
    runner_up = max(each.objective for each in rest)
    beaten = best.objective >= runner_up
    claims = [
        Claim(
            "7.3",
            f"the optimised set has the best score, {there.score} bits, with a utility of "
            f"about {there.utility}",
            f"{name}: {best.objective:.3f} bits, utility {best.utility:.3f}, attributes: "
            f"{len(best.attributes)}; the best heuristic has {runner_up:.3f}",
            beaten,
            "same where no heuristic is better"
            + ("" if beaten else "; local search stops where no single attribute helps"),
        )
    ]
    known = [each for each in scores if each.name in STATED]
    for each in rest:
        if each in known:
            claim = _score(name, each, best)
            claims.append(published.doubted(claim) if each.name in doubted else claim)
    if len(known) == len(STATED):
        found = [each.name for each in sorted(known, key=lambda each: -each.objective)]
        claims.append(
            Claim(
                "7.3",
                f"by score: {', '.join(STATED)}",
                f"{name}: {', '.join(found)}",
                found == [*STATED],
                "same where the order is",
            )
        )
    second = next((each for each in rest if each.name == SECOND), best)
    given = [each for each in rest if each.name in ADDRESSES]
    return [*claims, *(_address(name, each, best, second) for each in given)]


def _score(name: str, scored: Scored, best: Scored) -> Claim:
    there = STATED[scored.name]
    won = "less than the optimised" if there.bound else f"{there.utility}"
    less = "less" if scored.utility < best.utility else "not less"
    return Claim(
        "7.3",
        f"{scored.name}: score {there.score}, utility {won}",
        f"{name}: score {scored.objective:.3f}, utility {scored.utility:.3f} ({less} than the "
        f"optimised), identifiability {scored.identifiability:.3f}",
        (there.score < 0) == (scored.objective < 0) and scored.objective < best.objective,
        "same where the sign is the same and the optimised set is better; the sign depends on how "
        "many people are alone with such an answer",
    )


def _address(name: str, scored: Scored, best: Scored, second: Scored) -> Claim:
    """Say whether an address is worse than what the paper has second."""
    return Claim(
        "7.3",
        "the address, even its first half, is quite identifying and so has a very high cost",
        f"{name}: {scored.name} costs {scored.cost:.3f} bits, the optimised set {best.cost:.3f}; "
        f"score {scored.objective:.3f}, {second.name} {second.objective:.3f}",
        scored.objective < second.objective,
        f"same where it scores less than {second.name}, which are second there; the first rule "
        "wanted it to cost more than the optimised set. No sensitivity is charged, and what stands "
        f"for it is coarser: {scored.meaning}",
    )


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
    sizes = [comb(count, each) for each in range(1, min(published.EXHAUSTIVE_SIZE, count) + 1)]
    draw, shares = np.random.default_rng(seed), np.array(sizes, dtype=np.float64)
    picked = draw.choice(len(sizes), PROBES, p=shares / shares.sum()) + 1
    sets = [union(draw.permutation(count)[:size].tolist()) for size in picked.tolist()]
    objective = fresh(subject).objective(trade_off)
    start = clock()
    for mask in sets:
        objective.value(mask)
    return Running(seconds, evaluations, sum(sizes), (clock() - start) / PROBES)


def running_finding(runs: Mapping[str, Running], note: str) -> Finding:
    """Return Fig. 12; ``runs``: by estimator, the paper's first."""
    seconds = [Series.ranked(name, each.seconds.values()) for name, each in runs.items()]
    counts = [Series.ranked(name, each.evaluations.values()) for name, each in runs.items()]
    panels = (
        Panel("running time", "", "seconds of processor time", tuple(seconds), ticks=tuple(RUNS)),
        Panel("sets looked at", "", "evaluations of F", tuple(counts), ticks=tuple(RUNS)),
    )
    chart = Chart("fig-12-running", "Fig. 12: running times", note, panels)
    claims = [claim for name, each in runs.items() for claim in _running_claims(name, each)]
    return Finding(chart, tuple(claims))


def _running_claims(name: str, run: Running) -> list[Claim]:
    eager, lazy = run.evaluations[GREEDY], run.evaluations[LAZY_GREEDY]
    slow, fast = published.MINUTES
    local, greedy = run.seconds[LAZY_LOCAL], run.seconds[LAZY_GREEDY]
    return [
        Claim(
            "7.3",
            f"lazy evaluation takes {slow} minutes to {fast}: {slow / fast:.2f} times fewer",
            f"{name}: {eager} evaluations to {lazy}, {eager / lazy:.2f} times fewer; "
            f"{run.seconds[GREEDY]:.1f} s to {greedy:.1f} s",
            eager / lazy >= slow / fast * 0.8,
            "same where evaluations shrink by at least four fifths of the paper's factor; seconds "
            "may shrink by less, as neighbours of a set are evaluated together here",
        ),
        Claim(
            "7.3",
            "local search is not much slower than greedy",
            f"{name}: {local:.1f} s, the full greedy order {greedy:.1f} s",
            local <= 2 * greedy,
            "same where it takes at most twice as long",
        ),
        Claim(
            "7.3",
            f"exhaustive search of sets up to {published.EXHAUSTIVE_SIZE} would take "
            f"{published.EXHAUSTIVE_YEARS} years",
            f"{name}: {run.sets:,} sets at {run.each * 1000:.0f} ms, {run.years:.2g} years",
            run.years * YEAR > 1000 * max(local, 1e-9),
            "same where it takes a thousand times as long as local search; years depend on the "
            "machine, on the rows, and on how many attributes there are",
        ),
    ]

"""Figs. 11 and 12, sets picked by hand and running times; and whether U and C have the shape."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import comb
from typing import NamedTuple

import numpy as np

from agent.lab.charts import Chart, Criterion, Panel, Series, StudyFinding
from agent.lab.paper.orders import METRICS
from agent.lab.paper.subject import STATED, Subject, claim, cost_alone, groups_of, names_of, prose
from agent.model.model import Model
from agent.tradeoff import maximise, members, study
from agent.tradeoff.local_search import eager_pass, lazy_pass
from agent.tradeoff.objective import DisclosureObjective
from agent.tradeoff.search import greedy_order
from agent.tradeoff.tables import union

OPTIMISED = "optimised"
FACTOR = 522.1 / 225.7  # 7.3: minutes without lazy evaluation, over those with it
EXHAUSTIVE_SIZE = 8  # attributes of the largest set that exhaustive search tries (7.3)
PROBES = 12  # sets that are evaluated to estimate what one costs
YEAR = 365.25 * 24 * 3600
LARGEST = 10  # attributes in a set: a disclosure has few
COST_TRIPLES, UTILITY_TRIPLES = 2000, 60
FEW = 0.05  # of the triples: so few may violate
GREEDY, LAZY_GREEDY, LAZY_LOCAL = "greedy", "lazy greedy", "lazy local"
RUNS: Mapping[str, Callable[[DisclosureObjective], int]] = {
    GREEDY: lambda objective: greedy_order(objective, eager_pass)[1],
    LAZY_GREEDY: lambda objective: greedy_order(objective, lazy_pass)[1],
    "local search": lambda objective: maximise(objective, "ls", again=False).evaluations,
    LAZY_LOCAL: lambda objective: maximise(objective, "lls", again=False).evaluations,
}


class Scored(NamedTuple):
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
    """Score the set that LLS finds at lambda, then the groups of `groups_of`."""
    model, objective = subject.model, subject.objective(trade_off)
    sets = [(OPTIMISED, maximise(objective, "lls").mask, "by LLS"), *groups_of(model)]
    terms = (objective.utility, objective.cost, objective.identifiability_cost)
    return tuple(
        Scored._make(
            (name, names_of(model, members(mask)), *(term(mask) for term in terms), meaning)
        )
        for name, mask, meaning in sets
    )


def heuristics_finding(
    scores: Mapping[str, tuple[Scored, ...]], trade_off: float, note: str
) -> StudyFinding:
    """Draw Fig. 11; ``scores``: by estimator, the paper's first."""
    panels, claims = [], []
    for name, sets in scores.items():
        bars = (
            Series.ranked("objective F", [each.objective for each in sets]),
            Series.ranked("utility U", [each.utility for each in sets]),
            Series.ranked("cost, weighed by λ", [each.cost for each in sets]),
        )
        ticks = tuple(each.name for each in sets)
        panels.append(Panel(f"estimator {name}", "", "bits", bars, ticks=ticks))
        claims += _claims(name, sets)
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
    return StudyFinding(chart, tuple(claims), (text,))


def _claims(name: str, scores: tuple[Scored, ...]) -> list[Criterion]:
    """Compare each score with the paper's, and say whether the same set wins."""
    best, there = scores[0], STATED[OPTIMISED]
    second = max(each.objective for each in scores[1:])
    beaten = best.objective >= second
    fields = {"best": best, "count": len(best.attributes), "second": second, "there": there}
    stops = "" if beaten else prose("stops")
    claims = [claim("optimised", beaten, name=name, stops=stops, **fields)]
    published = [each for each in scores if each.name in STATED]
    for each in published[1:]:
        there = STATED[each.name]
        same = (there.score < 0) == (each.objective < 0) and each.objective < best.objective
        utility = "less than the optimised" if there.bound else there.utility
        less = "less" if each.utility < best.utility else "not less"
        of = {"there": there, "utility": utility, "less": less}
        claims.append(claim("score", same, name=name, scored=each, **of))
    if len(published) == len(STATED):
        ranked = [each.name for each in sorted(published, key=lambda each: -each.objective)]
        ranks = {"there": ", ".join(STATED), "here": ", ".join(ranked)}
        claims.append(claim("ranking", ranked == [*STATED], name=name, **ranks))
    return claims


@dataclass(frozen=True, slots=True)
class Running:
    """Seconds and evaluations of each of RUNS, from an empty cache.

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
    """Measure the times at lambda; ``clock``: seconds, of this process alone.

    Greedy is the full order over all attributes. Sets for exhaustive search are drawn at random,
    each size as often as there are sets of it, and evaluated from an empty cache.
    """
    seconds, evaluations = {}, {}
    for name, run in RUNS.items():
        objective, start = subject.fresh().objective(trade_off), clock()
        evaluations[name] = run(objective)
        seconds[name] = clock() - start
    count = len(subject.model.attributes)
    sizes = [comb(count, each) for each in range(1, min(EXHAUSTIVE_SIZE, count) + 1)]
    draw, shares = np.random.default_rng(seed), np.array(sizes, dtype=np.float64)
    picked = draw.choice(len(sizes), PROBES, p=shares / shares.sum()) + 1
    sets = [union(draw.permutation(count)[:size].tolist()) for size in picked.tolist()]
    objective, start = subject.fresh().objective(trade_off), clock()
    for mask in sets:
        objective.value(mask)
    return Running(seconds, evaluations, sum(sizes), (clock() - start) / PROBES)


def running_finding(runs: Mapping[str, Running], note: str) -> StudyFinding:
    """Draw Fig. 12; ``runs``: by estimator, the paper's first."""
    seconds = [Series.ranked(name, each.seconds.values()) for name, each in runs.items()]
    counts = [Series.ranked(name, each.evaluations.values()) for name, each in runs.items()]
    panels = (
        Panel("running time", "", "seconds of processor time", tuple(seconds), ticks=tuple(RUNS)),
        Panel("sets looked at", "", "evaluations of F", tuple(counts), ticks=tuple(RUNS)),
    )
    chart = Chart("fig-12-running", "Fig. 12: running times", note, panels)
    claims = []
    for name, run in runs.items():
        times = run.evaluations[GREEDY] / run.evaluations[LAZY_GREEDY]
        local, greedy = run.seconds[LAZY_LOCAL], run.seconds[LAZY_GREEDY]
        long = run.years * YEAR > 1000 * max(local, 1e-9)
        claims += [
            claim("lazy", times >= FACTOR * 0.8, name=name, run=run, factor=FACTOR, times=times),
            claim("local-search", local <= 2 * greedy, name=name, run=run),
            claim("exhaustive", long, name=name, run=run, milliseconds=run.each * 1000),
        ]
    return StudyFinding(chart, tuple(claims))


@dataclass(frozen=True, slots=True)
class Shape:
    """How often what an attribute adds grows (U), or shrinks (C), with the set, and by how much.

    ``mean_gain``: of what attributes add to the smaller sets, in the function's unit.
    """

    name: str
    violations: study.Violations
    mean_gain: float


def utility_shape(subject: Subject, seed: int) -> Shape:
    """Test U on random triples, in bits."""
    objective = subject.utility_alone()
    triples = study.random_pairs(objective, UTILITY_TRIPLES, LARGEST, np.random.default_rng(seed))
    violations = study.submodularity(objective.utility, triples)
    return Shape(f"U, {subject.estimator}", violations, _mean_gain(objective.utility, triples))


def cost_shapes(model: Model, seed: int) -> tuple[Shape, ...]:
    """Test each metric on the same random triples, in its own unit."""
    draw = np.random.default_rng(seed)
    triples = study.random_pairs(cost_alone(model), COST_TRIPLES, LARGEST, draw)
    costs = {metric: cost_alone(model, metric).identifiability_cost for metric in METRICS}
    return tuple(
        Shape(f"C, {metric}", study.supermodularity(cost, triples), _mean_gain(cost, triples))
        for metric, cost in costs.items()
    )


def _mean_gain(function: Callable[[int], float], triples: Sequence[study.Pair]) -> float:
    gains = [
        function(each.smaller | 1 << each.attribute) - function(each.smaller) for each in triples
    ]
    return float(np.mean(np.abs(gains))) if gains else 0.0


def shape_finding(shapes: Sequence[Shape], note: str) -> StudyFinding:
    """Draw the share of triples that violate, and by how much, by function."""
    names = tuple(each.name for each in shapes)
    shares = [each.violations.share for each in shapes]
    sizes = [each.violations.mean / each.mean_gain if each.mean_gain else 0.0 for each in shapes]

    def bars(title: str, label: str, values: Sequence[float]) -> Panel:
        return Panel(title, "", label, (Series.ranked(label, values),), ticks=names)

    panels = (
        bars("triples that violate", "share of the triples", shares),
        bars("by how much, where they do", "mean excess / mean gain", sizes),
    )
    title = "Whether utility is submodular and cost supermodular"
    chart = Chart("fig-13-shape", title, note, panels)
    claims = []
    for each in shapes:
        wanted = "supermodular" if each.name.startswith("C") else "submodular"
        same = each.violations.share <= FEW
        claims.append(claim("shape", same, shape=each, wanted=wanted, few=FEW))
    return StudyFinding(chart, tuple(claims), (prose("triples"),))


def shape_sentence(shapes: Sequence[Shape]) -> str:
    """Say how often U is not submodular, and what that takes from what is proven."""
    shares = ", ".join(
        f"{each.violations.share:.0%} of the triples under {each.name.removeprefix('U, ')}"
        for each in shapes
    )
    return prose("proofs", found=shares)

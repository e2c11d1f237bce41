"""Fig. 12: running times of greedy and local search, lazy and not, and of exhaustive search."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from agent.lab.charts import Chart, Claim, Finding, Panel, Series
from agent.lab.paper import published
from agent.lab.paper.subject import fresh
from agent.tradeoff.local_search import eager_pass, lazy_pass
from agent.tradeoff.search import greedy_order, maximise
from agent.tradeoff.sets import union

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from agent.lab.paper.subject import Subject
    from agent.tradeoff.objective import DisclosureObjective

    Run = Callable[[DisclosureObjective], int]

PROBES = 12  # sets that are evaluated to estimate what one costs
YEAR = 365.25 * 24 * 3600
GREEDY, LAZY_GREEDY, LOCAL, LAZY_LOCAL = ("greedy", "lazy greedy", "local search", "lazy local")
RUNS: Mapping[str, Run] = {
    GREEDY: lambda objective: greedy_order(objective, eager_pass)[1],
    LAZY_GREEDY: lambda objective: greedy_order(objective, lazy_pass)[1],
    LOCAL: lambda objective: maximise(objective, "ls").evaluations,
    LAZY_LOCAL: lambda objective: maximise(objective, "lls").evaluations,
}


@dataclass(frozen=True, slots=True)
class Running:
    """Seconds and evaluations of each run, from an empty memory.

    ``sets``: of at most EXHAUSTIVE_SIZE attributes, not empty; ``each``: seconds for one of them.
    """

    names: tuple[str, ...]
    seconds: tuple[float, ...]
    evaluations: tuple[int, ...]
    sets: int
    each: float

    @property
    def years(self) -> float:
        """What trying all these sets would take."""
        return self.sets * self.each / YEAR

    def seconds_of(self, name: str) -> float:
        """Return the seconds of one run."""
        return self.seconds[self.names.index(name)]


def running(subject: Subject, trade_off: float, seed: int, clock: Callable[[], float]) -> Running:
    """Return the times at lambda; ``clock``: seconds, of this process alone.

    Greedy is the full order over all attributes. Sets for exhaustive search are drawn at random,
    each size as often as there are sets of it, and evaluated from an empty memory.
    """
    seconds, evaluations = [], []
    for run in RUNS.values():
        objective = fresh(subject).objective(trade_off)
        start = clock()
        evaluations.append(run(objective))
        seconds.append(clock() - start)
    count = len(subject.names)
    sizes = [comb(count, each) for each in range(1, min(published.EXHAUSTIVE_SIZE, count) + 1)]
    objective = fresh(subject).objective(trade_off)
    drawn = _drawn(count, sizes, seed)
    start = clock()
    for mask in drawn:
        objective.value(mask)
    each = (clock() - start) / PROBES
    return Running(tuple(RUNS), tuple(seconds), tuple(evaluations), sum(sizes), each)


def _drawn(count: int, sizes: list[int], seed: int) -> list[int]:
    draw = np.random.default_rng(seed)
    shares = np.array(sizes, dtype=np.float64)
    picked = draw.choice(len(sizes), PROBES, p=shares / shares.sum()) + 1
    return [union(draw.permutation(count)[:size].tolist()) for size in picked.tolist()]


def finding(runs: Mapping[str, Running], note: str) -> Finding:
    """Return Fig. 12; ``runs``: by estimator, the paper's first."""
    places = tuple(float(each) for each in range(len(RUNS)))
    seconds = tuple(Series(name, places, each.seconds, "bars") for name, each in runs.items())
    counts = tuple(
        Series(name, places, tuple(float(n) for n in each.evaluations), "bars")
        for name, each in runs.items()
    )
    panels = (
        Panel("running time", "", "seconds of processor time", seconds, ticks=tuple(RUNS)),
        Panel("sets looked at", "", "evaluations of F", counts, ticks=tuple(RUNS)),
    )
    chart = Chart("fig-12-running", "Fig. 12: running times", note, panels)
    claims = [claim for name, each in runs.items() for claim in _claims(name, each)]
    return Finding(chart, tuple(claims))


def _claims(name: str, run: Running) -> list[Claim]:
    eager, lazy = run.evaluations[0], run.evaluations[1]
    slow, fast = published.MINUTES
    local, greedy = run.seconds_of(LAZY_LOCAL), run.seconds_of(LAZY_GREEDY)
    return [
        Claim(
            "7.3",
            f"lazy evaluation takes {slow} minutes to {fast}: {slow / fast:.2f} times fewer",
            f"{name}: {eager} evaluations to {lazy}, {eager / lazy:.2f} times fewer; "
            f"{run.seconds_of(GREEDY):.1f} s to {greedy:.1f} s",
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

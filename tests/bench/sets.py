"""How good the sets are that local search finds, beside better searches and the optimum.

Every query of the example tables, cut to a few hundred rows, where moves of one attribute stop
early; and random sub-problems, of which every set is looked at.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from math import exp, log
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agent.build.canonical import Observed
from agent.build.fitting import Fitted, fit
from agent.build.observe import Observations, observe
from agent.build.options import BuildOptions, Description, TableFiles
from agent.build.tables import open_tables
from agent.tradeoff.anonymity_set import AnonymitySet
from agent.tradeoff.local_search import LocalSearch, eager_pass
from agent.tradeoff.objective import DisclosureObjective, Settings
from agent.tradeoff.plan import QueryPlanner
from agent.tradeoff.search import EPSILON, local_search, maximise
from agent.tradeoff.tables import (
    Kinds,
    Population,
    Rows,
    members,
    pairs,
    rows_of,
    subsets,
    union,
)
from agent.tradeoff.utility import Priced, Utility
from tests.house.tree import ROOT

DATA, OWN = ROOT / "examples/data", ROOT / "examples/own_tables"
CUTS = (200, 500, 1_000)  # rows of a query
TRADE_OFFS = (1.0, 5.12)
STARTS = 30  # pairs that the better search starts from
PEOPLE = 20_000  # of a larger population, drawn by lot
PROBLEMS, SIZES, SLOPES = 60, (6, 12), (0.5, 20.0)  # attributes, least and most; lambda likewise
WORTH = 1e-6  # bits: below, there is nothing to find
MISSED = 0.999  # of the better value


class Case(NamedTuple):
    """A query as a model has it, and the people among whom to hide."""

    crowd: AnonymitySet
    utility: Utility
    stored: Rows

    def objective(self, trade_off: float, candidates: int | None = None) -> DisclosureObjective:
        """Return F for a recipient that knows nothing; ``candidates``: a mask, None for all."""
        count = len(self.crowd.cards)
        everything = (1 << count) - 1 if candidates is None else candidates
        demands = Settings(everything, (0.0,) * count, trade_off)
        uses = QueryPlanner(lambda: self.utility, count, self.stored)
        return DisclosureObjective(uses, self.crowd, demands)


def figures() -> Iterator[str]:
    """Yield the lines of this benchmark."""
    sources = {
        "so2017": _observed(DATA / "so2017", ".csv.gz"),
        "atus": _observed(DATA / "atus", ".csv.gz", weights="weight", without=("year",)),
        "own_tables": _observed(OWN, ".csv"),
    }
    every = list[Case]()
    for name, seen in sources.items():
        for rows in CUTS:
            cases = _cases(seen, rows)
            every += cases
            found = [_beside_better(case, each) for case in cases for each in TRADE_OFFS]
            yield _line(
                f"{name}, {rows} rows a query, all attributes, beside {STARTS} starts", found
            )
    yield _line(
        f"sub-problems of {SIZES[0]} to {SIZES[1]} attributes, beside all sets", _small(every)
    )


def _observed(folder: Path, suffix: str, **options: Any) -> Observations:  # noqa: ANN401  (of any field)
    """Read the tables of a folder; ``options``: fields of `Description`."""
    files = TableFiles(folder / f"users{suffix}", folder / f"events{suffix}")
    description = Description(**options)
    return observe(open_tables(*files), BuildOptions(**files._asdict(), description=description))


def _cut(query: Observed, rows: int, everybody: int) -> NDArray[np.bool_]:
    """Draw people who have at most so many rows of a query together, or one person."""
    who = np.random.default_rng(rows).permutation(len(query.people))
    total = np.cumsum(np.bincount(query.rows.user)[who])
    chosen = np.zeros(everybody, dtype=bool)
    chosen[query.people[who[: max(1, int(np.searchsorted(total, rows, "right")))]]] = True
    return chosen


def _cases(seen: Observations, rows: int) -> list[Case]:
    """Return each query with at most so many rows."""
    population = seen.population
    if population.rows > PEOPLE:
        some = np.random.default_rng(0).choice(population.rows, PEOPLE, replace=False)
        weights, scale = population.weights, population.rows / PEOPLE
        population = Population(
            population.codes[some],
            None if weights is None else weights[some] * scale,
            tuple(Kinds.of(each.counts[each.of_row][some]) for each in population.requests),
        )
    crowd = AnonymitySet(population, seen.cards)
    parts = (query.part(_cut(query, rows, seen.population.rows)) for query in seen.queries)
    return [_case(fit(each.rows, crowd, "louo", None), crowd) for each in parts if each is not None]


def _case(fitted: Fitted, crowd: AnonymitySet) -> Case:
    """Return a query with what a model stores of it."""
    prices, utility, count = fitted.prices, fitted.utility, len(crowd.cards)
    priced: Utility = utility if prices is None else Priced(utility, prices)
    rows = [priced.extensions(1 << each, range(each + 1, count)) for each in range(count)]
    singles = np.array(priced.extensions(0, range(count)))
    return Case(crowd, priced, rows_of(singles, np.array([*chain.from_iterable(rows)])))


def _beside_better(case: Case, trade_off: float) -> float | None:
    """Return the share that is found of the best of many searches, None where that is nothing."""
    objective = case.objective(trade_off)
    found, attributes = maximise(objective), [*members(objective.candidates)]
    both = sorted(pairs(len(attributes)), key=lambda pair: (-objective.value(pair), pair))
    best = max(objective.value(_climbed(objective, each)) for each in (found.mask, *both[:STARTS]))
    return found.value / best if best > WORTH else None


def _climbed(objective: DisclosureObjective, start: int) -> int:
    """Return where eager moves and exchanges lead from a set."""
    state = LocalSearch(objective, EPSILON)
    state.start_at(start)
    while True:
        local_search(state, eager_pass)
        outside = [*members(objective.candidates & ~state.mask)]
        others = [state.mask]
        for out in members(state.mask):
            rest = state.mask & ~(1 << out)
            objective.extensions(rest, outside)
            others += [rest | 1 << each for each in outside]
        best = max(others, key=lambda mask: (objective.value(mask), -mask))
        if objective.value(best) <= state.level + state.threshold(state.level):
            return state.mask
        state.start_at(best)


def _small(cases: Sequence[Case]) -> list[float | None]:
    """Return the share of the optimum that is found in random sub-problems."""
    random, found = np.random.default_rng(0), list[float | None]()
    while len(found) < PROBLEMS:
        case = cases[int(random.integers(len(cases)))]
        count = len(case.crowd.cards)
        size = min(count, int(random.integers(SIZES[0], SIZES[1] + 1)))
        candidates = union(random.choice(count, size, replace=False).tolist())
        objective = case.objective(exp(random.uniform(log(SLOPES[0]), log(SLOPES[1]))), candidates)
        level = maximise(objective).value
        for each in subsets(candidates):  # every set once, by its last attribute
            above = candidates >> each.bit_length() << each.bit_length()
            objective.extensions(each, [*members(above)])
        best = max(map(objective.value, subsets(candidates)))
        if best > WORTH:
            found.append(level / best)
    return found


def _line(what: str, shares: Sequence[float | None]) -> str:
    some = np.array([each for each in shares if each is not None])
    missed = int((some < MISSED).sum())
    return (
        f"{what}: {missed} of {len(some)} below {MISSED:.1%} of the better set, "
        f"worst {some.min():.2f}, mean {some.mean():.4f}"
    )

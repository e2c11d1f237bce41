"""Lazy against eager evaluation: how many sets are looked at; and beside plain NumPy."""

from collections.abc import Iterator
from functools import partial
from typing import get_args

import numpy as np

from agent.decision.cache import Cache
from agent.model.file import read, shipped_model
from agent.model.model import Model
from agent.tradeoff.anonymity_set import AnonymitySet
from agent.tradeoff.local_search import ROUNDING, eager_pass, lazy_pass
from agent.tradeoff.objective import DisclosureObjective, Settings
from agent.tradeoff.search import ALGORITHMS, Result, greedy_order, maximise
from agent.tradeoff.tables import Population, QueryRows
from agent.tradeoff.utility import Estimator, query_utility
from tests.bench.plain import lazy_greedy
from tests.bench.timing import timed

SHIPPED = ("so2017", "atus")
CACHE = Cache()
ESTIMATORS: tuple[Estimator, ...] = get_args(Estimator)


def figures() -> Iterator[str]:
    """Yield the lines of this benchmark."""
    model = read(shipped_model("so2017"))
    settings, people = everything(model), CACHE.anonymity_set(model)
    objectives = (
        DisclosureObjective(CACHE.mean_utility(model), people, settings) for _ in range(2)
    )
    lazy, eager = (
        greedy_order(objective, one_pass)[1]
        for objective, one_pass in zip(objectives, (lazy_pass, eager_pass), strict=True)
    )
    yield (
        f"the full greedy order, a-priori objective: {eager} evaluations eager, {lazy} lazy, "
        f"{eager / lazy:.2f} times fewer (bar: 2.3)"
    )
    lls, ls = (
        sum(
            maximise(
                DisclosureObjective(CACHE.utility(model, query), people, settings),
                algorithm,
                restarts=0,
            ).evaluations
            for query in range(len(model.queries))
        )
        / len(model.queries)
        for algorithm in ALGORITHMS[:2]
    )
    yield (
        f"one request, mean: {ls:.1f} evaluations eager, {lls:.1f} lazy, {ls / lls:.2f} times fewer"
    )
    for name in SHIPPED:
        for estimator in ESTIMATORS:
            yield _beside_plain(name, estimator)


def _beside_plain(name: str, estimator: Estimator) -> str:
    """Time a greedy search from a query's rows to its set, nothing stored, beside plain NumPy."""
    model = read(shipped_model(name))
    people, cards = Population(model.population.codes), model.cards
    settings, ratios, better = everything(model), list[float](), 0
    for query in range(len(model.queries)):
        rows, shrinkage = model.rows(query), model.queries[query].shrinkage
        plain = partial(lazy_greedy, rows, cards, estimator, shrinkage, people, settings.trade_off)

        def ours(rows: QueryRows = rows, shrinkage: float = shrinkage) -> Result:
            utility = query_utility(rows, cards, estimator, shrinkage)
            crowd = AnonymitySet(people, cards)
            return maximise(DisclosureObjective(utility, crowd, settings), "greedy")

        ratios.append(timed(plain) / timed(ours))
        better += ours().value >= plain()[1] - ROUNDING
    return (
        f"greedy search on {name}, {estimator}, nothing stored, beside plain NumPy: "
        f"{np.median(ratios):.2f} times faster (median of {len(ratios)} queries, least "
        f"{min(ratios):.2f}), as good a set for {better}"
    )


def everything(model: Model) -> Settings:
    """Return the settings that let every attribute be chosen, at the default trade-off."""
    count = len(model.attributes)
    return Settings(candidates=(1 << count) - 1, sensitivity=(0.0,) * count)

"""Lazy against eager evaluation: how many sets are looked at."""

from collections.abc import Iterator

from agent.model.file import read, shipped_model
from agent.model.model import Model
from agent.tradeoff.local_search import eager_pass, lazy_pass
from agent.tradeoff.objective import DisclosureObjective, Settings
from agent.tradeoff.search import ALGORITHMS, greedy_order, maximise


def figures() -> Iterator[str]:
    """Yield the lines of this benchmark."""
    model = read(shipped_model("so2017"))
    settings, people = everything(model), model.anonymity_set()
    objectives = (DisclosureObjective(model.mean_utility(), people, settings) for _ in range(2))
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
                DisclosureObjective(model.utility(query), people, settings), algorithm, restarts=0
            ).evaluations
            for query in range(len(model.queries))
        )
        / len(model.queries)
        for algorithm in ALGORITHMS[:2]
    )
    yield (
        f"one request, mean: {ls:.1f} evaluations eager, {lls:.1f} lazy, {ls / lls:.2f} times fewer"
    )


def everything(model: Model) -> Settings:
    """Return the settings that let every attribute be chosen, at the default trade-off."""
    count = len(model.attributes)
    return Settings(candidates=(1 << count) - 1, sensitivity=(0.0,) * count)

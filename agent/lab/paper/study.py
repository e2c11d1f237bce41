"""All figures of one model, put together."""

from collections.abc import Callable
from time import process_time
from typing import Any

from agent.lab import Progress
from agent.lab.charts import StudyFinding
from agent.lab.paper import comparison, orders
from agent.lab.paper.subject import SHRINKAGE, TRADE_OFF, Subject, prose
from agent.model.model import Model
from agent.tradeoff.anonymity_set import COMBINATIONS
from agent.tradeoff.utility import Estimator

TITLE = "The paper's results, here"
ESTIMATORS: tuple[Estimator, ...] = ("plugin", "louo")  # the paper's first
# What is computed under both estimators, of a subject and a seed.
PARTS: dict[str, Callable[[Subject, int], Any]] = {
    "utility order": lambda subject, _: orders.utility_order(subject),
    "calibrated order": lambda subject, _: orders.calibrated_order(subject, TRADE_OFF),
    "curve": lambda subject, _: orders.curve_of(subject, TRADE_OFF),
    "heuristics": lambda subject, _: comparison.heuristics(subject, TRADE_OFF),
    "shape": comparison.utility_shape,
    "running": lambda subject, seed: comparison.running(subject, TRADE_OFF, seed, process_time),
}


def study(model: Model, seed: int, progress: Progress) -> tuple[list[str], list[StudyFinding]]:
    """Make every figure, in the order of the paper, and the sentences that come before them.

    ``seed``: of all that is drawn; ``progress``: called with what comes next, and the share of the
    work that is done.
    """
    by: dict[str, dict[str, Any]] = {part: {} for part in PARTS}
    for number, estimator in enumerate(ESTIMATORS):
        # What was computed for one figure serves the next.
        subject = Subject.of(model, estimator, SHRINKAGE if estimator == "plugin" else None)
        for place, (part, compute) in enumerate(PARTS.items()):
            done = (number * len(PARTS) + place) / (len(PARTS) * len(ESTIMATORS))
            progress(f"{part} ({estimator})", done)
            by[part][estimator] = compute(subject, seed)
    chosen = Subject.with_chosen_prior(model, "plugin")
    by["utility order"][orders.CHOSEN] = orders.utility_order(chosen)
    costs, shapes, note = orders.cost_order(model), by["shape"].values(), note_of(model)
    all_shapes = (*shapes, *comparison.cost_shapes(model, seed))
    findings = [
        orders.utility_finding(by["utility order"], note),
        orders.cost_finding(costs, note),
        orders.curve_finding(by["curve"], note),
        orders.metrics_finding(costs, note),
        orders.calibrated_finding(by["calibrated order"], TRADE_OFF, note),
        comparison.heuristics_finding(by["heuristics"], TRADE_OFF, note),
        comparison.running_finding(by["running"], note),
        comparison.shape_finding(all_shapes, note),
    ]
    requests, count = len(model.attributes) - model.persons, len(model.attributes)
    priced = sum(each.sensitivity > 0 for each in model.attributes)
    intro = [
        prose("paper", note=note),
        prose("rules"),
        prose("estimators", shrinkage=SHRINKAGE),
        prose("sensitivities", priced=priced, count=count),
    ]
    if requests:
        intro.append(prose("requests", most=COMBINATIONS, requests=requests))
    intro.append(prose("no-answers"))
    return [*intro, comparison.shape_sentence([*shapes])], findings


def note_of(model: Model) -> str:
    """Write the line below each figure: the model, and where its data comes from."""
    source = (model.source or "source not stated").rstrip(".")
    return (
        f"Model {model.id}: {model.population.rows:,} people, {len(model.queries):,} queries, "
        f"{len(model.attributes)} attributes. Data: {source}."
    )

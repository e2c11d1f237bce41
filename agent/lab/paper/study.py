"""All figures of one model, put together."""

from collections.abc import Callable
from time import process_time
from typing import Any

from agent.lab import Progress
from agent.lab.charts import StudyFinding
from agent.lab.paper import comparison, orders
from agent.lab.paper.subject import Options, Subject, prose, subject_of, with_chosen_prior
from agent.model.model import Model
from agent.tradeoff.anonymity_set import COMBINATIONS
from agent.tradeoff.utility import Estimator

TITLE = "The paper's results, here"
ESTIMATORS: tuple[Estimator, ...] = ("plugin", "louo")  # the paper's first
Part = Callable[[Subject, Options], Any]
# What is computed under both estimators, and what under the paper's alone.
PARTS: dict[str, Part] = {
    "utility order": lambda subject, _: orders.utility_order(subject),
    "calibrated order": lambda subject, o: orders.calibrated_order(subject, o.trade_off),
    "curve": lambda subject, o: orders.curve_of(subject, o.trade_off),
    "heuristics": lambda subject, o: comparison.heuristics(subject, o.trade_off),
    "shape": lambda subject, o: comparison.utility_shape(subject, o.seed),
    "running": lambda subject, o: comparison.running(subject, o.trade_off, o.seed, process_time),
}


def study(
    model: Model, options: Options, progress: Progress
) -> tuple[list[str], list[StudyFinding]]:
    """Make every figure, in the order of the paper, and the sentences that come before them.

    ``progress``: called with what comes next, and the share of the work that is done.
    """
    by: dict[str, dict[str, Any]] = {part: {} for part in PARTS}
    for number, estimator in enumerate(ESTIMATORS):
        # What was computed for one figure serves the next.
        subject = subject_of(model, estimator, options.shrinkage if estimator == "plugin" else None)
        for place, (part, compute) in enumerate(PARTS.items()):
            done = (number * len(PARTS) + place) / (len(PARTS) * len(ESTIMATORS))
            progress(f"{part} ({estimator})", done)
            by[part][estimator] = compute(subject, options)
    by["utility order"][orders.CHOSEN] = orders.utility_order(with_chosen_prior(model, "plugin"))
    costs, shapes, note = orders.cost_order(model, options.k), by["shape"].values(), note_of(model)
    all_shapes = (*shapes, *comparison.cost_shapes(model, options.k, options.seed))
    findings = [
        orders.utility_finding(by["utility order"], note, options.shrinkage),
        orders.cost_finding(costs, note),
        orders.curve_finding(by["curve"], note),
        orders.metrics_finding(costs, note, options.k),
        orders.calibrated_finding(by["calibrated order"], options.trade_off, note),
        comparison.heuristics_finding(by["heuristics"], options.trade_off, note),
        comparison.running_finding(by["running"], note),
        comparison.shape_finding(all_shapes, note),
    ]
    requests, count = len(model.attributes) - model.persons, len(model.attributes)
    priced = sum(each.sensitivity > 0 for each in model.attributes)
    intro = [prose("paper", note=note)]
    intro += [prose("rules"), prose("estimators", shrinkage=options.shrinkage)]
    intro.append(prose("sensitivities", priced=priced, count=count))
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

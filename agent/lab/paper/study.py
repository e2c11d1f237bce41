"""All figures of one model: computed in one process or two, and put together."""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import as_completed
from contextlib import ExitStack
from pathlib import Path
from time import process_time
from typing import Any

from agent.decision.engine import load_model
from agent.lab import Progress, spawned
from agent.lab.charts import StudyFinding
from agent.lab.paper import assumptions, comparison, orders
from agent.lab.paper.subject import (
    Options,
    Subject,
    prose,
    subject_of,
    with_chosen_prior,
)
from agent.model.model import Model
from agent.tradeoff.anonymity_set import COMBINATIONS
from agent.tradeoff.utility import Estimator

TITLE = "The paper's results, here"
ESTIMATORS: tuple[Estimator, ...] = ("plugin", "louo")  # the paper's first
Part = Callable[[Subject, Options], object]
Task = tuple[Estimator, str]
# What is computed under both estimators, and what under the paper's alone.
PARTS: dict[str, Part] = {
    "utility order": lambda subject, _: orders.utility_order(subject),
    "calibrated order": lambda subject, o: orders.calibrated_order(subject, o.trade_off),
    "curve": lambda subject, o: orders.curve_of(subject, o.trade_off),
    "heuristics": lambda subject, o: comparison.heuristics(subject, o.trade_off),
    "shape": lambda subject, o: assumptions.utility_shape(subject, o.seed),
    "running": lambda subject, o: comparison.running(subject, o.trade_off, o.seed, process_time),
}
PAPERS: dict[str, Part] = {
    "order, prior chosen": lambda subject, _: orders.utility_order(
        with_chosen_prior(subject.model, "plugin")
    ),
    "sampling": assumptions.utility_estimates,
}
TASKS: tuple[Task, ...] = (
    *((estimator, part) for estimator in ESTIMATORS for part in PARTS),
    *((ESTIMATORS[0], part) for part in PAPERS),
)


def computed(path: Path, options: Options, processes: int) -> Iterator[tuple[Task, Any]]:
    """Yield what comes of each of TASKS, as it comes.

    ``path``: of the model; ``processes``: 1, or 2, one for each estimator. These are new ones: a
    process with threads cannot be forked. Each keeps its subject, so that what was computed for one
    figure serves the next.
    """
    if processes == 1:
        for task in sorted(TASKS, key=lambda each: ESTIMATORS.index(each[0])):
            yield task, _part(path, task, options)
        return
    with ExitStack() as stack:
        lanes = {each: stack.enter_context(spawned(1)) for each in ESTIMATORS}
        for lane in lanes.values():  # where one fails the others end too
            stack.callback(lane.shutdown, cancel_futures=True)
        waiting = {lanes[task[0]].submit(_part, path, task, options): task for task in TASKS}
        for each in as_completed(waiting):
            yield waiting[each], each.result()


_subjects: dict[tuple[Path, Estimator], Subject] = {}  # of this process: one


def _part(path: Path, task: Task, options: Options) -> object:
    estimator, part = task
    key = (path, estimator)
    if key not in _subjects:
        _subjects.clear()
        shrinkage = options.shrinkage if estimator == "plugin" else None
        _subjects[key] = subject_of(load_model(path), estimator, shrinkage)
    return (PARTS | PAPERS)[part](_subjects[key], options)


def study(
    path: Path,
    places: Mapping[str, float] | None,
    options: Options,
    processes: int,
    progress: Progress,
) -> tuple[list[str], list[StudyFinding]]:
    """Make every figure, in the order of the paper, and the sentences that come before them.

    ``path``: of the model; ``places``: what each precision of a place costs, for Fig. 8b, where
    that is known; ``processes``: 1, or 2, one for each estimator. But for the running times the
    figures do not depend on how many there are. ``progress``: called with what was done last, and
    the share of the work that is done.
    """
    model = load_model(path)
    found: dict[Task, Any] = {}
    progress("computing the figures", 0.0)
    for task, value in computed(path, options, processes):
        found[task] = value
        progress(f"{task[1]} ({task[0]})", len(found) / len(TASKS))
    by: dict[str, dict[str, Any]] = {
        part: {each: found[each, part] for each in ESTIMATORS} for part in PARTS
    }
    by["utility order"][orders.CHOSEN] = found["plugin", "order, prior chosen"]
    costs, shapes, note = orders.cost_order(model, options.k), by["shape"].values(), note_of(model)
    all_shapes = (*shapes, *assumptions.cost_shapes(model, options.k, options.seed))
    estimates = (found["plugin", "sampling"], *assumptions.cost_estimates(model, options))
    findings = [
        orders.utility_finding(by["utility order"], note, options.shrinkage),
        orders.cost_finding(costs, note),
        orders.curve_finding(by["curve"], note),
        orders.metrics_finding(costs, note, options.k),
        orders.calibrated_finding(by["calibrated order"], options.trade_off, note),
        comparison.heuristics_finding(by["heuristics"], options.trade_off, note),
        comparison.running_finding(by["running"], note),
        assumptions.shape_finding(all_shapes, note),
        assumptions.sampling_finding(estimates, options.samples, note),
    ]
    requests, count = len(model.attributes) - model.persons, len(model.attributes)
    priced = sum(each.sensitivity > 0 for each in model.attributes)
    intro = [prose("paper", note=note)]
    if model.source.lower().startswith("synthetic"):
        intro.append(prose("synthetic"))
    intro += [prose("rules"), prose("estimators", shrinkage=options.shrinkage)]
    intro.append(prose("sensitivities", priced=priced, count=count))
    if requests:
        intro.append(prose("requests", most=COMBINATIONS, requests=requests))
    if places is None:
        intro.append(prose("no-places"))
    else:
        findings.insert(3, orders.calibration_finding(places, options.seed, note))
    return [*intro, assumptions.shape_sentence([*shapes])], findings


def note_of(model: Model) -> str:
    """Write the line below each figure: the model, and where its data comes from."""
    source = (model.source or "source not stated").rstrip(".")
    return (
        f"Model {model.id}: {model.population.rows:,} people, {len(model.queries):,} queries, "
        f"{len(model.attributes)} attributes. Data: {source}."
    )

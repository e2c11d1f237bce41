"""All figures of one model: computed in one process or two, and put together."""

from collections.abc import Callable, Iterator
from concurrent.futures import as_completed
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any

from agent.decision.engine import load_model
from agent.lab import Progress, spawned
from agent.lab.charts import StudyFinding
from agent.lab.paper import assumptions, comparison, orders
from agent.lab.paper.subject import (
    Options,
    PaperSubject,
    Subject,
    is_synthetic,
    prose,
    subject_of,
    with_chosen_prior,
)
from agent.model.model import Model
from agent.tradeoff.study import COMBINATIONS, Estimator

ESTIMATORS: tuple[Estimator, ...] = ("plugin", "louo")  # the paper's first
Part = Callable[[Subject, Options], object]
Task = tuple[Estimator, str]
# What is computed under both estimators, and what under one.
PARTS: dict[str, Part] = {
    "utility order": lambda subject, _: orders.utility_order(subject),
    "calibrated order": lambda subject, o: orders.calibrated_order(subject, o.trade_off),
    "curve": lambda subject, o: orders.curve_of(subject, o.trade_off),
    "heuristics": lambda subject, o: comparison.heuristics(subject, o.trade_off),
    "shape": lambda subject, o: assumptions.utility_shape(subject, o.seed),
    "running": lambda subject, o: comparison.running(subject, o.trade_off, o.seed, process_time),
}
OWN_PARTS: dict[str, dict[str, Part]] = {
    "plugin": {
        "order, prior chosen": lambda subject, _: orders.utility_order(
            with_chosen_prior(subject.model, "plugin")
        ),
        "sampling": assumptions.utility_estimates,
    },
    "louo": {},
}


def tasks() -> tuple[Task, ...]:
    """Return all that is computed: what, and under which estimator."""
    return tuple((each, part) for each in ESTIMATORS for part in (*PARTS, *OWN_PARTS[each]))


def computed(path: Path, options: Options, processes: int) -> Iterator[tuple[Task, Any]]:
    """Yield what comes of each of `tasks`, as it comes.

    ``path``: of the model; ``processes``: 1, or 2, one for each estimator. These are new ones: a
    process with threads cannot be forked. Each keeps its subject, so that what was computed for one
    figure serves the next.
    """
    if processes == 1:
        for task in tasks():
            yield task, _part(path, task, options)
        return
    with ExitStack() as stack:
        lanes = {each: stack.enter_context(spawned(1)) for each in ESTIMATORS}
        for lane in lanes.values():  # where one fails the others end too
            stack.callback(lane.shutdown, cancel_futures=True)
        waiting = {lanes[task[0]].submit(_part, path, task, options): task for task in tasks()}
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
    return (PARTS | OWN_PARTS[estimator])[part](_subjects[key], options)


@dataclass(frozen=True, slots=True)
class Study:
    """The title of the report, the sentences that it begins with, and every figure."""

    title: str
    intro: tuple[str, ...]
    findings: tuple[StudyFinding, ...]


def study(material: PaperSubject, options: Options, processes: int, progress: Progress) -> Study:
    """Return every figure, in the order of the paper; Fig. 8b only where places are known.

    ``processes``: 1, or 2, one for each estimator. What comes back does not depend on how many
    there are, but for the running times. ``progress``: told what was done last, and which share of
    the work that makes.
    """
    model, places = load_model(material.path), material.places
    found: dict[Task, Any] = {}
    progress("computing the figures", 0.0)
    for task, value in computed(material.path, options, processes):
        found[task] = value
        progress(f"{task[1]} ({task[0]})", len(found) / len(tasks()))
    note, fitted = note_of(model), is_synthetic(model)
    by: dict[str, dict[str, Any]] = {
        part: {each: found[each, part] for each in ESTIMATORS} for part in PARTS
    }
    calibrations: tuple[StudyFinding, ...] = ()
    if places is not None:
        calibration = orders.calibrated(places.costs, options.seed)
        calibrations = (orders.calibration_finding(calibration, note),)
        by["heuristics"][model.estimator] += comparison.addresses(places, options.trade_off)
    by["utility order"][orders.CHOSEN] = found["plugin", "order, prior chosen"]
    costs, shapes = orders.cost_order(model, options.k), tuple(by["shape"].values())
    all_shapes = (*shapes, *assumptions.cost_shapes(model, options.k, options.seed))
    estimates = (found["plugin", "sampling"], *assumptions.cost_estimates(model, options))
    findings = (
        orders.utility_finding(by["utility order"], note, options.shrinkage, fitted=fitted),
        orders.cost_finding(costs, note),
        orders.curve_finding(by["curve"], note),
        *calibrations,
        orders.metrics_finding(costs, note, options.k),
        orders.calibrated_finding(by["calibrated order"], options.trade_off, note),
        comparison.heuristics_finding(by["heuristics"], options.trade_off, note, fitted=fitted),
        comparison.running_finding(by["running"], note),
        assumptions.shape_finding(all_shapes, note),
        assumptions.sampling_finding(estimates, options.samples, note),
    )
    intro = (*_intro(model, material, options), assumptions.shape_sentence(shapes))
    return Study("The paper's results, here", intro, findings)


def _intro(model: Model, material: PaperSubject, options: Options) -> list[str]:
    """Return what a reader has to know first, a paragraph each."""
    requests, count = len(model.attributes) - model.persons, len(model.attributes)
    priced = sum(each.sensitivity > 0 for each in model.attributes)
    intro = [prose("paper", note=note_of(model))]
    if is_synthetic(model):
        intro.append(prose("synthetic"))
    intro += [prose("rules"), prose("estimators", shrinkage=options.shrinkage)]
    intro.append(prose("sensitivities", priced=priced, count=count))
    if requests:
        intro.append(prose("requests", most=COMBINATIONS, requests=requests))
    return intro if material.places is not None else [*intro, prose("no-places")]


def note_of(model: Model) -> str:
    """Return the line below each figure: the model, and where its data comes from."""
    source = (model.source or "source not stated").rstrip(".")
    return (
        f"Model {model.id}: {model.population.rows:,} people, {len(model.queries):,} queries, "
        f"{len(model.attributes)} attributes. Data: {source}."
    )

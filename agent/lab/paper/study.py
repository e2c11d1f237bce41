"""All figures of one model: computed in one process or two, and put together."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from agent.lab.paper import assumptions, comparison, curve, orders, published
from agent.lab.paper.published import Options
from agent.lab.paper.subject import Subject, subject_of, with_chosen_prior
from agent.model.file import read
from agent.tradeoff.anonymity_set import COMBINATIONS
from agent.tradeoff.utility import Estimator

if TYPE_CHECKING:
    from pathlib import Path

    from agent.lab.charts import Finding
    from agent.lab.paper.log import Places
    from agent.model.model import Model


ESTIMATORS: tuple[Estimator, ...] = ("plugin", "louo")  # the paper's first
ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
Part = Callable[[Subject, Options], object]
Task = tuple[Estimator, str]
_ESTIMATES = (
    "Utility is estimated in two ways: plugin, the paper's, with Dirichlet smoothing by a prior of "
    "{shrinkage:g} rows, and louo, which leaves out the user whose row is scored and is what "
    "reticent decides by, with a prior chosen per query. The paper does not state its prior: "
    "Fig. 6 says how that of plugin was chosen."
)


# What is computed under both estimators, and what the paper's alone has.
PARTS: Mapping[str, Part] = MappingProxyType(
    {
        "utility order": lambda subject, _: orders.utility_order(subject),
        "calibrated order": lambda subject, o: orders.calibrated_order(subject, o.trade_off),
        "curve": lambda subject, o: curve.curve_of(subject, o.trade_off),
        "heuristics": lambda subject, o: comparison.heuristics(subject, o.trade_off),
        "shape": lambda subject, o: assumptions.utility_shape(subject, o.seed),
        "running": lambda subject, o: comparison.running(
            subject, o.trade_off, o.seed, time.process_time
        ),
    }
)
PLUGIN_PARTS: Mapping[str, Part] = MappingProxyType(
    {
        "order, prior chosen": lambda subject, _: orders.utility_order(
            with_chosen_prior(subject.model, "plugin")
        ),
        "sampling": assumptions.utility_estimates,
    }
)


def parts(estimator: Estimator) -> Mapping[str, Part]:
    """Return what is computed under an estimator, by name."""
    return {**PARTS, **PLUGIN_PARTS} if estimator == "plugin" else PARTS


def computed(path: Path, options: Options, processes: int) -> Iterator[tuple[Task, object]]:
    """Yield every part as it comes; ``path``: of the model; ``processes``: 1 or 2."""
    yield from _alone(path, options) if processes == 1 else _shared(path, options)


def _alone(path: Path, options: Options) -> Iterator[tuple[Task, object]]:
    for estimator in ESTIMATORS:
        for part in parts(estimator):
            yield (estimator, part), _part(path, (estimator, part), options)


def _shared(path: Path, options: Options) -> Iterator[tuple[Task, object]]:
    """Yield what a process for each estimator computes, as it comes.

    New processes: whoever has threads cannot be forked. Each keeps its subject, so that what was
    computed for one figure serves the next.
    """
    os.environ.update(dict.fromkeys(ONE_THREAD, "1"))
    lanes = {
        each: ProcessPoolExecutor(1, get_context("spawn"), initializer=_begin)
        for each in ESTIMATORS
    }
    try:
        waiting = {
            lanes[estimator].submit(_part, path, (estimator, part), options): (estimator, part)
            for estimator in ESTIMATORS
            for part in parts(estimator)
        }
        for each in as_completed(waiting):
            yield waiting[each], each.result()
    finally:
        for lane in lanes.values():
            lane.shutdown(cancel_futures=True)


def _begin() -> None:
    """Let Ctrl-C end this process at once: the one that waits for it says so."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


_subjects: dict[tuple[Path, Estimator], Subject] = {}  # of this process: one


def _part(path: Path, task: Task, options: Options) -> object:
    estimator, part = task
    key = (path, estimator)
    if key not in _subjects:
        _subjects.clear()
        shrinkage = options.shrinkage if estimator == "plugin" else None
        _subjects[key] = subject_of(read(path), estimator, shrinkage)
    return parts(estimator)[part](_subjects[key], options)


@dataclass(frozen=True, slots=True)
class Study:
    """The title of the report, the sentences that it begins with, and every figure."""

    title: str
    intro: tuple[str, ...]
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Material:
    """What is studied: the file of a model, and of a log where its people ask from."""

    path: Path
    places: Places | None = None


def study(
    material: Material, options: Options, processes: int, progress: Callable[[str, float], None]
) -> Study:
    """Return every figure, in the order of the paper; Fig. 8b only where places are known.

    ``processes``: 1, or 2, one for each estimator. What comes back does not depend on how many
    there are, but for the running times. ``progress``: told what was done last, and which share of
    the work that makes.
    """
    path = material.path
    model = read(path)
    many = sum(len(parts(each)) for each in ESTIMATORS)
    found: dict[Task, Any] = {}
    progress("computing the figures", 0.0)
    for number, (task, value) in enumerate(computed(path, options, processes), 1):
        found[task] = value
        progress(f"{task[1]} ({task[0]})", number / many)
    findings = _findings(model, material.places, options, found)
    intro = (*_intro(model, material, options), assumptions.shape_sentence(_utility_shapes(found)))
    return Study("The paper's results, here", intro, findings)


def _utility_shapes(found: Mapping[Task, Any]) -> tuple[assumptions.Shape, ...]:
    return tuple(found[each, "shape"] for each in ESTIMATORS)


def _findings(
    model: Model,
    places: Places | None,
    options: Options,
    found: Mapping[Task, Any],
) -> tuple[Finding, ...]:
    note, fitted = note_of(model), published.is_synthetic(model)
    by: dict[str, dict[str, Any]] = {
        part: {each: found[each, part] for each in ESTIMATORS} for part in PARTS
    }
    if places is not None:
        sets = by["heuristics"]
        scored = comparison.addresses(places, options.trade_off)
        sets[model.estimator] = (*sets[model.estimator], *scored)
    chosen = {orders.CHOSEN: found["plugin", "order, prior chosen"]}
    along = {**by["utility order"], **chosen}
    costs = orders.cost_order(model, options.k)
    subject = subject_of(model, model.estimator)
    shapes = (*_utility_shapes(found), *assumptions.cost_shapes(model, options.k, options.seed))
    estimates = (found["plugin", "sampling"], *assumptions.cost_estimates(subject, options))
    return (
        orders.utility_finding(along, note, options.shrinkage, fitted=fitted),
        orders.cost_finding(costs, note),
        curve.curve_finding(by["curve"], note),
        *_calibration(places, options, note),
        orders.metrics_finding(costs, note, options.k),
        orders.calibrated_finding(by["calibrated order"], options.trade_off, note),
        comparison.heuristics_finding(by["heuristics"], options.trade_off, note, fitted=fitted),
        comparison.running_finding(by["running"], note),
        assumptions.shape_finding(shapes, note),
        assumptions.sampling_finding(estimates, options.samples, note),
    )


def _calibration(places: Places | None, options: Options, note: str) -> tuple[Finding, ...]:
    if places is None:
        return ()
    return (curve.calibration_finding(curve.calibrated(places.costs, options.seed), note),)


def _intro(model: Model, material: Material, options: Options) -> tuple[str, ...]:
    missing = (
        "Fig. 8b is missing, and of Fig. 11 the addresses: this model does not know where people "
        "ask from. A log does."
    )
    requests = len(model.attributes) - model.persons
    ordered = (
        f"No order has more request attributes than give {COMBINATIONS} combinations of their "
        f"values together, for larger sets are no candidates; the model has {requests}."
    )
    count = sum(each.sensitivity > 0 for each in model.attributes)
    priced = (
        f"Attributes with a sensitivity of their own: {count} of {len(model.attributes)}; the "
        "paper's had one each, from its survey."
    )
    return (
        "Krause and Horvitz, A Utility-Theoretic Approach to Privacy in Online Services (JAIR 39, "
        "2010), section 7. " + note_of(model),
        *([published.SYNTHETIC] if published.is_synthetic(model) else []),
        published.RULES,
        _ESTIMATES.format(shrinkage=options.shrinkage),
        priced,
        *([ordered] if requests else []),
        *([missing] if material.places is None else []),
    )


def note_of(model: Model) -> str:
    """Return the line below each figure: the model, and where its data comes from."""
    source = (model.source or "source not stated").rstrip(".")
    return (
        f"Model {model.id}: {model.population.people:,} people, {len(model.queries):,} queries, "
        f"{len(model.attributes)} attributes. Data: {source}."
    )

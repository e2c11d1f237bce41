"""All figures of one model: the paper's results, in two processes if wanted."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from agent.lab.paper import (
    calibrated_order,
    calibration,
    cost_order,
    curve,
    heuristics,
    running,
    sampling,
    shape,
    utility_order,
)
from agent.lab.paper.options import Options
from agent.lab.paper.subject import Subject, subject_of, unsmoothed
from agent.model.file import read
from agent.tradeoff.utility import Estimator

if TYPE_CHECKING:
    from pathlib import Path

    from agent.lab.charts import Finding
    from agent.lab.paper.places import Places
    from agent.model.model import Model

ESTIMATORS: tuple[Estimator, ...] = ("plugin", "louo")  # the paper's first
_ESTIMATES = (
    "Utility is estimated in two ways: plugin, the paper's, with Dirichlet smoothing, and "
    "louo, which leaves out the user whose row is scored and is what reticent decides by. "
    "The strength of the prior is chosen per query; the paper does not state its own."
)
ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
Part = Callable[[Subject, Options], object]


def _orders(subject: Subject, _: Options) -> object:
    return utility_order.utility_order(subject)


def _unsmoothed(subject: Subject, _: Options) -> object:
    return utility_order.utility_order(unsmoothed(subject))


def _calibrated(subject: Subject, options: Options) -> object:
    return calibrated_order.calibrated_order(subject, options.trade_off)


def _curve(subject: Subject, options: Options) -> object:
    return curve.curve_of(subject, options.trade_off)


def _heuristics(subject: Subject, options: Options) -> object:
    return heuristics.heuristics(subject, options.trade_off)


def _running(subject: Subject, options: Options) -> object:
    return running.running(subject, options.trade_off, options.seed, time.process_time)


def _shape(subject: Subject, options: Options) -> object:
    return shape.utility_shape(subject, options.seed)


def _sampling(subject: Subject, options: Options) -> object:
    return sampling.utility_estimates(subject, options)


# What is computed under both estimators, and what the paper's alone has.
PARTS: Mapping[str, Part] = MappingProxyType(
    {
        "utility order": _orders,
        "calibrated order": _calibrated,
        "curve": _curve,
        "heuristics": _heuristics,
        "shape": _shape,
        "running": _running,
    }
)
PLUGIN_PARTS: Mapping[str, Part] = MappingProxyType(
    {"unsmoothed order": _unsmoothed, "sampling": _sampling}
)


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
    tasks = [(each, part) for each in ESTIMATORS for part in _parts(each)]
    found: dict[tuple[Estimator, str], Any] = {}
    results = _alone(path, options) if processes == 1 else _shared(path, options)
    progress("computing the figures", 0.0)
    for number, (task, value) in enumerate(results, 1):
        found[task] = value
        progress(f"{task[1]} ({task[0]})", number / len(tasks))
    findings = _findings(model, material.places, options, found)
    return Study("The paper's results, here", _intro(model, material), findings)


def _parts(estimator: Estimator) -> Mapping[str, Part]:
    return {**PARTS, **PLUGIN_PARTS} if estimator == "plugin" else PARTS


def _findings(
    model: Model,
    places: Places | None,
    options: Options,
    found: Mapping[tuple[Estimator, str], Any],
) -> tuple[Finding, ...]:
    note = note_of(model)
    by: dict[str, dict[str, Any]] = {
        part: {each: found[each, part] for each in ESTIMATORS} for part in PARTS
    }
    if places is not None:
        sets = by["heuristics"]
        scored = heuristics.addresses(places, options.trade_off)
        sets[model.estimator] = (*sets[model.estimator], *scored)
    orders = {**by["utility order"], "plugin, not smoothed": found["plugin", "unsmoothed order"]}
    costs = cost_order.cost_order(model, options.k)
    subject = subject_of(model, model.estimator)
    shapes = (*by["shape"].values(), *shape.cost_shapes(model, options.k, options.seed))
    estimates = (found["plugin", "sampling"], *sampling.cost_estimates(subject, options))
    return (
        utility_order.finding(orders, note),
        cost_order.cost_finding(costs, note),
        curve.finding(by["curve"], note),
        *_calibration(places, options, note),
        cost_order.metrics_finding(costs, note, options.k),
        calibrated_order.finding(by["calibrated order"], options.trade_off, note),
        heuristics.finding(by["heuristics"], options.trade_off, note),
        running.finding(by["running"], note),
        shape.finding(shapes, note),
        sampling.finding(estimates, options.samples, note),
    )


def _calibration(places: Places | None, options: Options, note: str) -> tuple[Finding, ...]:
    if places is None:
        return ()
    return (calibration.finding(calibration.calibrated(places.costs, options.seed), note),)


def _intro(model: Model, material: Material) -> tuple[str, ...]:
    missing = (
        "Fig. 8b is missing, and of Fig. 11 the addresses: this model does not know where people "
        "ask from. A log does."
    )
    return (
        "Krause and Horvitz, A Utility-Theoretic Approach to Privacy in Online Services (JAIR 39, "
        "2010), section 7. " + note_of(model),
        _ESTIMATES,
        *([missing] if material.places is None else []),
    )


def note_of(model: Model) -> str:
    """Return the line below each figure: the model, and where its data comes from."""
    source = (model.source or "source not stated").rstrip(".")
    return (
        f"Model {model.id}: {model.population.people:,} people, {len(model.queries):,} queries, "
        f"{len(model.attributes)} attributes. Data: {source}."
    )


Result = tuple[tuple[Estimator, str], object]


def _alone(path: Path, options: Options) -> Iterator[Result]:
    for estimator in ESTIMATORS:
        for part in _parts(estimator):
            yield (estimator, part), _part(path, (estimator, part), options)


def _shared(path: Path, options: Options) -> Iterator[Result]:
    """Yield what a process for each estimator computes, as it comes.

    New processes: whoever has threads cannot be forked. Each keeps its subject, so that what was
    computed for one figure serves the next.
    """
    os.environ.update(dict.fromkeys(ONE_THREAD, "1"))
    lanes = {each: ProcessPoolExecutor(1, get_context("spawn")) for each in ESTIMATORS}
    try:
        waiting = {
            lanes[estimator].submit(_part, path, (estimator, part), options): (estimator, part)
            for estimator in ESTIMATORS
            for part in _parts(estimator)
        }
        for each in as_completed(waiting):
            yield waiting[each], each.result()
    finally:
        for lane in lanes.values():
            lane.shutdown(cancel_futures=True)


_subjects: dict[tuple[Path, Estimator], Subject] = {}  # of this process: one


def _part(path: Path, task: tuple[Estimator, str], options: Options) -> object:
    estimator, part = task
    key = (path, estimator)
    if key not in _subjects:
        _subjects.clear()
        _subjects[key] = subject_of(read(path), estimator)
    return _parts(estimator)[part](_subjects[key], options)

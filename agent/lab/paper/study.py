"""All figures of one model: what was computed for them, put together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agent.lab.paper import (
    calibrated_order,
    calibration,
    caveats,
    cost_order,
    curve,
    heuristics,
    running,
    sampling,
    shape,
    utility_order,
)
from agent.lab.paper.parts import ESTIMATORS, PARTS, computed, parts
from agent.lab.paper.subject import subject_of
from agent.model.file import read
from agent.tradeoff.anonymity_set import COMBINATIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from agent.lab.charts import Finding
    from agent.lab.paper.options import Options
    from agent.lab.paper.parts import Task
    from agent.lab.paper.places import Places
    from agent.model.model import Model

_ESTIMATES = (
    "Utility is estimated in two ways: plugin, the paper's, with Dirichlet smoothing by a prior of "
    "{shrinkage:g} rows, and louo, which leaves out the user whose row is scored and is what "
    "reticent decides by, with a prior chosen per query. The paper does not state its prior: "
    "Fig. 6 says how that of plugin was chosen."
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
    many = sum(len(parts(each)) for each in ESTIMATORS)
    found: dict[Task, Any] = {}
    progress("computing the figures", 0.0)
    for number, (task, value) in enumerate(computed(path, options, processes), 1):
        found[task] = value
        progress(f"{task[1]} ({task[0]})", number / many)
    findings = _findings(model, material.places, options, found)
    intro = (*_intro(model, material, options), shape.sentence(_utility_shapes(found)))
    return Study("The paper's results, here", intro, findings)


def _utility_shapes(found: Mapping[Task, Any]) -> tuple[shape.Shape, ...]:
    return tuple(found[each, "shape"] for each in ESTIMATORS)


def _findings(
    model: Model,
    places: Places | None,
    options: Options,
    found: Mapping[Task, Any],
) -> tuple[Finding, ...]:
    note, fitted = note_of(model), caveats.is_synthetic(model)
    by: dict[str, dict[str, Any]] = {
        part: {each: found[each, part] for each in ESTIMATORS} for part in PARTS
    }
    if places is not None:
        sets = by["heuristics"]
        scored = heuristics.addresses(places, options.trade_off)
        sets[model.estimator] = (*sets[model.estimator], *scored)
    chosen = {utility_order.CHOSEN: found["plugin", "order, prior chosen"]}
    orders = {**by["utility order"], **chosen}
    costs = cost_order.cost_order(model, options.k)
    subject = subject_of(model, model.estimator)
    shapes = (*_utility_shapes(found), *shape.cost_shapes(model, options.k, options.seed))
    estimates = (found["plugin", "sampling"], *sampling.cost_estimates(subject, options))
    return (
        utility_order.finding(orders, note, options.shrinkage, fitted=fitted),
        cost_order.cost_finding(costs, note),
        curve.finding(by["curve"], note),
        *_calibration(places, options, note),
        cost_order.metrics_finding(costs, note, options.k),
        calibrated_order.finding(by["calibrated order"], options.trade_off, note),
        heuristics.finding(by["heuristics"], options.trade_off, note, fitted=fitted),
        running.finding(by["running"], note),
        shape.finding(shapes, note),
        sampling.finding(estimates, options.samples, note),
    )


def _calibration(places: Places | None, options: Options, note: str) -> tuple[Finding, ...]:
    if places is None:
        return ()
    return (calibration.finding(calibration.calibrated(places.costs, options.seed), note),)


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
        *([caveats.SYNTHETIC] if caveats.is_synthetic(model) else []),
        caveats.RULES,
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

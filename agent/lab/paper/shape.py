"""Whether U is submodular and C supermodular on this data (end of 3, and 7.1), by triples."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from agent.lab.charts import Chart, Claim, Finding, Panel, Series
from agent.lab.paper.cost_order import METRICS
from agent.lab.paper.subject import cost_alone
from agent.tradeoff.check import random_pairs, submodularity, supermodularity

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agent.lab.paper.subject import Subject
    from agent.model.model import Model
    from agent.tradeoff.check import Pair, Violations

LARGEST = 10  # attributes in a set: a disclosure has few
COST_TRIPLES, UTILITY_TRIPLES = 2000, 60
_Z = 1.96  # of a 95 % interval
FEW = 0.05  # of the triples: so few may violate


@dataclass(frozen=True, slots=True)
class Shape:
    """How often what an attribute adds grows (U), or shrinks (C), with the set, and by how much.

    ``mean_gain``: of what attributes add to the smaller sets, in the function's unit.
    """

    name: str
    violations: Violations
    mean_gain: float


def utility_shape(subject: Subject, seed: int) -> Shape:
    """Return how U fares, in bits."""
    objective = subject.utility_alone()
    triples = random_pairs(objective, UTILITY_TRIPLES, LARGEST, np.random.default_rng(seed))
    found = Shape(
        f"U, {subject.estimator}",
        submodularity(objective.utility, triples),
        _mean_gain(objective.utility, triples),
    )
    objective.forget()  # partitions by sets that nobody looks at again take a gigabyte
    return found


def cost_shapes(model: Model, k: int, seed: int) -> tuple[Shape, ...]:
    """Return how each metric fares, in its own unit."""
    draw = np.random.default_rng(seed)
    triples = random_pairs(cost_alone(model), COST_TRIPLES, LARGEST, draw)
    costs = {metric: cost_alone(model, metric, k).identifiability_cost for metric in METRICS}
    return tuple(
        Shape(f"C, {metric}", supermodularity(cost, triples), _mean_gain(cost, triples))
        for metric, cost in costs.items()
    )


def _mean_gain(function: Callable[[int], float], triples: Sequence[Pair]) -> float:
    gains = [
        function(each.smaller | 1 << each.attribute) - function(each.smaller) for each in triples
    ]
    return float(np.mean(np.abs(gains))) if gains else 0.0


def finding(shapes: Sequence[Shape], note: str) -> Finding:
    """Return the figure: the share of triples that violate, and by how much, by function."""
    shares = tuple(each.violations.share for each in shapes)
    relative = tuple(
        each.violations.mean / each.mean_gain if each.mean_gain else 0.0 for each in shapes
    )
    names = tuple(each.name for each in shapes)
    panels = (
        _bars("triples that violate", "share of the triples", names, shares),
        _bars("by how much, where they do", "mean excess / mean gain", names, relative),
    )
    title = "Whether utility is submodular and cost supermodular"
    told = "Triples are a set, a larger one and an attribute in neither, drawn at random."
    return Finding(Chart("fig-13-shape", title, note, panels), tuple(map(_claim, shapes)), (told,))


def sentence(shapes: Sequence[Shape]) -> str:
    """Return how often U is not submodular, and what that takes from what is proven."""
    found = ", ".join(
        f"{each.violations.share:.0%} of the triples under {each.name.removeprefix('U, ')}"
        for each in shapes
    )
    return (
        f"U violates submodularity in {found} (last figure but one). So neither the guarantee of "
        "Theorem 4.1 nor that lazy and eager search agree is proven for this data: the searches "
        "are heuristics, each followed by a sweep of all single moves."
    )


def _bars(title: str, label: str, names: tuple[str, ...], values: tuple[float, ...]) -> Panel:
    places = tuple(float(each) for each in range(len(names)))
    return Panel(title, "", label, (Series(label, places, values, "bars"),), ticks=names)


def interval(some: int, many: int) -> tuple[float, float]:
    """Return the 95 % interval of a share, ``some`` of ``many`` (Wilson 1927); 0 to 1 of none."""
    if not many:
        return 0.0, 1.0
    share, weight = some / many, _Z**2 / many
    middle = (share + weight / 2) / (1 + weight)
    half = sqrt(weight * (share * (1 - share) + weight / 4)) / (1 + weight)
    # rounding must not leave the share of none, or of all, outside
    return min(share, max(0.0, middle - half)), max(share, min(1.0, middle + half))


def _claim(shape: Shape) -> Claim:
    wanted = "supermodular" if shape.name.startswith("C") else "submodular"
    found = shape.violations
    low, high = interval(found.violating, found.pairs)
    return Claim(
        "3, 7.1",
        f"{shape.name[0]} is {wanted} on data, without the assumptions of the theorems",
        f"{shape.name}: {found.violating} of {found.pairs} triples violate ({found.share:.1%}, "
        f"{low:.0%} to {high:.0%} with 95 % confidence), "
        f"by {found.mean:.2g} in mean and {found.largest:.2g} at most; a gain is "
        f"{shape.mean_gain:.2g} in mean",
        found.share <= FEW,
        f"same where at most {FEW:.0%} violate; attributes here depend on each other, and the "
        "theorems want them independent",
    )

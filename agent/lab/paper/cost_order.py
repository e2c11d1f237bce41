"""Fig. 7: cost along the greedy order of cost; Fig. 9: three metrics along the same order."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from agent.lab.charts import Chart, Claim, Finding
from agent.lab.paper import published
from agent.lab.paper.along import Along, measured, panel, reached
from agent.lab.paper.subject import cost_alone
from agent.tradeoff.local_search import eager_pass
from agent.tradeoff.search import greedy_order

if TYPE_CHECKING:
    from agent.model.model import Model
    from agent.tradeoff.anonymity_set import Metric

METRICS: tuple[Metric, ...] = ("maxprob", "log-maxprob", "k-anonymity")
SLOW = 0.25  # of the whole cost, at half of the attributes: at most that is slow
FLAT = 0.99  # of the whole cost: from there on it is called flat


def cost_order(model: Model, k: int = published.K) -> Along:
    """Return all attributes, each the cheapest addition by ``maxprob``, and I along them.

    ``k``: of k-anonymity. Each metric is I(A) - I(0), in its own unit. Attributes of which a set
    would have too many combinations of request values are not in the order (DESIGN.md 2.2).
    """
    order, _ = greedy_order(cost_alone(model), eager_pass)
    names = tuple(model.attributes[each].name for each in order)
    curves = tuple(
        (metric, measured(order, cost_alone(model, metric, k).identifiability_cost))
        for metric in METRICS
    )
    return Along(names, curves)


def cost_finding(order: Along, note: str) -> Finding:
    """Return Fig. 7."""
    curve = order.curve(METRICS[0])
    shown = Along(order.names, ((METRICS[0], curve),))
    chart = Chart(
        "fig-07-cost",
        "Fig. 7: cost along the greedy order of cost",
        note,
        (panel(shown, ("maxprob", "identifiability above that of nothing")),),
    )
    half = curve[len(curve) // 2 - 1] / curve[-1] if len(curve) > 1 and curve[-1] > 0 else 0.0
    claim = Claim(
        "7.1",
        "initially increases very slowly, and faster as more are selected",
        f"half of the attributes make {half:.1%} of the whole cost, {curve[-1]:.3f}",
        half <= SLOW,
        f"same where that is at most {SLOW:.0%}: a convex curve lies below half",
    )
    return Finding(chart, (claim, _supermodular_end(curve)))


def _supermodular_end(curve: tuple[float, ...]) -> Claim:
    """Say where the steps stop growing: no cost exceeds certainty."""
    gains = [after - before for before, after in pairwise(curve)]
    steepest = gains.index(max(gains)) + 2 if gains else 0
    return Claim(
        "7.1",
        "the curve looks convex",
        f"steepest at attribute {steepest} of {len(curve)}",
        steepest >= len(curve) / 2,
        "same where the steepest step is in the second half; after it almost everybody is "
        "alone already, and certainty cannot grow",
    )


def metrics_finding(order: Along, note: str, k: int = published.K) -> Finding:
    """Return Fig. 9: each metric as a share of its cost with all attributes."""
    shares = tuple(
        (name, tuple(each / values[-1] if values[-1] > 0 else 0.0 for each in values))
        for name, values in order.curves
    )
    shown = Along(order.names, shares)
    chart = Chart(
        "fig-09-metrics",
        f"Fig. 9: three cost metrics along the same order, k = {k}",
        note,
        (panel(shown, ("", "share of the cost with all attributes")),),
    )
    flat = {name: reached(values, FLAT) for name, values in order.curves}
    count, there = len(order.names), published.FLAT_AFTER
    claim = Claim(
        "7.1",
        f"k-anonymity flattens out after {there} of {published.ATTRIBUTES}, before the others",
        f"{FLAT:.0%} of the cost after "
        + ", ".join(f"{n} ({name})" for name, n in flat.items())
        + f" of {count}",
        flat["k-anonymity"] < count and flat["k-anonymity"] < min(flat[m] for m in METRICS[:2]),
        "same where k-anonymity is the first to be flat: fewer attributes suffice to leave less "
        "than k people than to leave one",
    )
    return Finding(chart, (claim,))

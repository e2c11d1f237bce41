"""Fig. 10: the greedy order of the calibrated objective."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.lab.charts import Chart, Claim, Finding
from agent.lab.paper.along import Along, measured, panel, reached
from agent.tradeoff.search import greedy_order

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agent.lab.paper.subject import Subject

OBJECTIVE, UTILITY, COST = "objective F", "utility U", "cost, weighed by λ"


def calibrated_order(subject: Subject, trade_off: float) -> Along:
    """Return all attributes, each the best addition by F at lambda; F, U and λC along them."""
    objective = subject.objective(trade_off)
    order, _ = greedy_order(objective)
    curves = (
        (OBJECTIVE, measured(order, objective.value)),
        (UTILITY, measured(order, objective.utility)),
        (COST, measured(order, objective.cost)),
    )
    return Along(subject.named(order), curves)


def finding(orders: Mapping[str, Along], trade_off: float, note: str) -> Finding:
    """Return Fig. 10; ``orders``: by estimator, the paper's first."""
    panels = tuple(
        panel(each, (f"estimator {name}", "bits"), [(reached(each.curve(OBJECTIVE), 1), "best")])
        for name, each in orders.items()
    )
    title = f"Fig. 10: greedy on the calibrated objective, λ = {trade_off:g}"
    chart = Chart("fig-10-calibrated", title, note, panels)
    return Finding(chart, tuple(_peaks(name, each) for name, each in orders.items()))


def _peaks(name: str, order: Along) -> Claim:
    """Say whether a few attributes are best, and all of them far worse."""
    values, count = order.curve(OBJECTIVE), len(order.names)
    best = reached(values, 1)
    peak = max(0.0, *values)
    return Claim(
        "7.3",
        "a few attributes are best (LLS takes 7 of 31), and cost outweighs what more add",
        f"{name}: best after {best} of {count} at {peak:.3f} bits, {values[-1]:.3f} with all",
        0 < best <= count / 2 and values[-1] < peak,
        "same where at most half are best, and all are worse",
    )

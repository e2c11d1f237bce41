"""Fig. 6: utility along the greedy order."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from agent.lab.charts import Chart, Claim, Finding
from agent.lab.paper import caveats, published
from agent.lab.paper.along import Along, Floats, measured, panel, reached, steps
from agent.tradeoff.search import greedy_order

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agent.lab.paper.subject import Subject

BITS = "utility, bits"
CHOSEN = "plugin, prior chosen"
WHY = {
    "plugin": "it is near what knowing everybody by name gives, and far above what louo finds to "
    "be true of others: a level alone is no sign of utility",
    "louo": "it falls as attributes that add noise cost bits where one's own rows do not count",
    CHOSEN: "it falls as a prior of the strength that a build would choose takes back what groups "
    "of few people say",
}
LEVEL = 0.95  # of the greatest utility: from there on it is called level
BUMPY = 0.05  # of the greatest utility, in gains that grow: less is no bend


def utility_order(subject: Subject) -> Along:
    """Return all attributes, each the best addition to those before, and U along them, in bits.

    Lazily, as the paper has it: where U is not submodular, a better addition may be overlooked.
    """
    objective = subject.utility_alone()
    order, _ = greedy_order(objective)
    return Along(subject.named(order), ((BITS, measured(order, objective.utility)),))


def bumps(values: Floats) -> float:
    """Return by how much gains grow on the way up, in sum, as a share of the greatest value.

    It is 0 where returns diminish until there. What comes after it does not count.
    """
    most = max(values, default=0.0)
    return regrown(values[: values.index(most) + 1]) / most if most > 0 else 0.0


def regrown(values: Floats) -> float:
    """Return by how much gains grow along an order, in sum."""
    return sum(max(0.0, after - before) for before, after in pairwise(steps(values)))


def finding(orders: Mapping[str, Along], note: str, shrinkage: float, *, fitted: bool) -> Finding:
    """Return Fig. 6; ``orders``: by estimator, the paper's first.

    ``shrinkage``: of the paper's, in rows; ``fitted``: whether the data was made to have its level.
    """
    panels = tuple(
        panel(each, (f"estimator {name}", BITS), [(reached(each.curve(BITS), LEVEL), "95 %")])
        for name, each in orders.items()
    )
    chart = Chart("fig-06-utility", "Fig. 6: utility along the greedy order", note, panels)
    claims = [_levels(name, each) for name, each in orders.items()]
    if fitted:  # the paper's estimator comes first
        claims[0] = caveats.doubted(claims[0])
    claims += [_diminishes(name, each) for name, each in orders.items()]
    first = next(iter(orders.values()))
    claims.append(
        Claim(
            "7.1",
            "the first six are " + ", ".join(published.UTILITY_ORDER[:6]),
            ", ".join(first.names[:6]),
            None,
            "which attributes help depends on the data; an order is no shape",
        )
    )
    told = (caveats.prior(shrinkage), *([caveats.FITTED] if fitted else []), caveats.UP_ONLY)
    return Finding(chart, tuple(claims), told)


def _levels(name: str, order: Along) -> Claim:
    """Set the level beside the paper's, and after how many attributes it is reached."""
    values, count = order.curve(BITS), len(order.names)
    here, there = reached(values, LEVEL), len(published.UTILITY_ORDER)
    same = here <= count / 2 and values[-1] >= LEVEL * max(values)
    because = f"; {WHY[name]}" if name == "plugin" or not same else ""
    return Claim(
        "7.1",
        f"levels off at {published.UTILITY_BITS} bits after {there} of {published.ATTRIBUTES}",
        f"{name}: {LEVEL:.0%} of {max(values):.3f} bits after {here} of {count}, "
        f"{values[-1]:.3f} bits with all",
        same,
        f"same where half of the attributes bring 95 % of the most and the rest keeps it{because}",
    )


def _diminishes(name: str, order: Along) -> Claim:
    values = order.curve(BITS)
    share, everywhere = bumps(values), regrown(values) / max(values) if max(values) > 0 else 0.0
    return Claim(
        "7.1",
        "returns diminish",
        f"{name}: gains that grow again add up to {share:.1%} of the greatest utility on the way "
        f"up, and to {everywhere:.1%} along the whole order",
        share <= BUMPY,
        f"same where they are at most {BUMPY:.0%} on the way up; gains grow again where "
        "attributes help each other, as they do where groups are so small that chance decides",
    )

"""Figs. 6, 7, 9 and 10: utility, cost and their trade-off along greedy orders of attributes."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from agent.lab.charts import Chart, Claim, Finding, Mark, Panel, Series
from agent.lab.paper import published
from agent.lab.paper.subject import cost_alone
from agent.tradeoff.local_search import eager_pass
from agent.tradeoff.search import greedy_order

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from agent.lab.paper.subject import Subject
    from agent.model.model import Model
    from agent.tradeoff.anonymity_set import Metric


Floats = tuple[float, ...]
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
METRICS: tuple[Metric, ...] = ("maxprob", "log-maxprob", "k-anonymity")
SLOW = 0.25  # of the whole cost, at half of the attributes: at most that is slow
FLAT = 0.99  # of the whole cost: from there on it is called flat
OBJECTIVE, UTILITY, COST = "objective F", "utility U", "cost, weighed by λ"


@dataclass(frozen=True, slots=True)
class Along:
    """An order of attributes, and numbers for the set of the first 1, 2, 3, ... of them.

    ``names``: in that order; ``curves``: a label and as many numbers as there are names, each.
    """

    names: tuple[str, ...]
    curves: tuple[tuple[str, Floats], ...]

    def curve(self, label: str) -> Floats:
        """Return the numbers under a label; KeyError if there are none."""
        return dict(self.curves)[label]


def prefixes(order: Sequence[int]) -> tuple[int, ...]:
    """Return the sets of the first 1, 2, 3, ... attributes, as masks."""
    return tuple(accumulate((1 << each for each in order), int.__or__))


def measured(order: Sequence[int], measure: Callable[[int], float]) -> Floats:
    """Return what ``measure`` says of the set of the first 1, 2, 3, ... attributes."""
    return tuple(measure(each) for each in prefixes(order))


def reached(values: Floats, share: float) -> int:
    """Return after how many attributes a share of the greatest value is reached; 0 without any."""
    if not values or max(values) <= 0:
        return 0
    return next(n for n, each in enumerate(values, 1) if each >= share * max(values))


def steps(values: Floats) -> Floats:
    """Return what each attribute adds; before the first there is 0."""
    return tuple(after - before for before, after in zip((0.0, *values), values, strict=False))


def panel(along: Along, labels: tuple[str, str], marks: Sequence[tuple[int, str]] = ()) -> Panel:
    """Return the curves of an order, drawn over the attributes.

    ``labels``: the title, and what the numbers are; ``marks``: how many attributes, and a word, at
    the first curve.
    """
    places = tuple(float(each) for each in range(len(along.names)))
    series = tuple(
        Series(label, places, values, names=along.names) for label, values in along.curves
    )
    first = along.curves[0][1]
    pointed = tuple(Mark(n - 1, first[n - 1], text) for n, text in marks if n)
    title, y_label = labels
    return Panel(title, "attributes, in this order", y_label, series, pointed, along.names)


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


def utility_finding(
    orders: Mapping[str, Along], note: str, shrinkage: float, *, fitted: bool
) -> Finding:
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
        claims[0] = published.doubted(claims[0])
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
    told = (published.prior(shrinkage), *([published.FITTED] if fitted else []), published.UP_ONLY)
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


def calibrated_finding(orders: Mapping[str, Along], trade_off: float, note: str) -> Finding:
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

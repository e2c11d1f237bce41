"""Figs. 6 to 10: utility, cost and their trade-off along greedy orders, and over λ."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from operator import or_

from agent.build.fitting import SHRINKAGES
from agent.lab.charts import Chart, Criterion, Mark, Panel, Series, StudyFinding
from agent.lab.paper.subject import SHRINKAGE, K, Subject, claim, cost_alone, names_of, prose
from agent.model.model import Model
from agent.tradeoff import Point, curve, knee
from agent.tradeoff.local_search import eager_pass
from agent.tradeoff.measures import Metric
from agent.tradeoff.search import greedy_order
from agent.tradeoff.tradeoff_curve import beaten

Floats = tuple[float, ...]

BITS = "utility, bits"
CHOSEN = "plugin, prior chosen"
LEVEL = 0.95  # of the greatest utility: from there on it is called level
BUMPY = 0.05  # of the greatest utility, in gains that grow: less is no bend
METRICS: tuple[Metric, ...] = ("maxprob", "log-maxprob", "k-anonymity")
SLOW = 0.25  # of the whole cost, at half of the attributes: at most that is slow
FLAT = 0.99  # of the whole cost: from there on it is called flat
OBJECTIVE, UTILITY, COST = "objective F", "utility U", "cost, weighed by λ"


@dataclass(frozen=True, slots=True)
class Along:
    """An order of attributes, and numbers for the set of the first 1, 2, 3, ... of them.

    ``names``: in that order; ``curves``: by label, each as many numbers as there are names.
    """

    names: tuple[str, ...]
    curves: Mapping[str, Floats]


def along(
    model: Model, order: Sequence[int], measures: Mapping[str, Callable[[int], float]]
) -> Along:
    """Measure the first 1, 2, 3, ... attributes of an order; ``measures``: by label."""
    sets = [*accumulate((1 << each for each in order), or_)]
    curves = {label: tuple(map(measure, sets)) for label, measure in measures.items()}
    return Along(names_of(model, order), curves)


def reached(values: Floats, share: float) -> int:
    """Count the attributes until a share of the greatest value is reached; 0 without any."""
    if not values or max(values) <= 0:
        return 0
    return next(n for n, each in enumerate(values, 1) if each >= share * max(values))


def steps(values: Floats) -> Floats:
    """Subtract what each attribute adds; before the first there is 0."""
    return tuple(after - before for before, after in pairwise((0.0, *values)))


def bumps(values: Floats) -> float:
    """Sum up by how much gains grow on the way up, as a share of the greatest value.

    It is 0 where returns diminish until there. What comes after it does not count.
    """
    most = max(values, default=0.0)
    return regrown(values[: values.index(most) + 1]) / most if most > 0 else 0.0


def regrown(values: Floats) -> float:
    """Sum up by how much gains grow along an order."""
    return sum(max(0.0, after - before) for before, after in pairwise(steps(values)))


def utility_order(subject: Subject) -> Along:
    """Order all attributes, each the best addition to those before; U along them, in bits.

    Lazily, as the paper has it: where U is not submodular, a better addition may be overlooked.
    """
    objective = subject.utility_alone()
    order, _ = greedy_order(objective)
    return along(subject.model, order, {BITS: objective.utility})


def cost_order(model: Model) -> Along:
    """Order all attributes, each the cheapest addition by ``maxprob``; I along them.

    Each metric is I(A) - I(0), in its own unit. Attributes of which a set
    would have too many combinations of request values are not in the order (DESIGN.md 2.2).
    """
    order, _ = greedy_order(cost_alone(model), eager_pass)
    costs = {str(each): cost_alone(model, each).identifiability_cost for each in METRICS}
    return along(model, order, costs)


def calibrated_order(subject: Subject, trade_off: float) -> Along:
    """Order all attributes, each the best addition by F at lambda; F, U and λC along them."""
    objective = subject.objective(trade_off)
    order, _ = greedy_order(objective)
    terms = {OBJECTIVE: objective.value, UTILITY: objective.utility, COST: objective.cost}
    return along(subject.model, order, terms)


def utility_finding(orders: Mapping[str, Along], note: str) -> StudyFinding:
    """Draw Fig. 6; ``orders``: by estimator, the paper's first."""
    panels = tuple(
        _panel(each, f"estimator {name}", BITS, ("95 %", LEVEL)) for name, each in orders.items()
    )
    chart = Chart("fig-06-utility", "Fig. 6: utility along the greedy order", note, panels)
    claims = [_levels_off(name, each) for name, each in orders.items()]
    for name, each in orders.items():
        values = each.curves[BITS]
        whole = regrown(values) / max(values) if max(values) > 0 else 0.0
        grown = {"bumps": bumps(values), "whole": whole, "bumpy": BUMPY}
        claims.append(claim("diminishing-returns", bumps(values) <= BUMPY, name=name, **grown))
    first = next(iter(orders.values()))
    claims.append(claim("first-six", None, here=", ".join(first.names[:6])))
    prior = prose("prior", shrinkage=SHRINKAGE, least=SHRINKAGES[0])
    return StudyFinding(chart, tuple(claims), (prior, prose("on-the-way-up")))


def _levels_off(name: str, order: Along) -> Criterion:
    """Compare the level with the paper's, and after how many attributes it is reached."""
    values, count = order.curves[BITS], len(order.names)
    here, last = reached(values, LEVEL), values[-1]
    same = here <= count / 2 and last >= LEVEL * max(values)
    because = prose(f"level-{name}") if name == "plugin" or not same else ""
    fields = {"most": max(values), "here": here, "count": count, "last": last, "because": because}
    return claim("levels-off", same, name=name, level=LEVEL, **fields)


def cost_finding(order: Along, note: str) -> StudyFinding:
    """Draw Fig. 7."""
    curve = order.curves[METRICS[0]]
    shown = Along(order.names, {METRICS[0]: curve})
    panel = _panel(shown, "maxprob", "identifiability above that of nothing")
    chart = Chart("fig-07-cost", "Fig. 7: cost along the greedy order of cost", note, (panel,))
    half = curve[len(curve) // 2 - 1] / curve[-1] if len(curve) > 1 and curve[-1] > 0 else 0.0
    gains, count = steps(curve)[1:], len(curve)
    steepest = gains.index(max(gains)) + 2 if gains else 0
    slow = claim("slow-start", half <= SLOW, half=half, whole=curve[-1], slow=SLOW)
    convex = claim("convex", steepest >= count / 2, steepest=steepest, count=count)
    return StudyFinding(chart, (slow, convex))


def metrics_finding(order: Along, note: str) -> StudyFinding:
    """Draw Fig. 9: each metric as a share of its cost with all attributes."""
    shares = {
        name: tuple(each / values[-1] if values[-1] > 0 else 0.0 for each in values)
        for name, values in order.curves.items()
    }
    panel = _panel(Along(order.names, shares), "", "share of the cost with all attributes")
    title = f"Fig. 9: three cost metrics along the same order, k = {K}"
    flat = {name: reached(values, FLAT) for name, values in order.curves.items()}
    first = flat["k-anonymity"]
    here = ", ".join(f"{n} ({name})" for name, n in flat.items())
    same = first < len(order.names) and first < min(flat[each] for each in METRICS[:2])
    flattens = claim("flattens", same, share=FLAT, here=here, count=len(order.names))
    return StudyFinding(Chart("fig-09-metrics", title, note, (panel,)), (flattens,))


def calibrated_finding(orders: Mapping[str, Along], trade_off: float, note: str) -> StudyFinding:
    """Draw Fig. 10; ``orders``: by estimator, the paper's first."""
    panels = tuple(
        _panel(each, f"estimator {name}", "bits", ("best", 1)) for name, each in orders.items()
    )
    title = f"Fig. 10: greedy on the calibrated objective, λ = {trade_off:g}"
    claims = []
    for name, order in orders.items():
        values, count = order.curves[OBJECTIVE], len(order.names)
        best, peak, last = reached(values, 1), max(0.0, *values), values[-1]
        fields = {"best": best, "count": count, "peak": peak, "last": last}
        same = 0 < best <= count / 2 and last < peak
        claims.append(claim("peak", same, name=name, **fields))
    return StudyFinding(Chart("fig-10-calibrated", title, note, panels), tuple(claims))


def _panel(order: Along, title: str, label: str, mark: tuple[str, float] | None = None) -> Panel:
    """Draw the curves over the attributes; ``mark``: a word, where the first reaches a share."""
    series = [
        Series.ranked(name, values, "line", order.names) for name, values in order.curves.items()
    ]
    marks: tuple[Mark, ...] = ()
    if mark is not None and (place := reached(series[0].y, mark[1])):
        marks = (Mark(place - 1, series[0].y[place - 1], mark[0]),)
    return Panel(title, "attributes, in this order", label, tuple(series), marks, order.names)


KNEE = (1.0, 10.0)  # in λ (7.2)
MOST, LEAST = 0.7, 0.1  # of utility and cost without any price: near the most, and near none


@dataclass(frozen=True, slots=True)
class SubjectCurve:
    """The sets that LLS chooses, in ascending lambda.

    ``whole``: what all attributes would cost, by ``maxprob``, above nothing.
    """

    points: tuple[Point, ...]
    whole: float

    @property
    def knee(self) -> Point | None:
        """The point farthest above the chord of the normalised curve, if any is above."""
        place = knee(self.points)
        return None if place is None else self.points[place]


def curve_of(subject: Subject, present: float) -> SubjectCurve:
    """Compute the curve over the grid of lambdas, ``present`` among them (paper 7.2)."""
    objective = subject.objective(present)
    points = curve(objective)
    return SubjectCurve(points, objective.identifiability_cost(objective.candidates))


def curve_finding(curves: Mapping[str, SubjectCurve], note: str) -> StudyFinding:
    """Draw Fig. 8a; ``curves``: by estimator, the paper's first."""
    panels = tuple(_curve_panel(name, each) for name, each in curves.items())
    chart = Chart("fig-08a-curve", "Fig. 8a: the trade-off curve over λ", note, panels)
    claims = [claim for name, each in curves.items() for claim in _claims(name, each)]
    return StudyFinding(chart, tuple(claims), (prose("knee"), prose("cost-at-the-knee")))


def _curve_panel(name: str, shown: SubjectCurve) -> Panel:
    pairs = zip(shown.points, beaten(shown.points), strict=True)
    ordered = sorted(pairs, key=lambda each: (each[0].cost, each[0].worth))
    series = []
    for is_beaten in (False, True):
        points = [point for point, out in ordered if out == is_beaten]
        names = tuple(f"λ = {each.least:g}" for each in points)
        series.append(
            Series(
                "chosen, and beaten by another" if is_beaten else "sets chosen by LLS",
                tuple(each.cost for each in points),
                tuple(each.worth for each in points),
                "points" if is_beaten else "line",
                names=names,
            )
        )
    bend = shown.knee
    marks = () if bend is None else (Mark(bend.cost, bend.worth, f"knee, λ {_range(bend)}"),)
    labels = ("identifiability (maxprob) above that of nothing", "utility less sensitivity, bits")
    return Panel(f"estimator {name}", *labels, tuple(each for each in series if each.x), marks)


def _range(point: Point) -> str:
    if point.least == point.most:
        return f"= {point.least:.3g}"
    return f"from {point.least:.3g} to {point.most:.3g}"


def _claims(name: str, shown: SubjectCurve) -> list[Criterion]:
    bend = shown.knee
    if bend is None:
        return [claim("no-knee", same=False, name=name)]
    (low, high), most = KNEE, max(each.worth for each in shown.points)
    worth, cost = bend.worth / most, bend.cost / shown.whole
    share = bend.cost / max(each.cost for each in shown.points)
    near, cheap = bend.least <= high and bend.most >= low, worth >= MOST and cost <= LEAST
    at = {"range": _range(bend), "count": bend.mask.bit_count(), "most": most}
    terms = {"worth": worth, "cost": cost, "share": share, "much": MOST, "little": LEAST}
    return [claim("knee", near, name=name, **at), claim("knee-is-cheap", cheap, name=name, **terms)]

"""Fig. 8a: the trade-off curve over lambda, and its knee."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.lab.charts import Chart, Claim, Finding, Mark, Panel, Series
from agent.lab.paper import caveats, published
from agent.tradeoff import tradeoff_curve as tradeoff
from agent.tradeoff.search import maximise

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agent.lab.charts import Style
    from agent.lab.paper.subject import Subject
    from agent.tradeoff.tradeoff_curve import Point

MOST, LEAST = 0.7, 0.1  # of utility and cost without any price: near the most, and near none


@dataclass(frozen=True, slots=True)
class Curve:
    """The sets that LLS chooses, in ascending lambda.

    ``knee``: the index of the point farthest above the chord of the normalised curve, or None;
    ``sizes``: how many attributes each set has; ``whole``: what all attributes would cost, by
    ``maxprob``, above nothing.
    """

    points: tuple[Point, ...]
    knee: int | None
    sizes: tuple[int, ...]
    whole: float


def curve_of(subject: Subject, present: float) -> Curve:
    """Return the curve over the grid of lambdas, ``present`` among them (paper 7.2)."""

    def choose(trade_off: float) -> tradeoff.Chosen:
        objective = subject.objective(trade_off)
        result = maximise(objective, "lls")
        objective.forget()
        return tradeoff.Chosen(result.mask, objective.parts(result.mask), result.proof)

    points = tradeoff.points_of(choose, tradeoff.grid(present))
    sizes = tuple(each.mask.bit_count() for each in points)
    everything = (1 << len(subject.names)) - 1
    whole = subject.objective(present).identifiability_cost(everything)
    return Curve(points, tradeoff.knee(points), sizes, whole)


def finding(curves: Mapping[str, Curve], note: str) -> Finding:
    """Return Fig. 8a; ``curves``: by estimator, the paper's first."""
    panels = tuple(_panel(name, each) for name, each in curves.items())
    chart = Chart("fig-08a-curve", "Fig. 8a: the trade-off curve over λ", note, panels)
    claims = [claim for name, each in curves.items() for claim in _claims(name, each)]
    rule = (
        "The knee is the point farthest above the chord of the curve, with cost and utility scaled "
        "to [0, 1] and without points that another beats (Satopaa et al. 2011, unsmoothed)."
    )
    return Finding(chart, tuple(claims), (rule, caveats.WHOLE_COST))


def _panel(name: str, curve: Curve) -> Panel:
    pairs = zip(curve.points, tradeoff.beaten(curve.points), strict=True)
    ordered = sorted(pairs, key=lambda each: (each[0].cost, each[0].worth))
    series = [
        _series("sets chosen by LLS", "line", [point for point, out in ordered if not out]),
        _series("chosen, and beaten by another", "points", [each for each, out in ordered if out]),
    ]
    marks: tuple[Mark, ...] = ()
    if curve.knee is not None:
        knee = curve.points[curve.knee]
        marks = (Mark(knee.cost, knee.worth, f"knee, λ {_range(knee)}"),)
    labels = ("identifiability (maxprob) above that of nothing", "utility less sensitivity, bits")
    return Panel(f"estimator {name}", *labels, tuple(each for each in series if each.x), marks)


def _series(label: str, style: Style, points: Sequence[Point]) -> Series:
    costs, worths = tuple(each.cost for each in points), tuple(each.worth for each in points)
    return Series(
        label, costs, worths, style, names=tuple(f"λ = {each.least:g}" for each in points)
    )


def _range(point: Point) -> str:
    if point.least == point.most:
        return f"= {point.least:.3g}"
    return f"from {point.least:.3g} to {point.most:.3g}"


def _claims(name: str, curve: Curve) -> list[Claim]:
    if curve.knee is None:
        return [
            Claim("7.2", "a prominent knee", f"{name}: none", same=False, why="no point is above")
        ]
    knee = curve.points[curve.knee]
    low, high = published.KNEE
    most = max(each.worth for each in curve.points)
    worth, cost = knee.worth / most, knee.cost / curve.whole
    dearest = max(each.cost for each in curve.points)
    return [
        Claim(
            "7.2",
            f"the knee is at {low:g} ≤ λ ≤ {high:g}",
            f"{name}: λ {_range(knee)}, attributes: {curve.sizes[curve.knee]}",
            knee.least <= high and knee.most >= low,
            "same where the ranges meet; λ is bits per unit of identifiability, so that it grows "
            f"and falls with the bits there are to win: {most:.3g} here, "
            f"{published.UTILITY_BITS} there",
        ),
        Claim(
            "7.2",
            "at the knee, near-maximal utility at near-minimum cost",
            f"{name}: {worth:.0%} of the utility, {cost:.1%} of the cost of all attributes, "
            f"{knee.cost / dearest:.1%} of that of the dearest set here",
            worth >= MOST and cost <= LEAST,
            f"same where at least {MOST:.0%}, and at most {LEAST:.0%} of that of all attributes",
        ),
    ]

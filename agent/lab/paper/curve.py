"""Fig. 8: the trade-off curve over lambda with its knee, and lambda from what people answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.lab.charts import Chart, Claim, Finding, Mark, Panel, Series
from agent.lab.paper import published
from agent.lab.questions.survey import LOCATION, calibrated_by, made_replies
from agent.tradeoff import curve as tradeoff
from agent.tradeoff.search import search

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agent.decision.calibration import Calibration
    from agent.lab.charts import Style
    from agent.lab.paper.subject import Subject
    from agent.tradeoff.curve import Point


MOST, LEAST = 0.7, 0.1  # of utility and cost without any price: near the most, and near none
PEOPLE = 1451  # who answered (6)
MADE = (
    "The answers behind this figure are made, for the paper's are not public: people who want "
    f"λ = {published.TRADE_OFF} bits per unit, each by a factor of their own, tick what the "
    "survey offers. How near the procedure comes to that λ shows what the questions' coarse "
    "answers leave of it, not what anybody wants. Costs are those of this log."
)
WITHIN = 0.25  # of the planted lambda: so near the procedure should come


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
        result = search(objective, "lls")
        objective.forget()
        return tradeoff.Chosen(result.mask, objective.parts(result.mask), result.proof)

    points = tradeoff.curve(choose, tradeoff.grid(present))
    sizes = tuple(each.mask.bit_count() for each in points)
    everything = (1 << len(subject.names)) - 1
    whole = subject.objective(present).identifiability_cost(everything)
    return Curve(points, tradeoff.knee(points), sizes, whole)


def curve_finding(curves: Mapping[str, Curve], note: str) -> Finding:
    """Return Fig. 8a; ``curves``: by estimator, the paper's first."""
    panels = tuple(_panel(name, each) for name, each in curves.items())
    chart = Chart("fig-08a-curve", "Fig. 8a: the trade-off curve over λ", note, panels)
    claims = [claim for name, each in curves.items() for claim in _curve_claims(name, each)]
    rule = (
        "The knee is the point farthest above the chord of the curve, with cost and utility scaled "
        "to [0, 1] and without points that another beats (Satopaa et al. 2011, unsmoothed)."
    )
    return Finding(chart, tuple(claims), (rule, published.WHOLE_COST))


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


def _curve_claims(name: str, curve: Curve) -> list[Claim]:
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


def calibrated(costs: Mapping[str, float], seed: int) -> Calibration:
    """Return the least-squares fit of made answers to costs by precision, coarsest first."""
    return calibrated_by(made_replies(costs, PEOPLE, seed), LOCATION, costs)


def calibration_finding(calibration: Calibration, note: str) -> Finding:
    """Return Fig. 8b."""
    trade_off = None if calibration.fit is None else calibration.fit.trade_off
    pairs = calibration.pairs
    places = tuple(float(each) for each in range(len(pairs)))
    series = [Series("bits wanted (made answers)", places, tuple(each.bits for each in pairs))]
    if trade_off is not None:
        fitted = tuple(trade_off * each.cost for each in pairs)
        series.append(Series(f"λ times the cost, λ = {trade_off:.2f}", places, fitted))
    panel = Panel("", "precision", "bits", tuple(series), ticks=tuple(each.name for each in pairs))
    title = "Fig. 8b: calibration by the precision of location (made answers)"
    chart = Chart("fig-08b-calibration", title, f"{note} The answers are made.", (panel,))
    return Finding(chart, (_calibration_claim(trade_off),), (MADE,))


def _calibration_claim(trade_off: float | None) -> Claim:
    near = trade_off is not None and (abs(trade_off / published.TRADE_OFF - 1) <= WITHIN)
    found = "no fit"
    if trade_off is not None:
        off = trade_off / published.TRADE_OFF - 1
        found = f"λ = {trade_off:.2f} from made answers, off by {off:+.0%}"
    return Claim(
        "7.2",
        f"least squares align cost and sensitivity at λ ≈ {published.TRADE_OFF}",
        found,
        None if near else False,
        "the answers are made with that λ, so that coming near it says nothing of people; another "
        f"shape where it is more than {WITHIN:.0%} off; region, country, city and zip code are "
        "those of the log",
    )

"""Fig. 8: the trade-off curve over lambda with its knee, and lambda from what people answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from agent.decision.calibration import Calibration
from agent.lab.charts import Chart, Claim, Finding, Mark, Panel, Series
from agent.lab.paper import published
from agent.lab.paper.subject import Subject
from agent.lab.questions import survey
from agent.tradeoff import curve as tradeoff
from agent.tradeoff.curve import Point
from agent.tradeoff.search import search

MOST, LEAST = 0.7, 0.1  # of utility and cost without any price: near the most, and near none
MADE = (
    "The answers behind this figure are made up, for the paper's are not public: people who want "
    f"λ = {survey.TRADE_OFF} bits per unit, each by a factor of their own, tick what the "
    "survey offers. How near the procedure comes to that λ shows what the questions' coarse "
    "answers leave of it, not what anybody wants. Costs are those of this log."
)
WITHIN = 0.25  # of the planted lambda: so near the procedure should come


@dataclass(frozen=True, slots=True)
class Curve:
    """The sets that LLS chooses, in ascending lambda.

    ``whole``: what all attributes would cost, by ``maxprob``, above nothing.
    """

    points: tuple[Point, ...]
    whole: float

    @property
    def knee(self) -> Point | None:
        """The point farthest above the chord of the normalised curve, if any is above."""
        place = tradeoff.knee(self.points)
        return None if place is None else self.points[place]


def curve_of(subject: Subject, present: float) -> Curve:
    """Return the curve over the grid of lambdas, ``present`` among them (paper 7.2)."""

    def choose(trade_off: float) -> tradeoff.Chosen:
        objective = subject.objective(trade_off)
        result = search(objective, "lls")
        objective.forget()
        return tradeoff.Chosen(result.mask, objective.parts(result.mask), result.proof)

    points = tradeoff.curve(choose, tradeoff.grid(present))
    objective = subject.objective(present)
    return Curve(points, objective.identifiability_cost(objective.candidates))


def curve_finding(curves: Mapping[str, Curve], note: str) -> Finding:
    """Return Fig. 8a; ``curves``: by estimator, the paper's first."""
    panels = tuple(_panel(name, each) for name, each in curves.items())
    chart = Chart("fig-08a-curve", "Fig. 8a: the trade-off curve over λ", note, panels)
    claims = [claim for name, each in curves.items() for claim in _claims(name, each)]
    rule = (
        "The knee is the point farthest above the chord of the curve, with cost and utility scaled "
        "to [0, 1] and without points that another beats (Satopaa et al. 2011, unsmoothed)."
    )
    return Finding(chart, tuple(claims), (rule, published.WHOLE_COST))


def _panel(name: str, curve: Curve) -> Panel:
    pairs = zip(curve.points, tradeoff.beaten(curve.points), strict=True)
    ordered = sorted(pairs, key=lambda each: (each[0].cost, each[0].worth))
    series = []
    for beaten in (False, True):
        points = [point for point, out in ordered if out == beaten]
        names = tuple(f"λ = {each.least:g}" for each in points)
        series.append(
            Series(
                "chosen, and beaten by another" if beaten else "sets chosen by LLS",
                tuple(each.cost for each in points),
                tuple(each.worth for each in points),
                "points" if beaten else "line",
                names=names,
            )
        )
    knee = curve.knee
    marks = () if knee is None else (Mark(knee.cost, knee.worth, f"knee, λ {_range(knee)}"),)
    labels = ("identifiability (maxprob) above that of nothing", "utility less sensitivity, bits")
    return Panel(f"estimator {name}", *labels, tuple(each for each in series if each.x), marks)


def _range(point: Point) -> str:
    if point.least == point.most:
        return f"= {point.least:.3g}"
    return f"from {point.least:.3g} to {point.most:.3g}"


def _claims(name: str, curve: Curve) -> list[Claim]:
    knee = curve.knee
    if knee is None:
        nowhere = Claim("7.2", "a prominent knee", f"{name}: none", same=False, why="none is above")
        return [nowhere]
    low, high = survey.KNEE
    most = max(each.worth for each in curve.points)
    worth, cost = knee.worth / most, knee.cost / curve.whole
    dearest = max(each.cost for each in curve.points)
    return [
        Claim(
            "7.2",
            f"the knee is at {low:g} ≤ λ ≤ {high:g}",
            f"{name}: λ {_range(knee)}, attributes: {knee.mask.bit_count()}",
            knee.least <= high and knee.most >= low,
            "same where the ranges meet; λ is bits per unit of identifiability, so that it grows "
            f"and falls with the bits there are to win: {most:.3g} here, "
            f"{published.UTILITY_BITS} there",
        ),
        Claim(
            "7.2",
            "at the knee, near-maximal utility at near-minimum cost",
            f"{name}: {worth:.0%} of the utility, {cost:.1%} of the cost of all attributes, "
            f"{knee.cost / dearest:.1%} of that of the most expensive set here",
            worth >= MOST and cost <= LEAST,
            f"same where at least {MOST:.0%}, and at most {LEAST:.0%} of that of all attributes",
        ),
    ]


def calibrated(costs: Mapping[str, float], seed: int) -> Calibration:
    """Return the least-squares fit of made-up answers to costs by precision, coarsest first."""
    replies = survey.made_replies(costs, survey.RESPONSES, seed)
    return survey.calibrated_by(replies, survey.LOCATION, costs)


def calibration_finding(calibration: Calibration, note: str) -> Finding:
    """Return Fig. 8b."""
    pairs, found, near = calibration.pairs, "no fit", False
    series = [Series.ranked("bits wanted (made answers)", [each.bits for each in pairs], "line")]
    if calibration.fit is not None:
        trade_off = calibration.fit.trade_off
        label = f"λ times the cost, λ = {trade_off:.2f}"
        series.append(Series.ranked(label, [trade_off * each.cost for each in pairs], "line"))
        off = trade_off / survey.TRADE_OFF - 1
        found = f"λ = {trade_off:.2f} from made answers, off by {off:+.0%}"
        near = abs(off) <= WITHIN
    panel = Panel("", "precision", "bits", tuple(series), ticks=tuple(each.name for each in pairs))
    title = "Fig. 8b: calibration by the precision of location (made answers)"
    chart = Chart("fig-08b-calibration", title, f"{note} The answers are made.", (panel,))
    claim = Claim(
        "7.2",
        f"least squares align cost and sensitivity at λ ≈ {survey.TRADE_OFF}",
        found,
        None if near else False,
        "the answers are made with that λ, so that coming near it says nothing of people; another "
        f"shape where it is more than {WITHIN:.0%} off; region, country, city and zip code are "
        "those of the log",
    )
    return Finding(chart, (claim,), (MADE,))

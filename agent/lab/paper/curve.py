"""Fig. 8: the trade-off curve over lambda with its knee, and lambda from what people answer."""

from collections.abc import Mapping
from dataclasses import dataclass

from agent.decision.calibration import Calibration, aligned
from agent.lab.charts import Chart, Claim, Finding, Mark, Panel, Series
from agent.lab.paper.published import claim, prose
from agent.lab.paper.subject import Subject
from agent.lab.questions import survey
from agent.tradeoff import Point, curve, knee
from agent.tradeoff.study import beaten

MOST, LEAST = 0.7, 0.1  # of utility and cost without any price: near the most, and near none
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
        place = knee(self.points)
        return None if place is None else self.points[place]


def curve_of(subject: Subject, present: float) -> Curve:
    """Return the curve over the grid of lambdas, ``present`` among them (paper 7.2)."""
    objective = subject.objective(present)
    points = curve(objective)
    objective.forget()
    return Curve(points, objective.identifiability_cost(objective.candidates))


def curve_finding(curves: Mapping[str, Curve], note: str) -> Finding:
    """Return Fig. 8a; ``curves``: by estimator, the paper's first."""
    panels = tuple(_panel(name, each) for name, each in curves.items())
    chart = Chart("fig-08a-curve", "Fig. 8a: the trade-off curve over λ", note, panels)
    claims = [claim for name, each in curves.items() for claim in _claims(name, each)]
    return Finding(chart, tuple(claims), (prose("knee"), prose("cost-at-the-knee")))


def _panel(name: str, shown: Curve) -> Panel:
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


def _claims(name: str, shown: Curve) -> list[Claim]:
    bend = shown.knee
    if bend is None:
        return [claim("no-knee", same=False, name=name)]
    (low, high), most = survey.KNEE, max(each.worth for each in shown.points)
    worth, cost = bend.worth / most, bend.cost / shown.whole
    share = bend.cost / max(each.cost for each in shown.points)
    near, cheap = bend.least <= high and bend.most >= low, worth >= MOST and cost <= LEAST
    at = {"range": _range(bend), "count": bend.mask.bit_count(), "most": most, "knee": (low, high)}
    terms = {"worth": worth, "cost": cost, "share": share, "much": MOST, "little": LEAST}
    return [claim("knee", near, name=name, **at), claim("knee-is-cheap", cheap, name=name, **terms)]


def calibrated(costs: Mapping[str, float], seed: int) -> Calibration:
    """Return the least-squares fit of made-up answers to costs by precision, coarsest first."""
    return aligned(survey.made_answers(costs, survey.RESPONSES, seed), costs)


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
    same = None if near else False
    fitted = claim("least-squares", same, trade_off=survey.TRADE_OFF, found=found, within=WITHIN)
    return Finding(chart, (fitted,), (prose("made-up", trade_off=survey.TRADE_OFF),))

"""Fig. 8b: lambda from what people want for each precision of their location, and what it costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.lab.charts import Chart, Claim, Finding, Panel, Series
from agent.lab.paper import published
from agent.lab.questions.asked import LOCATION
from agent.lab.questions.made import made_replies
from agent.lab.questions.replies import calibrated_by

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agent.decision.calibration import Calibration

PEOPLE = 1451  # who answered (6)
MADE = (
    "The answers behind this figure are made, for the paper's are not public: people who want "
    f"λ = {published.TRADE_OFF} bits per unit, each by a factor of their own, tick what the "
    "survey offers. How near the procedure comes to that λ shows what the questions' coarse "
    "answers leave of it, not what anybody wants. Costs are those of this log."
)
WITHIN = 0.25  # of the planted lambda: so near the procedure should come


def calibrated(costs: Mapping[str, float], seed: int) -> Calibration:
    """Return the least-squares fit of made answers to costs by precision, coarsest first."""
    return calibrated_by(made_replies(costs, PEOPLE, seed), LOCATION, costs)


def finding(calibration: Calibration, note: str) -> Finding:
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
    return Finding(chart, (_claim(trade_off),), (MADE,))


def _claim(trade_off: float | None) -> Claim:
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

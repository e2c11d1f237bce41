"""A trade-off curve as one JSON object; the keys are an interface, so they only ever grow."""

from typing import Any

from agent.cli.decision_record import objective_record
from agent.decision.curve import Curve, Step


def curve_record(curve: Curve) -> dict[str, Any]:
    """Return a curve in JSON's own types; ``present`` and ``knee`` are indexes of points."""
    return {
        "query": curve.request.query or None,
        "matched_query": curve.matched_query,
        "status": curve.status,
        "mode": curve.terms.mode,
        "algorithm": curve.terms.algorithm,
        "cost": curve.terms.metric,
        "lambda": curve.terms.trade_off,
        "present": curve.present,
        "knee": curve.knee,
        "points": [_point(each) for each in curve.steps],
    }


def _point(step: Step) -> dict[str, Any]:
    """Return one set; ``objective`` is that at ``lambda_from``."""
    figures = step.figures
    return {
        "lambda_from": step.least,
        "lambda_to": step.most,
        "disclose": [*step.disclosed],
        **objective_record(figures),
        "people_left": figures.people_left,
        "proof": step.proof,
        "beaten": step.beaten,
    }

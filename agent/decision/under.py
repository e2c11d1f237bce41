"""From what a policy rules for a request to the terms of its decision."""

from typing import TYPE_CHECKING, Any

from agent.decision.terms import Limits, Terms
from agent.model.model import Model
from policy.match import Ruling

if TYPE_CHECKING:
    from collections.abc import Mapping

TERMS = {
    "lambda": "trade_off",
    "cost": "metric",
    "cost_k": "metric_k",
    "mode": "mode",
    "algorithm": "algorithm",
    "nothing": "nothing",
    "unknown_queries": "unknown_queries",
    "memory": "memory",
}
LIMITS = {
    "k": "k",
    "violations": "max_violations",
    "risk": "max_risk",
    "attributes_per_request": "per_request",
    "new_facts_per_week": "new_per_week",
    "protect": "protect",
}


def terms_under(ruling: Ruling, model: Model) -> Terms:
    """Return the terms that a policy sets for one request.

    A guard on a request attribute only keeps it from leaving: a guard's cost is about people.
    """
    set_, persons = ruling.settings, {each.name for each in model.attributes[: model.persons]}
    values: Mapping[str, Any] = {key: verdict.value for key, verdict in set_.items()}
    weights = _numbers(ruling, "guard")
    guarded = {name: weight for name, weight in weights.items() if weight > 0}
    return Terms(
        excluded=_named(ruling, "never") | (guarded.keys() - persons),
        ask=_named(ruling, "ask"),
        always=_named(ruling, "always"),
        limits=Limits(**{LIMITS[key]: values[key] for key in values.keys() & LIMITS.keys()}),
        sensitivity=tuple(_numbers(ruling, "sensitivity").items()),
        guards=tuple((name, weight) for name, weight in guarded.items() if name in persons),
        ruling=ruling,
        **{TERMS[key]: values[key] for key in values.keys() & TERMS.keys()},
    )


def _named(ruling: Ruling, disclose: str) -> frozenset[str]:
    return frozenset(
        name for name, ruled in ruling.attributes.items() if ruled["disclose"].value == disclose
    )


def _numbers(ruling: Ruling, key: str) -> dict[str, float]:
    return {
        name: float(ruled[key].value) for name, ruled in ruling.attributes.items() if key in ruled
    }

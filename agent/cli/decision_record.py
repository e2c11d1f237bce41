"""A decision as one JSON object; the keys are an interface, so they only ever grow."""

from typing import Any

from agent.decision.decision import Candidate, Decision, Figures
from agent.decision.explain import because
from policy.match import Verdict


def decision_record(decision: Decision, elapsed_ms: float) -> dict[str, Any]:
    """Return a decision in JSON's own types; ``elapsed_ms``: what the decision alone took."""
    figures, evidence, terms = decision.figures, decision.evidence, decision.terms
    return {
        "query": decision.request.query,
        "matched_query": decision.matched_query,
        "status": decision.status,
        "mode": decision.mode,
        "algorithm": terms.algorithm,
        "cost": figures.metric,
        "lambda": terms.trade_off,
        "disclose": [*decision.disclosed],
        **objective_record(figures),
        "proof": evidence.proof,
        "bound": evidence.bound,
        "certified": evidence.certified,
        "exact": evidence.exact,
        "node_limit_hit": evidence.node_limit_hit,
        "evaluations": evidence.evaluations,
        "violations": evidence.violations,
        "elapsed_ms": elapsed_ms,
        "people": figures.people,
        "people_left": figures.people_left,
        "per_attribute": [_attribute(each, decision) for each in decision.candidates],
        "guarded": [
            {"name": each.name, "bits": each.bits, "best_guess": each.best_guess}
            for each in decision.guarded
        ],
        "pending": _pending(decision),
        "because": _settings(decision),
    }


def objective_record(figures: Figures) -> dict[str, float]:
    """Return the terms of the objective at one set."""
    return {
        "utility_bits": figures.utility,
        "identifiability": figures.identifiability,
        "identifiability_cost": float(figures.identifiability_cost),
        "guard_bits": float(figures.guard),
        "sensitivity_bits": float(figures.sensitivity),
        "objective": figures.objective,
    }


def _attribute(candidate: Candidate, decision: Decision) -> dict[str, Any]:
    return {
        "name": candidate.name,
        "disclosed": candidate.disclosed,
        "gain_bits": candidate.gain_bits,
        "cost_bits": candidate.cost_bits,
        "reason": candidate.reason,
        "because": _because(because(decision, "disclose", candidate.name)),
        "limit": candidate.limit,
        "serves": [*candidate.serves],
    }


def _pending(decision: Decision) -> dict[str, Any] | None:
    """Return what waits for the user, and the figures with all of it."""
    if decision.pending is None:
        return None
    figures = decision.pending.figures
    return {
        "names": [*decision.pending.names],
        "utility_bits": figures.utility,
        "objective": figures.objective,
        "people_left": figures.people_left,
    }


def _settings(decision: Decision) -> dict[str, Any]:
    """Return the rule behind each setting of the request; empty without a policy."""
    ruling = decision.terms.ruling
    return {} if ruling is None else {k: _because(v) for k, v in ruling.settings.items()}


def _because(verdict: Verdict | None) -> dict[str, Any] | None:
    """Return what a policy says of one thing, the rule that decided, and those that lost."""
    if verdict is None:
        return None
    lost = [rule.name for rule in verdict.lost]
    return {"value": verdict.value, "rule": verdict.rule.name, "lost": lost}

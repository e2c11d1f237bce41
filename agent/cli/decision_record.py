"""A decision as one JSON object; the keys are an interface, so they only ever grow."""

from typing import Any

from agent.decision.decision import Candidate, Decision
from agent.decision.terms import Terms


def decision_record(decision: Decision, terms: Terms, elapsed_ms: float) -> dict[str, Any]:
    """Return a decision in JSON's own types; ``elapsed_ms``: what the decision alone took."""
    figures, evidence = decision.figures, decision.evidence
    return {
        "query": decision.request.query,
        "matched_query": decision.matched_query,
        "match": {"kind": decision.match.kind, "similarity": decision.match.similarity},
        "status": decision.status,
        "mode": decision.mode,
        "algorithm": terms.algorithm,
        "cost": figures.metric,
        "lambda": terms.trade_off,
        "disclose": [*decision.disclosed],
        "utility_bits": figures.utility,
        "identifiability": figures.identifiability,
        "identifiability_cost": float(figures.identifiability_cost),
        "guard_bits": float(figures.guard),
        "sensitivity_bits": float(figures.sensitivity),
        "objective": figures.objective,
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
        "per_attribute": [_attribute(each) for each in decision.candidates],
        "guarded": [
            {"name": each.name, "bits": each.bits, "best_guess": each.best_guess}
            for each in decision.guarded
        ],
    }


def _attribute(candidate: Candidate) -> dict[str, Any]:
    return {
        "name": candidate.name,
        "disclosed": candidate.disclosed,
        "gain_bits": candidate.gain_bits,
        "cost_bits": candidate.cost_bits,
        "reason": candidate.reason,
    }

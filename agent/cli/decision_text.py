"""A decision as a page of text: the sentence, the attributes, the figures."""

from agent.cli.explanation_text import Tried, explanation_page, why
from agent.decision.decision import Candidate, Decision
from agent.decision.explain import because, explain


def decision_text(decision: Decision) -> str:
    """Return all that there is to say about a decision, the plain sentence on top."""
    explanation = explain(decision)
    pending = decision.pending.names if decision.pending else ()
    tried = [_tried(each, decision) for each in decision.candidates]
    first = (*decision.disclosed, *pending)
    return explanation_page(explanation.headline, tried, first, explanation.lines)


def _tried(candidate: Candidate, decision: Decision) -> Tried:
    verdict = because(decision, "disclose", candidate.name)
    rule = verdict.rule.name if verdict is not None and verdict.rule.layer else None
    return Tried(
        candidate.name,
        candidate.disclosed,
        candidate.gain_bits,
        candidate.cost_bits,
        why(candidate.reason, rule, candidate.limit),
    )

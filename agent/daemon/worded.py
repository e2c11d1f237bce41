"""From a decision to what is said of it: attribute by attribute, and as `agent.words` takes it."""

from collections import defaultdict

from agent.decision.decide import Candidate, Decision
from agent.decision.tradeoff_curve import Curve
from agent.model.model import Model
from agent.wire.decide import Code, Reason
from agent.words.decisions import Decided
from agent.words.outcomes import NO_ROOM
from policy.sections import shown

BEHIND = {"guarded": "guard"}  # the setting behind a reason; else it is `disclose`
NONE: frozenset[str] = frozenset()


def code_of(decision: Decision | Curve) -> Code:
    """Return the code of a decision, or of many: in the ordinary case, that it was answered."""
    return "answered" if decision.status == "decided" else decision.status


def worded(decision: Decision, model: Model, dropped: frozenset[str] = NONE) -> Decided:
    """Return what sentences need of a decision; ``dropped``: what the header had no room for."""
    figures, evidence, terms = decision.figures, decision.evidence, decision.terms
    pending = decision.pending
    more = figures if pending is None else pending.figures
    return Decided(
        code=code_of(decision),
        mode=decision.mode,
        query=decision.request.query,
        read_as=decision.matched_query,
        disclosed=decision.disclosed,
        again=decision.again,
        pending=pending.names if pending else (),
        outcomes=reasons_of(decision, dropped),
        titles={each.name: each.title for each in model.attributes},
        ask=terms.ask,
        always=terms.always,
        plans=terms.plans,
        algorithm=terms.algorithm,
        metric=figures.metric,
        metric_k=terms.metric_k,
        trade_off=terms.trade_off,
        gain_bits=figures.utility,
        objective_bits=figures.objective,
        guard_bits=figures.guard,
        sensitivity_bits=figures.sensitivity,
        level=figures.identifiability,
        added_level=figures.identifiability_cost,
        people=figures.people,
        people_left=figures.people_left,
        pending_bits=more.utility - figures.utility,
        pending_left=more.people_left,
        evaluations=evidence.evaluations,
        proof=evidence.proof,
        bound=evidence.bound,
        certified=evidence.certified,
        violations=evidence.violations,
        node_limit_hit=evidence.node_limit_hit,
        serves={each.name: each.serves for each in decision.candidates if each.serves},
        guessed={each.name: (each.bits, each.best_guess) for each in decision.guarded},
        rules=_rules(decision),
    )


def reasons_of(decision: Decision, dropped: frozenset[str] = NONE) -> list[Reason]:
    """Return why each attribute is in it or not; none where nothing was looked for."""
    return [_reason(each, decision, dropped) for each in decision.candidates]


def _reason(candidate: Candidate, decision: Decision, dropped: frozenset[str]) -> Reason:
    name = candidate.name
    verdict = decision.terms.verdict(BEHIND.get(candidate.reason, "disclose"), name)
    return Reason(
        name=name,
        disclosed=candidate.disclosed,
        reason=NO_ROOM if name in dropped else candidate.reason,
        rule=None if verdict is None or name in dropped else verdict.rule.name,
        limit=None if name in dropped else candidate.limit,
        gain_bits=candidate.gain_bits,
        cost_bits=candidate.cost_bits,
    )


def _rules(decision: Decision) -> dict[str, list[str]]:
    """Return the settings of the request by the rule behind each, without the defaults."""
    found: dict[str, list[str]] = defaultdict(list)
    ruling = decision.terms.ruling
    for key, verdict in () if ruling is None else ruling.settings.items():
        if verdict.rule.layer:
            found[verdict.rule.name].append(f"{key} = {shown(verdict.value)}")
    return found

"""What would be decided about a request now, and why; nothing is sent, recorded or queued."""

from collections.abc import Iterable
from datetime import datetime

from agent.daemon.agent import Agent
from agent.daemon.context import Case, NothingError, case_of, decided
from agent.daemon.handle import code_of
from agent.daemon.header import LARGEST
from agent.decision.decide import Candidate, Decision
from agent.decision.explain import because, explain
from agent.decision.words import headline
from agent.wire.decide import Ask, Code, Explained, Line, Reason

NO_ROOM = "no room in the header"
WHY = {
    "locked": "the vault is locked",
    "no policy": "there is no policy",
    "no model": "the model that the policy names cannot be used",
    "unfit": "the model does not fit the policy, or what the recipient holds",
    "not https": "the recipient's address is not https, so the network would read it",
    "too many": "too much was asked in the last minute",
    "too many from pages": "pages asked too often in the last minute",
}
BEHIND = {"guarded": "guard"}  # the setting behind a reason; else it is `disclose`


def explained(ask: Ask, now: datetime, agent: Agent) -> Explained:
    """Return what `handle` would decide; UsageError where the recipient is no host."""
    try:
        case = case_of(ask, now, agent)
        decision = decided(case)
    except NothingError as error:
        return _silent(error.code)
    return Explained(
        code=code_of(decision),
        headline=headline(decision),
        disclosed=[*decision.disclosed],
        pending=[*decision.pending.names] if decision.pending else [],
        lines=lines_of(decision, case),
        candidates=reasons_of(decision, case),
        proof=decision.evidence.proof,
    )


def lines_of(decision: Decision, case: Case) -> list[Line]:
    """Return what more there is to say of a decision."""
    lines = [Line(label=label, text=text) for label, text in explain(decision).lines]
    if dropped := _dropped(decision, case):
        lines.append(too_long(dropped))
    return lines


def too_long(names: Iterable[str]) -> Line:
    """Return that the header has no room for these."""
    text = f"{', '.join(sorted(names))}: the header would be over {LARGEST} bytes"
    return Line(label=NO_ROOM, text=text)


def reasons_of(decision: Decision, case: Case) -> list[Reason]:
    """Return why each attribute is in it or not; none where nothing was looked for."""
    dropped = _dropped(decision, case)
    return [_reason(each, decision, dropped) for each in decision.candidates]


def _silent(code: Code) -> Explained:
    """Return the explanation where nothing can be decided."""
    return Explained(
        code=code,
        headline=f"Disclose nothing: {WHY[code]}.",
        disclosed=[],
        pending=[],
        lines=[],
        candidates=[],
    )


def _dropped(decision: Decision, case: Case) -> frozenset[str]:
    """Return what was excluded because the header has no room for it."""
    return decision.terms.excluded - case.terms.excluded


def _reason(candidate: Candidate, decision: Decision, dropped: frozenset[str]) -> Reason:
    name = candidate.name
    verdict = because(decision, BEHIND.get(candidate.reason, "disclose"), name)
    return Reason(
        name=name,
        disclosed=candidate.disclosed,
        reason=NO_ROOM if name in dropped else candidate.reason,
        rule=None if verdict is None or name in dropped else verdict.rule.name,
        limit=None if name in dropped else candidate.limit,
        gain_bits=candidate.gain_bits,
        cost_bits=candidate.cost_bits,
    )

"""What would be decided about a request now, and why; nothing is sent, recorded or queued."""

from collections.abc import Iterable
from datetime import datetime

from agent.daemon.agent import Agent
from agent.daemon.context import Case, NothingError, case_of, decided
from agent.daemon.header import LARGEST
from agent.daemon.worded import code_of, worded
from agent.decision.decide import Decision
from agent.wire.decide import Ask, Code, Explained, Line
from agent.words.decisions import Decided, headline, lines
from agent.words.outcomes import NO_ROOM, WHY_NOTHING


def explained(ask: Ask, now: datetime, agent: Agent) -> Explained:
    """Return what `handle` would decide; UsageError where the recipient is no host."""
    try:
        case = case_of(ask, now, agent)
        decision = decided(case)
    except NothingError as error:
        return _silent(error.code)
    said = said_of(decision, case)
    return Explained(
        code=code_of(decision),
        headline=headline(said),
        disclosed=[*decision.disclosed],
        pending=[*said.pending],
        lines=lines_of(said),
        candidates=[*said.outcomes],
        proof=decision.evidence.proof,
    )


def said_of(decision: Decision, case: Case) -> Decided:
    """Return a decision as sentences are made of it, with what the header has no room for."""
    return worded(decision, case.model, decision.terms.excluded - case.terms.excluded)


def lines_of(said: Decided) -> list[Line]:
    """Return what more there is to say of a decision."""
    dropped = [each.name for each in said.outcomes if each.reason == NO_ROOM]
    return [*lines(said), *([too_long(dropped)] if dropped else [])]


def too_long(names: Iterable[str]) -> Line:
    """Return that the header has no room for these."""
    text = f"{', '.join(sorted(names))}: the header would be over {LARGEST} bytes"
    return Line(label=NO_ROOM, text=text)


def _silent(code: Code) -> Explained:
    """Return the explanation where nothing can be decided."""
    return Explained(
        code=code,
        headline=f"Send nothing: {WHY_NOTHING[code]}.",
        disclosed=[],
        pending=[],
        lines=[],
        candidates=[],
    )

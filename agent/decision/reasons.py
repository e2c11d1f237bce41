"""Why each attribute is in the answer or not, and what it does there."""

from agent.decision.choice import Choice
from agent.decision.decision import Candidate, Reason
from agent.decision.settings import Case
from agent.tradeoff.crowd import COMBINATIONS
from agent.tradeoff.sets import singleton


def candidate(case: Case, choice: Choice, index: int, name: str) -> Candidate:
    """Return what an attribute adds to the rest of the chosen set, or would add, and why."""
    barred = case.barred.get(index)
    if barred is not None:
        return Candidate(name, disclosed=False, reason=barred)
    objective, own = choice.objective, singleton(index)
    with_it, without = choice.mask | own, choice.mask & ~own
    return Candidate(
        name,
        disclosed=bool(choice.mask & own),
        reason=_reason(case, choice, own),
        gain_bits=objective.utility(with_it) - objective.utility(without),
        cost_bits=objective.cost(with_it) - objective.cost(without),
    )


def _reason(case: Case, choice: Choice, own: int) -> Reason:
    with_it = choice.mask | own
    if choice.mask & own:
        return "known to the recipient" if case.crowd.known & own else "worth it"
    if case.crowd.combinations(with_it) > COMBINATIONS:
        return "too many combinations"
    if choice.objective.feasible(with_it):
        return "costs more than it helps"
    if case.status == "recognised":
        return "recognised"
    return "outside the model" if case.status == "outside the model" else "would break a limit"

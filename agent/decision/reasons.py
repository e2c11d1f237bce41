"""Why each attribute is in the answer or not, and what it does there."""

from agent.decision.choice import Choice
from agent.decision.decision import Candidate, Reason
from agent.decision.settings import Case
from agent.tradeoff.crowd import COMBINATIONS
from agent.tradeoff.limits import Limit
from agent.tradeoff.objective import Objective
from agent.tradeoff.sets import singleton, union

KEYS: dict[Limit, str] = {
    "most": "attributes_per_request",
    "most new": "new_facts_per_week",
    "risk": "risk",
    "k": "k",
    "own": "protect",
}


def candidate(case: Case, choice: Choice, index: int, name: str) -> Candidate:
    """Return what an attribute adds to the rest of the chosen set, or would add, and why."""
    barred = case.barred.get(index)
    if barred is not None:
        return Candidate(name, disclosed=False, reason=barred)
    objective, own = choice.objective, singleton(index)
    with_it, without = choice.mask | own, choice.mask & ~own
    if case.crowd.combinations(with_it) > COMBINATIONS:
        return Candidate(name, disclosed=False, reason="too many combinations")
    gain = objective.utility(with_it) - objective.utility(without)
    cost = objective.cost(with_it) - objective.cost(without)
    inside = bool(choice.mask & own)
    if inside:
        reason = _why_in(case, choice, own)
    else:
        reason = _why_out(case, choice, own, worth=gain - cost)
    limit = limit_of(objective, with_it) if reason == "would break a limit" else None
    return Candidate(name, inside, reason, gain, cost, limit)


def limit_of(objective: Objective, mask: int) -> str | None:
    """Return the limit that a set breaks, by its key in a policy; None where it keeps them all."""
    broken = objective.broken(mask)
    return None if broken is None else KEYS[broken]


def _why_in(case: Case, choice: Choice, own: int) -> Reason:
    if case.crowd.known & own:
        return "known to the recipient"
    if own & union(case.forced):
        return "always"
    return "in the standing set" if choice.standing else "worth it"


def _why_out(case: Case, choice: Choice, own: int, worth: float) -> Reason:
    with_it = choice.mask | own
    if case.crowd.known & own:
        return "known to the recipient"
    if own & union(choice.pending):
        return "waits for you"
    if not choice.objective.feasible(with_it):
        if case.status == "recognised":
            return "recognised"
        if case.status == "outside the model":
            return "outside the model"
        if worth > 0 or own & union(case.forced):
            return "would break a limit"
    return "not in the standing set" if choice.standing else "costs more than it helps"

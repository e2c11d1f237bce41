"""Why each attribute is in the answer or not, and what it does there."""

from agent.decision.choice import Choice
from agent.decision.decision import Candidate, Reason
from agent.decision.settings import Case
from agent.model.model import Model
from agent.tradeoff.anonymity_set import COMBINATIONS
from agent.tradeoff.objective import DisclosureObjective, Limit
from agent.tradeoff.sets import members, singleton, union

KEYS: dict[Limit, str] = {
    "most": "attributes_per_request",
    "most new": "new_facts_per_week",
    "risk": "risk",
    "k": "k",
    "own": "protect",
}


def candidates_of(
    case: Case, choice: Choice, model: Model, *, brief: bool
) -> tuple[Candidate, ...]:
    """Return the model's attributes in order; ``brief``: those that were chosen, if any was."""
    if brief and choice.mask:
        return tuple(_candidate(case, choice, each, model) for each in members(choice.mask))
    choice.objective.look_around(choice.mask)
    return tuple(_candidate(case, choice, each, model) for each in range(len(model.attributes)))


def _candidate(case: Case, choice: Choice, index: int, model: Model) -> Candidate:
    """Return what an attribute adds to the rest of the chosen set, or would add, and why."""
    barred, name = case.barred.get(index), model.attributes[index].name
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
        planned = choice.plan and choice.plan.portfolio.mask & own  # its cost is worth it, then
        reason = _why_out(case, choice, own, worth=gain if planned else gain - cost)
    limit = _limit(choice, own) if reason == "would break a limit" else None
    serves = choice.plan.serves(index) if choice.plan else ()
    texts = tuple(model.queries[query].text for query in serves)
    return Candidate(name, inside, reason, gain, cost, limit, texts)


def limit_of(objective: DisclosureObjective, mask: int) -> str | None:
    """Return the limit that a set breaks, by its key in a policy; None where it keeps them all."""
    broken = objective.broken(mask)
    return None if broken is None else KEYS[broken]


def _why_in(case: Case, choice: Choice, own: int) -> Reason:
    if case.crowd.known & own:
        return "known to the recipient"
    if own & union(case.forced):
        return "always"
    if choice.plan and choice.plan.portfolio.mask & own:
        return "in the plan"
    return "in the standing set" if choice.standing else "worth it"


def _why_out(case: Case, choice: Choice, own: int, worth: float) -> Reason:
    if case.crowd.known & own:
        return "known to the recipient"
    if own & union(choice.pending):
        return "waits for you"
    broken = _broken(case, choice, own, worth)
    if broken is not None:
        return broken
    if choice.plan and own & case.crowd.persons:
        planned = choice.plan.portfolio.mask & own
        return "planned for other requests" if planned else "not in the plan"
    return "not in the standing set" if choice.standing else "costs more than it helps"


def _broken(case: Case, choice: Choice, own: int, worth: float) -> Reason | None:
    """Return what keeps out an attribute that would be in; None where nothing does."""
    feasible = choice.objective.feasible(choice.mask | own)
    if case.status == "recognised" and not feasible:
        return "recognised"
    if case.status == "outside the model" and not feasible:
        return "outside the model"
    if choice.plan and own & case.crowd.persons & ~choice.plan.portfolio.mask:
        wanted = bool(choice.plan.portfolio.refused & own)
    else:
        wanted = worth > 0 and not feasible
    refused = not feasible and bool(own & union(case.forced))
    return "would break a limit" if wanted or refused else None


def _limit(choice: Choice, own: int) -> str | None:
    """Return the limit that keeps an attribute out of the set, or out of the plan for it."""
    if choice.plan and choice.plan.portfolio.refused & own:
        return limit_of(choice.plan.prices, choice.plan.portfolio.mask | own)
    return limit_of(choice.objective, choice.mask | own)

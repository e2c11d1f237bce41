"""decide: one request, its terms, the recipient's knowledge and a model -> one decision."""

from dataclasses import dataclass, replace
from typing import NamedTuple

from agent.decision.choice import Choice, choice_of
from agent.decision.context import Context, Own, Reason, Status, context_of, relevant
from agent.decision.request import Knowledge, Request
from agent.decision.terms import Terms
from agent.model.model import Model
from agent.tradeoff.anonymity_set import COMBINATIONS, Metric
from agent.tradeoff.objective import DisclosureObjective, Limit
from agent.tradeoff.search import Proof, Result
from agent.tradeoff.sets import members, singleton, union
from policy.settings import Mode

KEYS: dict[Limit, str] = {
    "most": "attributes_per_request",
    "most new": "new_facts_per_week",
    "risk": "risk",
    "k": "k",
    "own": "protect",
}


@dataclass(frozen=True, slots=True)
class Candidate:
    """One attribute, beside the set that was chosen.

    ``gain_bits``: the utility it adds to the rest of the set (or would add); ``cost_bits``: what
    it adds to the cost, in bits; both None where it never was a candidate. ``limit``: the limit
    that it would break, by its key in a policy; ``serves``: the known queries that the plan has
    it for, those asked most first.
    """

    name: str
    disclosed: bool
    reason: Reason
    gain_bits: float | None = None
    cost_bits: float | None = None
    limit: str | None = None
    serves: tuple[str, ...] = ()

    @property
    def net_bits(self) -> float:
        """What it brings less what it costs; minus infinity where it was no candidate."""
        if self.gain_bits is None or self.cost_bits is None:
            return float("-inf")
        return self.gain_bits - self.cost_bits


@dataclass(frozen=True, slots=True)
class Guarded:
    """A guarded attribute: ``bits`` the answer tells about it, and the best guess's success."""

    name: str
    bits: float
    best_guess: float


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the search knows of its answer; see ``agent.tradeoff.search.Result``."""

    evaluations: int = 0
    violations: int = 0
    proof: Proof = "none"
    bound: float | None = None
    certified: float | None = None
    node_limit_hit: bool = False

    @property
    def exact(self) -> bool:
        """Whether no permitted set is better, whatever the objective looks like."""
        return self.proof == "enumerated"


@dataclass(frozen=True, slots=True)
class Figures:
    """The terms of the objective at the disclosed set.

    Bits, but ``identifiability`` (I(A u D|d)) and ``identifiability_cost`` (less I(0|d)), which
    are in the unit of ``metric``; ``people`` agree with what is known, ``people_left`` is how many
    are expected to agree with the answer too. In standing mode ``utility`` is a mean of queries.
    """

    metric: Metric
    utility: float
    identifiability: float
    identifiability_cost: float
    guard: float
    sensitivity: float
    objective: float
    people: int
    people_left: float


@dataclass(frozen=True, slots=True)
class Pending:
    """What waits for the user: the names, in the order chosen, and the figures with all of them."""

    names: tuple[str, ...]
    figures: Figures


@dataclass(frozen=True, slots=True)
class Decision:
    """What is disclosed for one request (names, in the order chosen), and everything about it.

    ``status``: only "decided" is the ordinary case. Else the query is unknown; or a rule blocks
    the request; or one person ("recognised") or nobody ("outside the model") agrees with what the
    recipient holds, and nothing new leaves; or what it holds breaks a limit, before anything is
    added. ``query``, ``matched_query``: the known query that was meant, by index and as its text,
    None where there is none. ``candidates``: all attributes of the model, in its order; in brief
    only what is disclosed, where anything is; none where a rule blocks the request, or nothing is
    done for a query that is not known. ``pending``: what is worth disclosing beside this, but waits
    for the user; None where nothing.
    """

    request: Request
    terms: Terms
    status: Status
    mode: Mode
    query: int | None
    matched_query: str | None
    disclosed: tuple[str, ...]
    figures: Figures
    evidence: Evidence
    candidates: tuple[Candidate, ...]
    guarded: tuple[Guarded, ...]
    pending: Pending | None = None

    @property
    def again(self) -> tuple[str, ...]:
        """What is disclosed although the recipient holds it already, in the order chosen."""
        known = {each.name for each in self.candidates if each.reason == "known to the recipient"}
        return tuple(name for name in self.disclosed if name in known)


def candidates_of(
    case: Context, choice: Choice, model: Model, *, brief: bool
) -> tuple[Candidate, ...]:
    """Return the model's attributes in order; ``brief``: those that were chosen, if any was."""
    if brief and choice.mask:
        return tuple(_candidate(case, choice, each, model) for each in members(choice.mask))
    choice.objective.look_around(choice.mask)
    return tuple(_candidate(case, choice, each, model) for each in range(len(model.attributes)))


def _candidate(case: Context, choice: Choice, index: int, model: Model) -> Candidate:
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


def _why_in(case: Context, choice: Choice, own: int) -> Reason:
    if case.crowd.known & own:
        return "known to the recipient"
    if own & union(case.forced):
        return "always"
    if choice.plan and choice.plan.portfolio.mask & own:
        return "in the plan"
    return "in the standing set" if choice.standing else "worth it"


def _why_out(case: Context, choice: Choice, own: int, worth: float) -> Reason:
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


def _broken(case: Context, choice: Choice, own: int, worth: float) -> Reason | None:
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


class _Task(NamedTuple):
    """A request, the query that it means, and its terms.

    ``brief``: whether only what is disclosed needs a reason.
    """

    request: Request
    query: int | None
    terms: Terms
    brief: bool


def decide(
    request: Request, terms: Terms, knowledge: Knowledge, model: Model, own: Own | None = None
) -> Decision:
    """Choose which attributes to disclose with a request.

    A pure function that never sees the user's values (DESIGN.md 2.6), but for ``own``, their
    codes by attribute, which only terms that protect this user read. What it computed for one
    request the model remembers for the next. An unknown or blocked query gets nothing, and a
    recipient to whom at most one person is left nothing new. UsageError where terms or knowledge
    name what the model has not. Source: paper 2.3, 4; DESIGN.md 2.4, 2.5.
    """
    task = _Task(request, model.match(request.query), terms, brief=False)
    return _remembered(task, knowledge, model, own)


def decide_briefly(
    request: Request, terms: Terms, knowledge: Knowledge, model: Model, own: Own | None = None
) -> Decision:
    """Return the same decision sooner: its candidates are only those that leave.

    Where none does they are those of `decide`, since saying why takes a look at each.
    """
    task = _Task(request, model.match(request.query), terms, brief=True)
    return _remembered(task, knowledge, model, own)


def _remembered(task: _Task, knowledge: Knowledge, model: Model, own: Own | None) -> Decision:
    request, query, terms, brief = task
    if terms.limits.protect == "me":
        return _decide(task, context_of(request, terms, knowledge, model, own), model)
    key = (decide, query, request.asked, terms, relevant(knowledge, terms), brief)
    decision = model.remember(
        key, lambda: _decide(task, context_of(request, terms, knowledge, model), model)
    )
    return replace(decision, request=request, terms=terms)


def _decide(task: _Task, case: Context, model: Model) -> Decision:
    request, query, terms, brief = task
    if terms.nothing:
        return _silent(task, case, model, "blocked")
    if query is None and terms.unknown_queries == "nothing":
        return _silent(task, case, model, "unknown query")
    choice = choice_of(case, request, query, terms, model)
    decision = Decision(
        request=request,
        terms=terms,
        status=case.status,
        mode=choice.mode,
        query=query,
        matched_query=_text(query, model),
        disclosed=_names(choice.order, model),
        figures=figures_of(choice.objective, choice.mask, case, terms),
        evidence=_evidence(choice.result, case),
        candidates=candidates_of(case, choice, model, brief=brief),
        guarded=_guarded(case, choice, model),
        pending=_pending(choice, case, terms, model),
    )
    choice.objective.forget()
    return decision


def _silent(task: _Task, case: Context, model: Model, status: Status) -> Decision:
    """Return the decision to send nothing, without a look at what would help."""
    request, query, terms, _ = task
    reached = case.crowd.identifiability(0, terms.metric, terms.metric_k)
    people = case.crowd.people
    return Decision(
        request=request,
        terms=terms,
        status=status,
        mode=terms.mode,
        query=query,
        matched_query=_text(query, model),
        disclosed=(),
        figures=Figures(terms.metric, 0.0, reached, 0.0, 0.0, 0.0, 0.0, people, float(people)),
        evidence=Evidence(),
        candidates=(),
        guarded=(),
    )


def _text(query: int | None, model: Model) -> str | None:
    return None if query is None else model.queries[query].text


def _names(order: tuple[int, ...], model: Model) -> tuple[str, ...]:
    return tuple(model.attributes[index].name for index in order)


def figures_of(objective: DisclosureObjective, mask: int, case: Context, terms: Terms) -> Figures:
    """Return the terms of the objective at a set, and how many people are left."""
    parts = objective.parts(mask)
    return Figures(
        metric=terms.metric,
        utility=parts.utility,
        identifiability=case.crowd.identifiability(mask, terms.metric, terms.metric_k),
        identifiability_cost=parts.identifiability_cost,
        guard=parts.guard,
        sensitivity=parts.sensitivity,
        objective=parts.objective,
        people=case.crowd.people,
        people_left=case.crowd.people_left(mask),
    )


def _pending(choice: Choice, case: Context, terms: Terms, model: Model) -> Pending | None:
    if not choice.pending:
        return None
    everything = choice.mask | union(choice.pending)
    figures = figures_of(choice.objective, everything, case, terms)
    return Pending(_names(choice.pending, model), figures)


def _evidence(result: Result, case: Context) -> Evidence:
    """Return what is known of the answer: nothing, where the model knows nobody like the user."""
    if not case.crowd.people:
        return Evidence(evaluations=result.evaluations, violations=result.violations)
    return Evidence(
        evaluations=result.evaluations,
        violations=result.violations,
        proof=result.proof,
        bound=result.bound,
        certified=result.certified,
        node_limit_hit=result.node_limit_hit,
    )


def _guarded(case: Context, choice: Choice, model: Model) -> tuple[Guarded, ...]:
    crowd, mask = case.crowd, choice.mask
    return tuple(
        Guarded(model.attributes[v].name, crowd.guard_bits(v, mask), crowd.best_guess(v, mask))
        for v, _ in case.settings.guards
    )

"""decide: one request, its terms, the recipient's knowledge and a model -> one decision."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from agent.decision.cache import Cache
from agent.decision.choice import Choice, choice_of
from agent.decision.context import Context, Own, Prepared, Reason, Status, prepare, relevant
from agent.decision.request import Knowledge, Request
from agent.decision.terms import Terms
from agent.model.model import Model
from agent.model.reading import Reading
from agent.tradeoff.anonymity_set import COMBINATIONS
from agent.tradeoff.measures import Metric
from agent.tradeoff.objective import DisclosureObjective, Limit
from agent.tradeoff.search import Evidence
from agent.tradeoff.tables import members, singleton, union
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
    """One attribute, compared with the rest of the set that was chosen, or is tried.

    ``disclosed``: it is in that set; ``reason``: why it is or is not in what leaves, the status of
    the decision where nothing was looked for; ``gain_bits``: the utility it adds to the rest of the
    set (or would add); ``cost_bits``: what it adds to the cost, in bits; both None where it was not
    computed. ``limit``: the limit that it would break, by its key in a policy; ``serves``: the
    known queries that the plan has it for, those asked most first; ``held``: the recipient holds it
    already; ``people_left``: who are expected to be left with it, None where that was not asked.
    """

    name: str
    disclosed: bool
    reason: Reason | Status
    gain_bits: float | None = None
    cost_bits: float | None = None
    limit: str | None = None
    serves: tuple[str, ...] = ()
    held: bool = False
    people_left: float | None = None

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
    added. ``reading``: what the query means; ``matched_query``: the known query that it is read
    as, None where there is none. ``candidates``: all attributes of the model, in its order; in
    brief only what is disclosed, where anything is; none where a rule blocks the request, or
    nothing is done for a query that is not known. ``pending``: what is worth disclosing beside
    this, but waits for the user; None where nothing.
    """

    request: Request
    terms: Terms
    status: Status
    mode: Mode
    reading: Reading
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


def decide(
    request: Request,
    terms: Terms,
    knowledge: Knowledge,
    model: Model,
    own: Own | None = None,
    cache: Cache | None = None,
) -> Decision:
    """Choose which attributes to disclose with a request.

    A pure function that never sees the user's values (DESIGN.md 2.6), but for ``own``, their
    codes by attribute, which only terms that protect this user read. ``cache``: serves one
    request with what was computed for others. An unknown or blocked query gets nothing, and a
    recipient that can mean at most one person gets nothing new. UsageError where terms or knowledge
    name what is absent from the model. Source: paper 2.3, 4; DESIGN.md 2.4, 2.5.
    """
    cache = cache or Cache()
    return decide_context(Context(request, terms, knowledge, model, own, cache=cache))


def decide_context(context: Context, *, brief: bool = False) -> Decision:
    """Return the same decision; ``brief``: sooner, and its candidates are only those that leave.

    Where none does they are all, since saying why takes a look at each.
    """
    request, terms, model = context.request, context.terms, context.model
    reading = context.meaning
    context = replace(context, reading=reading)
    if terms.limits.protect == "me":
        return _decide(prepare(context), brief=brief)
    known = relevant(context.knowledge, terms)
    doubtful = reading.certain is None and reading.query is not None
    meant = reading if doubtful else reading.query
    decision = context.cache.get(
        model,
        (decide, meant, request.asked, terms, known, brief),
        lambda: _decide(prepare(context), brief=brief),
    )
    return replace(decision, request=request, terms=terms, reading=reading)


def figures_of(objective: DisclosureObjective, mask: int, prepared: Prepared) -> Figures:
    """Return the terms of the objective at a set, and how many people are left."""
    parts, crowd, terms = objective.parts(mask), prepared.crowd, prepared.terms
    return Figures(
        metric=terms.metric,
        utility=parts.utility,
        identifiability=crowd.identifiability(mask, terms.metric, terms.metric_k),
        identifiability_cost=parts.identifiability_cost,
        guard=parts.guard,
        sensitivity=parts.sensitivity,
        objective=parts.objective,
        people=round(crowd.people),
        people_left=crowd.people_left(mask),
    )


def limit_of(objective: DisclosureObjective, mask: int) -> str | None:
    """Return the limit that a set breaks, by its key in a policy; None where it keeps them all."""
    broken = objective.broken(mask)
    return None if broken is None else KEYS[broken]


def matched(reading: Reading, model: Model) -> str | None:
    """Return the known query that a text is read as, by its name; None where it is none."""
    return None if reading.query is None else model.queries[reading.query].text


def _decide(prepared: Prepared, *, brief: bool) -> Decision:
    terms, model, crowd, reading = prepared.terms, prepared.model, prepared.crowd, prepared.reading
    if terms.nothing:
        return _silent(prepared, "blocked")
    if reading.query is None and terms.unknown_queries == "nothing":
        return _silent(prepared, "unknown query")
    choice = choice_of(prepared)
    mask, objective, result = choice.mask, choice.objective, choice.result
    figures = figures_of(objective, mask, prepared)
    # Where the model knows nobody like the user, nothing is proven.
    counted = Evidence(evaluations=result.evaluations, violations=result.violations)
    looked_at: Sequence[int] = tuple(members(mask))
    if not (brief and mask):
        objective.survey(mask)
        looked_at = range(len(model.attributes))
    candidates = tuple(_outcome(prepared, choice, index) for index in looked_at)
    pending = None
    if choice.pending:
        more = figures_of(objective, mask | union(choice.pending), prepared)
        pending = Pending(prepared.names(choice.pending), more)
    objective.forget()
    return Decision(
        request=prepared.request,
        terms=terms,
        status=prepared.status,
        mode=choice.mode,
        reading=reading,
        matched_query=matched(reading, model),
        disclosed=prepared.names(choice.order),
        figures=figures,
        evidence=result if crowd.people else counted,
        candidates=candidates,
        guarded=tuple(
            Guarded(
                model.attributes[v].name, crowd.guard_bits(v, mask), crowd.guard(v).best_guess(mask)
            )
            for v, _ in prepared.settings.guards
        ),
        pending=pending,
    )


def _silent(prepared: Prepared, status: Status) -> Decision:
    """Return the decision to send nothing, without a look at what would help."""
    terms, crowd, reading = prepared.terms, prepared.crowd, prepared.reading
    reached, people = crowd.identifiability(0, terms.metric, terms.metric_k), round(crowd.people)
    return Decision(
        request=prepared.request,
        terms=terms,
        status=status,
        mode=terms.mode,
        reading=reading,
        matched_query=matched(reading, prepared.model),
        disclosed=(),
        figures=Figures(terms.metric, 0.0, reached, 0.0, 0.0, 0.0, 0.0, people, float(people)),
        evidence=Evidence(),
        candidates=(),
        guarded=(),
    )


def _outcome(prepared: Prepared, choice: Choice, index: int) -> Candidate:
    """Return what an attribute adds to the rest of the chosen set, or would add, and why."""
    crowd, objective, plan, own = prepared.crowd, choice.objective, choice.plan, singleton(index)
    name, held = prepared.model.attributes[index].name, bool(crowd.known & own)
    inside, with_it, without = bool(choice.mask & own), choice.mask | own, choice.mask & ~own
    barred = prepared.barred.get(index)
    if barred is None and crowd.combinations(with_it) > COMBINATIONS:
        barred = "too many combinations"
    if barred is not None:
        return Candidate(name, disclosed=False, reason=barred, held=held)
    gain = objective.utility(with_it) - objective.utility(without)
    cost = objective.cost(with_it) - objective.cost(without)
    planned = bool(plan and plan.portfolio.mask & own)
    reason: Reason
    if held:
        reason = "known to the recipient"
    elif not inside:  # what is planned is worth its cost
        reason = _why_out(prepared, choice, own, worth=gain if planned else gain - cost)
    elif own & union(prepared.forced):
        reason = "always"
    elif planned:
        reason = "in the plan"
    else:
        reason = "in the standing set" if choice.mode == "standing" else "worth it"
    limit = None
    if reason == "would break a limit" and plan and plan.portfolio.refused & own:
        limit = limit_of(plan.prices, plan.portfolio.mask | own)
    elif reason == "would break a limit":
        limit = limit_of(objective, with_it)
    queries = prepared.model.queries
    serves = tuple(queries[query].text for query in plan.serves(index)) if plan else ()
    return Candidate(name, inside, reason, gain, cost, limit, serves, held)


def _why_out(prepared: Prepared, choice: Choice, own: int, worth: float) -> Reason:
    """Return why an attribute is not in the set; ``worth``: in bits, if it were."""
    if own & union(choice.pending):
        return "waits for you"
    feasible = choice.objective.feasible(choice.mask | own)
    if prepared.status == "recognised" and not feasible:
        return "recognised"
    if prepared.status == "outside the model" and not feasible:
        return "outside the model"
    plan = choice.plan.portfolio if choice.plan and own & prepared.crowd.persons else None
    if plan is not None and not plan.mask & own:
        wanted = bool(plan.refused & own)
    else:
        wanted = worth > 0 and not feasible
    if wanted or (not feasible and own & union(prepared.forced)):
        return "would break a limit"
    if plan is not None:
        return "planned for other requests" if plan.mask & own else "not in the plan"
    return "not in the standing set" if choice.mode == "standing" else "costs more than it helps"

"""decide: one request, its terms, the recipient's knowledge and a model -> one decision."""

from dataclasses import replace
from typing import NamedTuple

from agent.decision.choice import Choice, choice_of
from agent.decision.decision import Decision, Evidence, Figures, Guarded, Pending, Status
from agent.decision.reasons import candidates_of
from agent.decision.request import Knowledge, Request
from agent.decision.settings import Case, Own, case_of, relevant
from agent.decision.terms import Terms
from agent.model.model import Model
from agent.tradeoff.objective import DisclosureObjective
from agent.tradeoff.search import Result
from agent.tradeoff.sets import union


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
        return _decide(task, case_of(request, terms, knowledge, model, own), model)
    key = (decide, query, request.asked, terms, relevant(knowledge, terms), brief)
    decision = model.remember(
        key, lambda: _decide(task, case_of(request, terms, knowledge, model), model)
    )
    return replace(decision, request=request, terms=terms)


def _decide(task: _Task, case: Case, model: Model) -> Decision:
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


def _silent(task: _Task, case: Case, model: Model, status: Status) -> Decision:
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


def figures_of(objective: DisclosureObjective, mask: int, case: Case, terms: Terms) -> Figures:
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


def _pending(choice: Choice, case: Case, terms: Terms, model: Model) -> Pending | None:
    if not choice.pending:
        return None
    everything = choice.mask | union(choice.pending)
    figures = figures_of(choice.objective, everything, case, terms)
    return Pending(_names(choice.pending, model), figures)


def _evidence(result: Result, case: Case) -> Evidence:
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


def _guarded(case: Case, choice: Choice, model: Model) -> tuple[Guarded, ...]:
    crowd, mask = case.crowd, choice.mask
    return tuple(
        Guarded(model.attributes[v].name, crowd.guard_bits(v, mask), crowd.best_guess(v, mask))
        for v, _ in case.settings.guards
    )

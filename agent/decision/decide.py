"""decide: one request, its terms, the recipient's knowledge and a model -> one decision."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import structs

from agent.decision.choice import LEAST, SelectedSet, choice_of
from agent.decision.context import Context, Prepared, Terms, prepare, relevant
from agent.decision.values import (
    SILENT,
    Code,
    CountedAmong,
    Decision,
    Figures,
    Guarded,
    Outcome,
    Reading,
    Reason,
)
from agent.model.model import Model
from agent.model.reading import Interpretation
from agent.tradeoff.anonymity_set import COMBINATIONS
from agent.tradeoff.objective import DisclosureObjective
from agent.tradeoff.tables import members, union
from policy.settings import shown


def decide(context: Context, *, brief: bool = False) -> Decision:
    """Choose which attributes to disclose with a request.

    A pure function that never sees the user's values (DESIGN.md 2.6). An unknown or blocked query
    gets nothing; a recipient that can mean at most one person, or is stopped, gets nothing new.
    ``brief``: sooner, without the rules, and with the outcomes of what is sent or waits only; where
    nothing is sent, of what would help, and of all where that is nothing either: they say why.
    UsageError where terms or knowledge name what is absent from the model. Source: paper 2.3, 4;
    DESIGN.md 2.4, 2.5.
    """
    terms, model, reading = context.terms, context.model, context.meaning
    doubtful = reading.certain is None and reading.query is not None
    meaning = reading if doubtful else reading.query
    own = (context.own, context.judged, context.request.query, reading) if context.own.facts else ()
    of = (meaning, context.request.asked, terms, relevant(context.knowledge, terms), *own)
    cache_key = (decide, *of, context.stopped, brief)
    decision = context.cache.get(model, cache_key, lambda: _decide(prepare(context), brief=brief))
    readings = readings_of(reading, model)
    read_as = None if reading.query is None else readings[0]
    decision = structs.replace(
        decision, request=context.request, read_as=read_as, readings=readings
    )
    if brief or terms.ruling is None:
        return decision
    rules = defaultdict[str, list[str]](list)
    for key, verdict in terms.ruling.settings.items():
        if verdict.rule.layer:  # the presets' defaults are left out
            rules[verdict.rule.name].append(f"{key} = {shown(verdict.value)}")
    for titles, price in _priced_together(decision, terms) if terms.together else ():
        rules[titles].append(f"price = {shown(price)}")
    ruled = terms.ruling.attributes

    def with_rule(each: Outcome) -> Outcome:
        verdict = ruled.get(each.name, {}).get("guard" if each.reason == "guarded" else "disclose")
        return each if verdict is None else structs.replace(each, rule=verdict.because)

    return structs.replace(
        decision,
        outcomes=tuple(map(with_rule, decision.outcomes)),
        rules={rule: tuple(settings) for rule, settings in rules.items()},
    )


def _priced_together(decision: Decision, terms: Terms) -> Iterator[tuple[str, float]]:
    """Yield titles of what costs more together, and the bits, where at most one of it stays back.

    Nothing of which all is held, which costs nothing any more.
    """
    every = {each.name: each for each in decision.outcomes}
    for names, bits in terms.together:
        some = [every[name] for name in names if name in every]
        back = [each for each in some if not (each.disclosed or each.held)]
        weighed = len(some) == len(names) and all(each.gain_bits is not None for each in back)
        if weighed and len(back) <= 1 and not all(each.held for each in some):
            yield " with ".join(each.title for each in some), bits


def readings_of(reading: Interpretation, model: Model) -> tuple[Reading, ...]:
    """Name the queries that a text may mean, the surest first."""
    by, readings = model.id, [(each, model.queries[each.query]) for each in reading.candidates]
    return tuple(
        Reading(query=q.text, title=q.title, probability=e.probability, model=by, taught=e.taught)
        for e, q in readings
    )


def read_by(reading: Interpretation, model: Model) -> Reading | None:
    """The known query that a text means; None where it is not understood."""
    return None if reading.query is None else readings_of(reading, model)[0]


def counted_among(model: Model) -> CountedAmong:
    """The people whom a model counts."""
    return CountedAmong(
        people=model.stands_for,
        count=round(model.people),
        estimated=model.population.weights is not None,
        as_in=model.as_in,
    )


def figures_of(
    objective: DisclosureObjective, mask: int, prepared: Prepared, order: Iterable[int] = ()
) -> Figures:
    """Compute the terms of the objective at a set, and how many people are left.

    ``order``: of the names, by default that of the model.
    """
    terms, anonymity_set = prepared.context.terms, prepared.anonymity_set
    attributes, people = prepared.context.model.attributes, round(anonymity_set.people)
    parts = objective.parts(mask)._asdict().items()
    bits: dict[str, Any] = {term: float(each) for term, each in parts}
    k, budget = prepared.settings.k, prepared.settings.max_violations
    spends = bool(k and budget and mask & ~anonymity_set.disclosed)
    return Figures(
        names=tuple(attributes[index].name for index in order or members(mask)),
        identifiability=float(anonymity_set.identifiability(mask, terms.metric, terms.metric_k)),
        people=people,
        people_left=min(float(people), anonymity_set.people_left(mask)),  # expected, of those
        spent=float(anonymity_set.identifiability(mask, "k-anonymity", k)) if k and spends else 0.0,
        **bits,
    )


def accounted(prepared: Prepared) -> list[int]:
    """The attributes with an outcome: all but further facts of a kind that are not set."""
    return [
        index
        for index, each in enumerate(prepared.context.model.attributes)
        if not (each.further or index in prepared.context.model.own)
        or not prepared.barred["not set"] >> index & 1
    ]


def _decide(prepared: Prepared, *, brief: bool) -> Decision:
    terms, model = prepared.context.terms, prepared.context.model
    anonymity_set, count = prepared.anonymity_set, round(prepared.anonymity_set.people)
    in_words = prepared.filled.facts.items()
    before = anonymity_set.identifiability(0, terms.metric, terms.metric_k)
    code: Code = prepared.code
    if terms.nothing or (not prepared.informed and terms.unknown_queries == "nothing"):
        code = SILENT[terms.results] if terms.nothing else "unknown query"
    shared = Decision(
        code=code,
        request=prepared.context.request,
        model=model.id,
        figures=Figures(identifiability=before, people=count, people_left=float(count)),
        mode=terms.mode,
        algorithm=terms.algorithm,
        metric=terms.metric,
        metric_k=terms.metric_k,
        trade_off=terms.trade_off,
        fewest=prepared.settings.k or 0,
        among=counted_among(model),
    )
    if code in (*SILENT.values(), "unknown query"):  # without a look at what would help
        return shared
    choice = choice_of(prepared)
    objective, result, waiting = choice.objective, choice.result, union(choice.pending)
    figures = figures_of(objective, result.mask, prepared, result.order)
    some = result.mask | waiting | (0 if result.mask else objective.useful)
    if not (brief and result.mask):
        objective.survey(result.mask)
    outcomes = [_outcome(prepared, choice, index) for index in (members(some) if brief else ())]
    tried = (each for each in outcomes if each.gain_bits is not None and each.disclose != "ask")
    if not (brief and (result.mask or any(tried))):
        outcomes = [_outcome(prepared, choice, index) for index in accounted(prepared)]
    order = (*result.order, *choice.pending)
    pending = figures_of(objective, result.mask | waiting, prepared, order) if waiting else None
    proven = result.bound is not None and anonymity_set.people > 0  # of nobody, nothing is
    return structs.replace(
        shared,
        disclosed=figures.names,
        figures=figures,
        pending=pending,
        outcomes=tuple(outcomes),
        guarded=tuple(
            Guarded(
                name=model.attributes[each].name,
                title=model.attributes[each].title,
                bits=float(anonymity_set.guard_bits(each, result.mask)),
                best_guess=float(anonymity_set.guard(each).best_guess(result.mask)),
            )
            for each, _ in prepared.settings.guards
        ),
        mode=choice.mode,
        evaluations=result.evaluations,
        violations=result.violations,
        proof=result.proof if proven else "none",
        bound=result.bound if proven else None,
        certified=result.certified if proven else None,
        node_limit_hit=result.node_limit_hit and anonymity_set.people > 0,
        facts={model.attributes[at].name: fact for at, fact in in_words if at in order},
    )


def added_by(own: int, mask: int, objective: DisclosureObjective) -> tuple[float, float]:
    """The utility and the cost that an attribute adds to the rest of a set, in bits."""
    with_it, without = mask | own, mask & ~own
    gain = objective.utility(with_it) - objective.utility(without)
    return float(gain), float(objective.cost(with_it) - objective.cost(without))


def _beside(prepared: Prepared, choice: SelectedSet, own: int) -> int:
    """The set that an attribute outside it would join: what waits, too, if it would wait itself."""
    return choice.result.mask | (union(choice.pending) if own & prepared.waiting else 0)


def _outcome(prepared: Prepared, choice: SelectedSet, index: int) -> Outcome:
    """Say what an attribute adds to the rest of the chosen set, or would add, and why."""
    model, objective, plan = prepared.context.model, choice.objective, choice.plan
    own, mask, attribute = 1 << index, choice.result.mask, model.attributes[index]
    fact = prepared.filled.facts.get(index)
    barred = [reason for reason, some in prepared.barred.items() if some & own]
    outcome = Outcome(
        name=attribute.name,
        title=attribute.title,
        disclosed=bool(mask & own),
        reason=barred[-1] if barred else "too many combinations",
        held=bool(prepared.anonymity_set.disclosed & own),
        disclose=prepared.context.terms.disclose(attribute.name, fact),
        fact=fact,
    )
    if prepared.anonymity_set.combinations(mask | own) > COMBINATIONS or barred:
        return outcome
    gain, cost = added_by(own, mask, objective)
    if outcome.held and not own & prepared.waiting:
        reason: Reason = "known to the recipient"
    elif not mask & own:
        reason = _why_out(prepared, choice, own, gain, cost)
    elif own & prepared.forced:
        reason = "always"
    elif plan is not None and plan.portfolio.mask & own:
        reason = "in the plan"
    else:
        reason = "in the standing set" if choice.mode == "standing" else "worth it"
    limit, serves = None, list[int]()
    if reason == "would break a limit" and plan and plan.portfolio.refused & own:
        limit = plan.prices.broken(plan.portfolio.mask | own)
    elif reason == "would break a limit":
        limit = objective.broken(_beside(prepared, choice, own) | own)
    if plan is not None:
        # Without what the mean uses, which has no query.
        uses = zip(plan.numbers, plan.queries, plan.portfolio.uses, strict=False)
        some = sorted((-number, q) for number, q, use in uses if use & own and q is not None)
        serves = [*dict.fromkeys(query for _, query in some)]
    return structs.replace(
        outcome,
        reason=reason,
        gain_bits=gain,
        cost_bits=cost,
        limit=limit,
        serves=tuple(model.queries[query].text for query in serves),
    )


def _why_out(prepared: Prepared, choice: SelectedSet, own: int, gain: float, cost: float) -> Reason:
    """Say why an attribute is not in the set; ``gain``, ``cost``: in bits, beside it."""
    if own & union(choice.pending):
        return "waits for you"
    feasible = choice.objective.feasible(_beside(prepared, choice, own) | own)
    if prepared.anonymity_set.closed and not feasible:
        return "outside the model" if prepared.anonymity_set.unseen else "recognised"
    at = own.bit_length() - 1
    mask, disliked = choice.result.mask, choice.objective.disclosed
    rare = at in prepared.context.model.own and gain > disliked(mask | own)[1] - disliked(mask)[1]
    too_dear: Reason = "would single you out" if rare else "costs more than it helps"
    plan = choice.plan.portfolio if choice.plan and own & prepared.anonymity_set.persons else None
    in_plan = plan is not None and bool(plan.mask & own)
    worth = gain if in_plan else gain - cost  # what is planned is worth its cost
    refused = plan is not None and bool(plan.refused & own)
    if refused or (not feasible and (worth > 0 or own & prepared.forced)):
        return "would break a limit"
    if plan is not None and not in_plan and gain >= LEAST:
        return "crowded out" if worth > 0 else too_dear
    if plan is not None:
        return "planned for other requests" if in_plan else "not in the plan"
    return "not in the standing set" if choice.mode == "standing" else too_dear

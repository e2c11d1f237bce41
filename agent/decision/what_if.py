"""What another set or another lambda would bring and cost. Pure.

`weigh` and `curve_of` tell a person what to expect before they decide about an attribute; like the
decision, they look at no value that was not disclosed (DESIGN.md 2.6).
"""

from collections.abc import Collection
from dataclasses import replace

from msgspec import structs

from agent.decision.choice import choice_of, objective_of
from agent.decision.context import Context, Prepared, mask_of, prepare
from agent.decision.decide import accounted, added_by, figures_of, read_by
from agent.decision.values import Curve, CurvePoint, Decision, Figures, Outcome, SetComparison
from agent.errors import UsageError
from agent.tradeoff import tradeoff_curve as tradeoff
from agent.tradeoff.anonymity_set import COMBINATIONS
from agent.tradeoff.objective import DisclosureObjective
from agent.tradeoff.utility import HELPS_NOTHING
from policy.rules import FACT


def weigh(
    decision: Decision,
    context: Context,
    *,
    add: Collection[str] = (),
    drop: Collection[str] = (),
    base: Collection[str] | None = None,
) -> SetComparison:
    """Compare another set with that of a decision, and each attribute with the rest of the set.

    ``context``: of the decision, with all that it excludes; ``base``: what is added to and dropped
    from, None for what is decided. Attributes that may not be sent are weighed too; their figures
    are None where there are too many combinations, and ``gain_bits`` where the query is not known.
    Facts go by # and an id, too: one that this request cannot carry changes nothing. UsageError for
    a name that is absent or both added and dropped, and for too many combinations.
    """
    model, terms, prepared = context.model, context.terms, prepare(context)
    add, drop = (_in_places(each, prepared) for each in (add, drop))
    if both := sorted(add & drop):
        raise UsageError(f"{both[0]!r} is both added and dropped", "name it once")
    before = mask_of(decision.disclosed if base is None else base, model)
    mask = (before | mask_of(add, model)) & ~mask_of(drop, model)
    if max(map(prepared.anonymity_set.combinations, (before, mask))) > COMBINATIONS:
        what = "the set has too many attributes that change with every request"
        raise UsageError(what, "add fewer of them, or drop some")
    informed = prepared.informed or terms.unknown_queries == "standing"
    objective = DisclosureObjective(HELPS_NOTHING, prepared.anonymity_set, prepared.settings)
    if informed:
        average = terms.mode == "standing" or not prepared.informed
        objective = objective_of(prepared, None if average else prepared.reading)
    objective.extensions(mask, ())
    new = ~prepared.anonymity_set.disclosed if context.stopped else 0
    broken = ["protect" if each & new else objective.broken(each) for each in (before, mask)]
    chosen, changed = (
        structs.replace(figures_of(objective, each, prepared), breaks=limit)
        for each, limit in zip((before, mask), broken, strict=True)
    )
    decided, rows = {each.name: each for each in decision.outcomes}, list[Outcome]()
    for index in accounted(prepared):
        attribute, own, gain, cost = model.attributes[index], 1 << index, None, None
        if prepared.anonymity_set.combinations(mask | own) <= COMBINATIONS:
            gain, cost = added_by(own, mask, objective)
        outcome = decided.get(attribute.name) or Outcome(
            name=attribute.name,
            title=attribute.title,
            disclosed=False,
            reason=decision.code,
            disclose=terms.disclose(attribute.name),
            fact=prepared.filled.facts.get(index),
        )
        outcome = structs.replace(
            outcome,
            disclosed=bool(mask & own),
            held=bool(prepared.anonymity_set.disclosed & own),
            gain_bits=gain if informed else None,
            cost_bits=cost,
            people_left=min(float(chosen.people), prepared.anonymity_set.people_left(mask | own)),
        )
        rows.append(outcome)
    return SetComparison(chosen=chosen, changed=changed, outcomes=tuple(rows), informed=informed)


def _in_places(names: Collection[str], prepared: Prepared) -> set[str]:
    attributes, facts = prepared.context.model.attributes, prepared.filled.facts.items()
    places = {FACT + fact: attributes[at].name for at, fact in facts}
    return {places.get(each, each) for each in names if each in places or each[:1] != FACT}


def curve_of(context: Context) -> Curve:
    """Decide at each lambda of a grid that has that of the terms.

    In standing mode it is a curve of all queries, whatever the request's is. What waits for the
    user is not in it. UsageError where ``decide`` raises it, and where it would look for no set.
    """
    terms, reading = context.terms, context.meaning
    if terms.nothing:
        hint = "ask about another recipient or query, or change the rule"
        raise UsageError("the policy lets nothing leave with this request", hint)
    informed = prepare(context).informed or terms.mode == "standing"
    if not informed and terms.unknown_queries == "nothing":
        hint = "ask about one that it knows, or without a query about all of them"
        raise UsageError("the model does not know this query", hint)
    figures: dict[float, Figures] = {}
    chosen: list[tradeoff.Point] = []
    for each in tradeoff.grid(terms.trade_off):
        prepared = prepare(replace(context, terms=replace(terms, trade_off=each)))
        choice = choice_of(prepared)
        mask, parts = choice.result.mask, choice.objective.parts(choice.result.mask)
        figures[each] = figures_of(choice.objective, mask, prepared)
        chosen.append(tradeoff.Point(each, each, mask, parts, choice.result.proof))
    points = tradeoff.merged(chosen)
    compared = zip(points, tradeoff.beaten(points), strict=True)
    shown = (
        CurvePoint(least=e.least, most=e.most, figures=figures[e.least], proof=e.proof, beaten=out)
        for e, out in compared
    )
    return Curve(
        code=prepared.code,
        read_as=None if terms.mode == "standing" else read_by(reading, context.model),
        metric=terms.metric,
        trade_off=terms.trade_off,
        asks=bool(terms.ask),
        points=tuple(shown),
        present=next(at for at, each in enumerate(points) if terms.trade_off <= each.most),
        knee=tradeoff.knee(points),
    )

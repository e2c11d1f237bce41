"""What another set or another lambda would bring and cost, beside what is decided. Pure.

It tells a person what to expect before they decide about an attribute; it decides nothing, and
like the decision it looks at no value that was not disclosed (DESIGN.md 2.6).
"""

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import TypeVar

from msgspec import structs

from agent.decision.choice import choice_of, objective_of
from agent.decision.context import Context, Prepared, mask_of, prepare
from agent.decision.decide import figures_of, limit_of, outcome_of, read_by
from agent.decision.values import Curve, CurvePoint, Decision, Figures, SetComparison
from agent.errors import UsageError
from agent.tradeoff import tradeoff_curve as tradeoff
from agent.tradeoff.anonymity_set import COMBINATIONS
from agent.tradeoff.objective import DisclosureObjective
from agent.tradeoff.tables import singleton
from agent.tradeoff.utility import HELPS_NOTHING

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class SetChange:
    """What to add to a set and to drop from it; ``base``: the set, None for what is decided."""

    add: frozenset[str] = frozenset()
    drop: frozenset[str] = frozenset()
    base: frozenset[str] | None = None


def weigh_steps(
    decision: Decision, context: Context, change: SetChange
) -> Generator[None, None, SetComparison]:
    """Return what another set would bring and cost, and what each attribute would add to it.

    An attribute in each step. ``context``: in which the decision was made, with all that it
    excludes. Attributes that may not be sent are weighed too; their figures are None where there
    are too many combinations, and ``gain_bits`` where the query is not known. UsageError, in the
    first step, for a name that is absent from the model or that is both added and dropped, and for
    a set with too many combinations of request values.
    """
    if both := sorted(change.add & change.drop):
        raise UsageError(f"{both[0]!r} is both added and dropped", "name it once")
    model, terms = context.model, context.terms
    reading = context.meaning
    add, drop = mask_of(change.add, model), mask_of(change.drop, model)
    base = mask_of(decision.disclosed if change.base is None else change.base, model)
    mask = (base | add) & ~drop
    prepared = prepare(replace(context, reading=reading))
    crowd = prepared.crowd
    for each in (base, mask):
        if crowd.combinations(each) > COMBINATIONS:
            what = "the set has too many attributes that change with every request"
            raise UsageError(what, "add fewer of them, or drop some")
    informed = reading.query is not None or terms.unknown_queries == "standing"
    standing = terms.mode == "standing" or reading.query is None
    objective = (
        objective_of(prepared, None if standing else reading)
        if informed
        else DisclosureObjective(HELPS_NOTHING, crowd, prepared.settings)
    )
    objective.extensions(mask, ())
    chosen, changed = (_weighed(each, objective, prepared) for each in (base, mask))
    outcomes = {each.name: each for each in decision.outcomes}
    compared = []
    for index, attribute in enumerate(model.attributes):
        yield
        own = singleton(index)
        with_it, without = mask | own, mask & ~own
        gain = cost = None
        if crowd.combinations(with_it) <= COMBINATIONS:
            cost = float(objective.cost(with_it) - objective.cost(without))
            if informed:
                gain = float(objective.utility(with_it) - objective.utility(without))
        outcome = outcomes.get(attribute.name)
        if outcome is None:
            outcome = outcome_of(attribute, terms, reason=decision.code)
        compared.append(
            structs.replace(
                outcome,
                disclosed=bool(mask & own),
                held=bool(crowd.known & own),
                gain_bits=gain,
                cost_bits=cost,
                people_left=float(crowd.people_left(with_it)),
            )
        )
    objective.forget()
    return SetComparison(
        chosen=chosen, changed=changed, outcomes=tuple(compared), informed=informed
    )


def _weighed(mask: int, objective: DisclosureObjective, prepared: Prepared) -> Figures:
    figures = figures_of(objective, mask, prepared)
    return structs.replace(figures, breaks=limit_of(objective, mask))


def curve_of(context: Context) -> Curve:
    """Return what ``decide`` would disclose at each lambda of a grid that has that of the terms.

    In standing mode it is a curve of all queries, whatever the request's is. What waits for the
    user is not in it. UsageError where ``decide`` raises it, and where it would look for no set.
    """
    return taken(curve_steps(context))


def curve_steps(context: Context) -> Generator[None, None, Curve]:
    """Return the same curve, a lambda in each step, and yield between them.

    What is decided with the model meanwhile changes nothing: all that is prepared for the sets of
    one lambda is dropped before the next. UsageError, as above, in the first step.
    """
    terms, model = context.terms, context.model
    reading = context.meaning
    context = replace(context, reading=reading)
    if terms.nothing:
        hint = "ask about another recipient or query, or change the rule"
        raise UsageError("the policy lets nothing leave with this request", hint)
    if reading.query is None and terms.mode != "standing" and terms.unknown_queries == "nothing":
        hint = "ask about one that it knows, or without a query about all of them"
        raise UsageError("the model does not know this query", hint)
    prepared = prepare(context)
    figures: dict[float, Figures] = {}
    chosen: list[tradeoff.Point] = []
    for each in tradeoff.grid(terms.trade_off):
        there = replace(
            prepared,
            terms=replace(terms, trade_off=each),
            settings=replace(prepared.settings, trade_off=each),
        )
        choice = choice_of(there)
        mask, objective = choice.mask, choice.objective
        figures[each] = figures_of(objective, mask, there)
        parts, proof = objective.parts(mask), choice.result.proof
        chosen.append(tradeoff.Point(each, each, mask, parts, proof))
        objective.forget()
        yield
    points = tradeoff.merged(chosen)
    beaten = tradeoff.beaten(points)
    return Curve(
        code=prepared.code,
        request=context.request,
        read_as=None if terms.mode == "standing" else read_by(reading, model),
        mode=terms.mode,
        algorithm=terms.algorithm,
        metric=terms.metric,
        trade_off=terms.trade_off,
        asks=bool(terms.ask),
        points=tuple(
            CurvePoint(
                least=each.least,
                most=each.most,
                figures=figures[each.least],
                proof=each.proof,
                beaten=out,
            )
            for each, out in zip(points, beaten, strict=True)
        ),
        present=next(at for at, each in enumerate(points) if terms.trade_off <= each.most),
        knee=tradeoff.knee(points),
    )


def taken(steps: Generator[None, None, T]) -> T:
    """Take all steps, and return what they come to."""
    found = None
    while found is None:
        found = advanced(steps)
    return found


def advanced(steps: Generator[None, None, T]) -> T | None:
    """Take one step; return what all of them come to, None before the last is taken."""
    try:
        next(steps)
    except StopIteration as end:
        found: T = end.value
        return found
    return None

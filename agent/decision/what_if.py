"""What another set would bring and cost, compared with the one that is decided. Pure.

It tells a person what to expect before they decide about an attribute; it decides nothing, and
like the decision it looks at no value that was not disclosed (DESIGN.md 2.6).
"""

from collections.abc import Generator
from dataclasses import dataclass, replace

from msgspec import structs

from agent.decision.choice import objective_of
from agent.decision.context import Context, Prepared, mask_of, prepare
from agent.decision.decide import figures_of, limit_of, outcome_of
from agent.decision.values import Decision, Figures, SetComparison
from agent.errors import UsageError
from agent.tradeoff.anonymity_set import COMBINATIONS
from agent.tradeoff.objective import DisclosureObjective
from agent.tradeoff.tables import singleton
from agent.tradeoff.utility import HELPS_NOTHING


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

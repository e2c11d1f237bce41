"""What another set would bring and cost, compared with the one that is decided. Pure.

It tells a person what to expect before they decide about an attribute; it decides nothing, and
like the decision it looks at no value that was not disclosed (DESIGN.md 2.6).
"""

from collections.abc import Generator
from dataclasses import dataclass, replace

from agent.decision.choice import objective_of
from agent.decision.context import Context, Prepared, mask_of, prepare
from agent.decision.decide import Candidate, Decision, Figures, figures_of, limit_of
from agent.errors import UsageError
from agent.tradeoff.anonymity_set import COMBINATIONS
from agent.tradeoff.objective import DisclosureObjective
from agent.tradeoff.tables import members, singleton
from agent.tradeoff.utility import HELPS_NOTHING


@dataclass(frozen=True, slots=True)
class Change:
    """What to add to a set and to drop from it; ``base``: the set, None for what is decided."""

    add: frozenset[str] = frozenset()
    drop: frozenset[str] = frozenset()
    base: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class WeighedSet:
    """One set: its names in the order of the model, and its figures.

    ``breaks``: the first limit that it breaks, by its key in a policy, None for none.
    """

    names: tuple[str, ...]
    figures: Figures
    breaks: str | None


@dataclass(frozen=True, slots=True)
class Weighing:
    """The set that a change starts from, the changed set, and each attribute compared with it.

    ``informed``: whether the query is known, or counts as the average one; else no utility is.
    """

    chosen: WeighedSet
    weighed: WeighedSet
    attributes: tuple[Candidate, ...]
    informed: bool


def weigh_steps(
    decision: Decision, context: Context, change: Change
) -> Generator[None, None, Weighing]:
    """Return what another set would bring and cost, and what each attribute would add to it.

    An attribute in each step. ``context``: in which the decision was made. Attributes that may not
    leave are weighed too; their figures are None where there are too many combinations, and
    ``gain_bits`` where the query is not known. UsageError, in the first step, for a name that is
    absent from the model or that is both added and dropped, and for a set with too many
    combinations of request values.
    """
    if both := sorted(change.add & change.drop):
        raise UsageError(f"{both[0]!r} is both added and dropped", "name it once")
    model, terms, reading = context.model, decision.terms, decision.reading
    add, drop = mask_of(change.add, model), mask_of(change.drop, model)
    base = mask_of(decision.disclosed if change.base is None else change.base, model)
    mask = (base | add) & ~drop
    request = decision.request
    prepared = prepare(replace(context, request=request, terms=terms, reading=reading))
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
    objective.focus(mask)
    chosen, weighed = (_weighed(each, objective, prepared) for each in (base, mask))
    found = {each.name: each for each in decision.candidates}
    attributes = []
    for index, attribute in enumerate(model.attributes):
        yield
        name, own = attribute.name, singleton(index)
        with_it, without = mask | own, mask & ~own
        gain = cost = None
        if crowd.combinations(with_it) <= COMBINATIONS:
            cost = objective.cost(with_it) - objective.cost(without)
            gain = objective.utility(with_it) - objective.utility(without) if informed else None
        outcome = replace(
            found.get(name, Candidate(name, disclosed=False, reason=decision.status)),
            disclosed=bool(mask & own),
            held=bool(crowd.known & own),
            gain_bits=gain,
            cost_bits=cost,
            people_left=crowd.people_left(with_it),
        )
        attributes.append(outcome)
    objective.forget()
    return Weighing(chosen, weighed, tuple(attributes), informed)


def _weighed(mask: int, objective: DisclosureObjective, prepared: Prepared) -> WeighedSet:
    """Return a set with its figures."""
    return WeighedSet(
        names=prepared.names(members(mask)),
        figures=figures_of(objective, mask, prepared),
        breaks=limit_of(objective, mask),
    )

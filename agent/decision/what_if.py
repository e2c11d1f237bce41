"""What another set would bring and cost, beside the one that is decided. Pure.

It tells a person what to expect before they decide about an attribute; it decides nothing, and
like the decision it looks at no value that was not disclosed (DESIGN.md 2.6).
"""

from collections.abc import Generator, Iterable
from dataclasses import dataclass

from agent.decision.choice import objective_of
from agent.decision.context import Context, Own, context_of
from agent.decision.decide import Decision, Figures, figures_of, limit_of
from agent.decision.request import Knowledge
from agent.decision.terms import Terms
from agent.errors import UsageError
from agent.model.model import Model
from agent.tradeoff.anonymity_set import COMBINATIONS
from agent.tradeoff.objective import DisclosureObjective
from agent.tradeoff.sets import members, singleton, union
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
class Addition:
    """One attribute, whether or not it may leave, beside the rest of the set that is weighed.

    ``gain_bits``, ``cost_bits``: what it adds, or would, to utility and cost; ``people_left``: who
    are expected to be left with it. None where there are too many combinations, and ``gain_bits``
    where the query is not known.
    """

    name: str
    inside: bool
    held: bool
    gain_bits: float | None
    cost_bits: float | None
    people_left: float


@dataclass(frozen=True, slots=True)
class Weighing:
    """The set that a change starts from, the set with the change, and each attribute beside it.

    ``informed``: whether the query is known, or counts as the average one; else no utility is.
    """

    chosen: WeighedSet
    weighed: WeighedSet
    additions: tuple[Addition, ...]
    informed: bool


@dataclass(frozen=True, slots=True)
class _Scales:
    """All that sets of one request are weighed with."""

    case: Context
    terms: Terms
    model: Model
    objective: DisclosureObjective
    informed: bool

    def set_of(self, mask: int) -> WeighedSet:
        """Return a set with its figures."""
        return WeighedSet(
            names=tuple(self.model.attributes[index].name for index in members(mask)),
            figures=figures_of(self.objective, mask, self.case, self.terms),
            breaks=limit_of(self.objective, mask),
        )

    def addition(self, mask: int, index: int) -> Addition:
        """Return one attribute beside the rest of a set."""
        own, crowd, objective = singleton(index), self.case.crowd, self.objective
        with_it, without = mask | own, mask & ~own
        gain = cost = None
        if crowd.combinations(with_it) <= COMBINATIONS:
            cost = objective.cost(with_it) - objective.cost(without)
            gain = objective.utility(with_it) - objective.utility(without)
        return Addition(
            name=self.model.attributes[index].name,
            inside=bool(mask & own),
            held=bool(crowd.known & own),
            gain_bits=gain if self.informed else None,
            cost_bits=cost,
            people_left=crowd.people_left(with_it),
        )


def weigh_steps(
    decision: Decision,
    knowledge: Knowledge,
    model: Model,
    change: Change,
    own: Own | None = None,
) -> Generator[None, None, Weighing]:
    """Return what another set would bring and cost, and what each attribute would beside it.

    An attribute in each step. ``knowledge``, ``own``: as they were given to ``decide``. Attributes
    that may not leave are weighed too. UsageError, in the first step, for a name that the model has
    not or that is both added and dropped, and for a set with too many combinations of request
    values.
    """
    if both := sorted(change.add & change.drop):
        raise UsageError(f"{both[0]!r} is both added and dropped", "name it once")
    add, drop = _mask(change.add, model), _mask(change.drop, model)
    base = _mask(decision.disclosed if change.base is None else change.base, model)
    mask = (base | add) & ~drop
    case = context_of(decision.request, decision.terms, knowledge, model, own)
    scales = _scales(decision, case, model)
    for each in (base, mask):
        if case.crowd.combinations(each) > COMBINATIONS:
            what = "the set has too many attributes that are set anew for every request"
            raise UsageError(what, "add fewer of them, or drop some")
    scales.objective.focus(mask)
    chosen, weighed = scales.set_of(base), scales.set_of(mask)
    additions = []
    for each in range(len(model.attributes)):
        yield
        additions.append(scales.addition(mask, each))
    scales.objective.forget()
    return Weighing(chosen, weighed, tuple(additions), scales.informed)


def _mask(names: Iterable[str], model: Model) -> int:
    return union(model.index(name) for name in sorted(names))


def _scales(decision: Decision, case: Context, model: Model) -> _Scales:
    """Return what to weigh with: by the query that was meant, or by all where it decides so."""
    terms, query = decision.terms, decision.query
    informed = query is not None or terms.unknown_queries == "standing"
    objective = (
        objective_of(case, None if terms.mode == "standing" else query, terms, model)
        if informed
        else DisclosureObjective(HELPS_NOTHING, case.crowd, case.settings)
    )
    return _Scales(case, terms, model, objective, informed)

"""All that a decision depends on, and the same in indexes, as the mathematics wants it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import frexp, ldexp

from agent.decision.cache import Cache
from agent.decision.knowledge import Knowledge
from agent.decision.terms import Terms
from agent.decision.values import Code, Reason, Request
from agent.errors import UsageError
from agent.model.model import Model
from agent.model.reading import Interpretation
from agent.tradeoff.anonymity_set import AnonymitySet
from agent.tradeoff.objective import Settings
from agent.tradeoff.tables import UNSPECIFIED, singleton, union

Own = Mapping[str, int]  # the user's own codes, by attribute; those left out are not set
History = tuple[tuple[int, float], ...]


@dataclass(frozen=True, slots=True)
class Context:
    """A request, its terms, what the recipient knows, and the model that decides.

    ``own``: the user's own codes, read only where the terms protect this user, and None otherwise;
    ``reading``: of the query, None for what the model itself makes of it; ``cache``: serves one
    request with what was computed for others, and is no part of the value.
    """

    request: Request
    terms: Terms
    knowledge: Knowledge
    model: Model
    own: Own | None = None
    reading: Interpretation | None = None
    cache: Cache = field(default_factory=Cache, repr=False, compare=False, kw_only=True)

    @property
    def meaning(self) -> Interpretation:
        """What the query means to the model."""
        if self.reading is not None:
            return self.reading
        return self.cache.read(self.model, self.request.query)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared(Context):
    """A context in indexes: the people left, the demands, and which attributes are out already.

    ``reading`` is known; ``barred``: attributes that are no candidates, with the reason; ``free``:
    those to choose from, as a mask; ``forced``: those that always leave, in ascending order;
    ``asked``: those that wait for the user, a mask; ``history``: the queries that the recipient was
    sent something with, and roughly how often, as far as it remembers.
    """

    reading: Interpretation
    anonymity_set: AnonymitySet
    settings: Settings
    barred: Mapping[int, Reason]
    code: Code
    free: int
    forced: tuple[int, ...]
    asked: int
    history: History = ()

    def names(self, indexes: Iterable[int]) -> tuple[str, ...]:
        """Return the names of attributes."""
        return tuple(self.model.attributes[index].name for index in indexes)


def relevant(knowledge: Knowledge, terms: Terms) -> Knowledge:
    """Return what of it a decision under these terms depends on, the same for all else."""
    capped, planned = terms.limits.new_per_week is not None, terms.mode == "planned"
    return replace(
        knowledge,
        recent=knowledge.recent if capped else 0,
        queries=_roughly(knowledge.queries) if planned else (),
    )


def prepare(context: Context) -> Prepared:
    """Return a context in indexes, with its reading.

    UsageError where terms or knowledge name what is absent from the model.
    """
    terms, knowledge, model = context.terms, context.knowledge, context.model
    limits, remembers = terms.limits, terms.memory == "remembers"
    known = _known(knowledge, model)
    if not remembers:
        anonymity_set = context.cache.anonymity_set(model)
    else:
        anonymity_set = context.cache.anonymity_set(model, known, knowledge.share)
    guards = tuple((_person(name, model), weight) for name, weight in terms.guards)
    barred = barred_of(context, {index for index, _ in guards})
    indexes = range(len(model.attributes))
    open_ = union(index for index in indexes if index not in barred)
    always = mask_of(terms.always, model) & open_
    asked = mask_of(terms.ask, model) & open_ & ~always & ~anonymity_set.known
    bits = {model.index(name): each for name, each in terms.sensitivity}
    cap, mine = limits.new_per_week, context.own
    own = None
    if limits.protect == "me":
        if mine is None:
            hint = "give the user's own values, or protect everyone"
            raise UsageError("the terms protect this user, but the user's values are missing", hint)
        persons = enumerate(model.attributes[: model.persons])
        own = tuple((index, mine.get(each.name, UNSPECIFIED)) for index, each in persons)
    settings = Settings(
        candidates=open_,
        sensitivity=tuple(bits.get(i, each.sensitivity) for i, each in enumerate(model.attributes)),
        trade_off=terms.trade_off,
        metric=terms.metric,
        metric_k=terms.metric_k,
        guards=guards,
        k=limits.k,
        max_violations=limits.max_violations,
        max_risk=limits.max_risk,
        most=limits.per_request,
        most_new=None if cap is None else max(0, cap - knowledge.recent),
        own=own,
    )
    return Prepared(
        request=context.request,
        terms=terms,
        knowledge=knowledge,
        model=model,
        own=mine,
        cache=context.cache,
        reading=context.meaning,
        anonymity_set=anonymity_set,
        settings=settings,
        barred=barred,
        code=_code(anonymity_set, settings),
        free=open_ & ~always & ~asked,
        forced=tuple(index for index in indexes if always & singleton(index)),
        asked=asked,
        history=_roughly(knowledge.queries) if remembers else (),
    )


def mask_of(names: Iterable[str], model: Model) -> int:
    """Return attributes as a mask; UsageError for a name that is absent from the model."""
    return union(model.index(name) for name in sorted(names))


def _code(people: AnonymitySet, settings: Settings) -> Code:
    """Say whether a recipient may learn anything new at all."""
    if people.closed:
        return "recognised" if people.people else "outside the model"
    risk, k = settings.max_risk, settings.k
    risky = risk is not None and people.identifiability(0, "risk", 1) > risk
    if risky or (k is not None and people.identifiability(0, "k", k) > settings.max_violations):
        return "past a limit already"
    return "answered"


def _known(knowledge: Knowledge, model: Model) -> list[tuple[int, int]]:
    """Return what is known as pairs of person attribute and code, all of it checked."""
    for query, times in knowledge.queries:
        if not 0 <= query < len(model.queries) or not times > 0:
            hint = f"the model has {len(model.queries)} queries, and each is counted above 0 times"
            raise UsageError(f"query {query} cannot have been asked {times} times", hint)
    pairs = []
    for name, code in knowledge.codes:
        index = _person(name, model)
        values = len(model.attributes[index].values)
        if not 0 <= code < values:
            hint = f"the model has the codes 0 to {values - 1}"
            raise UsageError(f"attribute {name!r} has no value with code {code}", hint)
        pairs.append((index, code))
    if len({index for index, _ in pairs}) < len(pairs):
        raise UsageError("an attribute is known with two values", "give each attribute once")
    return pairs


def _roughly(history: History) -> History:
    """Return the times rounded down to powers of two: one time more seldom makes another plan."""
    return tuple(
        (query, times if times <= 0 else ldexp(0.5, frexp(times)[1])) for query, times in history
    )


def _person(name: str, model: Model) -> int:
    """Return the index of a person attribute: only those can be known, or guarded."""
    index = model.index(name)
    if model.attributes[index].scope != "person":
        hint = "only attributes of the person can be known or guarded"
        raise UsageError(f"attribute {name!r} changes with every request", hint)
    return index


def barred_of(context: Context, guarded: set[int]) -> dict[int, Reason]:
    """Return the attributes that are no candidates, with the reason for each."""
    terms, model, asked = context.terms, context.model, context.request.asked
    none: frozenset[str] = frozenset()
    mask_of(terms.excluded.union(terms.allowed or none, terms.available or none), model)  # or raise
    barred: dict[int, Reason] = {}
    for index, attribute in enumerate(model.attributes):
        if index in guarded:
            barred[index] = "guarded"
        elif attribute.name in terms.excluded:
            barred[index] = "never"
        elif terms.allowed is not None and attribute.name not in terms.allowed:
            barred[index] = "not allowed"
        elif terms.available is not None and attribute.name not in terms.available:
            barred[index] = "not set"
        elif asked is not None and attribute.name not in asked:
            barred[index] = "not asked for"
        elif terms.carried is not None and attribute.name not in terms.carried:
            barred[index] = "not carried"
    return barred

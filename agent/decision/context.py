"""All that a decision depends on, and the same in indexes, as the mathematics wants it."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import frexp, ldexp

from agent.decision.cache import Cache
from agent.decision.knowledge import History, Knowledge
from agent.decision.terms import Terms
from agent.decision.values import Code, Reason, Request
from agent.errors import UsageError
from agent.model.model import Model
from agent.model.reading import Interpretation
from agent.tradeoff.anonymity_set import AnonymitySet
from agent.tradeoff.objective import Settings
from agent.tradeoff.tables import UNSPECIFIED, union

Own = Mapping[str, int]  # the user's own codes, by attribute; those left out are not set


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
        return self.reading or self.cache.read(self.model, self.request.query)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A context in indexes: the people left, the demands, and which attributes are out already.

    ``barred``: names of attributes that are no candidates, with the reason; ``code``: whether the
    recipient may learn anything new at all; ``free``: those to choose from,
    a mask; ``forced``: those that always leave, a mask; ``asked``: those that wait for the user, a
    mask; ``history``: the queries that the recipient was sent something with, and roughly how
    often, as far as it remembers.
    """

    context: Context
    anonymity_set: AnonymitySet
    settings: Settings
    barred: Mapping[str, Reason]
    code: Code
    free: int
    forced: int
    asked: int
    history: History

    @property
    def reading(self) -> Interpretation:
        """What the query means to the model."""
        return self.context.meaning


def relevant(knowledge: Knowledge, terms: Terms) -> Knowledge:
    """Reduce knowledge to the part that decisions under these terms depend on."""
    capped, planned = terms.limits.new_facts_per_week is not None, terms.mode == "planned"
    return replace(
        knowledge,
        recent=knowledge.recent if capped else 0,
        queries=_roughly(knowledge.queries) if planned else (),
    )


def prepare(context: Context) -> Prepared:
    """Put a context into indexes; UsageError for a name in it that is absent from the model."""
    terms, knowledge, model = context.terms, context.knowledge, context.model
    limits, remembers = terms.limits, terms.memory == "remembers"
    context = replace(context, reading=context.meaning)
    known = [(_person(name, model), code) for name, code in knowledge.codes]
    for index, code in known:
        if not 0 <= code < model.cards[index]:
            what = f"attribute {model.attributes[index].name!r} has no value with code {code}"
            raise UsageError(what, f"the model has the codes 0 to {model.cards[index] - 1}")
    facts = (known, knowledge.share) if remembers else ()
    anonymity_set, barred = context.cache.anonymity_set(model, *facts), barred_of(context)
    open_ = union(at for at, each in enumerate(model.attributes) if each.name not in barred)
    forced = mask_of(terms.always, model) & open_
    asked = mask_of(terms.ask, model) & open_ & ~forced & ~anonymity_set.known
    bits = {model.index(name): each for name, each in terms.sensitivity}
    cap, own = limits.new_facts_per_week, None
    if limits.protect == "me":
        if context.own is None:
            hint = "give the user's own values, or protect everyone"
            raise UsageError("the terms protect this user, but the user's values are missing", hint)
        persons = enumerate(model.attributes[: model.persons])
        own = tuple((index, context.own.get(each.name, UNSPECIFIED)) for index, each in persons)
    settings = Settings(
        candidates=open_,
        sensitivity=tuple(bits.get(i, each.sensitivity) for i, each in enumerate(model.attributes)),
        trade_off=terms.trade_off,
        metric=terms.metric,
        metric_k=terms.metric_k,
        guards=tuple((_person(name, model), weight) for name, weight in terms.guards),
        k=limits.k,
        max_violations=limits.violations,
        max_risk=limits.risk,
        most=limits.attributes_per_request,
        most_new=None if cap is None else max(0, cap - knowledge.recent),
        own=own,
    )
    return Prepared(
        context=context,
        anonymity_set=anonymity_set,
        settings=settings,
        barred=barred,
        code=_code(anonymity_set, settings),
        free=open_ & ~forced & ~asked,
        forced=forced,
        asked=asked,
        history=_roughly(knowledge.queries) if remembers else (),
    )


def mask_of(names: Iterable[str], model: Model) -> int:
    """Return attributes as a mask; UsageError for a name that is absent from the model."""
    return union(model.index(name) for name in sorted(names))


def barred_of(context: Context) -> dict[str, Reason]:
    """Name the attributes that are no candidates, with the reason for each.

    UsageError for a name in the terms that is absent from the model.
    """
    terms, model, barred = context.terms, context.model, dict[str, Reason]()
    mask_of(terms.excluded.union(terms.available or ()), model)
    allowed: tuple[tuple[Reason, Collection[str] | None], ...] = (
        ("not carried", terms.carried),
        ("not asked for", context.request.asked),
        ("not set", terms.available),
    )
    for reason, names in allowed:
        if names is not None:
            barred |= {each.name: reason for each in model.attributes if each.name not in names}
    barred |= dict.fromkeys(terms.excluded, "never")
    return barred | {name: "guarded" for name, _ in terms.guards}


def _code(anonymity_set: AnonymitySet, settings: Settings) -> Code:
    if anonymity_set.closed:
        return "recognised" if anonymity_set.people else "outside the model"
    risk, k = settings.max_risk, settings.k
    risky = risk is not None and anonymity_set.identifiability(0, "risk", 1) > risk
    most = settings.max_violations
    if risky or (k is not None and anonymity_set.identifiability(0, "k", k) > most):
        return "past a limit already"
    return "answered"


def _roughly(history: History) -> History:
    """Round the times down to powers of two: one time more seldom makes another plan."""
    return tuple((query, ldexp(0.5, frexp(times)[1])) for query, times in history)


def _person(name: str, model: Model) -> int:
    """Return the index of a person attribute: only those can be known, or guarded."""
    index = model.index(name)
    if index >= model.persons:
        hint = "only attributes of the person can be known or guarded"
        raise UsageError(f"attribute {name!r} changes with every request", hint)
    return index

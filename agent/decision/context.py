"""From names to indexes: terms, knowledge and model as the mathematics wants them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from agent.decision.request import Knowledge, Request
from agent.decision.terms import Limits, Terms
from agent.errors import UsageError
from agent.model.model import Model
from agent.tradeoff.anonymity_set import AnonymitySet
from agent.tradeoff.objective import Settings
from agent.tradeoff.sets import union
from agent.tradeoff.tables import UNSPECIFIED

Status = Literal[
    "decided",
    "unknown query",
    "blocked",
    "recognised",
    "outside the model",
    "past a limit already",
]
Reason = Literal[
    "worth it",
    "always",
    "waits for you",
    "in the standing set",
    "not in the standing set",
    "in the plan",
    "planned for other requests",
    "not in the plan",
    "known to the recipient",
    "costs more than it helps",
    "would break a limit",
    "not asked for",
    "not allowed",
    "not set",
    "never",
    "guarded",
    "recognised",
    "outside the model",
    "too many combinations",
]
Own = Mapping[str, int]  # the user's own codes, by attribute; those left out are not set


@dataclass(frozen=True, slots=True)
class Context:
    """One request, ready to be decided: the people left, the demands, and who is out already.

    ``free``: the attributes to choose from, as a mask; ``forced``: those that always leave, in
    ascending order; ``asked``: those that wait for the user, a mask; ``heard``: the queries that
    the recipient was sent something with, and roughly how often, as far as it remembers.
    """

    crowd: AnonymitySet
    settings: Settings
    barred: dict[int, Reason]
    status: Status
    free: int
    forced: tuple[int, ...]
    asked: int
    heard: tuple[tuple[int, int], ...] = ()


def relevant(knowledge: Knowledge, terms: Terms) -> Knowledge:
    """Return what of it a decision under these terms depends on, the same for all else."""
    capped, planned = terms.limits.new_per_week is not None, terms.mode == "planned"
    return replace(
        knowledge,
        recent=knowledge.recent if capped else 0,
        heard=_roughly(knowledge.heard) if planned else (),
    )


def context_of(
    request: Request, terms: Terms, knowledge: Knowledge, model: Model, own: Own | None = None
) -> Context:
    """Return the case; UsageError where terms or knowledge name what the model has not."""
    crowd = model.crowd(_known(knowledge, terms, model))
    guards = tuple((_person(name, model), weight) for name, weight in terms.guards)
    barred = _barred(request, terms, {index for index, _ in guards}, model)
    open_ = union(index for index in range(len(model.attributes)) if index not in barred)
    always = _indexes(terms.always, model) & open_
    asked = _indexes(terms.ask, model) & open_ & ~always & ~crowd.known
    limits = terms.limits
    settings = Settings(
        candidates=open_,
        sensitivity=_sensitivity(terms, model),
        trade_off=terms.trade_off,
        metric=terms.metric,
        metric_k=terms.metric_k,
        guards=guards,
        k=limits.k,
        max_violations=limits.max_violations,
        max_risk=limits.max_risk,
        most=limits.per_request,
        most_new=_left(limits, knowledge),
        own=_own(own, terms, model),
    )
    forced = tuple(each for each in range(len(model.attributes)) if always >> each & 1)
    status = _status(crowd, limits)
    free = open_ & ~always & ~asked
    heard = _heard(knowledge, terms, model)
    return Context(crowd, settings, barred, status, free, forced, asked, heard)


def _status(crowd: AnonymitySet, limits: Limits) -> Status:
    """Say whether a recipient may learn anything new at all."""
    if crowd.people <= 1:
        return "recognised" if crowd.people else "outside the model"
    risk, k = limits.max_risk, limits.k
    risky = risk is not None and crowd.identifiability(0, "maxprob", 1) > risk
    if risky or (
        k is not None and crowd.identifiability(0, "k-anonymity", k) > limits.max_violations
    ):
        return "past a limit already"
    return "decided"


def _known(knowledge: Knowledge, terms: Terms, model: Model) -> list[tuple[int, int]]:
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
    return pairs if terms.memory == "remembers" else []


def _heard(knowledge: Knowledge, terms: Terms, model: Model) -> tuple[tuple[int, int], ...]:
    for query, times in knowledge.heard:
        if not 0 <= query < len(model.queries) or times < 1:
            hint = f"the model has {len(model.queries)} queries, and each is heard once or more"
            raise UsageError(f"query {query} cannot be heard {times} times", hint)
    return _roughly(knowledge.heard) if terms.memory == "remembers" else ()


def _roughly(heard: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
    """Return the times rounded down to powers of two: one time more seldom makes another plan."""
    return tuple(
        (query, times if times < 1 else 1 << times.bit_length() - 1) for query, times in heard
    )


def _person(name: str, model: Model) -> int:
    """Return the index of a person attribute: only those can be known, or guarded."""
    index = model.index(name)
    if model.attributes[index].scope != "person":
        hint = "only attributes of the person can be known or guarded"
        raise UsageError(f"attribute {name!r} is set anew for every request", hint)
    return index


def _indexes(names: frozenset[str], model: Model) -> int:
    return union(model.index(name) for name in sorted(names))


def _barred(request: Request, terms: Terms, guarded: set[int], model: Model) -> dict[int, Reason]:
    """Return the attributes that are no candidates, with the reason for each."""
    named = (terms.allowed or frozenset()) | (terms.available or frozenset()) | terms.excluded
    for name in sorted(named):
        model.index(name)
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
        elif request.asked is not None and attribute.name not in request.asked:
            barred[index] = "not asked for"
    return barred


def _sensitivity(terms: Terms, model: Model) -> tuple[float, ...]:
    """Return bits per attribute: the user's own where given, else the model's default."""
    own = {model.index(name): bits for name, bits in terms.sensitivity}
    return tuple(own.get(i, each.sensitivity) for i, each in enumerate(model.attributes))


def _left(limits: Limits, knowledge: Knowledge) -> int | None:
    """Return how many facts a recipient may still learn this week."""
    most = limits.new_per_week
    return None if most is None else max(0, most - knowledge.recent)


def _own(own: Own | None, terms: Terms, model: Model) -> tuple[tuple[int, int], ...] | None:
    """Return the user's own codes where the terms protect the user, and nothing otherwise."""
    if terms.limits.protect == "everyone":
        return None
    if own is None:
        hint = "give the user's own values, or protect everyone"
        raise UsageError("the terms protect this user, whose values are not known here", hint)
    return tuple(
        (index, own.get(attribute.name, UNSPECIFIED))
        for index, attribute in enumerate(model.attributes)
        if attribute.scope == "person"
    )

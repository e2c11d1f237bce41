"""From names to indexes: terms, knowledge and model as the mathematics wants them."""

from dataclasses import dataclass

from agent.decision.decision import Reason, Status
from agent.decision.request import Knowledge, Request
from agent.decision.terms import Limits, Terms
from agent.errors import UsageError
from agent.model.model import Model
from agent.tradeoff.crowd import Crowd
from agent.tradeoff.sets import singleton
from agent.tradeoff.settings import Settings


@dataclass(frozen=True, slots=True)
class Case:
    """One request, ready to be decided: the people left, the demands, and who is out already."""

    crowd: Crowd
    settings: Settings
    barred: dict[int, Reason]
    status: Status


def case_of(request: Request, terms: Terms, knowledge: Knowledge, model: Model) -> Case:
    """Return the case; UsageError where terms or knowledge name what the model has not."""
    crowd = model.crowd(_known(knowledge, model))
    guards = tuple((_person(name, model), weight) for name, weight in terms.guards)
    barred = _barred(request, terms, {index for index, _ in guards}, model)
    settings = Settings(
        candidates=sum(singleton(i) for i in range(len(model.attributes)) if i not in barred),
        sensitivity=_sensitivity(terms, model),
        trade_off=terms.trade_off,
        metric=terms.metric,
        metric_k=terms.metric_k,
        guards=guards,
        k=terms.limits.k,
        max_violations=terms.limits.max_violations,
        max_risk=terms.limits.max_risk,
    )
    return Case(crowd, settings, barred, _status(crowd, terms.limits))


def _status(crowd: Crowd, limits: Limits) -> Status:
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


def _known(knowledge: Knowledge, model: Model) -> list[tuple[int, int]]:
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


def _person(name: str, model: Model) -> int:
    """Return the index of a person attribute: only those can be known, or guarded."""
    index = model.index(name)
    if model.attributes[index].scope != "person":
        hint = "only attributes of the person can be known or guarded"
        raise UsageError(f"attribute {name!r} is set anew for every request", hint)
    return index


def _barred(request: Request, terms: Terms, guarded: set[int], model: Model) -> dict[int, Reason]:
    """Return the attributes that are no candidates, with the reason for each."""
    every = frozenset(each.name for each in model.attributes)
    allowed = every if terms.allowed is None else terms.allowed
    for name in sorted(allowed | terms.excluded):
        model.index(name)
    barred: dict[int, Reason] = {}
    for index, attribute in enumerate(model.attributes):
        if index in guarded:
            barred[index] = "guarded"
        elif attribute.name not in allowed - terms.excluded:
            barred[index] = "not allowed"
        elif request.asked is not None and attribute.name not in request.asked:
            barred[index] = "not asked for"
    return barred


def _sensitivity(terms: Terms, model: Model) -> tuple[float, ...]:
    """Return bits per attribute: the user's own where given, else the model's default."""
    own = {model.index(name): bits for name, bits in terms.sensitivity}
    return tuple(own.get(i, each.sensitivity) for i, each in enumerate(model.attributes))

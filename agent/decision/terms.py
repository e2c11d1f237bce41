"""The terms on which a person discloses something to a recipient, and those a policy sets."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from math import inf
from typing import Any, get_args

from agent.errors import UsageError
from agent.model.attributes import NAME
from agent.model.model import Model
from agent.tradeoff.measures import METRICS, Metric
from agent.tradeoff.search import ALGORITHMS, EPSILON, Algorithm
from policy.match import Attributes, Known, Rulebook, Ruling, Verdict
from policy.read import with_typo_guard
from policy.rules import Policy
from policy.settings import Carry, Memory, Mode, Protect, Unknown

Weights = tuple[tuple[str, float], ...]
FINITE = "a finite number from 0"
PROTECT = get_args(Protect)
WHOLE = "a whole number from 1"
SHARE = "from 0 to below 1"
TERMS = {
    "lambda": "trade_off",
    "mode": "mode",
    "nothing": "nothing",
    "unknown_queries": "unknown_queries",
    "memory": "memory",
}
LIMITS = {
    "k": "k",
    "violations": "max_violations",
    "risk": "max_risk",
    "attributes_per_request": "per_request",
    "new_facts_per_week": "new_per_week",
    "protect": "protect",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Hard limits: no set that breaks one is ever disclosed (DESIGN.md 2.4).

    ``k``: how many people at least must look alike, except for a share ``max_violations`` of the
    people; ``max_risk``: the largest expected success of a single guess, above 0 to 1;
    ``per_request``: the most attributes of one answer; ``new_per_week``: the most facts that a
    recipient learns within seven days; ``protect``: for whom k and risk are kept (2.6).
    """

    k: int | None = None
    max_violations: float = 0.0
    max_risk: float | None = None
    per_request: int | None = None
    new_per_week: int | None = None
    protect: Protect = "everyone"

    def __post_init__(self) -> None:
        risk = self.max_risk
        _require(self.k is None or self.k >= 1, "k", self.k, WHOLE)
        _require(0 <= self.max_violations < 1, "a share of violations", self.max_violations, SHARE)
        _require(risk is None or 0 < risk <= 1, "a risk", risk, "above 0 and at most 1")
        for what, most in (("request", self.per_request), ("week", self.new_per_week)):
            _require(most is None or most >= 0, f"a cap per {what}", most, "a whole number from 0")
        _require(self.protect in PROTECT, "protect", self.protect, f"one of {', '.join(PROTECT)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What may leave, and what it must bring.

    ``available``: names of the attributes that have a value, set by the user or by a source,
    None for all; no other is a candidate (DESIGN.md 2). ``allowed``: names that may be disclosed,
    None for all the model has; ``carried``: names that the way to the recipient can carry, None
    for all; ``excluded``: names that never may; ``ask``: names that wait for the
    user; ``always``: names that leave if no limit forbids it. ``trade_off``: lambda, bits per unit
    of ``metric``; ``metric_k``: the k of the metric k-anonymity; ``sensitivity``: (name, bits)
    pairs in place of the model's defaults; ``guards``: (name, weight) pairs; ``mode``: decide for
    each query, or once for all; ``nothing``: the answer is empty; ``unknown_queries``: what goes
    with one that the model does not know; ``memory``: a recipient that forgets is charged anew for
    every request. ``ruling``: the policy's words for all of this, where there is one; it changes no
    decision.
    """

    available: frozenset[str] | None = None
    allowed: frozenset[str] | None = None
    carried: frozenset[str] | None = None
    excluded: frozenset[str] = frozenset()
    ask: frozenset[str] = frozenset()
    always: frozenset[str] = frozenset()
    trade_off: float = 5.12
    metric: Metric = "maxprob"
    metric_k: int = 100
    limits: Limits = field(default_factory=Limits)
    sensitivity: Weights = ()
    guards: Weights = ()
    mode: Mode = "dynamic"
    algorithm: Algorithm = "lls"
    epsilon: float = EPSILON
    nothing: bool = False
    unknown_queries: Unknown = "nothing"
    memory: Memory = "remembers"
    ruling: Ruling | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        _require(0 <= self.trade_off < inf, "lambda", self.trade_off, FINITE)
        _require(0 <= self.epsilon < inf, "epsilon", self.epsilon, FINITE)
        _require(self.metric_k >= 1, "k", self.metric_k, WHOLE)
        _require(self.metric in METRICS, "a cost", self.metric, f"one of {', '.join(METRICS)}")
        known = ", ".join(ALGORITHMS)
        _require(self.algorithm in ALGORITHMS, "an algorithm", self.algorithm, f"one of {known}")
        for what, pairs in (("sensitivity of", self.sensitivity), ("guard on", self.guards)):
            names = [name for name, _ in pairs]
            for name, weight in pairs:
                _require(0 <= weight < inf, f"the {what} {name}", weight, FINITE)
                _require(names.count(name) == 1, f"the {what} {name}", "two numbers", "one number")

    def verdict(self, key: str, attribute: str | None = None) -> Verdict | None:
        """Return the rule behind a setting, of an attribute or of all; None without a policy."""
        if self.ruling is None:
            return None
        settings = (
            self.ruling.settings if attribute is None else self.ruling.attributes.get(attribute, {})
        )
        return settings.get(key)


def _require(holds: bool, what: str, given: object, demand: str) -> None:  # noqa: FBT001  (the condition)
    if not holds:
        raise UsageError(f"{what} cannot be {given}", f"{what} is {demand}")


def attributes_of(models: Iterable[Model], asked: Iterable[Model]) -> Attributes:
    """Return the attributes of the models asked about, each by all that any model calls it."""
    names, concepts = defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
    for each in chain.from_iterable(model.attributes for model in models):
        called = filter(NAME.fullmatch, (each.name, each.concept))  # MODEL.NAME is in no rule
        names[each.concept].update(called)
    for each in chain.from_iterable(model.attributes for model in asked):
        concepts[each.name].add(each.concept)
    return {
        name: Known(frozenset(found), frozenset(chain.from_iterable(map(names.__getitem__, found))))
        for name, found in concepts.items()
    }


def rulebook(policy: Policy, model: Model, models: Iterable[Model]) -> Rulebook:
    """Return the rules of a policy, ready for the attributes of a model.

    ``models``: all that the policy is for: a rule on what one of them calls a fact is on that fact,
    whichever decides. A rule that nearly names an attribute of any of them withholds it.
    """
    every = (model, *models)
    names, asked = (a.name for m in every for a in m.attributes), attributes_of(every, [model])
    return Rulebook(with_typo_guard(policy, [*dict.fromkeys(names)]), asked)


def terms_under(ruling: Ruling, model: Model) -> Terms:
    """Return the terms that a policy sets for one request.

    A guard on a request attribute only keeps it from leaving: a guard's cost is about people.
    Where the model counts real people, ``people`` of them must look alike, for everyone.
    """
    set_, persons = ruling.settings, {each.name for each in model.attributes[: model.persons]}
    values: Mapping[str, Any] = {key: verdict.value for key, verdict in set_.items()}
    weights = _numbers(ruling, "guard")
    guarded = {name: weight for name, weight in weights.items() if weight > 0}
    limits = Limits(**{LIMITS[key]: values[key] for key in values.keys() & LIMITS.keys()})
    if model.population.weights is not None and "people" in values:
        limits = replace(limits, k=max(values["people"], limits.k or 1), max_violations=0.0)
    return Terms(
        carried=carried_as(ruling.carry, model),
        excluded=_named(ruling, "never") | (guarded.keys() - persons),
        ask=_named(ruling, "ask"),
        always=_named(ruling, "always"),
        limits=limits,
        sensitivity=tuple(_numbers(ruling, "sensitivity").items()),
        guards=tuple((name, weight) for name, weight in guarded.items() if name in persons),
        ruling=ruling,
        **{TERMS[key]: values[key] for key in values.keys() & TERMS.keys()},
    )


def carried_as(carry: Carry, model: Model) -> frozenset[str] | None:
    """Return the attributes that a way to a recipient can carry, None for all.

    As words those with a word for any value and no sensitivity of their own: a function of the
    model, never of the user's value (DESIGN.md 2.6). As parameters none that is in a model.
    """
    if carry == "header":
        return None
    able = (each for each in model.attributes if each.words and not each.sensitivity)
    return frozenset(each.name for each in able if carry == "words")


def _named(ruling: Ruling, disclose: str) -> frozenset[str]:
    return frozenset(
        name for name, ruled in ruling.attributes.items() if ruled["disclose"].value == disclose
    )


def _numbers(ruling: Ruling, key: str) -> dict[str, float]:
    return {
        name: float(ruled[key].value) for name, ruled in ruling.attributes.items() if key in ruled
    }

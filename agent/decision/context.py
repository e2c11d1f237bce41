"""All that a decision depends on, and the same in indexes, as the mathematics wants it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import partial, reduce
from math import inf
from numbers import Real
from operator import or_
from typing import Any, get_args

from agent.decision.cache import Cache
from agent.decision.knowledge import Knowledge, roughly
from agent.decision.own_facts import EMPTY, NONE, Chances, Filled, OwnFacts, chances_of, fill
from agent.decision.topics import attributes_of, together_in, topic_names
from agent.decision.values import CROWD, Code, Disclose, Fact, Reason, Request
from agent.errors import UsageError
from agent.model.model import Model
from agent.model.reading import NOTHING, Interpretation
from agent.tradeoff.anonymity_set import AnonymitySet
from agent.tradeoff.measures import METRICS, Metric
from agent.tradeoff.objective import Settings
from agent.tradeoff.search import ALGORITHMS, Algorithm
from agent.tradeoff.tables import flagged, union
from policy.hosts import ASSISTANT
from policy.match import Rulebook, Ruling, Verdict, Verdicts
from policy.read import with_typo_guard
from policy.rules import FACT, Policy
from policy.settings import DEFAULTS, SETTINGS, Memory, Mode, Protect, Reranking, Unknown

Weights = tuple[tuple[str, float], ...]
HARDLY: Reason = "hardly helps"
FINITE = "a finite number from 0"
WHOLE = "a whole number from 1"
FEW_PEOPLE = 0.001  # of real people may be in smaller classes, or one class shuts out everybody


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Hard limits, by their keys in a policy: no set that breaks one is disclosed (DESIGN.md 2.4).

    ``k``: how many people at least must look alike, but for a share ``violations`` of the people
    over all that a recipient is told; ``people``: the setting that ``k`` is at least where the
    model counts real people, None elsewhere; ``risk``: the largest expected success of a single
    guess, above 0 to 1; ``attributes_per_request``: the most attributes of one answer;
    ``new_facts_per_week``, ``new_facts_per_day``: the most facts that a recipient learns within
    seven days, and one; ``protect``: for "me", a recipient learns nothing new once k or risk would
    fail for the user's own class (2.6).
    """

    k: int | None = None
    people: int | None = None
    violations: float = 0.0
    risk: float | None = None
    attributes_per_request: int | None = None
    new_facts_per_week: int | None = None
    new_facts_per_day: int | None = None
    protect: Protect = "everyone"

    def __post_init__(self) -> None:
        risk = self.risk
        _require(self.k is None or is_from(1, self.k), "k", self.k, WHOLE)
        is_share = is_from(0, self.violations) and self.violations < 1
        _require(is_share, "violations", self.violations, "from 0 to below 1")
        is_share = risk is None or (is_from(0, risk) and 0 < risk <= 1)
        _require(is_share, "risk", risk, "above 0 and at most 1")
        for what in ("attributes_per_request", "new_facts_per_week", "new_facts_per_day"):
            most = getattr(self, what)
            _require(most is None or is_from(0, most), what, most, "a whole number from 0")
        _one_of("protect", self.protect, get_args(Protect))


LIMITS = {each.name for each in fields(Limits)} - {"people"}  # which joins k
TERMS = {"mode", "horizon", "nothing", "unknown_queries", "memory", "results"}
PRICE = float(DEFAULTS["anonymity_price"])  # in bits, where nothing says another


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What may leave, and what it must bring.

    ``available``: names of the attributes that have a value, set by the user or by a source,
    None for all; no other is a candidate (DESIGN.md 2). ``carried``: names that the way to the
    recipient can carry, None for all; ``excluded``: names that may never be disclosed; ``ask``:
    names that wait for the user; ``always``: names that leave if no limit forbids it.
    ``trade_off``: lambda, bits per unit of ``metric``: `CROWD` times the price of anonymity;
    ``horizon``: how many more requests a plan counts on; ``metric_k``: the k of the metric
    k-anonymity; ``sensitivity``: (name, bits) pairs in place of the model's defaults; ``guards``:
    (name, weight) pairs; ``together``: (names, bits) pairs, what it costs that all of them are told
    or held; ``mode``: decide for each query, once for all, or by a plan; ``nothing``: the answer is
    empty; ``unknown_queries``: what goes with one that the model does not know; ``memory``: a
    recipient that forgets is charged anew for every request; ``by_kind``: names of attributes whose
    facts in own words count as their kind does; ``facts``: of single facts in own words by their
    ids, what is ruled in place of what is on their attributes; ``changed``: names of which the
    recipient holds an older value: what is in ``ask`` waits again, and none is sent where the user
    would stand out; ``coarse``: names of attributes of which only a listed value leaves, no user's
    words; ``results``: those of a search are ordered here, "rerank" with ``nothing``, or "both":
    then sets bring a part of their bits. ``ruling``: the policy's words; it changes no decision.
    """

    available: frozenset[str] | None = None
    carried: frozenset[str] | None = None
    excluded: frozenset[str] = frozenset()
    ask: frozenset[str] = frozenset()
    always: frozenset[str] = frozenset()
    trade_off: float = CROWD * PRICE
    horizon: int = 20
    metric: Metric = "maxprob"
    metric_k: int = 100
    limits: Limits = field(default_factory=Limits)
    sensitivity: Weights = ()
    guards: Weights = ()
    together: tuple[tuple[tuple[str, ...], float], ...] = ()
    mode: Mode = "dynamic"
    algorithm: Algorithm = "lls"
    nothing: bool = False
    unknown_queries: Unknown = "nothing"
    memory: Memory = "remembers"
    by_kind: frozenset[str] = frozenset()
    facts: tuple[tuple[str, Disclose], ...] = ()
    changed: frozenset[str] = frozenset()
    coarse: frozenset[str] = frozenset()
    results: Reranking = "send"
    ruling: Ruling | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        _require(is_from(0, self.trade_off), "lambda", self.trade_off, FINITE)
        _require(is_from(0, self.horizon), "horizon", self.horizon, "a whole number from 0")
        _require(is_from(1, self.metric_k), "k", self.metric_k, WHOLE)
        _one_of("a cost", self.metric, METRICS)
        _one_of("an algorithm", self.algorithm, ALGORITHMS)
        _one_of("a mode", self.mode, get_args(Mode))
        _one_of("memory", self.memory, get_args(Memory))
        _require(self.nothing or self.results != "rerank", "results", self.results, "with nothing")
        for what, pairs in (("sensitivity of", self.sensitivity), ("guard on", self.guards)):
            names = [name for name, _ in pairs]
            for name, weight in pairs:
                _require(is_from(0, weight), f"the {what} {name}", weight, FINITE)
                _require(names.count(name) == 1, f"the {what} {name}", "two numbers", "one number")

    def disclose(self, name: str, fact: str | None = None) -> Disclose:
        """Say what is ruled on disclosing an attribute, behind which there is this fact."""
        if fact is not None and fact in (ruled := dict(self.facts)):
            return ruled[fact]
        if any(name == guarded for guarded, _ in self.guards):
            return "guarded"
        if name in self.excluded:
            return "never"
        if name in self.ask:
            return "ask"
        return "always" if name in self.always else "auto"


def is_from(least: float, given: object) -> bool:
    """Whether something is a finite number, and no less."""
    return isinstance(given, Real) and least <= float(given) < inf


def _require(holds: bool, what: str, given: object, demand: str) -> None:  # noqa: FBT001  (the condition)
    if not holds:
        raise UsageError(f"{what} cannot be {given}", f"{what} is {demand}")


def _one_of(what: str, given: str, names: Iterable[str]) -> None:
    _require(given in names, what, given, f"one of {', '.join(names)}")


def rulebook(
    policy: Policy, model: Model, models: Iterable[Model], facts: Iterable[Fact] = ()
) -> Rulebook:
    """The rules of a policy, ready for the attributes of a model, and for facts that they name.

    ``models``: all that the policy is for: a rule on what one of them calls a fact is on that fact,
    whichever decides. A rule that nearly names an attribute or a topic of any of them holds for
    that.
    """
    every = (model, *models)
    names = {e.name: e for some in every for part in (some, *some.every) for e in part.attributes}
    guarded = with_typo_guard(policy, [*names], topic_names(policy, every))
    known, of_kind = attributes_of(every, [model]), {e.concept: e.name for e in model.attributes}
    single = {pattern.text for rule in policy.rules for pattern in rule.attributes}
    for fact in (e for e in facts if FACT + e.id in single and e.kind in of_kind):
        about, name = known[of_kind[fact.kind]], FACT + fact.id
        known[name] = about._replace(names=about.names | {name})
    return Rulebook(guarded, known)


def on_words(verdicts: Verdicts, name: str) -> Verdict:
    """What is ruled on own words: the stricter of two, or what a rule on ``name`` alone says."""
    disclose, own = verdicts["disclose"], verdicts.get("own")
    if own is None or name in {each.text for each in disclose.rule.attributes}:
        return disclose
    return max(disclose, own, key=lambda each: SETTINGS["disclose"].strictness(each.value))


def terms_under(ruling: Ruling, model: Model) -> Terms:
    """The terms that a policy sets for one request; what it was not asked about never leaves.

    A guard on a request attribute, or on what is counted by shares, only keeps it from leaving: a
    guard's cost is about people in a table. As words of a search attributes are carried that have a
    word for any value and no sensitivity of their own: a function of the model, never of the user's
    value (DESIGN.md 2.6); as parameters none.
    """
    single = {each for each in ruling.attributes if each.startswith(FACT)}
    in_words = single | {model.attributes[each].name for each in model.own}
    attributes = {n: keys for n, keys in ruling.attributes.items() if n not in single}

    def may(name: str, keys: Verdicts) -> Any:  # noqa: ANN401  (one of Disclose)
        return (on_words(keys, name) if name in in_words else keys["disclose"]).value

    def ruled(disclose: str) -> frozenset[str]:
        return frozenset(name for name, keys in attributes.items() if may(name, keys) == disclose)

    def given(key: str) -> dict[str, Any]:
        return {name: keys[key].value for name, keys in attributes.items() if key in keys}

    coarse = frozenset(name for name, only in given("coarse").items() if only)
    finer = (e.name for at, e in enumerate(model.attributes) if e.refines or at in model.own)
    fine = coarse.intersection(finer)
    persons = {each.name for each in model.attributes[: model.persons] if not each.shared}
    values: dict[str, Any] = {key: verdict.value for key, verdict in ruling.settings.items()}
    results = "send" if values["nothing"] or ruling.kind == ASSISTANT else values["results"]
    values |= {"nothing": values["nothing"] or results == "rerank", "results": results}
    guarded = {name: float(weight) for name, weight in given("guard").items() if weight > 0}
    unruled = {each.name for each in model.attributes} - ruling.attributes.keys()
    able = (each for each in model.attributes if each.words and not each.sensitivity)
    worded = frozenset(each.name for each in able if ruling.carry == "words")
    return Terms(
        trade_off=CROWD * float(values["anonymity_price"]),
        carried=None if ruling.carry == "header" else worded,
        excluded=ruled("never") | (guarded.keys() - persons) | unruled | fine,
        ask=ruled("ask") - fine,
        always=ruled("always") - fine,
        limits=limits_under(values, model),
        sensitivity=tuple((name, float(each)) for name, each in given("sensitivity").items()),
        guards=tuple((name, weight) for name, weight in guarded.items() if name in persons),
        by_kind=frozenset(name for name, how in given("relevance").items() if how == "kind"),
        facts=tuple((e.removeprefix(FACT), may(e, ruling.attributes[e])) for e in sorted(single)),
        coarse=coarse,
        together=together_in(ruling, model) if ruling.together else (),
        ruling=ruling,
        **{key: values[key] for key in values.keys() & TERMS},
    )


def limits_under(values: Mapping[str, Any], model: Model) -> Limits:
    """The limits among the settings of a policy.

    Where the model counts real people, ``people`` of them must look alike, but for a share of
    FEW_PEOPLE at the most.
    """
    limits = Limits(**{key: values[key] for key in values.keys() & LIMITS})
    if model.population.weights is None or "people" not in values:
        return limits
    people, violations = values["people"], min(FEW_PEOPLE, values.get("violations", FEW_PEOPLE))
    return replace(limits, k=max(people, limits.k or 1), people=people, violations=violations)


def limits_in(model: Model, limits: Limits) -> Limits:
    """Limits as they hold where a model counts people: twice as strict where it only supposes them.

    How far its figures are off, of people in another country, nobody knows. Source: DESIGN.md 2.8.
    """
    if model.population.residents is None:
        return limits
    return replace(limits, k=limits.k and 2 * limits.k, risk=limits.risk and limits.risk / 2)


@dataclass(frozen=True, slots=True)
class Context:
    """A request, its terms, what the recipient knows, and the model that decides.

    ``stopped``: the recipient learns nothing new, since the user would stand out (DESIGN.md 2.6);
    ``reading``: of the query, None for what the model itself makes of it; ``cache``: serves one
    request with what was computed for others, and is no part of the value; ``own``: the facts in
    own words that may be sent; ``judged``: what a local judge says of some of them (2.12).
    """

    request: Request
    terms: Terms
    knowledge: Knowledge
    model: Model
    stopped: bool = False
    reading: Interpretation | None = None
    cache: Cache = field(default_factory=Cache, repr=False, compare=False, kw_only=True)
    own: OwnFacts = field(default=NONE, kw_only=True)
    judged: Chances = field(default=(), kw_only=True)

    @property
    def meaning(self) -> Interpretation:
        """What the query means to the model."""
        return self.reading or self.cache.read(self.model, self.request.query)

    @property
    def filled(self) -> Filled:
        """The facts in own words that take part, each with its attribute."""
        if not self.own.facts:
            return EMPTY
        own, terms, reading, cache = self.own, self.terms, self.meaning, self.cache
        text = "" if terms.mode == "standing" else self.request.query
        if (reading.query or 0) >= len(cache.judgements(self.model).bits) and self.model.members:
            reading = cache.read(self.model.members[0].model, text)  # what topics make of it
        held = self.knowledge.own if terms.memory == "remembers" else ()
        helps = partial(chances_of, own, text, reading, self.model, self.judged)
        rest = reading, held, terms.by_kind
        make = partial(fill, own, self.model, cache, helps, *rest)
        return cache.get(self.model, (fill, own, text, self.judged, *rest), make)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A context in indexes: the people left, the demands, and which attributes are out already.

    ``barred``: those that are no candidates, as `barred_of` has them; ``code``: whether the
    recipient may learn anything new at all. As masks, ``free``: the attributes to choose from;
    ``forced``: those that always leave; ``waiting``: those that wait for the user; ``later``: those
    that hardly help this request, and might be planned for others. ``filled``: the facts in own
    words that take part.
    """

    context: Context
    reading: Interpretation
    anonymity_set: AnonymitySet
    settings: Settings
    barred: Mapping[Reason, int]
    code: Code
    free: int
    forced: int
    waiting: int
    later: int
    filled: Filled

    @property
    def informed(self) -> bool:
        """Whether it is known what helps: with a known query, or by facts in own words."""
        return self.reading.query is not None or self.filled.carries


def relevant(knowledge: Knowledge, terms: Terms) -> Knowledge:
    """Reduce knowledge to the part that decisions under these terms depend on."""
    limits, planned = terms.limits, terms.mode == "planned"
    return replace(
        knowledge,
        recent=0 if limits.new_facts_per_week is None else knowledge.recent,
        today=0 if limits.new_facts_per_day is None else knowledge.today,
        spent=knowledge.spent if limits.k and limits.violations else 0.0,
        queries=roughly(knowledge.queries) if planned else (),
    )


def prepare(context: Context) -> Prepared:
    """Put a context into indexes; UsageError for a name in it that is absent from the model."""
    terms, knowledge, model = context.terms, context.knowledge, context.model
    limits, reading = limits_in(model, terms.limits), context.meaning
    pairs = [(model.index(name), code) for name, code in knowledge.codes]
    guards = tuple((model.index(name), weight) for name, weight in terms.guards)
    for index, _ in (*pairs, *guards):
        if index >= model.persons:
            what = f"attribute {model.attributes[index].name!r} changes with every request"
            raise UsageError(what, "only attributes of the person can be known or guarded")
    for index, code in pairs:
        if not 0 <= code < model.cards[index]:
            what = f"attribute {model.attributes[index].name!r} has no value with code {code}"
            raise UsageError(what, f"the model has the codes 0 to {model.cards[index] - 1}")
    facts = pairs if terms.memory == "remembers" else ()
    anonymity_set, barred = context.cache.anonymity_set(model, facts), barred_of(context)
    others = reduce(or_, (mask for reason, mask in barred.items() if reason != HARDLY))
    hardly = barred.get(HARDLY, 0)
    open_ = ((1 << len(model.attributes)) - 1) & ~(others | hardly)
    filled, ruled = context.filled, dict(terms.facts)
    forced = filled.ruled("always", mask_of(terms.always, model), ruled) & open_
    asks = filled.ruled("ask", mask_of(terms.ask, model), ruled)
    waiting = asks & open_ & ~(forced | anonymity_set.disclosed & ~mask_of(terms.changed, model))
    own_bits = {model.index(name): each for name, each in terms.sensitivity}
    bits = {**dict(enumerate(model.sensitivities)), **filled.prices, **own_bits}
    weekly, daily = limits.new_facts_per_week, limits.new_facts_per_day
    week = inf if weekly is None else max(0, weekly - knowledge.recent)
    day = inf if daily is None else max(0, daily - knowledge.today)
    settings = Settings(
        candidates=open_,
        sensitivity=tuple(bits.values()),
        trade_off=terms.trade_off,
        metric=terms.metric,
        metric_k=terms.metric_k,
        guards=guards,
        together=tuple((mask_of(names, model), each) for names, each in terms.together),
        k=limits.k,
        k_key="people" if terms.limits.k == terms.limits.people else "k",
        max_violations=max(0.0, limits.violations - knowledge.spent),
        max_risk=limits.risk,
        most=limits.attributes_per_request,
        most_new=None if min(week, day) == inf else int(min(week, day)),
        most_new_key="new_facts_per_day" if day < week else "new_facts_per_week",
    )
    status: Code = "answered"
    if anonymity_set.closed:
        status = "outside the model" if anonymity_set.unseen else "recognised"
    elif context.stopped:
        status = "you would stand out"
    elif anonymity_set.success > (1 + 1e-12) * min(limits.risk or 1.0, 1 / (limits.k or 1)):
        status = "outside the model" if anonymity_set.unseen else "past a limit already"
    masks = open_ & ~forced & ~waiting, forced, waiting, hardly & ~(others | asks)
    return Prepared(context, reading, anonymity_set, settings, barred, status, *masks, filled)


def mask_of(names: Iterable[str], model: Model) -> int:
    """Attributes as a mask; UsageError for a name that is absent from the model."""
    return union(map(model.index, sorted(names)))


def barred_of(context: Context) -> dict[Reason, int]:
    """The attributes that are no candidates, as masks by reason; of several the last one counts.

    UsageError for a name in the terms that is absent from the model.
    """
    terms, model, barred = context.terms, context.model, dict[Reason, int]()
    filled, every, own = context.filled, (1 << len(model.attributes)) - 1, union(model.own)
    reading, judged = context.meaning, context.cache.judgements(model)
    query = -1 if reading.query is None and filled.carries else reading.query
    if terms.mode != "standing" and query is not None:
        helpful = judged.helpful(NOTHING if reading.query is None else reading)
        helpful[[*filled.facts]] = filled.carried
        if model.members and query >= len(judged.bits):  # all that its own model knows of
            helpful[[*model.owners[query][0].places]] = True
        always = filled.ruled("always", mask_of(terms.always, model), dict(terms.facts))
        barred[HARDLY] = every & ~(flagged(helpful) | always)
    if context.stopped:  # a changed value is told anew
        held = context.knowledge.names - terms.changed if terms.memory == "remembers" else ()
        barred["you would stand out"] = every & ~mask_of(held, model)
    if terms.carried is not None:
        barred["not carried"] = every & ~(mask_of(terms.carried, model) | own)
    if (asked := context.request.asked) is not None:
        some = union(at for at, each in enumerate(model.attributes) if each.name in asked)
        some |= union(at for at, kind in model.own.items() if some >> kind & 1)
        barred["not asked for"] = every & ~some
    known = every if terms.available is None else mask_of(terms.available, model)
    barred["not set"] = every & ~(known & ~own | union(filled.facts) & own)
    barred["never"] = filled.ruled("never", mask_of(terms.excluded, model), dict(terms.facts))
    return barred | {"guarded": mask_of((name for name, _ in terms.guards), model)}


def stands_out(knowledge: Knowledge, limits: Limits, model: Model, cache: Cache) -> bool:
    """Whether too few people agree with what a recipient would hold: for k, or for the risk."""
    if limits.k is limits.risk is None:
        return False
    pairs = [(model.index(name), code) for name, code in knowledge.codes]
    alike, limits = cache.anonymity_set(model, pairs), limits_in(model, limits)
    most = min(limits.risk or 1.0, 1 / (limits.k or 1))
    return not alike.people or alike.success > (1 + 1e-12) * most

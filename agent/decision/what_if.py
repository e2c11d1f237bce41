"""What another set, another lambda or another policy would have brought and cost. Pure.

The first two tell a person what to expect before they decide about an attribute; like the decision
they look at no value that was not disclosed (DESIGN.md 2.6). Past requests are replayed as a
parallel world, beside the actual one.
"""

from collections import defaultdict
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import TypeVar

from msgspec import structs

from agent.decision.cache import Cache
from agent.decision.choice import choice_of, utility_of
from agent.decision.context import Context, Prepared, mask_of, prepare
from agent.decision.decide import decide, figures_of, limit_of, outcome_of, read_by
from agent.decision.knowledge import Holdings, knowledge_in, people_left
from agent.decision.terms import rulebook, terms_under
from agent.decision.values import (
    Curve,
    CurvePoint,
    Decision,
    Figures,
    ReplayedRequest,
    Request,
    SetComparison,
)
from agent.errors import UsageError
from agent.model.concepts import Concepts, Meaning, meaning_of
from agent.model.model import Model
from agent.tradeoff import tradeoff_curve as tradeoff
from agent.tradeoff.anonymity_set import COMBINATIONS
from agent.tradeoff.objective import DisclosureObjective
from agent.tradeoff.tables import UNSPECIFIED, singleton
from agent.tradeoff.utility import HELPS_NOTHING
from policy.hosts import site_of
from policy.match import Rulebook
from policy.rules import Policy

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
    """Compare another set with that of a decision, and each attribute with the rest of the set.

    An attribute in each step. ``context``: of the decision, with all that it excludes. Attributes
    that may not be sent are weighed too; their figures are None where there are too many
    combinations, and ``gain_bits`` where the query is not known. UsageError, in the first step, for
    a name that is absent or both added and dropped, and for too many combinations.
    """
    if both := sorted(change.add & change.drop):
        raise UsageError(f"{both[0]!r} is both added and dropped", "name it once")
    model, terms = context.model, context.terms
    reading = context.meaning
    add, drop = mask_of(change.add, model), mask_of(change.drop, model)
    base = mask_of(decision.disclosed if change.base is None else change.base, model)
    mask = (base | add) & ~drop
    prepared = prepare(replace(context, reading=reading))
    anonymity_set = prepared.anonymity_set
    for each in (base, mask):
        if anonymity_set.combinations(each) > COMBINATIONS:
            what = "the set has too many attributes that change with every request"
            raise UsageError(what, "add fewer of them, or drop some")
    informed = reading.query is not None or terms.unknown_queries == "standing"
    standing = terms.mode == "standing" or reading.query is None
    meant = None if standing else reading
    uses = utility_of(meant, model, context.cache) if informed else HELPS_NOTHING
    objective = DisclosureObjective(uses, anonymity_set, prepared.settings)
    objective.extensions(mask, ())
    chosen, changed = (_weighed(each, objective, prepared) for each in (base, mask))
    outcomes = {each.name: each for each in decision.outcomes}
    compared = []
    for index, attribute in enumerate(model.attributes):
        yield
        own = singleton(index)
        with_it, without = mask | own, mask & ~own
        gain = cost = None
        if anonymity_set.combinations(with_it) <= COMBINATIONS:
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
                held=bool(anonymity_set.known & own),
                gain_bits=gain,
                cost_bits=cost,
                people_left=min(float(chosen.people), anonymity_set.people_left(with_it)),
            )
        )
    return SetComparison(
        chosen=chosen, changed=changed, outcomes=tuple(compared), informed=informed
    )


def _weighed(mask: int, objective: DisclosureObjective, prepared: Prepared) -> Figures:
    figures = figures_of(objective, mask, prepared)
    return structs.replace(figures, breaks=limit_of(objective, mask))


def curve_of(context: Context) -> Curve:
    """Decide at each lambda of a grid that has that of the terms.

    In standing mode it is a curve of all queries, whatever the request's is. What waits for the
    user is not in it. UsageError where ``decide`` raises it, and where it would look for no set.
    """
    return taken(curve_steps(context))


def curve_steps(context: Context) -> Generator[None, None, Curve]:
    """Return the same curve, a lambda in each step, and yield between them.

    What is decided with the model meanwhile changes nothing. UsageError, as above, in the first
    step.
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
            context=replace(context, terms=replace(terms, trade_off=each)),
            settings=replace(prepared.settings, trade_off=each),
        )
        choice = choice_of(there)
        mask, objective = choice.result.mask, choice.objective
        figures[each] = figures_of(objective, mask, there)
        parts, proof = objective.parts(mask), choice.result.proof
        chosen.append(tradeoff.Point(each, each, mask, parts, proof))
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
    result = None
    while result is None:
        result = advanced(steps)
    return result


def advanced(steps: Generator[None, None, T]) -> T | None:
    """Take one step; return what all of them come to, None before the last is taken."""
    try:
        next(steps)
    except StopIteration as end:
        result: T = end.value
        return result
    return None


Codes = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class PastRequest:
    """One request of the past and what it carried, or a statement that its site forgot.

    ``at``: when, with a time zone; ``recipient``: a host; ``asked``: the names that it could use,
    None where it did not say; ``disclosed``: names; ``facts``: what they say about the person;
    ``model``: that decided, None where it is no longer installed, so that the request stays as it
    was.
    """

    at: datetime
    recipient: str
    query: str = ""
    asked: tuple[str, ...] | None = None
    disclosed: tuple[str, ...] = ()
    facts: tuple[Meaning, ...] = ()
    model: Model | None = None
    forgets: bool = False


def replay(
    history: Iterable[PastRequest],
    policy: Policy,
    models: Sequence[Model],
    own: Mapping[str, Codes],
    cache: Cache,
) -> Iterator[ReplayedRequest]:
    """Yield for each request what a policy would have disclosed, beside what was disclosed.

    ``history``: in order of time; ``models``: all that the policy is for, one at least; ``own``: by
    the id of a model, the codes of what is set. A pool of recipients holds what the policy would
    have disclosed to it before; pools are the policy's own, for what was disclosed too. What waits
    for the user counts as not disclosed. UsageError where the policy names a search that a model is
    too large for.
    """
    concepts, books = Concepts(models), dict[str, Rulebook]()
    empty = partial(Holdings[str], concepts.replaces)
    actual, tried = (defaultdict[str, Holdings[str]](empty) for _ in range(2))
    for past in history:
        model = past.model or models[0]
        if model.id not in books:
            books[model.id] = rulebook(policy, model, models)
        ruling = books[model.id].match(past.recipient, past.query, past.at.date())
        pool, site = ruling.pool, site_of(ruling.host)
        for holdings in (actual[pool], tried[pool]) if past.forgets else ():
            holdings.forget({site})
        actual[pool].add_facts(past.at, site, past.facts)
        if past.forgets or past.model is None:
            tried[pool].add_facts(past.at, site, past.facts)
            continue
        before = knowledge_in(tried[pool], model, past.at, concepts=concepts, cache=cache)
        after = knowledge_in(actual[pool], model, past.at, concepts=concepts, cache=cache)
        codes = own[model.id]
        terms = replace(terms_under(ruling, model), available=_available(model, codes))
        mine = codes if terms.limits.protect == "me" else None
        request = Request(past.query, past.recipient, past.asked)
        decision = decide(Context(request, terms, before, model, mine, cache=cache), brief=True)
        persons = model.person_codes.keys() & {*decision.disclosed}
        sent = {
            each: codes.get(each, UNSPECIFIED) for each in decision.disclosed if each in persons
        }
        attributes = ((each, model.attributes[model.index(each)]) for each in sent)
        facts = [meaning_of(name, each.values[sent[name]], model) for name, each in attributes]
        tried[pool].add_facts(past.at, site, facts)
        if decision.disclosed:
            tried[pool].add_query(site, cache.read(model, past.query))
        yield ReplayedRequest(
            at=past.at,
            recipient=ruling.host,
            pool=pool,
            query=past.query,
            model=model.id,
            disclosed=past.disclosed,
            would_disclose=decision.disclosed,
            would_ask=decision.waiting,
            utility_was=bits_of(past.query, past.disclosed, model, cache),
            utility=bits_of(past.query, decision.disclosed, model, cache),
            people_left_was=people_left(after, model, cache),
            people_left=people_left(before.with_facts(sent), model, cache),
        )


def _available(model: Model, codes: Codes) -> frozenset[str]:
    """Name what is set, and what is known of each request."""
    return frozenset({*codes, *(each.name for each in model.attributes[model.persons :])})


def bits_of(query: str, names: Iterable[str], model: Model, cache: Cache | None = None) -> float:
    """Return the utility of disclosing these attributes, in bits; 0 for an unknown query.

    That of what the text means, however a policy decides: one measure for policies that are
    compared.
    """
    cache = cache or Cache()
    reading, mask = cache.read(model, query), mask_of(names, model)
    return 0.0 if reading.query is None else utility_of(reading, model, cache).value(mask)

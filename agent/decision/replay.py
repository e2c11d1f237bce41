"""Past requests under another policy: a parallel world, compared with the actual one. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from agent.decision.cache import Cache
from agent.decision.choice import mixed
from agent.decision.context import Context
from agent.decision.decide import decide_context
from agent.decision.knowledge import Holdings, knowledge_in, people_left
from agent.decision.terms import rulebook, terms_under
from agent.decision.values import ReplayedRequest, Request
from agent.model.concepts import Concepts, Meaning, meaning_of
from agent.model.model import Model
from agent.tradeoff.tables import UNSPECIFIED, union
from policy.hosts import site_of
from policy.match import Rulebook
from policy.rules import Policy

Codes = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class PastRequest:
    """One request that was made and what it carried, or a statement that its site forgot.

    ``at``: when, with a time zone; ``recipient``: a host; ``asked``: the names that it could use,
    None where it did not say; ``disclosed``: names; ``facts``: what they say about the person;
    ``model``: that decided, None where it is gone, so that the request stays as it was.
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
    actual, tried = (
        defaultdict[str, Holdings[str]](partial(Holdings, concepts.replaces)) for _ in range(2)
    )
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
        persons = model.attributes[: model.persons]
        of_requests = {each.name for each in model.attributes[model.persons :]}
        terms = terms_under(ruling, model)
        terms = replace(terms, available=frozenset(own[model.id].keys() | of_requests))
        codes = {each.name: own[model.id].get(each.name, UNSPECIFIED) for each in persons}
        held = knowledge_in(tried[pool], model, past.at, concepts=concepts, cache=cache)
        request = Request(past.query, past.recipient, past.asked)
        decides_by_own = codes if terms.limits.protect == "me" else None
        context = Context(request, terms, held, model, decides_by_own, cache=cache)
        decision = decide_context(context, brief=True)
        sent = {name: codes[name] for name in decision.disclosed if name in codes}
        tried[pool].add_facts(past.at, site, _meanings(sent, model))
        if decision.disclosed:
            tried[pool].add_query(site, context.meaning)
        known = knowledge_in(actual[pool], model, past.at, concepts=concepts, cache=cache)
        yield ReplayedRequest(
            at=past.at,
            recipient=ruling.host,
            pool=pool,
            query=past.query,
            model=model.id,
            disclosed=past.disclosed,
            would_disclose=decision.disclosed,
            would_ask=decision.pending.names if decision.pending else (),
            utility_was=bits_of(past.query, past.disclosed, model, cache),
            utility=bits_of(past.query, decision.disclosed, model, cache),
            people_left_was=people_left(known, model, cache),
            people_left=people_left(held.with_facts(sent), model, cache),
        )


def _meanings(codes: Codes, model: Model) -> list[Meaning]:
    attributes = ((model.attributes[model.index(name)], code) for name, code in codes.items())
    return [meaning_of(each.name, each.values[code], model) for each, code in attributes]


def bits_of(query: str, names: Iterable[str], model: Model, cache: Cache | None = None) -> float:
    """Return the utility of disclosing these attributes, in bits; 0 for an unknown query.

    That of what the text means, however a policy decides: one measure for policies that are
    compared.
    """
    cache = cache or Cache()
    reading = cache.read(model, query)
    mask = union(model.index(name) for name in names)
    return 0.0 if reading.query is None else mixed(reading, model, cache).value(mask)

"""One request with all that its decision depends on; nothing of it is the user's own value."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from agent.daemon.agent import Agent
from agent.daemon.header import fits, members
from agent.decision.decide import Decision, decide
from agent.decision.request import Holdings, Knowledge, Request
from agent.decision.terms import Terms
from agent.errors import ModelError, UsageError
from agent.model.model import Model
from agent.vault.disclosure_index import NOTHING, Disclosure, knowledge_in, site_of
from agent.vault.vault import Vault
from agent.wire.decide import Ask, Code
from policy.match import Ruling, in_clear

Own = Mapping[str, int] | None  # the user's codes by attribute, where the terms need them
Decide = Callable[[Request, Terms, Knowledge, Model, Own], Decision]


class Context(NamedTuple):
    """A request, the terms that the policy and the user set for it, and what its pool holds."""

    vault: Vault
    model: Model
    ruling: Ruling
    request: Request
    terms: Terms
    knowledge: Knowledge


class UndecidedError(Exception):
    """Nothing can be decided; ``code`` says why."""

    def __init__(self, code: Code) -> None:
        super().__init__(code)
        self.code = code


def context_of(ask: Ask, now: datetime, agent: Agent) -> Context:
    """Return what is to be decided: the policy's terms with the user's verdicts, and knowledge.

    ``now``: in the user's time zone. UndecidedError where nothing can be decided, UsageError where
    the recipient is not a host.
    """
    vault, model, terms, ruling = _ruled(ask.recipient, ask.query, now, agent)
    pool_of, ledger = agent.rules.active.pool_of, vault.ledger
    planned = terms.mode == "planned"
    queries = ledger.timeline.queries(ruling.pool, pool_of) if planned else NOTHING
    held = ledger.disclosures.pool(ruling.pool, pool_of)
    asked = agent.consent.usable(site_of(ruling.host), now) if ask.asked is None else ask.asked
    request = _request(ask.query, ruling.host, asked, model)
    return Context(vault, model, ruling, request, terms, _knowledge(held, model, now, queries))


def context_before(number: int, entry: Disclosure, now: datetime, agent: Agent) -> Context:
    """Return the request of an entry of the ledger as it would be decided today.

    Its pool, by the groups as they are now, holds what it held before this entry; what was recent
    then counts as recent. UndecidedError where nothing can be decided.
    """
    vault, model, terms, ruling = _ruled(entry.host, entry.query, now, agent)
    pool_of, ledger = agent.rules.active.pool_of, vault.ledger
    planned = terms.mode == "planned"
    queries = ledger.timeline.queries_before(number, ruling.pool, pool_of) if planned else NOTHING
    held = ledger.disclosures.pool_before(number, ruling.pool, pool_of)
    request = _request(entry.query, ruling.host, entry.asked, model)
    return Context(vault, model, ruling, request, terms, _knowledge(held, model, entry.at, queries))


def _ruled(
    recipient: str, query: str, now: datetime, agent: Agent
) -> tuple[Vault, Model, Terms, Ruling]:
    """Return the open vault, the model that is chosen, and what policy and user rule."""
    agent.look(now)
    vault, in_use = agent.vault, agent.rules.active
    if vault is None:
        raise UndecidedError("locked")
    if in_clear(recipient):
        raise UndecidedError("not https")
    if in_use.policy is None:
        raise UndecidedError("no policy")
    name = in_use.model(recipient, query, now.date())
    try:
        model = agent.registry.of(name, in_use.keys, now)
    except (ModelError, UsageError) as error:
        raise UndecidedError("no model") from error
    terms = in_use.terms(model, recipient, query, now.date())
    if terms is None or terms.ruling is None:
        raise UndecidedError("no policy")
    of_requests = agent.sources.available(model.attributes[model.persons :])
    available = vault.profile.names(model) | of_requests  # by the names alone: no value is read
    spoken = agent.consent.overlay(terms, terms.ruling.pool)
    return vault, model, replace(spoken, available=available), terms.ruling


def _request(query: str, host: str, asked: Iterable[str] | None, model: Model) -> Request:
    """Return a request; ``asked``: of it counts what the model has."""
    names = members(model).longest
    return Request(query, host, None if asked is None else frozenset(asked).intersection(names))


def _knowledge(
    held: Holdings[str], model: Model, at: datetime, queries: Mapping[str, int]
) -> Knowledge:
    try:
        return knowledge_in(held, model, at, queries)
    except UsageError as error:
        raise UndecidedError("unfit") from error


def decided(context: Context, own: Own, by: Decide = decide) -> Decision:
    """Return the decision, whose answer fits into a header.

    It depends on nothing in the profile but ``own``, the result of `own_of` (DESIGN.md 2.6). While
    the header is too long it is made anew without what was chosen last: the figures are those of
    what leaves, every limit holds, and the terms exclude what had no room. UndecidedError
    where the policy asks for something that the model cannot do.
    """
    terms = context.terms
    while True:
        try:
            found = by(context.request, terms, context.knowledge, context.model, own)
        except UsageError as error:
            raise UndecidedError("unfit") from error
        if fits(found.disclosed, context.model):
            return found
        terms = replace(terms, excluded=terms.excluded | {found.disclosed[-1]})


def averaged(context: Context) -> Context:
    """Return a context that is of all queries of the model, whatever the query is."""
    terms = replace(context.terms, mode="standing", unknown_queries="standing")
    return context._replace(terms=terms)


def apart(context: Context) -> Context:
    """Return the same context with a copy of the model, for use in another thread.

    One thread at a time: there is one such copy. The model keeps it, and forgets it with the rest.
    """
    model = context.model
    return context._replace(model=model.remember(apart, lambda: replace(model)))


def own_of(context: Context) -> Own:
    """Return the user's own codes where the terms protect this user, else None."""
    if context.terms.limits.protect != "me":
        return None
    return context.vault.profile.codes(context.model)

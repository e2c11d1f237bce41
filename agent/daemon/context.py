"""One request with all that its decision depends on; nothing of it is the user's own value."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from agent.daemon.agent import Agent
from agent.daemon.header import fits, members
from agent.decision.context import Context
from agent.decision.decide import Decision, decide_context
from agent.decision.request import Holdings, Knowledge, Request
from agent.decision.terms import Terms
from agent.errors import ModelError, UsageError
from agent.model.model import Model
from agent.vault.disclosure_index import NOTHING, Disclosure, knowledge_in, site_of
from agent.vault.vault import Vault
from agent.wire.decide import Ask, Code
from policy.match import Ruling, in_clear


@dataclass(frozen=True, slots=True, kw_only=True)
class RuledContext(Context):
    """A context by the terms that the policy and the user set; its pool holds the knowledge."""

    vault: Vault
    ruling: Ruling


class UndecidedError(Exception):
    """Nothing can be decided; ``code`` says why."""

    def __init__(self, code: Code) -> None:
        super().__init__(code)
        self.code = code


def context_of(ask: Ask, now: datetime, agent: Agent) -> RuledContext:
    """Return what is to be decided: the policy's terms with the user's verdicts, and knowledge.

    ``now``: in the user's time zone. UndecidedError where nothing can be decided, UsageError where
    the recipient is not a host.
    """
    vault, model, terms, ruling = _ruled(ask.recipient, ask.query, now, agent)
    pool_of, ledger = agent.rules.active.pool_of, vault.ledger
    planned = terms.mode == "planned"
    queries = ledger.disclosures.queries(ruling.pool, pool_of) if planned else NOTHING
    held = ledger.disclosures.pool(ruling.pool, pool_of)
    asked = agent.consent.usable(site_of(ruling.host), now) if ask.asked is None else ask.asked
    request = _request(ask.query, ruling.host, asked, model)
    return _context(request, terms, _knowledge(held, model, now, queries), model, vault, ruling)


def context_before(number: int, entry: Disclosure, now: datetime, agent: Agent) -> RuledContext:
    """Return the request of an entry of the ledger as it would be decided today.

    Its pool, by the groups as they are now, holds what it held before this entry; what was recent
    then counts as recent. UndecidedError where nothing can be decided.
    """
    vault, model, terms, ruling = _ruled(entry.host, entry.query, now, agent)
    pool_of, ledger = agent.rules.active.pool_of, vault.ledger
    planned = terms.mode == "planned"
    queries = ledger.disclosures.queries(ruling.pool, pool_of, number) if planned else NOTHING
    held = ledger.disclosures.pool(ruling.pool, pool_of, number)
    request = _request(entry.query, ruling.host, entry.asked, model)
    known = _knowledge(held, model, entry.at, queries)
    return _context(request, terms, known, model, vault, ruling)


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


def _context(
    request: Request, terms: Terms, knowledge: Knowledge, model: Model, vault: Vault, ruling: Ruling
) -> RuledContext:
    own = vault.profile.codes(model) if terms.limits.protect == "me" else None
    return RuledContext(request, terms, knowledge, model, own, vault=vault, ruling=ruling)


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


def decided(context: RuledContext, *, brief: bool = False) -> Decision:
    """Return the decision, whose answer fits into a header.

    It depends on nothing in the profile, but where the terms protect this user (DESIGN.md 2.6).
    While the header is too long it is made anew without what was chosen last: the figures are those
    of what leaves, every limit holds, and the terms exclude what had no room. UndecidedError where
    the policy asks for something that the model cannot do.
    """
    while True:
        try:
            found = decide_context(context, brief=brief)
        except UsageError as error:
            raise UndecidedError("unfit") from error
        if fits(found.disclosed, context.model):
            return found
        excluded = context.terms.excluded | {found.disclosed[-1]}
        context = replace(context, terms=replace(context.terms, excluded=excluded))


def averaged(context: RuledContext) -> RuledContext:
    """Return a context that is of all queries of the model, whatever the query is."""
    terms = replace(context.terms, mode="standing", unknown_queries="standing")
    return replace(context, terms=terms)


def apart(context: RuledContext) -> RuledContext:
    """Return the same context with a copy of the model, for use in another thread.

    One thread at a time: there is one such copy. The model keeps it, and forgets it with the rest.
    """
    model = context.model
    return replace(context, model=model.remember(apart, lambda: replace(model)))

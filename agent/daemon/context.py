"""One request with all that its decision depends on; nothing of it is the user's own value."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from msgspec import structs

from agent.daemon.agent import Agent
from agent.daemon.header import LARGEST, Members, members, most_bytes, words_fit
from agent.decision.context import Context
from agent.decision.decide import decide_context
from agent.decision.knowledge import Knowledge, knowledge_in, people_left, unmatched
from agent.decision.locale import LOCALE, located
from agent.decision.values import NO_ROOM, Code, Decision, Disclose, Outcome, Request
from agent.errors import ModelError, UsageError
from agent.model.concepts import Meaning
from agent.model.model import Model
from agent.model.reading import NOTHING as UNREAD
from agent.model.reading import Interpretation
from agent.vault.disclosure_index import NOTHING, site_of
from agent.vault.vault import Vault
from agent.wire.decide import Ask
from policy.match import Ruling
from policy.services import in_clear


@dataclass(frozen=True, slots=True, kw_only=True)
class RuledContext(Context):
    """A context by the terms that the policy and the user set; its pool holds the knowledge.

    ``people``: who agree with what the pool holds, where the model knows nobody: that of LOCALE.
    """

    vault: Vault
    ruling: Ruling
    people: int | None = None

    @property
    def travel(self) -> Members:
        """How the model's attributes travel."""
        return members(self.model, self.cache)

    def fits(self, names: Sequence[str]) -> bool:
        """Return whether what leaves has room for these attributes, whatever their values are."""
        if self.people is not None:
            return True
        if self.ruling.carry == "words":
            return words_fit(names, self.request.query, self.ruling, self.model)
        bytes_of = self.travel.longest
        return most_bytes(bytes_of[name] for name in names) <= LARGEST


class UndecidedError(Exception):
    """Nothing can be decided; ``code`` says why."""

    def __init__(self, code: Code) -> None:
        super().__init__(code)
        self.code = code


def context_of(
    ask: Ask,
    now: datetime,
    agent: Agent,
    before: tuple[int, datetime] | None = None,
    *,
    parameters: bool = False,
) -> RuledContext:
    """Return what is to be decided: the policy's terms with the user's preferences, and knowledge.

    ``now``: in the user's time zone; ``before``: the number and the time of an entry of the ledger,
    whose request is decided by the rules of today: its pool, by the groups as they are now, holds
    what it held before the entry, and what was recent then counts as recent. ``parameters``:
    whether those of an address are of use; where they are all that may leave, the model is LOCALE.
    No value of the profile is read. UndecidedError where nothing can be decided, UsageError where
    the recipient is not a host.
    """
    vault, in_use, today = agent.vault, agent.rules.active, now.date()
    if vault is None:
        raise UndecidedError("locked")
    readers, model, reading = _reading_of(ask, now, agent, parameters=parameters)
    of_requests = agent.sources.available(model.attributes[model.persons :])
    available = vault.profile.names(model) | of_requests  # by the names alone: no value is read
    terms = in_use.terms(model, ask.recipient, ask.query, today, available)
    if terms is None or terms.ruling is None:
        raise UndecidedError("no policy")
    ruling, pool, pool_of = terms.ruling, terms.ruling.pool, in_use.pool_of
    terms = agent.consent.overlay(terms)
    number, at = before or (None, now)
    facts = vault.ledger.disclosures
    holdings = facts.pool(pool, pool_of, number)
    queries = facts.queries(pool, pool_of, number) if terms.mode == "planned" else NOTHING
    offers = ask.asked is None and before is None
    asked = agent.consent.usable(site_of(ruling.host), now) if offers else ask.asked
    cache = agent.reader.cache
    knowledge = knowledge_in(holdings, model, at, queries, facts.concepts, cache)
    meanings = (Meaning(name, fact.value) for name, fact in holdings.held.items())
    if not knowledge.share and unmatched(meanings, facts.concepts):
        raise UndecidedError("unfit")
    usable = None
    if asked is not None:
        usable = tuple(sorted(members(model, cache).longest.keys() & set(asked)))
    request = Request(ask.query, ruling.host, usable)
    people = None
    if model is LOCALE:
        holds = knowledge_in(holdings, readers[0], at, concepts=facts.concepts, cache=cache)
        known = holds if terms.memory == "remembers" else Knowledge()
        people = people_left(known, readers[0], cache)
    return RuledContext(
        request,
        terms,
        knowledge,
        model,
        reading=reading,
        cache=cache,
        vault=vault,
        ruling=ruling,
        people=people,
    )


def _reading_of(
    ask: Ask, now: datetime, agent: Agent, *, parameters: bool
) -> tuple[list[Model], Model, Interpretation]:
    """Choose the model that reads a request the surest, LOCALE for parameters of an address."""
    in_use, today = agent.rules.active, now.date()
    if in_clear(ask.recipient):
        raise UndecidedError("not https")
    if in_use.policy is None:
        raise UndecidedError("no policy")
    name = in_use.model(ask.recipient, ask.query, today)  # or the recipient is not a host
    addresses = in_use.adds_parameters(ask.recipient, ask.query, today)
    if addresses and not parameters:
        raise UndecidedError("parameters only")
    try:
        readers = agent.readers(name, now)
        if addresses:
            return readers, LOCALE, UNREAD
        return readers, *agent.reader.surest(ask.query, readers)
    except (ModelError, UsageError) as error:
        raise UndecidedError("no model") from error


def with_own(context: RuledContext) -> RuledContext:
    """Return the context with the user's own codes, where the terms protect this user alone.

    To be called last: it is what opens the profile.
    """
    if context.terms.limits.protect == "everyone":
        return context
    return replace(context, own=context.vault.profile.codes(context.model))


def decided(context: RuledContext, *, brief: bool = False) -> Decision:
    """Return the decision, whose answer fits into a header, or into the address.

    It depends on nothing in the profile, but where the terms protect this user (DESIGN.md 2.6):
    then ``context`` must be `with_own`.
    While that is too long it is made anew without what was chosen last: the figures are those
    of what leaves, every limit holds, and outcomes name what had no room. UndecidedError where the
    policy asks for something that the model cannot do.
    """
    if context.people is not None:
        return located(context, context.people)
    dropped = frozenset[str]()
    while True:
        try:
            found = decide_context(without(dropped, context), brief=brief)
        except UsageError as error:
            raise UndecidedError("unfit") from error
        if context.fits(found.disclosed):
            return _with_dropped(found, dropped, context) if dropped else found
        dropped |= {found.disclosed[-1]}


def without(names: frozenset[str], context: RuledContext) -> RuledContext:
    """Return the context with these attributes excluded as well."""
    excluded = context.terms.excluded | names
    return replace(context, terms=replace(context.terms, excluded=excluded))


def _with_dropped(found: Decision, names: frozenset[str], context: RuledContext) -> Decision:
    """Return a decision whose outcomes say of these attributes that there was no room."""

    def outcome(each: Outcome) -> Outcome:
        if each.name not in names:
            return each
        ruled: Disclose = "always" if each.name in context.terms.always else "auto"
        return structs.replace(each, reason=NO_ROOM, rule=None, disclose=ruled)

    return structs.replace(found, outcomes=tuple(map(outcome, found.outcomes)))


def apart(context: RuledContext, agent: Agent) -> RuledContext:
    """Return the same context for another thread, of which there is one at a time."""
    return replace(with_own(context), cache=agent.apart)

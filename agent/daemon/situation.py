"""One request at one moment, with all that its decision depends on."""

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
class Situation(Context):
    """A request as asked, by the terms of policy and user, with what its pool holds.

    ``now``: in the user's time zone; ``people``: who agree with what the pool holds, where the
    model knows nobody: that of LOCALE.
    """

    ask: Ask
    now: datetime
    vault: Vault
    ruling: Ruling
    people: int | None = None

    @property
    def members(self) -> Members:
        """How the model's attributes are sent."""
        return members(self.model, self.cache)

    def fits(self, names: Sequence[str]) -> bool:
        """Return whether these attributes have room in the request, whatever their values are."""
        if self.people is not None:
            return True
        if self.ruling.carry == "words":
            return words_fit(names, self.request.query, self.ruling, self.model)
        longest = self.members.longest
        return most_bytes(longest[name] for name in names) <= LARGEST

    def with_own(self) -> "Situation":
        """Return the situation with the user's own codes, where the terms protect this user alone.

        To be called last: it is what opens the profile.
        """
        if self.terms.limits.protect == "everyone":
            return self
        return replace(self, own=self.vault.profile.codes(self.model))

    def without(self, names: frozenset[str]) -> "Situation":
        """Return the situation with these attributes excluded as well."""
        excluded = self.terms.excluded | names
        return replace(self, terms=replace(self.terms, excluded=excluded))


class UndecidedError(Exception):
    """Nothing can be decided; ``code`` says why."""

    def __init__(self, code: Code) -> None:
        super().__init__(code)
        self.code = code


def situation_of(
    ask: Ask,
    now: datetime,
    agent: Agent,
    before: tuple[int, datetime] | None = None,
    *,
    parameters: bool = False,
) -> Situation:
    """Look at policy, consent, models and ledger once, for one request.

    ``now``: in the user's time zone; ``before``: the number and the time of an entry of the ledger,
    whose request is decided by the rules of today: its pool, by the groups as they are now, holds
    what it held before the entry, and what was recent then counts as recent. ``parameters``:
    whether those of an address are of use; where they are all that may leave, the model is LOCALE.
    No value of the profile is read. UndecidedError where nothing can be decided, UsageError where
    the recipient is not a host.
    """
    vault, policy, today = agent.vault, agent.rules.active, now.date()
    if vault is None:
        raise UndecidedError("locked")
    readers, model, reading = _read(ask, now, agent, parameters=parameters)
    of_requests = agent.sources.available(model.attributes[model.persons :])
    available = vault.profile.names(model) | of_requests  # by the names alone
    terms = policy.terms(model, ask.recipient, ask.query, today, available)
    if terms is None or terms.ruling is None:
        raise UndecidedError("no policy")
    ruling, terms = terms.ruling, agent.consent.overlay(terms)
    number, at = before or (None, now)
    index, cache = vault.ledger.disclosures, agent.reader.cache
    holdings = index.pool(ruling.pool, policy.pool_of, number)
    queries = NOTHING
    if terms.mode == "planned":
        queries = index.queries(ruling.pool, policy.pool_of, number)
    knowledge = knowledge_in(holdings, model, at, queries, index.concepts, cache)
    meanings = (Meaning(concept, fact.value) for concept, fact in holdings.held.items())
    if not knowledge.share and unmatched(meanings, index.concepts):
        raise UndecidedError("unfit")
    offered = None
    if ask.asked is None and before is None:
        offered = agent.consent.usable(site_of(ruling.host), now)
    usable, named = None, ask.asked if offered is None else offered
    if named is not None:
        usable = tuple(sorted(members(model, cache).longest.keys() & {*named}))
    people = None
    if model is LOCALE:
        holds = knowledge_in(holdings, readers[0], at, concepts=index.concepts, cache=cache)
        holds = holds if terms.memory == "remembers" else Knowledge()
        people = people_left(holds, readers[0], cache)
    return Situation(
        Request(ask.query, ruling.host, usable),
        terms,
        knowledge,
        model,
        reading=reading,
        cache=cache,
        ask=ask,
        now=now,
        vault=vault,
        ruling=ruling,
        people=people,
    )


def _read(
    ask: Ask, now: datetime, agent: Agent, *, parameters: bool
) -> tuple[list[Model], Model, Interpretation]:
    """Choose the model that reads a request the surest, LOCALE for parameters of an address.

    Returns those that may read it as well.
    """
    policy, today = agent.rules.active, now.date()
    if in_clear(ask.recipient):
        raise UndecidedError("not https")
    if policy.policy is None:
        raise UndecidedError("no policy")
    name = policy.model(ask.recipient, ask.query, today)
    addresses = policy.adds_parameters(ask.recipient, ask.query, today)
    if addresses and not parameters:
        raise UndecidedError("parameters only")
    try:
        readers = agent.readers(name, now)
        if addresses:
            return readers, LOCALE, UNREAD
        return readers, *agent.reader.surest(ask.query, readers)
    except (ModelError, UsageError) as error:
        raise UndecidedError("no model") from error


def decided(situation: Situation, *, brief: bool = False) -> Decision:
    """Return the decision, whose answer fits into a header, or into the address.

    It depends on nothing in the profile, but where the terms protect this user (DESIGN.md 2.6):
    then ``situation`` must be `Situation.with_own`.
    While that is too long it is made anew without what was chosen last: the figures are those
    of what leaves, every limit holds, and outcomes name what had no room. UndecidedError where the
    policy asks for something that the model cannot do.
    """
    if situation.people is not None:
        return located(situation, situation.people)
    context, dropped = situation, frozenset[str]()
    while True:
        try:
            decision = decide_context(context, brief=brief)
        except UsageError as error:
            raise UndecidedError("unfit") from error
        if situation.fits(decision.disclosed):
            return _with_dropped(decision, dropped, situation) if dropped else decision
        dropped |= {decision.disclosed[-1]}
        context = situation.without(dropped)


def _with_dropped(decision: Decision, names: frozenset[str], situation: Situation) -> Decision:
    def outcome(each: Outcome) -> Outcome:
        if each.name not in names:
            return each
        ruled: Disclose = "always" if each.name in situation.terms.always else "auto"
        return structs.replace(each, reason=NO_ROOM, rule=None, disclose=ruled)

    return structs.replace(decision, outcomes=tuple(map(outcome, decision.outcomes)))

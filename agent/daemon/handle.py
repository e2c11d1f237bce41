"""How one request travels, from what is asked to what is answered: read it top to bottom."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple

from msgspec import structs

from agent.daemon.agent import Agent
from agent.daemon.header import LARGEST, Members, most_bytes, sent_as, words_fit
from agent.daemon.instructions import applied
from agent.daemon.locale import LOCALE, located
from agent.daemon.request_log import CAPPED, RECORDED, SHARES, Asker
from agent.decision.context import Context
from agent.decision.decide import decide
from agent.decision.knowledge import Knowledge, knowledge_in, people_left
from agent.decision.values import NO_ROOM, Code, Decision, Disclose, Request
from agent.errors import ModelError, UsageError
from agent.model.model import Model
from agent.model.reading import NOTHING as UNREAD
from agent.model.reading import Interpretation
from agent.vault.ledger import Disclosure, site_of
from agent.vault.vault import Vault
from agent.wire.decide import Answer, Ask, Because, Summary
from agent.words.decisions import why_nothing
from policy.match import Ruling
from policy.services import in_clear


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation(Context):
    """A request as asked, by the terms of policy and user, with what its pool holds.

    ``now``: in the user's time zone; ``members``: how the model's attributes are sent; ``people``:
    who agree with what the pool holds, where the model knows nobody: that of LOCALE.
    """

    ask: Ask
    now: datetime
    vault: Vault
    ruling: Ruling
    members: Members
    people: int | None = None

    def fits(self, names: Sequence[str]) -> bool:
        """Say whether these attributes have room in the request, whatever their values are."""
        if self.people is not None:
            return True
        if self.ruling.carry == "words":
            return words_fit(names, self.request.query, self.ruling, self.model)
        longest = self.members.longest
        return most_bytes(longest[name] for name in names) <= LARGEST

    def without(self, names: frozenset[str]) -> "Situation":
        """Exclude these attributes as well."""
        excluded = self.terms.excluded | names
        return replace(self, terms=replace(self.terms, excluded=excluded))

    @property
    def for_anything(self) -> "Situation":
        """The situation of a request that may be about anything that the model knows."""
        terms = replace(self.terms, mode="standing", unknown_queries="standing")
        return replace(self, terms=terms)


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
    No value is read. UndecidedError where nothing can be decided, UsageError for no host.
    """
    vault, policy, today = agent.vault, agent.rules.active, now.date()
    if vault is None:
        raise UndecidedError("locked")
    counting, model, reading = _read(ask, now, agent, parameters=parameters)
    of_requests = agent.sources.available(model.attributes[model.persons :])
    available = vault.profile.names(model) | of_requests  # by the names alone
    terms = policy.terms(model, ask.recipient, ask.query, today, available)
    if terms is None or terms.ruling is None:
        raise UndecidedError("no policy")
    ruling, preferences = terms.ruling, agent.consent.preferences
    terms = applied(terms, preferences) if preferences else terms
    number, at = before or (None, now)
    index, cache = vault.ledger.disclosures, agent.reader.cache
    holdings = index.pool(ruling.pool, policy.pool_of, number)
    planned = terms.mode == "planned"
    holds = knowledge_in(holdings, counting, at, index.concepts, cache, with_queries=planned)
    if holds.inexpressible:
        raise UndecidedError("unfit")
    names: Collection[str] | None = ask.asked
    if names is None and before is None:
        names = agent.consent.usable(site_of(ruling.host), now)
    stops = vault.profile.in_force(policy.limits, before and at) if vault.profile.stops else ()
    sent = cache.get(model, Members, lambda: Members.of(model))
    usable = None if names is None else tuple(sorted(sent.longest.keys() & {*names}))
    knowledge, people = holds, None
    if model is LOCALE:
        knowledge = knowledge_in(holdings, model, at, index.concepts, cache)
        holds = holds if terms.memory == "remembers" else Knowledge()
        people = people_left(holds, counting, cache)
    return Situation(
        Request(ask.query, ruling.host, usable),
        terms,
        knowledge,
        model,
        model is not LOCALE and any(policy.pool_of(e.site) == ruling.pool for e in stops),
        reading=reading,
        cache=cache,
        ask=ask,
        now=now,
        vault=vault,
        ruling=ruling,
        members=sent,
        people=people,
    )


def _read(
    ask: Ask, now: datetime, agent: Agent, *, parameters: bool
) -> tuple[Model, Model, Interpretation]:
    """Choose the model that counts the people, and that which decides, and read the request.

    The latter is LOCALE for parameters of an address, which needs no reading.
    """
    policy, today = agent.rules.active, now.date()
    if "://" in ask.recipient and in_clear(ask.recipient):
        raise UndecidedError("not https")
    if policy.policy is None:
        raise UndecidedError("no policy")
    name, addresses = policy.route(ask.recipient, today)
    if addresses and not parameters:
        raise UndecidedError("parameters only")
    try:
        model = agent.registry.of(name, policy.keys, now)
        if addresses:
            return model, LOCALE, UNREAD
        return model, model, agent.reader.read(model, ask.query)
    except (ModelError, UsageError) as error:
        raise UndecidedError("no model") from error


def decided(situation: Situation, *, brief: bool = False) -> Decision:
    """Decide, so that the answer fits into a header, or into the address.

    It depends on nothing in the profile (DESIGN.md 2.6). While that is too long it is made anew
    without what was chosen last: the figures are those of what leaves, every limit holds, and
    outcomes name what had no room. UndecidedError where the policy asks for something that the
    model cannot do.
    """
    if situation.people is not None:
        return located(situation, situation.people)
    context, dropped = situation, frozenset[str]()
    while True:
        try:
            decision = decide(context, brief=brief)
        except UsageError as error:
            raise UndecidedError("unfit") from error
        if situation.fits(decision.disclosed):
            break
        dropped |= {decision.disclosed[-1]}
        context = situation.without(dropped)
    outcomes = [*decision.outcomes]
    for at, each in enumerate(outcomes) if dropped else ():
        if each.name in dropped:
            ruled: Disclose = "always" if each.name in situation.terms.always else "auto"
            outcomes[at] = structs.replace(each, reason=NO_ROOM, rule=None, disclose=ruled)
    return structs.replace(decision, outcomes=tuple(outcomes)) if dropped else decision


class Considered(NamedTuple):
    """A decision in its situation, the values that it discloses, and the people left by them."""

    situation: Situation
    decision: Decision
    values: Mapping[str, str]
    people_left: int


def handle(ask: Ask, now: datetime, agent: Agent, by: Asker = "command") -> Answer:
    """Answer one request, and record what the answer carries before it leaves.

    ``now``: in the user's time zone; ``by``: who asks, as the socket says. It is one step that
    nothing interrupts: no two requests can spend one limit. UsageError where the recipient is not
    a host, or more is asked than the ledger has room for. Whatever is raised, nothing is attached,
    and the ledger does not say that it was. Source: DESIGN.md 2.6, 3.
    """
    try:
        # policy, vault, models: terms, knowledge and reading
        considered = consider(situation_of(ask, now, agent, parameters=True), agent, by)
    except UndecidedError as error:
        return Answer(code=error.code)
    situation, decision, values, people = considered
    sent = sent_as(situation.ruling, values, ask.query, situation.model, situation.members.texts)
    summary = summarised(decision, situation, people)
    return Answer(
        code=decision.code,
        **sent._asdict(),
        unspecified=[name for name in values if name not in sent.attributes],
        id=record(considered, agent, by),
        summary=summary,
    )


def consider(situation: Situation, agent: Agent, by: Asker) -> Considered:
    """Decide a request, queue what waits for the user, and read the values; nothing is recorded.

    UndecidedError where nothing can be decided, and else as `handle`.
    """
    model, ruling, now, vault = situation.model, situation.ruling, situation.now, situation.vault
    if by in RECORDED and agent.rates.is_reached(SHARES.get(by, by), "", RECORDED[by], now):
        raise UndecidedError("too many")
    if by in CAPPED:
        most = int(ruling.settings["page_requests_per_minute"].value)
        if agent.rates.is_reached(by, ruling.pool, most, now):
            raise UndecidedError(CAPPED[by])
        agent.rates.count(by, ruling.pool, now)
    decision = decided(situation, brief=True)  # pure
    # vault: one Boolean
    if situation.people is None and vault.profile.would_stand_out(decision.disclosed, situation):
        vault.profile.stop(decision.disclosed, situation, now, agent.rules.active.limits)
        situation = replace(situation, stopped=True)
        decision = decided(situation, brief=True)
    if decision.disclosed:
        # Check against the largest possible values: an error about the real ones would leak their
        # length.
        members = situation.members
        values = {name: members.largest[name] for name in decision.disclosed}
        people = round(model.people) if situation.people is None else situation.people
        largest = _entry(Considered(situation, decision, values, people))
        means = tuple(members.means[name] for name in largest.persons)
        vault.ledger.check(structs.replace(largest, means=means))
    # consent: the answer leaves without it
    waits = decision.pending is not None
    if waits and (review := agent.consent.note(decision, ruling, situation.ask, now, by)):
        agent.bus.publish("review", review.id)
    own = [name for name in decision.disclosed if name in model.person_codes]
    revealed = vault.profile.reveal(own, model)  # vault: the first plaintext
    if others := [name for name in decision.disclosed if name not in model.person_codes]:
        revealed = {**revealed, **agent.sources.values(others, situation.ask, now)}
    values = {name: revealed[name] for name in decision.disclosed}
    return Considered(situation, decision, values, left_by(values, situation))


def left_by(values: Mapping[str, str], situation: Situation) -> int:
    """Count the people who agree with what the pool holds once it has these values too."""
    if situation.people is not None:
        return situation.people
    persons = situation.model.person_codes
    codes = {name: persons[name][value] for name, value in values.items() if name in persons}
    before = situation.knowledge if situation.terms.memory == "remembers" else Knowledge()
    return people_left(before.with_facts(codes), situation.model, situation.cache)


def record(considered: Considered, agent: Agent, by: Asker) -> int | None:
    """Record what leaves before it does; return its number in the ledger, None for nothing."""
    situation, number = considered.situation, None
    if agent.sources.needed:
        agent.sources.noted(situation.ask, situation.now)
    if considered.values:  # vault: recorded before the answer leaves
        number = situation.vault.ledger.append(_entry(considered))
        if by in RECORDED:
            agent.rates.count(SHARES.get(by, by), "", situation.now)
    if agent.consent.preferences:  # last, since nothing can fail any more
        agent.consent.answered(considered.decision, situation.ruling)
    return number


def summarised(decision: Decision, situation: Situation, people: float) -> Summary:
    """Summarise an answer; ``people``: who agree with all that the pool holds."""
    waiting = [] if decision.pending is None else [*decision.waiting]
    outcomes = {each.name: each for each in decision.outcomes}
    return Summary(
        pool=situation.ruling.pool,
        model=situation.model.id,
        utility_bits=decision.figures.utility,
        people_left=people,
        waiting=len(waiting),
        pending=waiting,
        titles={name: outcomes[name].title for name in (*decision.disclosed, *waiting)},
        why="" if decision.disclosed else why_nothing(decision),
        because=[
            Because(
                name=each.name,
                reason=each.reason,
                gain_bits=each.gain_bits,
                cost_bits=each.cost_bits,
            )
            for each in map(outcomes.__getitem__, decision.disclosed)
        ],
        read_as=decision.read_as,
        among=decision.among,
    )


def _entry(considered: Considered) -> Disclosure:
    """Write the entry of the ledger that says what leaves."""
    situation, decision, values, people = considered
    model, read_as = situation.model, decision.read_as
    persons = tuple(name for name in values if name in model.person_codes)
    others = decision.readings[1:] if read_as else ()
    return Disclosure(
        at=situation.now,
        host=situation.ruling.host,
        query=situation.request.query,
        asked=situation.request.asked,
        disclosed=tuple(values.items()),
        persons=persons,
        means=tuple(model.meanings[name, values[name]] for name in persons),
        model=model.id,
        digest=model.digest,
        utility_bits=decision.figures.utility,
        people_left=people,
        spent=decision.figures.spent,
        read_as="" if read_as is None else read_as.query,
        probability=0.0 if read_as is None else read_as.probability,
        others=tuple((each.query, each.probability) for each in others),
    )

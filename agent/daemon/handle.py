"""How one request travels, from what is asked to what is answered: read it top to bottom."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from operator import attrgetter
from types import MappingProxyType
from typing import NamedTuple

from msgspec import structs

from agent.daemon.agent import Agent
from agent.daemon.header import Members, fits, sent_as
from agent.daemon.instructions import applied, ruled_on, with_own_words
from agent.daemon.judge import judgeable
from agent.daemon.locale import LOCALE, located
from agent.daemon.request_log import ASSISTED, CAPPED, DAY, DOORS, RECORDED, SHARES, Asker
from agent.decision.context import Context, Terms
from agent.decision.decide import decide
from agent.decision.knowledge import HeldValue, Knowledge, knowledge_in, people_left
from agent.decision.own_facts import MARK, OwnFacts, extended, meaning_of
from agent.decision.own_facts import NONE as NO_OWN
from agent.decision.values import NO_ROOM, Code, Decision, Disclose, JudgeUse, Request
from agent.errors import DISK_FULL, LockedError, ModelError, UsageError, VaultError
from agent.model.model import Meaning, Model
from agent.model.reading import NOTHING as UNREAD
from agent.model.reading import Interpretation
from agent.vault.ledger import DOOR, Disclosure, site_of
from agent.vault.vault import Vault
from agent.wire.decide import Answer, Ask, Because, Summary
from agent.words.decisions import why_nothing
from policy.hosts import ASSISTANT
from policy.match import Ruling
from policy.services import in_clear
from policy.settings import Door

JUDGED: frozenset[Asker] = frozenset({"command", "user"})  # whose requests a local judge may see
Held = Mapping[str, HeldValue[str]]  # by concept, as `Holdings` has it


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation(Context):
    """A request as asked, by the terms of policy and user, with what its pool holds.

    ``now``: in the user's time zone; ``members``: how the model's attributes are sent; ``people``:
    who agree with what the pool holds, where the model knows nobody: that of LOCALE;
    ``sentences``: facts in own words go as they are, not by their short forms; ``judge``: as
    `Decision` has it; ``door``: by which it came.
    """

    ask: Ask
    now: datetime
    vault: Vault
    ruling: Ruling
    members: Members
    people: int | None = None
    sentences: bool = False
    judge: JudgeUse = ""
    door: Door = "cli"

    def fits(self, names: Sequence[str]) -> bool:
        """Say whether these attributes have room in the request, whatever their values are."""
        own = self.members, self.ruling
        return self.people is not None or fits(names, self, *own, sentences=self.sentences)

    def without(self, names: frozenset[str]) -> "Situation":
        """Exclude these attributes as well."""
        return replace(self, terms=replace(self.terms, excluded=self.terms.excluded | names))

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


def failure(error: Exception) -> Code:
    """The code of a request that an error ended: nothing else of the error is for whoever asks."""
    full = isinstance(error, VaultError) and error.what == DISK_FULL[0]
    return "disk full" if full else "locked" if isinstance(error, LockedError) else "failed"


def situation_of(
    ask: Ask,
    now: datetime,
    agent: Agent,
    before: tuple[int, datetime] | None = None,
    *,
    parameters: bool = False,
    by: Asker = "command",
) -> Situation:
    """Look at policy, consent, models and ledger once, for one request; no value is read.

    ``now``: where the user lives; ``before``: number and time of a ledger entry, whose request is
    decided by today's rules as things stood then. ``parameters``: whether those of an address are
    of use; where they are all that may leave, the model is LOCALE. UndecidedError where nothing can
    be decided, UsageError for no host.
    """
    vault, policy, cache = agent.vault, agent.rules.active, agent.reader.cache
    if vault is None or (before is None and agent.is_paused(now)):
        raise UndecidedError("locked" if vault is None else "paused")
    counting, model, reading = _read(ask, now, agent, parameters=parameters)
    (number, at), host = before or (None, now), policy.host_of(ask.recipient)
    index = vault.ledger.disclosures
    holdings = index.pool(policy.pool_of(host), policy.pool_of, number)
    sentences, own, words = by in ASSISTED, NO_OWN, map(attrgetter("words"), vault.profile.facts)
    if any(words) or any(MARK in each for each in holdings.held):
        sentences = sentences or policy.is_assistant(host, now.date())
        own = vault.profile.own(counting, short=not sentences)
        counting = extended(counting, own, holdings.held, cache)
    own, model = (NO_OWN, LOCALE) if model is LOCALE else (own, counting)
    terms, ruling = _terms(ask, now, agent, model, own, holdings.held, by)
    planned = terms.mode == "planned"
    holds = knowledge_in(holdings, counting, at, index.concepts, cache, with_queries=planned)
    if holds.inexpressible:
        raise UndecidedError("unfit")
    offered = agent.consent.usable(site_of(host), now) if before is None else None
    names: Collection[str] | None = offered if ask.asked is None else ask.asked
    stops = vault.profile.in_force(policy.limits, before and at) if vault.profile.stops else ()
    sent, people = cache.get(model, Members, lambda: Members.of(model)), None
    usable = None if names is None else tuple(sorted(sent.longest.keys() & {*names}))
    if model is LOCALE:
        people = people_left(holds if terms.memory == "remembers" else Knowledge(), counting, cache)
    situation = Situation(
        Request(ask.query, ruling.host, usable),
        terms,
        holds if people is None else knowledge_in(holdings, model, at, index.concepts, cache),
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
        sentences=sentences,
        own=own,
        door=DOORS[by],
    )
    return _judged(situation, agent) if own.facts and by in JUDGED else situation


def _terms(
    ask: Ask, now: datetime, agent: Agent, model: Model, own: OwnFacts, held: Held, by: Asker
) -> tuple[Terms, Ruling]:
    """Derive the terms of a request by policy and user, with the policy's words for them.

    They say which facts that the recipient holds have another value now.
    """
    policy, profile = agent.rules.active, agent.open_vault.profile
    host = policy.host_of(ask.recipient)
    of_requests = agent.sources.available(model.attributes[model.persons :])
    available = profile.names(model) | of_requests  # by the names alone
    said = ask.recipient, ask.query
    terms = policy.terms(model, *said, now, available, DOORS[by], ask.earlier)
    ruling = None if terms is None else terms.ruling
    if terms is None or ruling is None:
        raise UndecidedError("no policy")
    if own.facts:
        words = by in ASSISTED or ruling.kind == ASSISTANT
        offered = partial(agent.consent.usable, site_of(host), now, approved=True)
        new = by != "command" and not any(MARK in each for each in held)
        strange = new and not policy.names(host) and offered() is None  # nor approved once
        terms = with_own_words(terms, own if words else NO_OWN, model, strange=strange)
    if preferences := agent.consent.preferences:
        terms = applied(terms, preferences, ruled_on(own, terms, model))
    kinds = model.fact_kinds if held else {}
    every = ((name, kind) for name, some in kinds.items() for kind in some)
    since = {name: held[kind].since for name, kind in every if kind in held}
    ordered = sorted(profile.facts, key=attrgetter("set_at")) if since else ()
    latest = {each.kind: each.set_at for each in ordered if each.value}
    changed = frozenset(
        name for name, at in since.items() if any(latest.get(e, at) > at for e in kinds[name])
    )
    return (replace(terms, changed=changed) if changed else terms), ruling


def _judged(situation: Situation, agent: Agent) -> Situation:
    """Add what a local judge says, where there is one."""
    settings = agent.rules.active.judge
    if not settings or not (some := judgeable(situation)):
        return situation
    said = agent.judge.chances(situation.ask.query, settings["model"])
    judged = tuple((each, *said[each]) for each in some if each in said)
    return replace(situation, judged=judged, judge="used" if judged else "late")


async def consult(ask: Ask, now: datetime, agent: Agent) -> None:
    """Ask the local judge, if there is one, what `situation_of` needs of it for the user's request.

    Whatever becomes of that, the request is decided as well as it can be.
    """
    settings = agent.rules.active.judge
    if agent.vault is not None and settings:
        with suppress(UndecidedError, UsageError):
            some = judgeable(replace(situation_of(ask, now, agent), judged=()))
            known = agent.judge.chances(ask.query, settings["model"])
            words = agent.vault.profile.words(each for each in some if each not in known)
            if words:
                await agent.judge.ask(ask.query, words, settings)


def _read(
    ask: Ask, now: datetime, agent: Agent, *, parameters: bool
) -> tuple[Model, Model, Interpretation]:
    """Choose the model that counts the people, and that which decides, and read the request.

    The latter is LOCALE for parameters of an address, which needs no reading.
    """
    policy, today = agent.rules.active, now.date()
    if "://" in ask.recipient and in_clear(ask.recipient):
        raise UndecidedError("not https")
    if policy.policy is None or agent.rules.pending:
        raise UndecidedError("no policy" if policy.policy is None else "policy changing")
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
    return structs.replace(decision, outcomes=tuple(outcomes), judge=situation.judge)


class Considered(NamedTuple):
    """A decision in its situation, the values that it discloses, and the people left by them.

    ``words``: of those that go in the user's own words, these, or their short forms.
    """

    situation: Situation
    decision: Decision
    values: Mapping[str, str]
    people_left: int
    words: Mapping[str, str] = MappingProxyType({})


def handle(ask: Ask, now: datetime, agent: Agent, by: Asker = "command") -> Answer:
    """Answer one request, and record what the answer carries before it leaves.

    ``now``: in the user's time zone; ``by``: who asks, as the socket says. It is one step that
    nothing interrupts: no two requests can spend one limit. UsageError where the recipient is not
    a host, or more is asked than the ledger has room for. Whatever is raised, nothing is attached,
    and the ledger does not say that it was. Source: DESIGN.md 2.6, 3.
    """
    try:
        # policy, vault, models: terms, knowledge and reading
        considered = consider(situation_of(ask, now, agent, parameters=True, by=by), agent, by)
    except UndecidedError as error:
        return Answer(code=error.code)
    situation, decision, values, people, words = considered
    model, texts, sentences = situation.model, situation.members.texts, situation.sentences
    sent = sent_as(situation.ruling, values, ask.query, model, texts, words, sentences=sentences)
    summary = summarised(decision, situation, people)
    return Answer(
        code=decision.code,
        **sent._asdict(),
        facts={name: decision.facts[name] for name in sent.attributes if name in words},
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
    daily = ruling.settings.get("requests_per_day")
    if daily and vault.ledger.disclosures.sent_since(now - DAY) >= int(daily.value):
        raise UndecidedError("too many today")
    if by in CAPPED:
        most = int(ruling.settings["page_requests_per_minute"].value)
        whose = "assistant" if by in ASSISTED else by
        if agent.rates.is_reached(whose, ruling.pool, most, now):
            raise UndecidedError(CAPPED[by])
        agent.rates.count(whose, ruling.pool, now)
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
        every = zip(largest.persons, largest.means, strict=True)
        means = tuple(members.means.get(name, each) for name, each in every)
        vault.ledger.check(structs.replace(largest, means=means))
    # consent: the answer leaves without it
    waits = decision.pending is not None
    if waits and (review := agent.consent.note(decision, ruling, situation.ask, now, by)):
        agent.bus.publish("review", review.id)
    own = [name for name in decision.disclosed if name in model.person_codes]
    # vault: the first plaintext
    revealed = vault.profile.reveal(own, model, situation.filled.facts)
    if others := [name for name in decision.disclosed if name not in model.person_codes]:
        revealed = {**revealed, **agent.sources.values(others, situation.ask, now)}
    values = {name: revealed[name] for name in decision.disclosed}
    facts = {name: decision.facts[name] for name in values if name in decision.facts}
    coarse = situation.terms.coarse
    words = vault.profile.words(facts.values(), short=not situation.sentences)
    said = {name: words[e] for name, e in facts.items() if e in words and name not in coarse}
    return Considered(situation, decision, values, left_by(values, situation), said)


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
    pending = () if decision.pending is None else decision.waiting
    waiting = [decision.called(name) for name in pending]
    outcomes = {each.name: each for each in decision.outcomes}
    return Summary(
        pool=situation.ruling.pool,
        model=situation.model.id,
        utility_bits=decision.figures.utility,
        people_left=people,
        waiting=len(waiting),
        pending=waiting,
        titles={
            **{name: outcomes[name].title for name in decision.disclosed},
            **{decision.called(name): outcomes[name].title for name in pending},
        },
        why="" if decision.disclosed else why_nothing(decision),
        because=[
            Because(name=e.name, reason=e.reason, gain_bits=e.gain_bits, cost_bits=e.cost_bits)
            for e in map(outcomes.__getitem__, decision.disclosed)
        ],
        read_as=decision.read_as,
        among=decision.among,
    )


def _entry(considered: Considered) -> Disclosure:
    """Write the entry of the ledger that says what leaves."""
    situation, decision, values, people, _ = considered
    model, read_as = situation.model, decision.read_as
    own = {each.id: each for each in situation.own.facts}
    facts = {name: own[decision.facts[name]] for name in values if name in decision.facts}
    single = {name: meaning_of(each).concept for name, each in facts.items() if not each.value}
    persons = tuple(name for name in values if name in model.person_codes)
    others = decision.readings[1:] if read_as else ()
    return Disclosure(
        at=situation.now,
        host=situation.ruling.host,
        query=situation.request.query,
        asked=situation.request.asked,
        disclosed=tuple(values.items()),
        persons=persons,
        means=tuple(
            Meaning(single[name], values[name])
            if name in single
            else model.meanings[name, values[name]]
            for name in persons
        ),
        facts=tuple((each.id, each.kind) for each in facts.values()),
        context=((DOOR, situation.door),),
        judged=tuple((each, helps) for each, helps, _ in situation.judged),
        model=model.id,
        digest=model.digest,
        utility_bits=decision.figures.utility,
        people_left=people,
        spent=decision.figures.spent,
        read_as="" if read_as is None else read_as.query,
        probability=0.0 if read_as is None else read_as.probability,
        others=tuple((each.query, each.probability) for each in others),
    )

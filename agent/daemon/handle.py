"""How one request travels, from what is asked to what is answered: read it top to bottom."""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from msgspec import structs

from agent.daemon.agent import Agent
from agent.daemon.header import sent_as
from agent.daemon.request_log import CAPPED, Asker
from agent.daemon.situation import Situation, UndecidedError, decided, situation_of
from agent.decision.knowledge import Knowledge, people_left
from agent.decision.values import Decision
from agent.model.concepts import meaning_of
from agent.vault.disclosure_index import Disclosure
from agent.wire.decide import Answer, Ask, Because, Summary
from agent.words.decisions import headline


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
    if agent.rates.is_full(by, now):
        raise UndecidedError("too many")
    most = int(ruling.settings["page_requests_per_minute"].value)
    if by in CAPPED and agent.rates.is_capped(by, ruling.pool, most, now):
        raise UndecidedError(CAPPED[by])
    decision = decided(situation.with_own(), brief=True)  # pure
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
    review = agent.consent.note(decision, ruling, situation.ask, now, model.id)
    if review is not None:
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
    agent.sources.noted(situation.ask, situation.now)
    if considered.values:  # vault: recorded before the answer leaves
        number = situation.vault.ledger.append(_entry(considered))
        agent.rates.record(by, situation.now)
    # last, since nothing can fail any more
    agent.consent.answered(considered.decision, situation.ruling)
    agent.rules.usage.note(situation.ruling, situation.now)
    return number


def summarised(decision: Decision, situation: Situation, people: float) -> Summary:
    """Return the figures of an answer; ``people``: who agree with all that the pool holds."""
    outcomes = {each.name: each for each in decision.outcomes}
    figures = structs.replace(decision.figures, people_left=people)
    return Summary(
        headline=headline(structs.replace(decision, figures=figures)),
        pool=situation.ruling.pool,
        model=situation.model.id,
        utility_bits=decision.figures.utility,
        people_left=people,
        waiting=len(decision.waiting),
        pending=[*decision.waiting],
        titles={name: outcomes[name].title for name in (*decision.disclosed, *decision.waiting)},
        because=[
            Because(
                name=name,
                reason=outcomes[name].reason,
                gain_bits=outcomes[name].gain_bits,
                cost_bits=outcomes[name].cost_bits,
            )
            for name in decision.disclosed
        ],
        read_as=decision.read_as,
        among=decision.among,
    )


def _entry(considered: Considered) -> Disclosure:
    """Return the entry of the ledger that says what leaves."""
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
        means=tuple(meaning_of(name, values[name], model) for name in persons),
        model=model.id,
        digest=model.digest,
        utility_bits=decision.figures.utility,
        people_left=people,
        read_as="" if read_as is None else read_as.query,
        probability=0.0 if read_as is None else read_as.probability,
        others=tuple((each.query, each.probability) for each in others),
    )

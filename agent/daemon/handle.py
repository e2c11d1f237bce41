"""How one request travels, from what is asked to what is answered: read it top to bottom."""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from msgspec import structs

from agent.daemon.agent import Agent
from agent.daemon.context import RuledContext, UndecidedError, context_of, decided, with_own
from agent.daemon.header import sent_as
from agent.daemon.request_log import CAPPED, Asker
from agent.decision.knowledge import Knowledge, people_left
from agent.decision.values import Decision
from agent.model.concepts import meaning_of
from agent.vault.disclosure_index import Disclosure
from agent.wire.decide import Answer, Ask, Because, Summary
from agent.words.decisions import headline


class Considered(NamedTuple):
    """A decision with its context, the values that it discloses, and the people left by them."""

    context: RuledContext
    decision: Decision
    values: Mapping[str, str]
    left: int


def handle(ask: Ask, now: datetime, agent: Agent, by: Asker = "command") -> Answer:
    """Answer one request, and record what the answer carries before it leaves.

    ``now``: in the user's time zone; ``by``: who asks, as the door says. It is one step that
    nothing interrupts: no two requests can spend one limit. UsageError where the recipient is not
    a host, or more is asked than the ledger has room for. Whatever is raised, nothing is attached,
    and the ledger does not say that it was. Source: DESIGN.md 2.6, 3.
    """
    try:
        found = considered(ask, now, agent, by, parameters=True)
    except UndecidedError as error:
        return Answer(code=error.code)
    context, decision, values, left = found
    sent = sent_as(context.ruling, values, ask.query, context.model, context.travel.texts)
    summary = summarised(decision, context, left)
    return Answer(
        code=decision.code,
        **sent._asdict(),
        unspecified=[name for name in values if name not in sent.attributes],
        id=record(found, ask, now, agent, by),
        summary=summary,
    )


def considered(
    ask: Ask, now: datetime, agent: Agent, by: Asker, *, parameters: bool = False
) -> Considered:
    """Decide a request, queue what waits for the user, and read the values; nothing is recorded.

    ``parameters``: as in `context_of`. UndecidedError where nothing can be decided, and else as
    `handle`.
    """
    # policy, consent, vault: terms and knowledge
    context = context_of(ask, now, agent, parameters=parameters)
    model, ruling = context.model, context.ruling
    if agent.rates.is_full(by, now):
        raise UndecidedError("too many")
    most = int(ruling.settings["page_requests_per_minute"].value)
    if by in CAPPED and agent.rates.is_capped(by, ruling.pool, most, now):
        raise UndecidedError(CAPPED[by])
    decision = decided(with_own(context), brief=True)  # pure
    persons, travel = model.person_codes, context.travel
    if decision.disclosed:
        # By the largest values there are: by the user's own, an error would say how long they are.
        values = {name: travel.largest[name] for name in decision.disclosed}
        people = round(model.people) if context.people is None else context.people
        largest = _entry(Considered(context, decision, values, people), now)
        means = tuple(travel.means[name] for name in largest.persons)
        context.vault.ledger.check(structs.replace(largest, means=means))
    # consent: the answer leaves without it
    review = agent.consent.note(decision, ruling, ask, now, model.id)
    if review is not None:
        agent.bus.publish("review", review.id)
    own = [name for name in decision.disclosed if name in persons]
    revealed = context.vault.profile.reveal(own, model)  # vault: the first plaintext
    if others := [name for name in decision.disclosed if name not in persons]:
        revealed = {**revealed, **agent.sources.values(others, ask, now)}  # the clock, the history
    values = {name: revealed[name] for name in decision.disclosed}
    return Considered(context, decision, values, left_by(values, context))


def left_by(values: Mapping[str, str], context: RuledContext) -> int:
    """Return how many people agree with what the pool holds once it has these values too."""
    if context.people is not None:
        return context.people
    persons = context.model.person_codes
    codes = {name: persons[name][value] for name, value in values.items() if name in persons}
    before = context.knowledge if context.terms.memory == "remembers" else Knowledge()
    return people_left(before.with_facts(codes), context.model, context.cache)


def record(found: Considered, ask: Ask, now: datetime, agent: Agent, by: Asker) -> int | None:
    """Record what leaves before it does; return its number in the ledger, None for nothing."""
    context, number = found.context, None
    agent.sources.noted(ask, now)
    if found.values:  # vault: recorded before the answer leaves
        number = context.vault.ledger.append(_entry(found, now))
        agent.rates.record(by, now)
    agent.consent.answered(found.decision, context.ruling)  # last, since nothing can fail any more
    agent.rules.usage.note(context.ruling, now)
    return number


def summarised(decision: Decision, context: RuledContext, left: float) -> Summary:
    """Return the figures of an answer; ``left``: the people who agree with all the pool holds."""
    outcomes = {each.name: each for each in decision.outcomes}
    figures = structs.replace(decision.figures, people_left=left)
    because = [outcomes[name] for name in decision.disclosed]
    return Summary(
        headline=headline(structs.replace(decision, figures=figures)),
        pool=context.ruling.pool,
        model=context.model.id,
        utility_bits=decision.figures.utility,
        people_left=left,
        waiting=len(decision.waiting),
        pending=[*decision.waiting],
        titles={name: outcomes[name].title for name in (*decision.disclosed, *decision.waiting)},
        because=[
            Because(
                name=each.name,
                reason=each.reason,
                gain_bits=each.gain_bits,
                cost_bits=each.cost_bits,
            )
            for each in because
        ],
        read_as=decision.read_as,
        among=decision.among,
    )


def _entry(found: Considered, now: datetime) -> Disclosure:
    """Return the entry of the ledger that says what leaves."""
    context, decision, values, left = found
    asked, own = context.request.asked, context.model.person_codes
    read_as = decision.read_as
    persons = tuple(name for name in values if name in own)
    return Disclosure(
        at=now,
        host=context.ruling.host,
        query=context.request.query,
        asked=asked,
        disclosed=tuple(values.items()),
        persons=persons,
        means=tuple(meaning_of(name, values[name], context.model) for name in persons),
        model=context.model.id,
        digest=context.model.digest,
        utility_bits=decision.figures.utility,
        people_left=left,
        read_as="" if read_as is None else read_as.query,
        probability=0.0 if read_as is None else read_as.probability,
        others=tuple(
            (each.query, each.probability) for each in (decision.readings[1:] if read_as else ())
        ),
    )

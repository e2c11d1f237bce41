"""A line for the chat box of an assistant: what it may say, and what of it was told.

A draft is what `/v1/decide` would decide at that moment, shown to the user and recorded nowhere.
What the user then puts into the box is decided anew: if anything is not as it was shown, nothing is
told.
"""

from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from hashlib import blake2b
from secrets import token_urlsafe

import msgspec
from msgspec import structs

from agent.daemon import handle
from agent.daemon.agent import Agent
from agent.daemon.request_log import Asker, OfferedDraft
from agent.decision.decide import counted_among
from agent.decision.values import Figures
from agent.decision.what_if import weigh
from agent.errors import RefusedError, UsageError
from agent.model.attributes import UNSPECIFIED
from agent.wire.base import RecipientName
from agent.wire.decide import Answer, Ask, Draft, DraftedFact, Tell, Told
from agent.words.decisions import headline
from agent.words.figures import alike
from agent.words.titles import WHY_NOTHING, about, phrase, plain, stated, the_limit, titled
from policy.hosts import host_of

LASTS = timedelta(minutes=10)
MOST = 100  # drafts that are kept; the oldest goes
ANYTHING = ""  # the text of a request that may be about anything
AGAIN = "nothing was sent: draft the line again"


def draft(ask: Ask, now: datetime, agent: Agent) -> Draft:
    """Say what a line in an assistant's chat box may hold; nothing is sent or recorded.

    What needs a word of the user's waits. RefusedError where the recipient is not an assistant by
    the policy; else as `handle`.
    """
    try:
        considered = _considered(ask, now, agent, "draft")
    except handle.UndecidedError as error:
        return Draft(code=error.code, headline=WHY_NOTHING[error.code])
    decision, situation = considered.decision, considered.situation
    expected = decision.figures.people_left
    summary, facts = handle.summarised(decision, situation, expected), _facts(considered)
    offered = Draft(
        code=decision.code,
        id=token_urlsafe() if facts else "",
        facts=facts,
        line=about(each.phrase for each in facts),
        waiting=[plain(each) for each in titled(summary.pending, summary.titles)],
        headline=headline(decision),
        people=f"expected: {alike(expected, among=counted_among(situation.model))}",
        read_as=summary.read_as,
    )
    if facts:
        agent.drafts[offered.id] = OfferedDraft(ask, now, _digest(offered.id, considered))
        if len(agent.drafts) > MOST:
            del agent.drafts[next(iter(agent.drafts))]
    return offered


def tell(body: Tell, now: datetime, agent: Agent) -> Told:
    """Record facts of a draft as sent, before they are put into the chat box.

    What is set to "unspecified" goes with it: leaving it out tells that. Each draft works once.
    RefusedError, and nothing is told, where the draft is not kept any more, or anything would be
    drafted otherwise by now; UsageError for a name that the draft does not have; VaultError where
    it cannot be recorded.
    """
    offered = agent.drafts.pop(body.id, None)
    if offered is None or not timedelta() <= now - offered.at < LASTS:
        what = "the draft was used already, or is older than ten minutes"
        raise RefusedError("conflict", what, AGAIN)
    considered = None
    with suppress(handle.UndecidedError):
        considered = _considered(offered.ask, now, agent, "program")
    if considered is None or _digest(body.id, considered) != offered.digest:
        what = "your rules, your values or what the recipient knows have changed since"
        raise RefusedError("conflict", what, AGAIN)
    facts = {each.name: each for each in _facts(considered)}
    for name in body.names:
        if name not in facts:
            raise UsageError.unknown("fact", name, facts)
    line = about(each.phrase for name, each in facts.items() if name in body.names)
    some = _without(facts.keys() - {*body.names}, considered)
    summary = handle.summarised(some.decision, some.situation, some.people_left)
    number = handle.record(some, agent, "program")
    assert number is not None  # noqa: S101  (it has a value at least)
    agent.answered(number, Answer(code=some.decision.code, summary=summary))
    return Told(id=number, line=line)


def export(body: RecipientName, now: datetime, agent: Agent) -> Draft:
    """Say what a recipient may know, whatever it is asked; nothing is sent or recorded.

    What needs a word of the user's waits. UsageError as `handle`.
    """
    return draft(Ask(query=ANYTHING, recipient=body.recipient), now, agent)


def _considered(ask: Ask, now: datetime, agent: Agent, by: Asker) -> handle.Considered:
    """Decide what a line may hold. RefusedError where no rule lists the recipient as an assistant.

    Whoever is told something without a question need not be one, and is told again what it holds.
    """
    book, host = agent.rules.active.recipients, host_of(ask.recipient)
    command = ask.query == ANYTHING  # what is exported; a draft is for a browser
    situation = handle.situation_of(ask, now, agent, by="command" if command else "user")
    if command:
        situation, terms = situation.for_anything, situation.for_anything.terms
        always = terms.always | (situation.knowledge.names - terms.excluded)
        return handle.consider(replace(situation, terms=replace(terms, always=always)), agent, by)
    if book is None or host not in dict(book.assistants(now.date())):
        hint = f"write a rule with assistant = true and the address of {host}"
        raise RefusedError("refused", f"{host} is not among your assistants", hint)
    return handle.consider(situation, agent, by)


def _facts(considered: handle.Considered) -> list[DraftedFact]:
    """Phrase the facts that may leave, in the order chosen."""
    titles = considered.situation.model.titles
    return [
        DraftedFact(
            name=name,
            title=plain(titles[name]),
            value=stated(value, titles[name], own=name in considered.words),
            phrase=phrase(titles[name], value, own=name in considered.words),
        )
        for name, value in {**considered.values, **considered.words}.items()
        if value != UNSPECIFIED
    ]


def _without(names: AbstractSet[str], considered: handle.Considered) -> handle.Considered:
    """Leave out what the user does, and weigh the rest anew."""
    if not names:
        return considered
    situation, decision, all_values, _, words = considered
    changed = weigh(decision, situation, drop=names).changed
    if changed.breaks is not None:
        raise RefusedError("conflict", f"breaks {the_limit(changed.breaks)}", AGAIN)
    values = {name: value for name, value in all_values.items() if name not in names}
    pending = decision.pending
    if pending is not None:  # by name alone: once a line is sent, nothing shows these figures
        pending = Figures(names=(*values, *decision.waiting))
    decision = structs.replace(
        decision,
        disclosed=tuple(values),
        pending=pending,
        figures=changed,
        outcomes=tuple(each for each in decision.outcomes if each.name not in names),
    )
    return handle.Considered(situation, decision, values, handle.left_by(values, situation), words)


def _digest(key: str, considered: handle.Considered) -> bytes:
    """Digest the disclosed values, the recipient, and all that it knew before."""
    situation, knowledge = considered.situation, considered.situation.knowledge
    values = [*considered.values.items()]
    held = (situation.ruling.pool, knowledge.codes, knowledge.inexpressible)
    parts = (*held, values, [*considered.decision.facts.items()])
    return blake2b(msgspec.msgpack.encode(parts), key=key.encode(), digest_size=32).digest()

"""What would be decided and why, what another set would bring, and what leaves at any trade-off.

Nothing is sent, recorded or queued. Weighing and curves run in a thread, which touches no agent,
vault or other decision.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import compress

from msgspec import structs

from agent.daemon.agent import Agent
from agent.daemon.handle import Situation, UndecidedError, decided, situation_of
from agent.daemon.request_log import ASKERS
from agent.decision.context import limits_under
from agent.decision.knowledge import Knowledge
from agent.decision.own_facts import chances_of
from agent.decision.values import NO_ROOM, NO_SHORT, Curve, Decision, Figures, Outcome, Request
from agent.decision.what_if import curve_of, weigh
from agent.errors import UsageError
from agent.vault.ledger import Disclosure
from agent.wire.decide import Ask, CurveAsk, Line, Weighed, WhatIf
from agent.words.decisions import carried, difference, headline, lines
from agent.words.titles import WHY_NOTHING, in_words
from policy.hosts import ANYBODY


def explain(ask: Ask, now: datetime, agent: Agent) -> Decision:
    """Say what would be decided, and why."""
    try:
        situation, decision = _protected(situation_of(ask, now, agent, parameters=True))
    except UndecidedError as error:
        return Decision(code=error.code, request=Request(ask.query, ask.recipient))
    more = _without_short_form(situation) if decision.outcomes and situation.people is None else ()
    return structs.replace(decision, outcomes=(*decision.outcomes, *more))


def _without_short_form(situation: Situation) -> Iterator[Outcome]:
    """Yield the facts in own words that would help, if they had a form for a search or a page."""
    model, own = situation.model, situation.vault.profile.own(situation.model, short=False)
    usable = (own if situation.sentences else situation.own).facts
    chances = chances_of(own, situation.ask.query, situation.meaning, model, ())[:, 0]
    helps = chances >= situation.cache.judgements(model).least[[*own.attributes]]
    for one, at in compress(zip(own.facts, own.attributes, strict=True), helps):
        name, title = model.attributes[at].name, model.attributes[at].title
        if one not in usable and situation.terms.disclose(name, one.id) not in ("never", "guarded"):
            yield Outcome(name=one.id, title=title, disclosed=False, reason=NO_SHORT, fact=one.id)


async def whatif(body: WhatIf, now: datetime, agent: Agent) -> Weighed:
    """Weigh another set of attributes for a request."""
    try:
        return await agent.in_thread(weighed(body, now, agent))
    except UndecidedError as error:
        request = Request(body.query or "", body.recipient or "")
        return Weighed(
            headline=f"Nothing to compare: {WHY_NOTHING[error.code]}.",
            decision=Decision(code=error.code, request=request),
            chosen=Figures(),
            weighed=Figures(),
        )


async def curve(body: CurveAsk, now: datetime, agent: Agent) -> Curve:
    """Say what would leave at every trade-off.

    Without a recipient it is by the rules for everybody, and for one who holds nothing. UsageError
    where nothing can be decided, and where nothing would leave whatever the trade-off.
    """
    ask = Ask(query=body.query or "", recipient=body.recipient or ANYBODY, asked=body.asked)
    try:
        situation = _apart(situation_of(ask, now, agent), agent, every=body.query is None)
    except UndecidedError as error:
        hint = "`reticent doctor` says how to fix it"
        raise UsageError(f"there is no curve: {WHY_NOTHING[error.code]}", hint) from error
    if body.recipient is None:
        situation = replace(situation, knowledge=Knowledge())
    return await agent.in_thread(partial(curve_of, situation))


def weighed(body: WhatIf, now: datetime, agent: Agent) -> Callable[[], Weighed]:
    """Prepare to compare a set with the one that leaves with a request, or left.

    UsageError for no request or two, for the number of an entry that discloses nothing, and for a
    recipient that is not a host; from what is returned, for an unknown attribute. UndecidedError,
    from that too, where nothing can be decided.
    """
    entry, before, door = None, None, ""
    ask = Ask(query=body.query or "", recipient=body.recipient or ANYBODY, asked=body.asked)
    if body.entry is not None:
        if any(each is not None for each in (body.recipient, body.query, body.asked)):
            hint = "leave out either the entry, or recipient, query and asked"
            raise UsageError("an entry already names its recipient and query", hint)
        entry = agent.disclosure(body.entry)
        asked = None if entry.asked is None else [*entry.asked]
        ask = Ask(query=entry.query, recipient=entry.host, asked=asked)
        before, door = (body.entry, entry.at), entry.door
    elif body.recipient is None:
        raise UsageError("no request specified", "name a recipient, or an entry of the ledger")
    situation = situation_of(ask, now, agent, before, by=ASKERS.get(door, "command"))
    situation = _apart(situation, agent, every=entry is None and body.query is None)
    if body.people is not None:
        values = {key: verdict.value for key, verdict in situation.ruling.settings.items()}
        limits = limits_under(values | {"people": body.people}, situation.model)
        situation = replace(situation, terms=replace(situation.terms, limits=limits))
    return partial(_weighing, body, situation, entry)


def _weighing(body: WhatIf, situation: Situation, entry: Disclosure | None) -> Weighed:
    situation, decision = _protected(situation)
    own = {each.id: each.words or "" for each in situation.own.facts}
    waiting = {e: own[decision.facts[e]] for e in decision.waiting if e in decision.facts}
    titles = {**situation.model.titles, **in_words(waiting)}
    base = frozenset(n for n, _ in entry.disclosed if n in titles) if entry else None
    no_room = frozenset(each.name for each in decision.outcomes if each.reason == NO_ROOM)
    comparison = weigh(
        decision, situation.without(no_room), add=body.add, drop=body.drop, base=base
    )
    chosen, other, informed = comparison.chosen, comparison.changed, comparison.informed
    today = headline(decision)
    sentence = difference(chosen, other, titles, decision.among, informed=informed)
    if not sentence and entry is not None:
        sentence = carried(chosen, titles, people_left=entry.people_left, informed=informed)
    texts = [Line(label="today" if entry else "decided", text=today)] if sentence else []
    texts += lines(decision)
    if not situation.fits(other.names):
        texts.append(Line(label=NO_ROOM, text=", ".join(sorted(other.names))))
    either = {*chosen.names, *other.names}  # where no set was looked for, one reason is enough
    return Weighed(
        headline=sentence or today,
        pool=situation.ruling.pool,
        decision=decision,
        chosen=chosen,
        weighed=other,
        rows=tuple(r for r in comparison.outcomes if decision.outcomes or r.name in either),
        lines=texts,
    )


def _protected(situation: Situation) -> tuple[Situation, Decision]:
    """Decide; where that would make the user stand out, as a recipient that is stopped."""
    decision, profile = decided(situation), situation.vault.profile
    if situation.people is None and profile.would_stand_out(decision.disclosed, situation):
        situation = replace(situation, stopped=True)
        decision = decided(situation)
    return situation, decision


def _apart(situation: Situation, agent: Agent, *, every: bool) -> Situation:
    """Make a situation one for the thread beside that of the requests; ``every``: for any query."""
    situation = replace(situation, cache=agent.apart)
    return situation.for_anything if every else situation

"""What would be decided and why, what another set would bring, and what leaves at any trade-off.

Nothing is sent, recorded or queued.
"""

from collections.abc import Generator
from dataclasses import replace
from datetime import datetime

from agent.daemon.agent import Agent
from agent.daemon.context import (
    RuledContext,
    UndecidedError,
    apart,
    context_of,
    decided,
    with_own,
    without,
)
from agent.decision.knowledge import Knowledge
from agent.decision.values import NO_ROOM, Curve, Decision, Figures, Request
from agent.decision.what_if import SetChange, curve_steps, weigh_steps
from agent.errors import LockedError, UsageError
from agent.vault.disclosure_index import Disclosure
from agent.wire.decide import Ask, CurveAsk, Line, Weighed, WhatIf
from agent.words.decisions import carried, difference, headline, lines
from agent.words.titles import WHY_NOTHING
from policy.hosts import ANYBODY


def explained(ask: Ask, now: datetime, agent: Agent) -> Decision:
    """Return what `handle` would decide; UsageError where the recipient is not a host."""
    try:
        return decided(with_own(context_of(ask, now, agent, parameters=True)))
    except UndecidedError as error:
        return Decision.nothing(error.code, Request(ask.query, ask.recipient))


def weighed(body: WhatIf, now: datetime, agent: Agent) -> Generator[None, None, Weighed]:
    """Return the steps to a comparison of a set with the one that leaves with a request, or left.

    The steps touch no agent, vault or other decision. LockedError while locked. UsageError for no
    request or two, for the number of an entry that discloses nothing, and for a recipient that is
    not a host; in the steps, for an unknown attribute.
    """
    entry, before = None, None
    ask = Ask(query=body.query or "", recipient=body.recipient or ANYBODY, asked=body.asked)
    if body.entry is not None:
        if any(each is not None for each in (body.recipient, body.query, body.asked)):
            hint = "leave out either the entry, or recipient, query and asked"
            raise UsageError("an entry already names its recipient and query", hint)
        if agent.vault is None:
            raise LockedError
        found = agent.vault.ledger.entry(body.entry)
        if not isinstance(found, Disclosure):
            hint = "see `reticent requests ledger`"
            raise UsageError(f"entry {body.entry} discloses nothing", hint)
        entry = found
        asked = None if entry.asked is None else [*entry.asked]
        ask = Ask(query=entry.query, recipient=entry.host, asked=asked)
        before = (body.entry, entry.at)
    elif body.recipient is None:
        raise UsageError("no request specified", "name a recipient, or an entry of the ledger")
    try:
        context = _context(ask, now, agent, before)
    except UndecidedError as error:
        return _weighing_steps(body, error, entry)
    average = entry is None and body.query is None
    return _weighing_steps(body, _averaged(context) if average else context, entry)


def curved(ask: CurveAsk, now: datetime, agent: Agent) -> Generator[None, None, Curve]:
    """Return the steps to a curve, which touch no agent, vault or other decision.

    Without a recipient it is by the rules for everybody, and for one who holds nothing. UsageError
    where nothing can be decided; in the first step, where nothing would leave whatever the
    trade-off. LockedError while locked.
    """
    try:
        recipient = ask.recipient or ANYBODY
        request = Ask(query=ask.query or "", recipient=recipient, asked=ask.asked)
        context = _context(request, now, agent)
    except UndecidedError as error:
        hint = "`reticent doctor` says how to fix it"
        raise UsageError(f"there is no curve: {WHY_NOTHING[error.code]}", hint) from error
    if ask.recipient is None:
        context = replace(context, knowledge=Knowledge())
    return curve_steps(_averaged(context) if ask.query is None else context)


def _context(
    ask: Ask, now: datetime, agent: Agent, before: tuple[int, datetime] | None = None
) -> RuledContext:
    """Return a context for another thread; LockedError while locked, else UndecidedError."""
    try:
        return apart(context_of(ask, now, agent, before), agent)
    except UndecidedError as error:
        if error.code == "locked":
            raise LockedError from error
        raise


def _averaged(context: RuledContext) -> RuledContext:
    """Return a context that is of all queries of the model, whatever the query is."""
    terms = replace(context.terms, mode="standing", unknown_queries="standing")
    return replace(context, terms=terms)


def _weighing_steps(
    body: WhatIf, context: RuledContext | UndecidedError, entry: Disclosure | None
) -> Generator[None, None, Weighed]:
    try:
        if isinstance(context, UndecidedError):
            raise context
        decision = decided(context)
    except UndecidedError as error:
        return Weighed(
            headline=f"Nothing to compare: {WHY_NOTHING[error.code]}.",
            decision=Decision.nothing(error.code, Request(body.query or "", body.recipient or "")),
            chosen=Figures(),
            weighed=Figures(),
        )
    model = context.model
    titles = {each.name: each.title for each in model.attributes}
    base = None
    if entry is not None:
        base = frozenset(name for name, _ in entry.disclosed if name in titles)
    change = SetChange(frozenset(body.add), frozenset(body.drop), base)
    no_room = frozenset(each.name for each in decision.outcomes if each.reason == NO_ROOM)
    yield
    found = yield from weigh_steps(decision, without(no_room, context), change)
    chosen, other, informed = found.chosen, found.changed, found.informed
    whole = headline(decision)
    sentence = difference(chosen, other, titles, decision.among, informed=informed)
    if not sentence:
        sentence = whole
        if entry is not None:
            left = entry.people_left
            sentence = carried(chosen, titles, people_left=left, informed=informed)
    remarks = [] if sentence == whole else [Line(label="today" if entry else "decided", text=whole)]
    remarks += lines(decision)
    if not context.fits(other.names):
        remarks.append(Line(label=NO_ROOM, text=", ".join(sorted(other.names))))
    if entry is not None and entry.digest != model.digest:
        today = "another of that name" if entry.model == model.id else model.id
        lost = ", ".join(name for name, _ in entry.disclosed if name not in titles)
        lacking = f", which lacks {lost}" if lost else ""
        text = f"it was decided with {entry.model}, and is weighed with {today}{lacking}"
        remarks.append(Line(label="model", text=text))
    either = {*chosen.names, *other.names}  # where no set was looked for, one reason is enough
    return Weighed(
        headline=sentence,
        pool=context.ruling.pool,
        decision=decision,
        chosen=chosen,
        weighed=other,
        rows=tuple(each for each in found.outcomes if decision.outcomes or each.name in either),
        lines=remarks,
    )

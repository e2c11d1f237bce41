"""What would be decided and why, what another set would bring, and what leaves at any trade-off.

Nothing is sent, recorded or queued.
"""

from collections.abc import Generator, Iterable
from dataclasses import replace
from datetime import datetime

from agent.daemon.agent import Agent
from agent.daemon.context import RuledContext, UndecidedError, apart, context_of, decided, with_own
from agent.daemon.header import LARGEST
from agent.daemon.worded import code_of, worded
from agent.decision.decide import Candidate, Decision
from agent.decision.request import Knowledge
from agent.decision.tradeoff_curve import curve_steps
from agent.decision.what_if import Change, WeighedSet, Weighing, weigh_steps
from agent.errors import LockedError, UsageError
from agent.vault.disclosure_index import Disclosure
from agent.wire.base import made
from agent.wire.decide import Ask, Code, Explained, Line
from agent.wire.what_if import CurveAsk, Point, TradeOffs, Weighed, WeighedOutcome, Weight, WhatIf
from agent.words.decisions import Decided, carried, difference, explanation, headline, lines
from agent.words.outcomes import NO_ROOM, WHY_NOTHING
from policy.hosts import ANYBODY

NOTHING = Weight(names=[], utility_bits=0, cost_bits=0, identifiability=0, people_left=0)


def explained(ask: Ask, now: datetime, agent: Agent) -> Explained:
    """Return what `handle` would decide; UsageError where the recipient is not a host."""
    try:
        context = with_own(context_of(ask, now, agent, parameters=True))
        decision = decided(context)
    except UndecidedError as error:
        return Explained(
            code=error.code,
            headline=f"Send nothing: {WHY_NOTHING[error.code]}.",
            disclosed=[],
            pending=[],
            lines=[],
            candidates=[],
        )
    wording = _worded(decision, context)
    return explanation(wording, _no_room(wording))


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


def curved(ask: CurveAsk, now: datetime, agent: Agent) -> Generator[None, None, TradeOffs]:
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
    return _curve_steps(_averaged(context) if ask.query is None else context)


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
        return _nothing_weighed(error.code)
    has = {each.name for each in context.model.attributes}
    base = None if entry is None else frozenset(name for name, _ in entry.disclosed if name in has)
    change = Change(frozenset(body.add), frozenset(body.drop), base)
    yield
    weighing = yield from weigh_steps(decision, context, change)
    wording = _worded(decision, context)
    chosen, other = _weight(weighing.chosen), _weight(weighing.weighed)
    alike, informed = weighing.chosen.figures.people, weighing.informed
    whole = headline(wording)
    sentence = difference(chosen, other, wording, alike_before=alike, informed=informed)
    if not sentence:
        sentence = whole
        if entry is not None:
            left = entry.people_left
            sentence = carried(chosen, wording.titles, people_left=left, informed=informed)
    remarks = [] if sentence == whole else [Line(label="today" if entry else "decided", text=whole)]
    remarks += [*lines(wording), *_no_room(wording)]
    if not context.fits(weighing.weighed.names):
        remarks.append(_too_long(weighing.weighed.names))
    if entry is not None and entry.digest != context.model.digest:
        now = "another of that name" if entry.model == context.model.id else context.model.id
        lost = ", ".join(name for name, _ in entry.disclosed if name not in has)
        without = f", which lacks {lost}" if lost else ""
        text = f"it was decided with {entry.model}, and is weighed with {now}{without}"
        remarks.append(Line(label="model", text=text))
    return made(
        Weighed,
        wording,
        headline=sentence,
        pool=context.ruling.pool,
        model=context.model.id,
        people=weighing.chosen.figures.people,
        decided=[*decision.disclosed],
        pending=[*decision.pending.names] if decision.pending else [],
        chosen=chosen,
        weighed=other,
        rows=_rows(decision, weighing, wording),
        lines=remarks,
    )


def _nothing_weighed(code: Code) -> Weighed:
    return Weighed(
        code=code,
        headline=f"Nothing to compare: {WHY_NOTHING[code]}.",
        pool="",
        model="",
        metric="",
        trade_off=0,
        people=0,
        decided=[],
        pending=[],
        chosen=NOTHING,
        weighed=NOTHING,
        rows=[],
        lines=[],
    )


def _weight(each: WeighedSet) -> Weight:
    figures = each.figures
    return made(
        Weight,
        each,
        figures,
        names=[*each.names],
        utility_bits=figures.utility,
        cost_bits=figures.utility - figures.objective,
    )


def _rows(decision: Decision, weighing: Weighing, wording: Decided) -> list[WeighedOutcome]:
    """Return the facts, or those of either set where none was decided: one reason is enough."""
    reasons, verdict = {each.name: each for each in wording.outcomes}, decision.terms.verdict
    either = {*weighing.chosen.names, *weighing.weighed.names}

    def row(each: Candidate) -> WeighedOutcome:
        reason = reasons.get(each.name)
        guard, disclose = (verdict(key, each.name) for key in ("guard", "disclose"))
        ruled = "auto" if disclose is None else str(disclose.value)
        return made(
            WeighedOutcome,
            each,
            title=wording.titles[each.name],
            inside=each.disclosed,
            disclose="guarded" if guard is not None and guard.value else ruled,
            reason=code_of(decision) if reason is None else reason.reason,
            rule=None if reason is None else reason.rule,
            limit=None if reason is None else reason.limit,
        )

    return [row(each) for each in weighing.attributes if reasons or each.name in either]


def _curve_steps(context: RuledContext) -> Generator[None, None, TradeOffs]:
    curve = yield from curve_steps(context)
    points = [
        made(
            Point,
            step,
            step.figures,
            disclosed=[*step.disclosed],
            utility_bits=step.figures.utility,
            cost_bits=step.figures.utility - step.figures.objective,
        )
        for step in curve.steps
    ]
    return made(TradeOffs, curve, curve.terms, status=code_of(curve), points=points)


def _worded(decision: Decision, context: RuledContext) -> Decided:
    """Return a decision as sentences are made of it, with what the header has no room for."""
    return worded(decision, context.model, decision.terms.excluded - context.terms.excluded)


def _no_room(wording: Decided) -> list[Line]:
    """Return what the header had no room for, if anything."""
    dropped = [each.name for each in wording.outcomes if each.reason == NO_ROOM]
    return [_too_long(dropped)] if dropped else []


def _too_long(names: Iterable[str]) -> Line:
    text = f"{', '.join(sorted(names))}: the header would be over {LARGEST} bytes"
    return Line(label=NO_ROOM, text=text)

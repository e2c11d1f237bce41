"""What another set would bring and cost, of a request or of a past one.

Nothing is sent, recorded or queued.
"""

from collections.abc import Generator, Iterator, Mapping
from datetime import datetime
from typing import NamedTuple

from agent.daemon.agent import Agent
from agent.daemon.context import (
    Case,
    NothingError,
    apart,
    averaged,
    case_before,
    case_of,
    decided_for,
    own_of,
)
from agent.daemon.explained import lines_of, said_of, too_long
from agent.daemon.header import fits
from agent.daemon.worded import code_of
from agent.decision.decide import Decision
from agent.decision.what_if import Addition, Change, WeighedSet, Weighing, weigh_steps
from agent.errors import LockedError, UsageError
from agent.model.model import Model
from agent.vault.disclosure_index import Disclosure
from agent.wire.decide import Ask, Code, Line, Reason
from agent.wire.what_if import Row, Weighed, Weight, WhatIf
from agent.words.decisions import Decided, carried, difference, headline
from agent.words.outcomes import WHY_NOTHING

NOTHING = Weight(names=[], utility_bits=0, cost_bits=0, identifiability=0, people_left=0)


class _Asked(NamedTuple):
    """What is weighed: a request, and what it carried where it is one of the past."""

    case: Case
    entry: Disclosure | None


def weighed(body: WhatIf, now: datetime, agent: Agent) -> Generator[None, None, Weighed]:
    """Return the steps to a set beside the one that leaves with a request, or left.

    No agent, vault or other decision is touched by any of them. LockedError while locked.
    UsageError where no request is specified, or two are; for a number of no entry that
    discloses; for a recipient that is no host; in the steps, for an unknown attribute.
    """
    try:
        case, entry = _asked(body, now, agent)
    except NothingError as error:
        if error.code == "locked":
            raise LockedError from None
        return _said(_silent(error.code))
    return _steps(body, _Asked(apart(case), entry), own_of(case))


def _said(message: Weighed) -> Generator[None, None, Weighed]:
    """Return the one step to what is known already."""
    yield
    return message


def _steps(
    body: WhatIf, asked: _Asked, own: Mapping[str, int] | None
) -> Generator[None, None, Weighed]:
    case, entry = asked
    try:
        decision = decided_for(case, own)
    except NothingError as error:
        return _silent(error.code)
    has = {each.name for each in case.model.attributes}
    base = None if entry is None else frozenset(name for name, _ in entry.disclosed if name in has)
    change = Change(frozenset(body.add), frozenset(body.drop), base)
    yield
    weighing = yield from weigh_steps(decision, case.known, case.model, change, own)
    said = said_of(decision, case)
    chosen, other = _weight(weighing.chosen), _weight(weighing.weighed)
    alike, informed = weighing.chosen.figures.people, weighing.informed
    whole = headline(said)
    sentence = difference(chosen, other, said.titles, alike_before=alike, informed=informed)
    if not sentence:
        sentence = whole
        if entry is not None:
            sentence = carried(chosen, said.titles, alike_before=alike, informed=informed)
    today = [] if sentence == whole else [Line(label="today" if entry else "decided", text=whole)]
    return Weighed(
        code=code_of(decision),
        headline=sentence,
        pool=case.ruling.pool,
        model=case.model.id,
        metric=decision.terms.metric,
        trade_off=decision.terms.trade_off,
        people=weighing.chosen.figures.people,
        decided=[*decision.disclosed],
        pending=[*decision.pending.names] if decision.pending else [],
        chosen=chosen,
        weighed=other,
        rows=_rows(decision, weighing, said),
        lines=[*today, *lines_of(said), *_remarks(weighing, asked)],
        proof=decision.evidence.proof,
    )


def _asked(body: WhatIf, now: datetime, agent: Agent) -> _Asked:
    if body.entry is None:
        return _Asked(_case(body, now, agent), None)
    if any(each is not None for each in (body.recipient, body.query, body.asked)):
        hint = "leave out recipient, query and asked, or the entry"
        raise UsageError("an entry says itself what was asked, and by whom", hint)
    if agent.vault is None:
        raise NothingError("locked")
    entry = agent.vault.ledger.entry(body.entry)
    if not isinstance(entry, Disclosure):
        raise UsageError(f"entry {body.entry} discloses nothing", "see `reticent ledger`")
    return _Asked(case_before(body.entry, entry, now, agent), entry)


def _case(body: WhatIf, now: datetime, agent: Agent) -> Case:
    """Return the case of a request, or of the average one of a recipient."""
    if body.recipient is None:
        hint = "name a recipient, or an entry of the ledger"
        raise UsageError("no request specified", hint)
    ask = Ask(query=body.query or "", recipient=body.recipient, asked=body.asked)
    case = case_of(ask, now, agent)
    return averaged(case) if body.query is None else case


def _silent(code: Code) -> Weighed:
    """Return what there is to say where nothing can be decided."""
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
    return Weight(
        names=[*each.names],
        utility_bits=each.figures.utility,
        cost_bits=each.figures.utility - each.figures.objective,
        identifiability=each.figures.identifiability,
        people_left=each.figures.people_left,
        breaks=each.breaks,
    )


def _rows(decision: Decision, weighing: Weighing, said: Decided) -> list[Row]:
    reasons = {each.name: each for each in said.outcomes}
    return [
        _row(each, decision, reasons.get(each.name), said.titles[each.name])
        for each in weighing.additions
    ]


def _row(each: Addition, decision: Decision, reason: Reason | None, title: str) -> Row:
    return Row(
        name=each.name,
        title=title,
        inside=each.inside,
        held=each.held,
        disclose=_disclose(decision, each.name),
        reason=code_of(decision) if reason is None else reason.reason,
        rule=None if reason is None else reason.rule,
        limit=None if reason is None else reason.limit,
        gain_bits=each.gain_bits,
        cost_bits=each.cost_bits,
        people_left=each.people_left,
    )


def _disclose(decision: Decision, name: str) -> str:
    """Return what the policy says of an attribute, or that it guards it."""
    terms = decision.terms
    guard, disclose = terms.verdict("guard", name), terms.verdict("disclose", name)
    if guard is not None and guard.value:
        return "guarded"
    return "auto" if disclose is None else str(disclose.value)


def _remarks(weighing: Weighing, asked: _Asked) -> Iterator[Line]:
    """Yield that the header has no room for the set, and that another model decided an entry."""
    case, entry = asked
    if not fits(weighing.weighed.names, case.model):
        yield too_long(weighing.weighed.names)
    if entry is not None and entry.digest != case.model.digest:
        yield Line(label="model", text=_other_model(entry, case.model))


def _other_model(entry: Disclosure, model: Model) -> str:
    """Return by which model it is weighed, and what it carried that this one lacks."""
    now = "another of that name" if entry.model == model.id else model.id
    has = {each.name for each in model.attributes}
    lost = [name for name, _ in entry.disclosed if name not in has]
    without = f", which lacks {', '.join(lost)}" if lost else ""
    return f"it was decided with {entry.model}, and is weighed with {now}{without}"

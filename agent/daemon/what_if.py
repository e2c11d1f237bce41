"""What another set would bring and cost, of a request or of a past one.

Nothing is sent, recorded or queued.
"""

from collections.abc import Generator, Mapping
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
from agent.daemon.explained import WHY, lines_of, reasons_of, too_long
from agent.daemon.handle import code_of
from agent.daemon.header import fits
from agent.decision.decide import Decision
from agent.decision.explain import because
from agent.decision.what_if import Addition, Change, WeighedSet, Weighing, weigh_steps
from agent.decision.words import difference, headline
from agent.errors import LockedError, UsageError
from agent.model.model import Model
from agent.vault.disclosure_index import Disclosure
from agent.wire.decide import Ask, Code, Line, Reason
from agent.wire.what_if import Row, Weighed, Weight, WhatIf

NOTHING = Weight(names=[], utility_bits=0, cost_bits=0, identifiability=0, people_left=0)


class _Asked(NamedTuple):
    """What is weighed: a request, and what it carried where it is one of the past."""

    case: Case
    entry: Disclosure | None


def weighed(body: WhatIf, now: datetime, agent: Agent) -> Generator[None, None, Weighed]:
    """Return the steps to a set beside the one that leaves with a request, or left.

    No agent, vault or other decision is touched by any of them. LockedError while locked.
    UsageError where it is not said which request, or two are named; for a number of no entry that
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
    sentence = difference(decision, weighing, past=entry is not None)
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
        chosen=_weight(weighing.chosen),
        weighed=_weight(weighing.weighed),
        rows=_rows(decision, weighing, case),
        lines=_lines(sentence, decision, weighing, asked),
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
        raise UsageError("it is not said which request is meant", hint)
    ask = Ask(query=body.query or "", recipient=body.recipient, asked=body.asked)
    case = case_of(ask, now, agent)
    return averaged(case) if body.query is None else case


def _silent(code: Code) -> Weighed:
    """Return what there is to say where nothing can be decided."""
    return Weighed(
        code=code,
        headline=f"Nothing can be weighed: {WHY[code]}.",
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


def _rows(decision: Decision, weighing: Weighing, case: Case) -> list[Row]:
    reasons = {each.name: each for each in reasons_of(decision, case)}
    return [
        _row(each, decision, reasons.get(each.name), _title(each.name, case.model))
        for each in weighing.additions
    ]


def _title(name: str, model: Model) -> str:
    return model.attributes[model.index(name)].title


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
    guard, disclose = because(decision, "guard", name), because(decision, "disclose", name)
    if guard is not None and guard.value:
        return "guarded"
    return "auto" if disclose is None else str(disclose.value)


def _lines(sentence: str, decision: Decision, weighing: Weighing, asked: _Asked) -> list[Line]:
    case, entry = asked
    whole = headline(decision)
    lines = [] if sentence == whole else [Line(label="today" if entry else "decided", text=whole)]
    lines += lines_of(decision, case)
    if not fits(weighing.weighed.names, case.model):
        lines.append(too_long(weighing.weighed.names))
    if entry is not None and entry.digest != case.model.digest:
        lines.append(Line(label="model", text=_other_model(entry, case.model)))
    return lines


def _other_model(entry: Disclosure, model: Model) -> str:
    """Return by which model it is weighed, and what it carried that this one lacks."""
    now = "another of that name" if entry.model == model.id else model.id
    has = {each.name for each in model.attributes}
    lost = [name for name, _ in entry.disclosed if name not in has]
    without = f", which lacks {', '.join(lost)}" if lost else ""
    return f"it was decided with {entry.model}, and is weighed with {now}{without}"

"""What would leave at every trade-off, in steps; nothing is sent, recorded or queued."""

from collections.abc import Generator, Mapping
from datetime import datetime

from agent.daemon.agent import Agent
from agent.daemon.context import Case, NothingError, apart, averaged, case_of, own_of
from agent.daemon.worded import code_of
from agent.decision.request import Knowledge
from agent.decision.tradeoff_curve import Curve, Step, curve_steps
from agent.errors import LockedError, UsageError
from agent.wire.decide import Ask
from agent.wire.what_if import CurveAsk, Point, TradeOffs
from agent.words.outcomes import WHY_NOTHING
from policy.hosts import ANYBODY


def curved(ask: CurveAsk, now: datetime, agent: Agent) -> Generator[None, None, TradeOffs]:
    """Return the steps to a curve: no agent, vault or other decision is touched by any of them.

    Without a recipient it is by the rules for everybody, and for one who holds nothing. UsageError
    where nothing can be decided; in the first step, where nothing would leave whatever the
    trade-off. LockedError while locked.
    """
    case = apart(_case(ask, now, agent))
    return _steps(case, own_of(case))


def _case(ask: CurveAsk, now: datetime, agent: Agent) -> Case:
    """Return the request that a curve is of, on its terms."""
    said = Ask(query=ask.query or "", recipient=ask.recipient or ANYBODY, asked=ask.asked)
    try:
        case = case_of(said, now, agent)
    except NothingError as error:
        if error.code == "locked":
            raise LockedError from error
        hint = "`reticent doctor` says how to mend it"
        raise UsageError(f"there is no curve: {WHY_NOTHING[error.code]}", hint) from error
    if ask.recipient is None:
        case = case._replace(known=Knowledge())
    return averaged(case) if ask.query is None else case


def _steps(case: Case, own: Mapping[str, int] | None) -> Generator[None, None, TradeOffs]:
    found = yield from curve_steps(case.request, case.terms, case.known, case.model, own)
    return _message(found)


def _message(curve: Curve) -> TradeOffs:
    return TradeOffs(
        matched_query=curve.matched_query,
        status=code_of(curve),
        mode=curve.terms.mode,
        algorithm=curve.terms.algorithm,
        metric=curve.terms.metric,
        trade_off=curve.terms.trade_off,
        present=curve.present,
        knee=curve.knee,
        points=[_point(each) for each in curve.steps],
    )


def _point(step: Step) -> Point:
    figures = step.figures
    return Point(
        least=step.least,
        most=step.most,
        disclosed=[*step.disclosed],
        utility_bits=figures.utility,
        cost_bits=figures.utility - figures.objective,
        identifiability_cost=figures.identifiability_cost,
        people_left=figures.people_left,
        proof=step.proof,
        beaten=step.beaten,
    )

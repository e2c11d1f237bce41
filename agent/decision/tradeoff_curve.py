"""What would leave with a request as lambda varies, by name: the trade-off curve (paper 7.2)."""

from collections.abc import Generator
from dataclasses import replace
from typing import TypeVar

from agent.decision.choice import choice_of
from agent.decision.context import Context, prepare
from agent.decision.decide import figures_of, read_by
from agent.decision.values import Curve, CurvePoint, Figures
from agent.errors import UsageError
from agent.tradeoff import tradeoff_curve as tradeoff

T = TypeVar("T")


def curve_of(context: Context) -> Curve:
    """Return what ``decide`` would disclose at each lambda of a grid that has that of the terms.

    In standing mode it is a curve of all queries, whatever the request's is. What waits for the
    user is not in it. UsageError where ``decide`` raises it, and where it would look for no set.
    """
    return taken(curve_steps(context))


def curve_steps(context: Context) -> Generator[None, None, Curve]:
    """Return the same curve, a lambda in each step, and yield between them.

    What is decided with the model meanwhile changes nothing: all that is prepared for the sets of
    one lambda is dropped before the next. UsageError, as above, in the first step.
    """
    terms, model = context.terms, context.model
    reading = context.meaning
    context = replace(context, reading=reading)
    if terms.nothing:
        hint = "ask about another recipient or query, or change the rule"
        raise UsageError("the policy lets nothing leave with this request", hint)
    if reading.query is None and terms.mode != "standing" and terms.unknown_queries == "nothing":
        hint = "ask about one that it knows, or without a query about all of them"
        raise UsageError("the model does not know this query", hint)
    prepared = prepare(context)
    figures: dict[float, Figures] = {}
    chosen: list[tradeoff.Point] = []
    for each in tradeoff.grid(terms.trade_off):
        there = replace(
            prepared,
            terms=replace(terms, trade_off=each),
            settings=replace(prepared.settings, trade_off=each),
        )
        choice = choice_of(there)
        mask, objective = choice.mask, choice.objective
        figures[each] = figures_of(objective, mask, there)
        parts, proof = objective.parts(mask), choice.result.proof
        chosen.append(tradeoff.Point(each, each, mask, parts, proof))
        objective.forget()
        yield
    points = tradeoff.merged(chosen)
    beaten = tradeoff.beaten(points)
    return Curve(
        code=prepared.code,
        request=context.request,
        read_as=None if terms.mode == "standing" else read_by(reading, model),
        mode=terms.mode,
        algorithm=terms.algorithm,
        metric=terms.metric,
        trade_off=terms.trade_off,
        asks=bool(terms.ask),
        points=tuple(
            CurvePoint(
                least=each.least,
                most=each.most,
                figures=figures[each.least],
                proof=each.proof,
                beaten=out,
            )
            for each, out in zip(points, beaten, strict=True)
        ),
        present=next(at for at, each in enumerate(points) if terms.trade_off <= each.most),
        knee=tradeoff.knee(points),
    )


def taken(steps: Generator[None, None, T]) -> T:
    """Take all steps, and return what they come to."""
    found = None
    while found is None:
        found = advanced(steps)
    return found


def advanced(steps: Generator[None, None, T]) -> T | None:
    """Take one step; return what all of them come to, None before the last is taken."""
    try:
        next(steps)
    except StopIteration as end:
        found: T = end.value
        return found
    return None

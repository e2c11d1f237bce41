"""What would leave with a request as lambda varies, by name: the trade-off curve (paper 7.2)."""

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import TypeVar

from agent.decision.choice import choice_of
from agent.decision.context import Context, Status, prepare
from agent.decision.decide import Figures, figures_of, matched
from agent.decision.request import Request
from agent.decision.terms import Terms
from agent.errors import UsageError
from agent.tradeoff import tradeoff_curve as tradeoff
from agent.tradeoff.search import Proof
from agent.tradeoff.tables import members

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Step:
    """One set that leaves, at every lambda that was tried from ``least`` to ``most``.

    ``disclosed``: in the order of the model; ``figures``: at ``least``; ``proof``: what is proven
    of it at all of them; ``beaten``: another step brings as much at less cost, or more at no more.
    """

    least: float
    most: float
    disclosed: tuple[str, ...]
    figures: Figures
    proof: Proof
    beaten: bool


@dataclass(frozen=True, slots=True)
class Curve:
    """The steps in ascending lambda; ``present`` and ``knee`` are indexes, None without a knee.

    ``matched_query``: the known query that was meant, None where the curve is that of all.
    """

    request: Request
    terms: Terms
    status: Status
    matched_query: str | None
    steps: tuple[Step, ...]
    present: int
    knee: int | None


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
        hint = "ask about one that it knows, or with --all about all of them"
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
    steps = tuple(
        Step(
            least=each.least,
            most=each.most,
            disclosed=prepared.names(members(each.mask)),
            figures=figures[each.least],
            proof=each.proof,
            beaten=out,
        )
        for each, out in zip(points, beaten, strict=True)
    )
    return Curve(
        request=context.request,
        terms=terms,
        status=prepared.status,
        matched_query=None if terms.mode == "standing" else matched(reading, model),
        steps=steps,
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

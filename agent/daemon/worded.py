"""A decision as `agent.words` takes it: its figures, and why each attribute is sent or not."""

from collections import defaultdict

from agent.decision.decide import Candidate, Decision
from agent.decision.locale import LOCALE
from agent.decision.terms import Terms
from agent.decision.tradeoff_curve import Curve
from agent.model.model import Model
from agent.model.reading import Reading
from agent.wire.base import made
from agent.wire.decide import Code, CountedAmong, ExplainedOutcome, ReadAs
from agent.words.decisions import Decided
from agent.words.outcomes import NO_ROOM
from policy.sections import shown

BEHIND = {"guarded": "guard"}  # the setting behind a reason; else it is `disclose`
NONE: frozenset[str] = frozenset()


def code_of(decision: Decision | Curve) -> Code:
    """Return the code of a decision or a curve; "answered" in the ordinary case."""
    return "answered" if decision.status == "decided" else decision.status


def meant_by(reading: Reading, model: Model) -> ReadAs | None:
    """Return what a text was read as; None where that is nothing."""
    if reading.query is None:
        return None
    query, sure = model.queries[reading.query], reading.probability
    return ReadAs(query=query.text, title=query.title, probability=sure, model=model.id)


def among(model: Model) -> CountedAmong:
    """Return among whom a model counts people."""
    estimated = model.population.weights is not None
    return CountedAmong(people=model.stands_for, count=round(model.people), estimated=estimated)


def worded(
    decision: Decision, model: Model, dropped: frozenset[str] = NONE, *, brief: bool = False
) -> Decided:
    """Return what sentences need of a decision; ``dropped``: what the header had no room for.

    ``brief``: for the headline alone.
    """
    figures, terms = decision.figures, decision.terms
    pending = decision.pending
    rules: dict[str, list[str]] = defaultdict(list)  # the settings behind it, without the defaults
    settings = {} if brief or terms.ruling is None else terms.ruling.settings
    known = brief and decision.disclosed  # then the headline gives no reasons
    for key, verdict in settings.items():
        if verdict.rule.layer:
            rules[verdict.rule.name].append(f"{key} = {shown(verdict.value)}")
    more = figures if pending is None else pending.figures
    return made(
        Decided,
        decision,
        figures,
        None if brief else decision.evidence,
        terms,
        code=code_of(decision),
        query=decision.request.query,
        read_as=meant_by(decision.reading, model),
        pending=pending.names if pending else (),
        outcomes=() if known else [_reason(each, terms, dropped) for each in decision.candidates],
        titles={each.name: each.title for each in model.attributes},
        among=None if model is LOCALE else among(model),
        charged=model is not LOCALE,
        pending_bits=more.utility - figures.utility,
        pending_left=more.people_left,
        serves={each.name: each.serves for each in decision.candidates if each.serves},
        guessed={each.name: (each.bits, each.best_guess) for each in decision.guarded},
        rules=rules,
    )


def _reason(each: Candidate, terms: Terms, dropped: frozenset[str]) -> ExplainedOutcome:
    """Return why an attribute is in it or not, and the rule behind that."""
    no_room = each.name in dropped
    verdict = terms.verdict(BEHIND.get(each.reason, "disclose"), each.name)
    return made(
        ExplainedOutcome,
        each,
        reason=NO_ROOM if no_room else each.reason,
        rule=None if verdict is None or no_room else verdict.rule.name,
        limit=None if no_room else each.limit,
    )

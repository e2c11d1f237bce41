"""From a decision and the values to the answer that leaves."""

from collections.abc import Mapping

from agent.daemon.deciding.fitting import members
from agent.daemon.deciding.header import joined
from agent.decision.decide import Decision
from agent.decision.tradeoff_curve import Curve
from agent.decision.words import headline
from agent.model.attributes import UNSPECIFIED
from agent.model.model import Model
from agent.wire.decide import Answer, AttributeOutcome, Code, Summary


def nothing(code: Code) -> Answer:
    """Return the answer where nothing was decided."""
    return Answer(code=code)


def code_of(decision: Decision | Curve) -> Code:
    """Return the code of a decision, or of many: in the ordinary case, that it was answered."""
    return "answered" if decision.status == "decided" else decision.status


def summary_of(decision: Decision, pool: str, model: Model, people_left: int) -> Summary:
    """Return the figures of an answer; ``people_left``: who agree with all that the pool holds."""
    return Summary(
        headline=headline(decision),
        pool=pool,
        model=model.id,
        utility_bits=decision.figures.utility,
        people_left=people_left,
        read_as=decision.matched_query,
        waiting=len(decision.pending.names) if decision.pending else 0,
        because=_because(decision),
    )


def _because(decision: Decision) -> list[AttributeOutcome]:
    """Return why each attribute leaves, in the order chosen: by the decision, and no value."""
    found = {each.name: each for each in decision.candidates}
    return [
        AttributeOutcome(
            name=name,
            reason=found[name].reason,
            gain_bits=found[name].gain_bits,
            cost_bits=found[name].cost_bits,
        )
        for name in decision.disclosed
    ]


def specified(values: Mapping[str, str]) -> dict[str, str]:
    """Return the values that are sent: one that is set to "unspecified" is left out."""
    return {name: value for name, value in values.items() if value != UNSPECIFIED}


def unspecified(values: Mapping[str, str]) -> list[str]:
    """Return the names that were chosen and are set to "unspecified"."""
    return [name for name, value in values.items() if value == UNSPECIFIED]


def header_of(values: Mapping[str, str], model: Model) -> str:
    """Return the values that are sent as a header's value; empty where there is none."""
    texts = members(model).texts
    return joined(texts[pair] for pair in specified(values).items())

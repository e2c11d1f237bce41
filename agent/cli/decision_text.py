"""A decision as a page of text: the sentence, the attributes, the figures."""

from agent.cli.layout import Column, facts, paragraph, strong, table
from agent.decision.decision import Candidate, Decision
from agent.decision.explain import because, explain
from agent.decision.phrases import bits
from agent.decision.words import net

RULED = ("always", "waits for you")  # reasons that a rule about the attribute is behind
COLUMNS = (
    Column("attribute", wraps=True),
    Column("in"),
    Column("gain", right=True),
    Column("cost", right=True),
    Column("why", wraps=True),
)


def decision_text(decision: Decision) -> str:
    """Return all that there is to say about a decision, the plain sentence on top."""
    explanation = explain(decision)
    parts = [strong(paragraph(explanation.headline))]
    tried = [each for each in decision.candidates if each.gain_bits is not None]
    if tried:
        parts.append(table(COLUMNS, [_row(each, decision) for each in _ordered(tried, decision)]))
    parts.append(facts(explanation.lines))
    return "\n\n".join(parts)


def _ordered(tried: list[Candidate], decision: Decision) -> list[Candidate]:
    """Return what is disclosed, in the order chosen, what waits, then the nearest miss first."""
    pending = decision.pending.names if decision.pending else ()
    place = {name: number for number, name in enumerate((*decision.disclosed, *pending))}
    return sorted(tried, key=lambda each: (place.get(each.name, len(place)), -net(each), each.name))


def _row(candidate: Candidate, decision: Decision) -> tuple[str, ...]:
    verdict = because(decision, "disclose", candidate.name)
    mattered = candidate.reason in RULED and verdict is not None and verdict.rule.layer
    ruled = f" ({verdict.rule.name})" if verdict is not None and mattered else ""
    return (
        candidate.name,
        "yes" if candidate.disclosed else "-",
        bits(candidate.gain_bits, signed=True),
        bits(candidate.cost_bits),
        candidate.reason + ruled,
    )

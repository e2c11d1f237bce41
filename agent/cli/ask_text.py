"""What the daemon decided about a request as a page of text."""

from collections.abc import Iterable, Sequence

from agent.cli.explanation_text import Tried, explanation_page, why
from agent.cli.layout import facts, paragraph, strong
from agent.cli.problems import printable
from agent.decision.explain import NO_QUERY
from agent.decision.phrases import listed, people
from agent.wire.asking import Answer, Explained, Reason
from agent.wire.reviews import Review

HEADER = "Shared-Attributes"


def answer_text(answer: Answer, waiting: Iterable[Review]) -> str:
    """Return what may be attached, with the values, the plain sentence on top.

    ``waiting``: the reviews of whoever is asked.
    """
    summary, none = answer.summary, not answer.attributes and bool(answer.unspecified)
    decided = [] if summary is None else [printable(summary.headline)]
    if answer.attributes:
        parts = [strong(paragraph(each)) for each in decided]
        parts.append(facts((name, printable(value)) for name, value in answer.attributes.items()))
        parts.append(facts([("header", f"{HEADER}: {printable(answer.header)}")]))
    elif none:
        none_said = f"Nothing is attached: you prefer not to say {listed(answer.unspecified)}."
        parts = [strong(paragraph(none_said))]
    else:
        parts = [strong(paragraph(each)) for each in decided]
        parts.append(paragraph("Nothing is attached."))
    lines = [("decided", each) for each in decided] if none else []
    lines += [("read as", read_as(summary.read_as))] if summary is not None else []
    lines += [("unspecified", _unspecified(answer.unspecified))] if answer.unspecified else []
    lines += [("waits for you", _waits(each)) for each in waiting]
    if answer.id is not None and summary is not None:
        place = f"entry {answer.id} of the ledger, as told to {printable(summary.pool)}"
        lines += [("recorded", place), ("people left", _counted(summary.people_left))]
    parts += [facts(lines)] if lines else []
    return "\n\n".join(parts)


def read_as(query: str | None) -> str:
    """Return which known query a text was read as."""
    return NO_QUERY if query is None else repr(printable(query))


def _unspecified(names: Sequence[str]) -> str:
    """Return what is told by being left out."""
    them = "it" if len(names) == 1 else "each of them"
    return f"{listed(names)}; leaving {them} out is an answer too, and counts as known."


def _counted(left: float) -> str:
    """Return how many people there really are, where the sentence on top has what was expected."""
    return f"{people(left)} by your answer; what is said above was expected, whoever you are"


def _waits(review: Review) -> str:
    names = printable(listed(review.names))
    return f"{names}, until you say `reticent approve {review.id}` or `reticent deny {review.id}`"


def explained_text(explained: Explained) -> str:
    """Return what would be decided, as `reticent decide` prints it."""
    first: Sequence[str] = (*explained.disclosed, *explained.pending)
    lines = [(each.label, printable(each.text)) for each in explained.lines]
    tried = [_tried(each) for each in explained.candidates]
    return explanation_page(printable(explained.headline), tried, first, lines)


def _tried(reason: Reason) -> Tried:
    said = printable(why(reason.reason, reason.rule, reason.limit))
    return Tried(reason.name, reason.disclosed, reason.gain_bits, reason.cost_bits, said)

"""What the daemon decided about a request as a page of text."""

from collections.abc import Iterable, Sequence

from agent.cli.explanation_text import Tried, explanation_page, why
from agent.cli.layout import facts, paragraph, strong
from agent.cli.problems import printable
from agent.decision.phrases import listed
from agent.errors import DaemonError, LockedError, ReticentError
from agent.wire.asking import Answer, Code, Explained, Reason
from agent.wire.reviews import Review

HEADER = "Shared-Attributes"
UNDECIDED: dict[Code, ReticentError] = {
    "locked": LockedError(
        "the vault is locked, so nothing may be attached", "open it with `reticent unlock`"
    ),
    "no policy": DaemonError(
        "there is no policy in use, so nothing may be attached",
        "see `reticent status`; `reticent init` writes a policy",
    ),
    "no model": DaemonError(
        "the model that the policy asks for is not there, so nothing may be attached",
        "see `reticent status`; `reticent model add` adds one",
    ),
    "unfit": DaemonError(
        "the model does not fit the policy, or what is held of you, so nothing may be attached",
        "see `reticent policy check` and `reticent knows`",
    ),
    "failed": DaemonError(
        "the daemon could not decide, so nothing may be attached", "its log says where it failed"
    ),
}


def undecided(code: Code) -> ReticentError | None:
    """Return why nothing was decided, and how to mend it; None where something was."""
    return UNDECIDED.get(code)


def answer_text(answer: Answer, waiting: Iterable[Review]) -> str:
    """Return what may be attached, with the values, the plain sentence on top.

    ``waiting``: the reviews of whoever is asked.
    """
    summary = answer.summary
    parts = [] if summary is None else [strong(paragraph(printable(summary.headline)))]
    if answer.attributes:
        parts.append(facts((name, printable(value)) for name, value in answer.attributes.items()))
        parts.append(facts([("header", f"{HEADER}: {printable(answer.header)}")]))
    else:
        parts.append(paragraph("Nothing is attached."))
    lines = [("not set", _unset(answer.unspecified))] if answer.unspecified else []
    lines += [("waits for you", _waits(each)) for each in waiting]
    if answer.id is not None and summary is not None:
        place = f"entry {answer.id} of the ledger, as told to {printable(summary.pool)}"
        lines.append(("recorded", place))
    parts += [facts(lines)] if lines else []
    return "\n\n".join(parts)


def _unset(names: Sequence[str]) -> str:
    """Return what is told by being left out; `profile set` is the way out."""
    them = "it" if len(names) == 1 else "each of them"
    return f"{listed(names)}; leaving {them} out is an answer too, and counts as known"


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

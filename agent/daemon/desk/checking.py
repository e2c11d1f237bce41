"""What a word must be to be applied, and until when it holds. Pure."""

from collections.abc import Iterable
from datetime import date, datetime, timedelta

from agent.errors import RefusedError, UsageError
from agent.wire.policy import Override, Review, Verdict
from policy.match import Ruling
from policy.precedence import GUARDED, may


def chosen(review: Review, verdict: Verdict) -> tuple[str, ...]:
    """Return the names that a verdict is about; RefusedError for one that is not of its review.

    UsageError where it is about none, or does not say how long it lasts.
    """
    for name in verdict.names or ():
        if name not in review.names:
            raise conflict(f"{name!r} does not wait under {review.id}", review)
    if verdict.names is not None and not verdict.names:
        raise UsageError("the verdict is about no attribute", "leave names out for all of them")
    check_days(verdict)
    return tuple(dict.fromkeys(verdict.names or review.names))


def check_days(word: Verdict | Override) -> None:
    """Raise UsageError where a word says for how many days and not that it lasts days, or so."""
    if (word.lasting == "days") != (word.days is not None):
        raise UsageError("days go with a word that lasts days", "say both, or neither")


def conflict(what: str, review: Review) -> RefusedError:
    """Return the error for a word on something else than what waits."""
    hint = f"look again with `reticent pending`; `--dismiss {review.id}` takes it off the list"
    return RefusedError("conflict", what, hint)


def until(word: Verdict | Override, now: datetime) -> date | None:
    """Return the last day of a word, None for no end."""
    return None if word.days is None else now.date() + timedelta(days=word.days)


def check_reached(word: Override, names: Iterable[str], ruling: Ruling) -> None:
    """Raise UsageError where no word on attributes changes anything, and say what would.

    ``ruling``: of a request of the recipient.
    """
    for name in names:
        verdicts = ruling.attributes[name]
        if may(verdicts) == GUARDED:
            what = f"{name} is guarded by {verdicts['guard'].rule.name!r}, so that it never leaves"
            raise UsageError(what, "take the guard out of the policy, if it may leave")
    nothing = ruling.settings["nothing"]
    if nothing.value is True and word.disclose != "never" and word.about == "recipient":
        what = f"{ruling.host} gets nothing, by {nothing.rule.name!r}, whatever else is said"
        hint = f"`reticent unblock {ruling.host}` takes out of the policy what is ours"
        raise UsageError(what, f"{hint}, and names the rule if it is yours")

"""The user's word: for how long, for whom, as messages and in sentences. Pure."""

from collections.abc import Iterable
from itertools import zip_longest
from typing import NamedTuple

from agent.tui.screens.requests.change import Trial
from agent.tui.screens.requests.words import listed
from agent.wire.policy import (
    About,
    Decided,
    Disclose,
    Lasting,
    Override,
    Review,
    Ruled,
    Verdict,
)

WEEK = 7  # days


class Span(NamedTuple):
    """For how long a word is meant, and for whom."""

    lasting: Lasting
    about: About = "recipient"
    days: int | None = None


ONCE, ALWAYS = Span("once"), Span("always")
SPANS = (ONCE, Span("until restart"), Span("days", days=WEEK), ALWAYS)


class Ruling(NamedTuple):
    """A word on a review."""

    decided: Decided
    span: Span


def spans(recipient: str) -> list[tuple[str, Span]]:
    """Return all that may be chosen for a change, for one recipient first."""
    whom: tuple[tuple[About, str], ...] = (("recipient", recipient), ("everyone", "everyone"))
    return [
        (f"{_long(each)}, for {name}", each._replace(about=about))
        for about, name in whom
        for each in SPANS
    ]


def rulings(review: Review) -> list[tuple[str, Ruling]]:
    """Return all that may be said of a review; an offer is settled for good or for some days."""
    verbs: tuple[tuple[Decided, str], ...] = (("approve", "Yes"), ("deny", "No"))
    if review.kind == "offer":
        lasting = [ALWAYS, Span("days", days=WEEK)]
        return [
            (f"{verb}, {_long(each).lower()}", Ruling(decided, each))
            for decided, verb in verbs
            for each in lasting
        ]
    return [
        (f"{verb}, {text[0].lower()}{text[1:]}", Ruling(decided, each))
        for decided, verb in verbs
        for text, each in spans(review.recipient)
    ]


def verdict(review: Review, ruling: Ruling, names: Iterable[str]) -> Verdict:
    """Return the message on a review as it was shown; ``names``: of it, those that are meant."""
    span = ruling.span
    return Verdict(
        decided=ruling.decided,
        lasting=span.lasting,
        about=span.about,
        days=span.days,
        names=[*names],
        pool=review.pool,
    )


def overrides(trial: Trial, span: Span) -> list[Override]:
    """Return the messages that make a change hold; what waits in a review is ruled on apart."""
    recipient = trial.subject.recipient
    waits = frozenset(trial.subject.names) if isinstance(trial.subject, Review) else frozenset()
    wishes: tuple[tuple[frozenset[str], Disclose], ...] = (
        (trial.change.add - waits, "always"),
        (trial.change.drop, "never"),
    )
    return [
        Override(
            recipient=recipient,
            names=sorted(names),
            disclose=disclose,
            lasting=span.lasting,
            about=span.about,
            days=span.days,
        )
        for names, disclose in wishes
        if names
    ]


def said(names: Iterable[str], whom: str, span: Span, *, leaves: bool) -> str:
    """Return a word on attributes in a sentence."""
    to = "everyone" if span.about == "everyone" else whom
    what = "may leave to" if leaves else "does not leave to"
    return f"{listed(names)} {what} {to}, {_long(span).lower()}."


def tells(word: Override) -> str:
    """Return the user's own word on attributes in a sentence."""
    span = Span(word.lasting, word.about, word.days)
    return said(word.names, word.recipient, span, leaves=word.disclose == "always")


def settled(review: Review, ruling: Ruling, names: Iterable[str]) -> str:
    """Return a word on a review in a sentence."""
    if review.kind == "ask":
        leaves = ruling.decided == "approve"
        return said(names, review.recipient, ruling.span, leaves=leaves)
    lasting = _long(ruling.span).lower()
    if ruling.decided == "approve":
        may = f"{review.recipient} may get {listed(names)} and nothing else"
        return f"{may}, as your rules allow, {lasting}."
    return f"{review.recipient} gets nothing, {lasting}."


def outcome(sentence: str, ruled: Ruled) -> str:
    """Return what was said, where it stands now, and which rule still wins."""
    lines = [sentence]
    lines += [] if ruled.written is None else [f"Your policy says so: {ruled.written}."]
    if ruled.blocked and ruled.decided_by:
        lines.append(f"Nothing leaves all the same: blocked by {ruled.decided_by[0]}.")
        return "\n".join(lines)
    for name, rule in zip_longest(ruled.without_effect, ruled.decided_by, fillvalue="another rule"):
        lines.append(f"Without effect on {name}: {rule} still wins.")
    return "\n".join(lines)


def _long(span: Span) -> str:
    match span.lasting:
        case "once":
            return "Once, with the next request"
        case "until restart":
            return "Until the daemon restarts"
        case "days":
            return f"For {span.days} days"
    return "Always"

"""What a person tries out on a request, and the decisions that make it hold. Pure."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from agent.tui.screens.requests_list import when
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
from agent.wire.records import Handled
from agent.wire.what_if import Weighed, WhatIf
from agent.words.figures import alike, bits, listed, people
from agent.words.notices import (
    GONE,
    asks,
    how_long,
    took_effect,
    verdict_of,
    whom,
)
from agent.words.outcomes import breaks
from agent.words.titles import NONE, Titles, titled

WEEK = 7  # days


@dataclass(frozen=True, slots=True)
class Change:
    """Names added to a set, and dropped from it."""

    add: frozenset[str] = frozenset()
    drop: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.add or self.drop)

    def switched(self, name: str, inside: frozenset[str]) -> "Change":
        """Return the change with one name the other way; ``inside``: the set it starts from.

        That may be another than when the name was added: it is never added and dropped.
        """
        if name in inside:
            return Change(self.add - {name}, self.drop ^ {name})
        return Change(self.add ^ {name}, self.drop - {name})

    def sign(self, name: str, inside: frozenset[str]) -> str:
        """Return whether a name is in, out, added or dropped."""
        if name in inside:
            return "[-]" if name in self.drop else "[x]"
        return "[+]" if name in self.add else "[ ]"

    def said(self, titles: Titles) -> str:
        """Return the change in words."""
        parts = [f"with {listed(sorted(titled(self.add, titles)))}"] if self.add else []
        parts += [f"without {listed(sorted(titled(self.drop, titles)))}"] if self.drop else []
        text = " and ".join(parts)
        return text[:1].upper() + text[1:]


@dataclass(frozen=True, slots=True)
class Trial:
    """A request, a change to it, and the daemon's answer about both, None before it came."""

    subject: Review | Handled
    change: Change
    weighed: Weighed | None = None

    @property
    def inside(self) -> frozenset[str]:
        """The set that the change starts from."""
        return frozenset(self.weighed.chosen.names) if self.weighed else frozenset()

    @property
    def titles(self) -> Titles:
        """The titles of the attributes, as far as they are known."""
        return {each.name: each.title for each in self.weighed.rows} if self.weighed else NONE

    def approved(self) -> list[str]:
        """Return which names of a review a yes means: of an offer, all."""
        subject = self.subject
        if isinstance(subject, Handled):
            return []
        return [
            name for name in subject.names if subject.kind == "offer" or name in self.change.add
        ]


def begun(subject: Review | Handled) -> Trial:
    """Return a request as it is; of what waits: as it would be with a yes."""
    if isinstance(subject, Review) and subject.kind == "ask":
        return Trial(subject, Change(add=frozenset(subject.names)))
    return Trial(subject, Change())


def question(trial: Trial) -> WhatIf | None:
    """Return what to ask the daemon; None where there is nothing to evaluate."""
    subject, add, drop = trial.subject, sorted(trial.change.add), sorted(trial.change.drop)
    if isinstance(subject, Handled) and subject.kind == "forgotten":
        return None
    if isinstance(subject, Handled) and subject.number > 0:
        return WhatIf(entry=subject.number, add=add, drop=drop)
    if isinstance(subject, Review):
        asked = subject.names if subject.kind == "offer" else None
    else:
        asked = subject.asked
    query = subject.query or None
    return WhatIf(recipient=subject.recipient, query=query, asked=asked, add=add, drop=drop)


# in words


def headline(trial: Trial, now: datetime) -> str:
    """Return the verdict, then when it was and what it is about."""
    subject, titles = trial.subject, trial.titles
    about = f" for “{subject.query}”" if subject.query else ""
    if isinstance(subject, Review):
        if subject.kind == "offer":
            yes = "Yes: it may get these, as your rules allow, and nothing else. No: nothing."
            return f"{asks(subject, titles)}.\n{yes}"
        return f"{asks(subject, titles)}"
    time = f"Request of {when(subject.at, now)}{about}."
    if subject.kind == "forgotten":
        return f"{verdict_of(subject, titles)} The ledger still lists what it was sent."
    return f"{verdict_of(subject, titles)}\n{time}"


def meaning(trial: Trial) -> Iterator[str]:
    """Yield what the figures mean for the user, in at most two sentences."""
    subject, weighed = trial.subject, trial.weighed
    if weighed is None:
        return
    if not weighed.rows:
        yield weighed.headline
    elif weighed.code == "blocked":
        yield f"{whom(subject)} is blocked: nothing is sent until you unblock it."
    elif isinstance(subject, Review) or subject.kind == "nothing":
        names = listed(titled(weighed.chosen.names, trial.titles), "nothing")
        first = "Without your approval" if isinstance(subject, Review) else "Today"
        yield f"{first} it would get {names}."
        yield f"To it, {alike(weighed.people)} now."
    elif {*weighed.decided} != {*weighed.chosen.names}:
        names = listed(titled(weighed.decided, trial.titles), "nothing")
        yield f"Today it would get {names}."


def changed(trial: Trial) -> str:
    """Return what a change would do; nothing where there is none."""
    if not trial.change:
        return ""
    named = trial.change.said(trial.titles)
    if trial.weighed is None:
        return f"{named}: computing …"
    before, after = trial.weighed.chosen, trial.weighed.weighed
    gain = bits(after.utility_bits - before.utility_bits, signed=True)
    left = f"{alike(after.people_left)}, {people(before.people_left)} without this"
    broken = f" This {breaks(after.breaks)}." if after.breaks else ""
    held = {row.name for row in trial.weighed.rows if row.held} & trial.change.drop
    known = listed(sorted(titled(held, trial.titles)))
    kept = f" It already knows {known}: withholding it now gains nothing. {GONE}" if held else ""
    return f"{named}: {gain} bits better served; {left}.{broken}{kept}"


def hint(subject: Review | Handled) -> str:
    """Return the keys that make it hold."""
    if isinstance(subject, Handled):
        return "a always · o once · enter for longer or for everyone · r undo the trial"
    if subject.kind == "offer":
        return "a yes, always · d no, always · enter for some days"
    return "a yes, always · o yes, once · d no, always · enter more choices"


# decisions


class Span(NamedTuple):
    """For how long a decision holds, and for whom."""

    lasting: Lasting
    about: About = "recipient"
    days: int | None = None

    def __str__(self) -> str:
        text = "always" if self.lasting == "always" else how_long(self.lasting, self.days)
        return f"once, {text}" if self.lasting == "once" else text


ONCE, ALWAYS = Span("once"), Span("always")
FOR_A_WEEK = Span("days", days=WEEK)
SPANS = (ONCE, Span("until restart"), FOR_A_WEEK, ALWAYS)


class Ruling(NamedTuple):
    """A decision about a review."""

    decided: Decided
    span: Span


def spans(recipient: str) -> list[tuple[str, Span]]:
    """Return the choices for a change, those for one recipient first."""
    whom: tuple[tuple[About, str], ...] = (("recipient", recipient), ("everyone", "everyone"))
    return [
        (f"{str(each).capitalize()}, for {name}", each._replace(about=about))
        for about, name in whom
        for each in SPANS
    ]


def rulings(review: Review) -> list[tuple[str, Ruling]]:
    """Return the choices for a review; an offer is settled for good or for some days."""
    found = spans(review.recipient)
    if review.kind == "offer":
        found = [(str(each).capitalize(), each) for each in (ALWAYS, FOR_A_WEEK)]
    verbs: tuple[tuple[Decided, str], ...] = (("approve", "Yes"), ("deny", "No"))
    return [
        (f"{verb}, {text[0].lower()}{text[1:]}", Ruling(decided, each))
        for decided, verb in verbs
        for text, each in found
    ]


def verdict(review: Review, ruling: Ruling, names: Iterable[str]) -> Verdict:
    """Return the message about a review as it was shown; ``names``: those of it that are meant."""
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
    """Return the messages that make a change hold; what waits in a review is decided apart."""
    waits = frozenset(trial.subject.names) if isinstance(trial.subject, Review) else frozenset()
    wishes: tuple[tuple[frozenset[str], Disclose], ...] = (
        (trial.change.add - waits, "always"),
        (trial.change.drop, "never"),
    )
    return [
        Override(
            recipient=trial.subject.recipient,
            names=sorted(names),
            disclose=disclose,
            lasting=span.lasting,
            about=span.about,
            days=span.days,
        )
        for names, disclose in wishes
        if names
    ]


def result(sentence: str, ruled: Ruled) -> str:
    """Return a decision, where it was written, and which rules still win."""
    return "\n".join([sentence, *took_effect(ruled, "your policy")])

"""What a person tries out on a request, and the decisions that make it hold. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from msgspec.structs import replace

from agent.tui.screens.requests_list import Subject, when
from agent.wire.policy import About, Decided, Disclose, Override, Review, Ruled, Verdict
from agent.wire.records import Handled
from agent.wire.what_if import Weighed, WhatIf
from agent.words.figures import alike, bits, listed, people
from agent.words.notices import GONE, asks, how_long, took_effect, verdict_of, whom
from agent.words.outcomes import breaks
from agent.words.titles import NONE, Titles, titled

SEEN = 5e-4  # bits: less is no difference
ONCE = Verdict(decided="approve")
ALWAYS = Verdict(decided="approve", lasting="always")
FOR_A_WEEK = Verdict(decided="approve", lasting="days", days=7)
SPANS = (ONCE, Verdict(decided="approve", lasting="until restart"), FOR_A_WEEK, ALWAYS)


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

    def words(self, titles: Titles) -> str:
        """Return the change in words."""
        parts = [f"with {listed(sorted(titled(self.add, titles)))}"] if self.add else []
        parts += [f"without {listed(sorted(titled(self.drop, titles)))}"] if self.drop else []
        text = " and ".join(parts)
        return text[:1].upper() + text[1:]


@dataclass(frozen=True, slots=True)
class Trial:
    """A request, a change to it, and the daemon's answer about both, None before it came."""

    subject: Subject
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


def begun(subject: Subject) -> Trial:
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


def headline(trial: Trial, now: datetime, *, figures: bool = False) -> str:
    """Return the verdict, then when it was and what it is about; figures if wanted."""
    subject, titles = trial.subject, trial.titles
    if isinstance(subject, Review):
        question = asks(subject if figures else replace(subject, more_bits=None), titles)
        if subject.kind == "offer":
            yes = "Yes: it may get these, as your rules allow, and nothing else. No: nothing."
            return f"{question}.\n{yes}"
        return question
    if subject.kind == "forgotten":
        return f"{verdict_of(subject, titles)} The ledger still lists what it was sent."
    about = f" for “{subject.query}”" if subject.query else ""
    return f"{verdict_of(subject, titles)}\nRequest of {when(subject.at, now)}{about}."


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


def changed(trial: Trial, *, figures: bool = False) -> str:
    """Return what a change would do, in bits too if wanted; nothing where there is none."""
    if not trial.change:
        return ""
    named = trial.change.words(trial.titles)
    if trial.weighed is None:
        return f"{named}: computing …"
    before, after = trial.weighed.chosen, trial.weighed.weighed
    gain = after.utility_bits - before.utility_bits
    served = "better" if gain > SEEN else "less well" if gain < -SEEN else "as well"
    served += f" ({bits(gain, signed=True)} bits)" if figures else ""
    left = f"{alike(after.people_left)}, {people(before.people_left)} without this"
    broken = f" This {breaks(after.breaks)}." if after.breaks else ""
    held = {row.name for row in trial.weighed.rows if row.held} & trial.change.drop
    known = listed(sorted(titled(held, trial.titles)))
    kept = f" It already knows {known}: withholding it now gains nothing. {GONE}" if held else ""
    return f"{named}: serves you {served}; {left}.{broken}{kept}"


def hint(subject: Subject) -> str:
    """Return the keys that make it hold."""
    if isinstance(subject, Handled):
        return "a always · o once · enter for longer or for everyone · r undo the trial"
    if subject.kind == "offer":
        return "a yes, always · d no, always · enter for some days"
    return "a yes, always · o yes, once · d no, always · enter more choices"


# decisions: for how long and for whom, as messages without names yet


def choices(subject: Subject) -> list[tuple[str, Verdict]]:
    """Return the decisions to choose from, those for one recipient first.

    A review is approved or denied; an offer is settled for good or for some days.
    """
    groups: tuple[tuple[About, str], ...] = (
        ("recipient", subject.recipient),
        ("everyone", "everyone"),
    )
    found = [
        (f"{_how_long(each)}, for {name}", replace(each, about=about))
        for about, name in groups
        for each in SPANS
    ]
    if isinstance(subject, Handled):
        return [(text[0].upper() + text[1:], each) for text, each in found]
    if subject.kind == "offer":
        found = [(_how_long(each), each) for each in (ALWAYS, FOR_A_WEEK)]
    answers: tuple[tuple[Decided, str], ...] = (("approve", "Yes"), ("deny", "No"))
    return [
        (f"{answer}, {text}", replace(each, decided=decided))
        for decided, answer in answers
        for text, each in found
    ]


def _how_long(verdict: Verdict) -> str:
    text = how_long(verdict.lasting, verdict.days)
    return {"once": f"once, {text}", "always": "always"}.get(verdict.lasting, text)


def overrides(trial: Trial, verdict: Verdict) -> list[Override]:
    """Return the messages that make a change hold; what waits in a review is decided apart."""
    waits = frozenset(trial.subject.names) if isinstance(trial.subject, Review) else frozenset()
    parts: tuple[tuple[frozenset[str], Disclose], ...] = (
        (trial.change.add - waits, "always"),
        (trial.change.drop, "never"),
    )
    return [
        Override(
            recipient=trial.subject.recipient,
            names=sorted(names),
            disclose=disclose,
            lasting=verdict.lasting,
            about=verdict.about,
            days=verdict.days,
        )
        for names, disclose in parts
        if names
    ]


def result(sentence: str, ruled: Ruled) -> str:
    """Return a decision, where it was written, and which rules still win."""
    return "\n".join([sentence, *took_effect(ruled, "your policy")])

"""Requests as lines and sentences: their list, a change tried on one, its messages. Pure."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from msgspec.structs import replace

from agent.errors import UsageError
from agent.tui.plain import fitted
from agent.tui.virtual_list import Kind, Line, Part
from agent.wire.decide import Weighed, WhatIf
from agent.wire.policy import About, Disclose, Review, Word
from agent.wire.state import Entry, ReadingEdit
from agent.words import decisions
from agent.words.figures import listed, people
from agent.words.notices import GONE, asks, family_facts, how_long, named_in, outcome_of, verdict_of
from agent.words.titles import NONE, Titles, in_words, quoted, read_as, titled, titles_in

WHEN = 7  # columns
INDENT = 2
SIGNS: Mapping[str, tuple[str, Kind]] = {
    "waiting": ("?", "strong"),
    "disclosed": ("+", "good"),
    "nothing": ("·", "muted"),
    "forgotten": ("~", "accent"),
}
ONCE = Word(disclose="auto")
ALWAYS = Word(disclose="auto", lasting="always")
FOR_A_WEEK = Word(disclose="auto", lasting="days", days=7)
SPANS = (ONCE, FOR_A_WEEK, ALWAYS)
ORDERS: Mapping[str, Callable[[Entry], tuple[object, ...]]] = {  # of what was answered
    "latest first": lambda _each: (),
    "by recipient": lambda each: (each.recipient,),
    "most facts first": lambda each: (-len(each.disclosed),),
}
WAITING = 3  # of what waits, shown before the rest is unfolded
SETTLED_FOR_GOOD = ("means", "fact")  # kinds of reviews
FAMILY_WORDS: Mapping[Disclose, str] = {
    "auto": "Share {}, when worth it",
    "never": "Never send {}",
    "ask": "Ask each time: {}",
}


class Fold(NamedTuple):
    """The line behind which others are; ``hidden``: how many, 0 once unfolded."""

    hidden: int


Subject = Review | Entry
Item = str | Fold | Subject  # the heading of a part, or what stands below it


def key_of(item: Item) -> Hashable:
    """Identify an item."""
    match item:
        case str():
            return "title", item
        case Fold():
            return "fold"  # however many it hides
        case Review():
            return "review", item.id
    return "request", item.number


def arranged(
    reviews: Sequence[Review],
    handled: Sequence[Entry],
    text: str = "",
    titles: Titles = NONE,
    *,
    order: str = "latest first",
    shown: int = WAITING,
) -> tuple[Item, ...]:
    """Arrange the items that have these words; both parts are given oldest first, shown latest.

    ``shown``: of what waits, the rest is folded, except where words are sought; the number that
    waits counts all of them.
    """
    words = text.casefold().split()

    def fits(item: Subject) -> bool:
        names = item.names if isinstance(item, Review) else (*item.disclosed, item.code)
        shown = titled(names, titles_in(item.model, titles))
        parts = " ".join((item.recipient, item.pool, item.query, *names, *shown)).casefold()
        return all(word in parts for word in words)

    waiting = [*filter(fits, reversed(reviews))]
    answered = sorted(filter(fits, reversed(handled)), key=ORDERS[order])
    items: list[Item] = []
    if waiting:
        verb = "waits" if len(reviews) == 1 else "wait"
        shown = len(waiting) if words else shown
        items += [f"{len(reviews)} {verb} for your approval", *waiting[:shown]]
        items += [Fold(len(waiting) - shown)] if waiting[shown:] else []
    if answered:
        items += [f"Answered, {order}", *answered]
    return tuple(items)


def when(at: datetime, now: datetime) -> str:
    """Write the time if today, else the day, else the month of another year."""
    here = at.astimezone(now.tzinfo)
    if here.date() == now.date():
        return f"{here:%H:%M}"
    return f"{here.day} {here:%b}" if here.year == now.year else f"{here:%Y-%m}"


def lines(item: Item, width: int, now: datetime, titles: Titles = NONE) -> tuple[Line, ...]:
    """Draw an item as lines of this width: what it is about, then what happened."""
    if isinstance(item, str):
        return ((Part(fitted(item, width), "accent"),),)
    if isinstance(item, Fold):
        more = f"{' ' * INDENT}▸ {item.hidden} more wait: enter shows them"
        return ((Part(fitted(more, width), "accent"),),)
    sign, kind = SIGNS["waiting" if isinstance(item, Review) else item.kind]
    room = width - INDENT - WHEN - 1
    to = f"{item.recipient} {item.pool}" if item.pool.startswith("@") else item.recipient
    share = min(room, max(len(to), room // 3)) if item.query else room
    about = f"  “{item.query}”" if item.query else ""
    happened, left = outcome(item, titles)
    return (
        (
            Part(f"{sign} ", kind),
            Part(fitted(when(item.at, now), WHEN) + " ", "muted"),
            Part(fitted(to, share), "strong"),
            Part(fitted(about, room - share)),
        ),
        (Part(" " * INDENT), Part(fitted(happened, width - INDENT - len(left)), kind), Part(left)),
    )


def outcome(item: Subject, titles: Titles = NONE) -> tuple[str, str]:
    """Say what happened to a request, or what waits, and how many people look alike since."""
    if isinstance(item, Entry):
        text = outcome_of(item, titles)
        if item.kind != "disclosed":
            return text[:1].upper() + text[1:], ""
        left = "" if item.people_left is None else f" {people(item.people_left)} people like you"
        return f"Sent {text}", left
    if item.address is not None:
        return f"Chat box: {item.address}", ""
    if item.topic is not None:
        return f"Means {quoted(item.topic.title)}?", ""
    if item.kind == "fact":
        return "Remember this?", ""
    verb = "Asks for" if item.kind == "offer" else "Waits for your approval:"
    return f"{verb} {listed(named_in(item, titles))}", ""


@dataclass(frozen=True, slots=True)
class Change:
    """Names added to a set, and dropped from it."""

    add: frozenset[str] = frozenset()
    drop: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.add or self.drop)

    def switched(self, name: str, inside: frozenset[str]) -> "Change":
        """Switch one name; ``inside``: the set that the change starts from.

        That may be another than when the name was added: it is never added and dropped.
        """
        if name in inside:
            return Change(self.add - {name}, self.drop ^ {name})
        return Change(self.add ^ {name}, self.drop - {name})

    def sign(self, name: str, inside: frozenset[str]) -> str:
        """Show whether a name is in, out, added or dropped."""
        if name in inside:
            return "[-]" if name in self.drop else "[x]"
        return "[+]" if name in self.add else "[ ]"

    def text(self, titles: Titles) -> str:
        """Name what is added and what is dropped."""
        return decisions.changed(sorted(self.add), sorted(self.drop), titles)


@dataclass(frozen=True, slots=True)
class Trial:
    """A request, a change to it, and the daemon's answer about both, None before it came."""

    subject: Subject
    change: Change
    weighed: Weighed | None = None

    @property
    def inside(self) -> frozenset[str]:
        """The set that the change starts from."""
        if (weighed := self.weighed) is None:
            return frozenset()
        return frozenset(e.called for e in weighed.rows if e.name in weighed.chosen.names)

    def titles(self, every: Titles = NONE) -> Titles:
        """The titles of the attributes, and the words of what waits; ``every``: of all models."""
        subject, weighed = self.subject, self.weighed
        known = {each.called: each.title for each in weighed.rows} if weighed else {}
        own = in_words(subject.own) if isinstance(subject, Review) else NONE
        return {**(known or titles_in(subject.model, every)), **own}

    def approved(self) -> list[str]:
        """List the names of a review that a yes approves: of an offer, all."""
        subject = self.subject
        names = subject.names if isinstance(subject, Review) else ()
        return [e for e in names if subject.kind == "offer" or e in self.change.add]


def begun(subject: Subject) -> Trial:
    """Begin a trial: a request as it is, or a waiting one as if approved."""
    if isinstance(subject, Review) and subject.kind == "ask":
        return Trial(subject, Change(add=frozenset(subject.names)))
    return Trial(subject, Change())


def question(trial: Trial) -> WhatIf | None:
    """Make the question to the daemon; None where there is nothing to evaluate."""
    subject, add, drop = trial.subject, sorted(trial.change.add), sorted(trial.change.drop)
    if isinstance(subject, Entry) and subject.kind == "forgotten":
        return None
    if isinstance(subject, Review) and (subject.address or subject.topic):
        return None
    if isinstance(subject, Entry) and subject.number > 0:
        return WhatIf(entry=subject.number, add=add, drop=drop)
    names = subject.asked if isinstance(subject, Entry) else None
    names = subject.names if subject.kind == "offer" else names
    query = subject.query or None
    return WhatIf(recipient=subject.recipient, query=query, asked=names, add=add, drop=drop)


def correction(subject: Subject) -> ReadingEdit:
    """Make the message that its text was misread; UsageError without a text."""
    if not subject.query:
        raise UsageError("there is no text to correct", "move to a request that has one")
    if isinstance(subject, Entry) and subject.number > 0:
        return ReadingEdit(entry=subject.number)
    return ReadingEdit(query=subject.query, recipient=subject.recipient)


# sentences


def headline(trial: Trial, now: datetime, every: Titles = NONE) -> str:
    """Say the verdict, then when it was and what it is about; ``every``: titles of all models."""
    subject, titles = trial.subject, trial.titles(every)
    if isinstance(subject, Review):
        question = asks(subject, titles)
        if subject.address is not None:
            yes = "Yes: the popup offers a line about you, which leaves once you confirm it there."
            return f"{question}\n{yes} No: nothing changes."
        if subject.topic is not None:
            return f"{question}\nYes: so are texts that say nearly the same. No: nothing changes."
        if subject.kind == "offer":
            yes = "Yes: it may get these, as your rules allow, and nothing else. No: nothing."
            return f"{question}.\n{yes}"
        reading = None if trial.weighed is None else trial.weighed.decision.read_as
        return question if reading is None else f"{question}\nRead as {read_as(reading)}."
    if subject.kind == "forgotten":
        return f"{verdict_of(subject, titles)} The ledger still lists what it was sent."
    about = f" for “{subject.query}”" if subject.query else ""
    about += "" if subject.read_as is None else f", read as {read_as(subject.read_as)}"
    return f"{verdict_of(subject, titles)}\nRequest of {when(subject.at, now)}{about}."


def today(trial: Trial) -> str:
    """Say what would be sent now by itself, where that is not what was sent."""
    subject, weighed = trial.subject, trial.weighed
    if weighed is None:
        return ""
    same = {*weighed.decision.disclosed} == {*weighed.chosen.names}
    if isinstance(subject, Entry) and subject.kind == "disclosed" and same:
        return ""
    whole = (each.text for each in weighed.lines if each.label in ("today", "decided"))
    text = next(whole, weighed.headline)
    lead = "Without your approval" if isinstance(subject, Review) else "Today"
    return f"{lead}: {text[:1].lower()}{text[1:]}"


def changed(trial: Trial, every: Titles = NONE) -> str:
    """Say what a change would do; empty without one; ``every``: as of `headline`."""
    if not trial.change:
        return ""
    if trial.weighed is None:
        return f"{trial.change.text(trial.titles(every))}: computing …"
    withheld = {row.called for row in trial.weighed.rows if row.held} & trial.change.drop
    names = listed(sorted(titled(withheld, trial.titles())))
    late = f" It already knows {names}: withholding it now gains nothing. {GONE}"
    return f"{trial.weighed.headline}{late if withheld else ''}"


def hint(subject: Subject) -> str:
    """Name the keys that apply a trial."""
    if isinstance(subject, Entry):
        return "a always · o once · enter for longer or for everyone · r undo the trial"
    if subject.kind in SETTLED_FOR_GOOD:
        return "a yes, always · d no, always"
    if subject.kind == "offer":
        return "a yes, always · d no, always · enter for some days"
    return "a yes, always · o yes, once · d no, always · enter more choices"


# decisions: for how long and for whom; messages without names


def choices(subject: Subject) -> list[tuple[str, Word]]:
    """List the decisions to choose from, those for one recipient first.

    A review is approved or denied, or its families are settled at once; an offer is settled for
    good or for some days.
    """
    groups: tuple[tuple[About, str], ...] = (
        ("recipient", subject.recipient),
        ("everyone", "everyone"),
    )
    spans = [
        (f"{how_long(each.lasting, each.days)}, for {name}", replace(each, about=about))
        for about, name in groups
        for each in SPANS
    ]
    if isinstance(subject, Entry):
        return [(text[0].upper() + text[1:], each) for text, each in spans]
    if subject.kind in SETTLED_FOR_GOOD:
        spans = [(how_long(ALWAYS.lasting), ALWAYS)]
    if subject.kind == "offer":
        spans = [(how_long(each.lasting, each.days), each) for each in (ALWAYS, FOR_A_WEEK)]
    answers: tuple[tuple[Disclose, str], ...] = (("auto", "Yes"), ("never", "No"))
    decided = [
        (f"{answer}, {text}", replace(each, disclose=disclose))
        for disclose, answer in answers
        for text, each in spans
    ]
    once = FAMILY_WORDS if subject.families else {}
    of_families = replace(ALWAYS, about="family")
    return decided + [
        (text.format(family_facts(subject)), replace(of_families, disclose=disclose))
        for disclose, text in once.items()
    ]


def overrides(trial: Trial, verdict: Word) -> list[Word]:
    """Make the messages that apply a change; what waits in a review is decided apart."""
    waits = frozenset(trial.subject.names) if isinstance(trial.subject, Review) else frozenset()
    parts: tuple[tuple[frozenset[str], Disclose], ...] = (
        (trial.change.add - waits, "always"),
        (trial.change.drop, "never"),
    )
    return [
        replace(verdict, recipient=trial.subject.recipient, names=sorted(names), disclose=disclose)
        for names, disclose in parts
        if names
    ]

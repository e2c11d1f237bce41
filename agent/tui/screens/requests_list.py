"""The list of requests: what waits on top, then what was answered, each in words. Pure."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from agent.tui.plain import fitted
from agent.tui.virtual_list import Kind, Line, Part
from agent.wire.policy import Review
from agent.wire.records import Handled
from agent.words.figures import alike, counted, listed
from agent.words.notices import why_nothing
from agent.words.titles import NONE, Titles, titled

Only = Literal["all", "waiting", "disclosed", "nothing"]
ONLY: Mapping[Only, str] = {
    "all": "",
    "waiting": "what waits for your approval",
    "disclosed": "what sent facts",
    "nothing": "what sent nothing",
}
WHEN = 7  # columns
INDENT = 2
SIGNS: Mapping[str, tuple[str, Kind]] = {
    "waiting": ("?", "strong"),
    "disclosed": ("+", "good"),
    "nothing": ("·", "muted"),
    "forgotten": ("~", "accent"),
}


@dataclass(frozen=True, slots=True)
class Title:
    """The heading of a part of the list; ``key``: which part."""

    key: str
    text: str


Subject = Review | Handled
Item = Title | Subject


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which items to show; ``text``: words, all of which an item must have."""

    text: str = ""
    only: Only = "all"

    @property
    def everything(self) -> bool:
        """Whether nothing is left out."""
        return self.only == "all" and not self.text.split()

    def __str__(self) -> str:
        part = ONLY[self.only] or "requests"
        return f"Only {part}{' with these words' if self.text.split() else ''}"


def key_of(item: Item) -> Hashable:
    """Return by what an item is recognised."""
    match item:
        case Title():
            return "title", item.key
        case Review():
            return "review", item.id
    return "request", item.number


def arranged(
    reviews: Sequence[Review], handled: Iterable[Handled], wanted: Wanted, titles: Titles = NONE
) -> tuple[Item, ...]:
    """Return the items to show; both parts come oldest first, and are shown latest first.

    The number that waits counts all of them.
    """
    words = wanted.text.casefold().split()

    def fits(item: Subject) -> bool:
        kind = "waiting" if isinstance(item, Review) else item.kind
        if wanted.only not in ("all", "nothing" if kind == "forgotten" else kind):
            return False
        names = item.names if isinstance(item, Review) else (*item.disclosed, item.code)
        parts = (item.recipient, item.pool, item.query, *names, *titled(names, titles))
        text = " ".join(parts).casefold()
        return all(word in text for word in words)

    waiting = [*filter(fits, reversed(reviews))]
    answered = [*filter(fits, handled)][::-1]
    found: list[Item] = []
    if waiting:
        verb = "waits" if len(reviews) == 1 else "wait"
        found += [Title("waiting", f"{len(reviews)} {verb} for your approval"), *waiting]
    if answered:
        found += [Title("requests", "Answered, latest first"), *answered]
    return tuple(found)


def merged(known: Mapping[int, Handled], latest: Sequence[Handled]) -> dict[int, Handled] | None:
    """Return the known requests and those since, oldest first.

    None where something between them may be missing.
    """
    if not any(known.get(each.number) == each for each in latest):
        return None
    numbers = {each.number for each in latest}
    older = (each for each in known.values() if each.number not in numbers)
    found = sorted((*older, *latest), key=lambda each: each.at)
    return {each.number: each for each in found}


def when(at: datetime, now: datetime) -> str:
    """Return the time if today, else the day, else the month of another year."""
    here = at.astimezone(now.tzinfo)
    if here.date() == now.date():
        return f"{here:%H:%M}"
    return f"{here.day} {here:%b}" if here.year == now.year else f"{here:%Y-%m}"


def lines(item: Item, width: int, now: datetime, titles: Titles = NONE) -> tuple[Line, ...]:
    """Return an item as lines of this width: what it is about, then what happened."""
    if isinstance(item, Title):
        return ((Part(fitted(item.text, width), "accent"),),)
    sign, kind = SIGNS["waiting" if isinstance(item, Review) else item.kind]
    room = width - INDENT - WHEN - 1
    to = f"{item.recipient} {item.pool}" if item.pool.startswith("@") else item.recipient
    share = min(room, max(len(to), room // 3)) if item.query else room
    about = f"  “{item.query}”" if item.query else ""
    return (
        (
            Part(f"{sign} ", kind),
            Part(fitted(when(item.at, now), WHEN) + " ", "muted"),
            Part(fitted(to, share), "strong"),
            Part(fitted(about, room - share)),
        ),
        (Part(" " * INDENT), Part(fitted(outcome(item, titles), width - INDENT), kind)),
    )


def outcome(item: Subject, titles: Titles = NONE) -> str:
    """Return what happened to a request, or what waits, in one short sentence."""
    if isinstance(item, Review):
        verb = "Asks for" if item.kind == "offer" else "Waits for your approval:"
        return f"{verb} {listed(titled(item.names, titles))}"
    if item.kind == "forgotten":
        return "You marked it as having forgotten everything"
    if item.kind == "nothing":
        return f"Sent nothing: {why_nothing(item)}"
    waiting = f"; {counted(item.waiting, 'fact')} waiting" if item.waiting else ""
    left = "" if item.people_left is None else f"; {alike(item.people_left)}"
    return f"Sent {counted(len(item.disclosed), 'fact')}{left}{waiting}"

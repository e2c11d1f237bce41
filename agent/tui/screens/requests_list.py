"""The list of requests: what waits on top, then what was answered. Pure."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple

from agent.tui.numbers import bits, more, people
from agent.tui.plain import fitted
from agent.tui.virtual_list import Kind, Line, Look, Part
from agent.wire.policy import Review
from agent.wire.records import Handled
from agent.words.outcomes import WHY_NOTHING

Only = Literal["all", "waiting", "disclosed", "nothing"]
ONLY: tuple[Only, ...] = ("all", "waiting", "disclosed", "nothing")
ROOMY = 74  # columns, from which on an item has one line
WHEN, BITS, PEOPLE = 7, 7, 8
ASIDE = 13  # columns of "18,991 people"
FIXED = 2 + WHEN + 1 + 1 + 1 + 1 + BITS + 1 + PEOPLE
WAITS, LEFT, NOTHING, FORGOT = "?", "+", "·", "~"
SIGNS: dict[str, tuple[str, Kind]] = {
    "disclosed": (LEFT, "good"),
    "nothing": (NOTHING, "muted"),
    "forgotten": (FORGOT, "accent"),
}
LEGEND = "? waits for you   + told something   · told nothing   ~ you said that it forgot"


@dataclass(frozen=True, slots=True)
class Title:
    """What stands over a part of the list; ``key``: which part."""

    key: str
    text: str


Subject = Review | Handled


Item = Title | Subject


@dataclass(frozen=True, slots=True)
class Wanted:
    """What of the list is to be seen; ``text``: words, all of which an item has to have."""

    text: str = ""
    only: Only = "all"

    @property
    def everything(self) -> bool:
        """Whether nothing is left out."""
        return self.only == "all" and not self.text.split()


def key_of(item: Item) -> Hashable:
    """Return by what an item is known again."""
    match item:
        case Title():
            return "title", item.key
        case Review():
            return "review", item.id
    return "request", item.number


def arranged(
    reviews: Sequence[Review], handled: Iterable[Handled], wanted: Wanted
) -> tuple[Item, ...]:
    """Return what is to be seen; both parts come oldest first, and go latest first.

    How many wait is counted over all of them.
    """
    words = wanted.text.casefold().split()
    waiting = [each for each in reversed(reviews) if _fits(each, wanted.only, words)]
    answered = [each for each in handled if _fits(each, wanted.only, words)]
    answered.reverse()
    found: list[Item] = []
    if waiting:
        found += [Title("waiting", _waits(len(reviews))), *waiting]
    if answered:
        found += [Title("requests", "Answered, latest first"), *answered]
    return tuple(found)


def merged(known: Mapping[int, Handled], latest: Sequence[Handled]) -> dict[int, Handled] | None:
    """Return what is known and what came since, oldest first.

    None where something between them may be missing.
    """
    if not any(known.get(each.number) == each for each in latest):
        return None
    numbers = {each.number for each in latest}
    older = (each for each in known.values() if each.number not in numbers)
    found = sorted((*older, *latest), key=lambda each: each.at)
    return {each.number: each for each in found}


def with_it(reviews: Iterable[Review], review: Review) -> list[Review]:
    """Return what waits from the recipient of a review, or from whoever it pools with."""
    return [each for each in reviews if each.pool == review.pool]


def _waits(count: int) -> str:
    return f"{count} {'waits' if count == 1 else 'wait'} for your word, with the figures of then"


def _fits(item: Subject, only: Only, words: Sequence[str]) -> bool:
    if only != "all" and _part(item) != only:
        return False
    if not words:
        return True
    text = _text(item)
    return all(word in text for word in words)


def _part(item: Subject) -> Only:
    if isinstance(item, Review):
        return "waiting"
    return "disclosed" if item.kind == "disclosed" else "nothing"


def _text(item: Subject) -> str:
    names = item.names if isinstance(item, Review) else (*item.disclosed, item.code)
    return " ".join((item.recipient, item.pool, item.query, *names)).casefold()


class Cells(NamedTuple):
    """An item in words: its sign, and what stands in each column."""

    sign: str
    kind: Kind
    when: str
    recipient: str
    query: str
    names: str
    bits: str
    people: str


def look(now: Callable[[], datetime]) -> Look[Item]:
    """Return how items are shown; ``now``: the time, where the user lives."""
    return Look(
        key=key_of,
        lines=lambda item, width: lines(item, width, now()),
        height=height,
        rests=lambda item: not isinstance(item, Title),
    )


def when(at: datetime, now: datetime) -> str:
    """Return the time of today, else the day, else the month of another year."""
    here = at.astimezone(now.tzinfo)
    if here.date() == now.date():
        return f"{here:%H:%M}"
    return f"{here.day} {here:%b}" if here.year == now.year else f"{here:%Y-%m}"


def cells(item: Review | Handled, now: datetime) -> Cells:
    """Return an item in words."""
    time = when(item.at, now)
    if isinstance(item, Review):
        asks = "can use:" if item.kind == "offer" else "waits:"
        text = f"{asks} {', '.join(item.names)}"
        brings, left = known(more, item.more_bits), known(people, item.people_left)
        return Cells(WAITS, "strong", time, to(item), item.query, text, brings, left)
    sign, kind = SIGNS[item.kind]
    brings, left = known(bits, item.utility_bits), known(people, item.people_left)
    return Cells(sign, kind, time, to(item), item.query, _names(item), brings, left)


def to(item: Review | Handled) -> str:
    """Return who it is, and the group with which it shares what it is told."""
    return f"{item.recipient} {item.pool}" if item.pool.startswith("@") else item.recipient


def column_heads(width: int) -> str:
    """Return what stands over the columns; nothing where an item has two lines."""
    if width < ROOMY:
        return ""
    recipient, query, names = _widths(width)
    return " ".join(
        (
            "   " + fitted("when", WHEN),
            fitted("to", recipient),
            fitted("query", query),
            fitted("told", names),
            fitted("bits", BITS, right=True),
            fitted("people", PEOPLE, right=True),
        )
    )


def height(item: Item, width: int) -> int:
    """Return how many lines an item has in so many columns."""
    return 1 if isinstance(item, Title) or width >= ROOMY else 2


def lines(item: Item, width: int, now: datetime) -> tuple[Line, ...]:
    """Return an item as lines of so many columns."""
    if isinstance(item, Title):
        return ((Part(fitted(item.text, width), "accent"),),)
    found = cells(item, now)
    return _one(found, width) if width >= ROOMY else _two(found, width)


def known(words: Callable[[float | None], str], number: float | None) -> str:
    """Return a number in words, and nothing where there is none."""
    return "" if number is None else words(number)


def _one(found: Cells, width: int) -> tuple[Line, ...]:
    recipient, query, names = _widths(width)
    return (
        (
            Part(f"{found.sign} ", found.kind),
            Part(fitted(found.when, WHEN) + " ", "muted"),
            Part(fitted(found.recipient, recipient) + " ", "strong"),
            Part(fitted(found.query, query) + " "),
            Part(fitted(found.names, names) + " ", found.kind),
            Part(fitted(found.bits, BITS, right=True) + " "),
            Part(fitted(found.people, PEOPLE, right=True)),
        ),
    )


def _two(found: Cells, width: int) -> tuple[Line, ...]:
    room = width - 2 - WHEN - 1 - ASIDE - 1
    recipient = min(room, max(len(found.recipient), room // 3)) if found.query else room
    about = Part(fitted(f"  {found.query}" if found.query else "", room - recipient))
    brings = f"{found.bits} bits" if found.bits else ""
    left = f"{found.people} people" if found.people else ""
    return (
        (
            Part(f"{found.sign} ", found.kind),
            Part(fitted(found.when, WHEN) + " ", "muted"),
            Part(fitted(found.recipient, recipient), "strong"),
            about,
            Part(" " + fitted(brings, ASIDE, right=True)),
        ),
        (
            Part(" " * (2 + WHEN + 1)),
            Part(fitted(found.names, room), found.kind),
            Part(" " + fitted(left, ASIDE, right=True)),
        ),
    )


def _widths(width: int) -> tuple[int, int, int]:
    """Return how wide the recipient, the query and the names are."""
    room = width - FIXED
    recipient, query = room * 30 // 100, room * 24 // 100
    return recipient, query, room - recipient - query


def _names(item: Handled) -> str:
    if item.kind == "forgotten":
        return "forgot what it held"
    if item.kind == "nothing":
        return f"nothing: {WHY_NOTHING[item.code]}"
    waiting = f" ({item.waiting} waiting)" if item.waiting else ""
    return ", ".join(item.disclosed) + waiting

"""What stands in the list of requests: what waits on top, then what was answered. Pure."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from agent.wire.policy import Review
from agent.wire.records import Handled

Only = Literal["all", "waiting", "disclosed", "nothing"]
ONLY: tuple[Only, ...] = ("all", "waiting", "disclosed", "nothing")


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

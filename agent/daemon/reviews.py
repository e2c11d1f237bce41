"""The reviews that wait for the user, as a value, and the offers that the user approved.

An offer closes what it does not name. What it closed stays closed when it is over, and when its
record cannot be read: nothing opens because time passes.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from functools import cache, lru_cache

import msgspec
from msgspec.structs import replace as changed

from agent.errors import RefusedError, UsageError
from agent.vault.store import Items
from agent.wire.policy import Review, Word
from agent.wire.state import Site
from policy.match import Rulebook
from policy.services import usable

EXPIRES = timedelta(hours=24)
# An offer may name a thousand attributes.
MOST_REVIEWS = {"ask": 1000, "offer": 100, "means": 100, "fact": 100}
PREFIX = "offers/"
MOST_OFFERS = 4096  # sites whose offers are at hand
SEARCHES_PER_SITE = 8
MOST_SEARCHES = 400  # of the longest addresses, so that a browser's relay takes the answer: 1 MiB
Key = tuple[str, str, frozenset[str]]


@dataclass(frozen=True, slots=True)
class Waiting:
    """The reviews, the least recently requested first; ``last``: the highest number of one."""

    reviews: Mapping[Key, Review] = field(default_factory=dict)
    last: int = 0

    def find(self, number: int) -> Review:
        """Find the review with a number; UsageError if none has it."""
        for review in self.reviews.values():
            if review.id == number:
                return review
        hint = "it may be settled already: see `reticent requests list --waiting`"
        raise UsageError(f"nothing is pending under the number {number}", hint)


def offer_key(recipient: str, address: str | None = None) -> Key:
    """Identify a recipient's offer: the later one replaces the earlier."""
    return "offer", recipient, frozenset(filter(None, [address]))


def key_of(review: Review) -> Key:
    """Identify a review: no two that wait have the same key."""
    if review.kind == "offer":
        return offer_key(review.recipient, review.address)
    if review.topic is not None:
        return review.kind, review.query, frozenset([review.topic.model, review.topic.query])
    if review.kind == "fact":
        return review.kind, review.query, frozenset()
    return review.kind, review.pool, frozenset(review.names)


def queued(waiting: Waiting, review: Review) -> tuple[Waiting, Review | None]:
    """Add a review, which gets its number here, or refresh the one that is like it.

    Also returns the review if it is new, or raised only now. What was shown under a number never
    grows: an offer of other names, or with another search, has a number of its own.
    """
    key = key_of(review)
    before = waiting.reviews.get(key)
    shown = {(frozenset(e.names), e.pool, e.search) for e in (before or review, review)}
    before = before if len(shown) == 1 else None
    last = waiting.last + (before is None)
    raised = review.raised or (before is not None and before.raised)
    is_new = before is None or before.raised != raised
    review = changed(review, id=last if before is None else before.id, raised=raised)
    reviews = {other: each for other, each in waiting.reviews.items() if other != key}
    reviews[key] = review
    return Waiting(_bounded(reviews), last), review if is_new else None


def expired(waiting: Waiting, now: datetime) -> Waiting:
    """Remove the reviews that no request has met for a day."""
    recent = {key: each for key, each in waiting.reviews.items() if now - each.at < EXPIRES}
    return waiting if len(recent) == len(waiting.reviews) else replace(waiting, reviews=recent)


def narrowed(waiting: Waiting, names_of: Callable[[Review], Collection[str] | None]) -> Waiting:
    """Reduce reviews to those of their names that a function names; None leaves one as it is.

    One that is narrowed has no figures any more, and one without names is removed.
    """
    reviews = dict[Key, Review]()
    for key, review in waiting.reviews.items():
        names = names_of(review)
        if names is None:
            reviews[key] = review
        elif rest := [name for name in review.names if name in names]:
            part = changed(review, names=rest, more_bits=None, people_left=None)
            new_key = key_of(part)
            if new_key == key or new_key not in waiting.reviews:
                reviews.setdefault(new_key, part)
    return replace(waiting, reviews=reviews)


def settled(waiting: Waiting, number: int, names: frozenset[str] | None = None) -> Waiting:
    """Remove names from a review, by default all; UsageError if there is no such review."""
    review = waiting.find(number)
    rest = () if names is None else {*review.names} - names
    return narrowed(waiting, lambda each: rest if each is review else None)


def cleared(waiting: Waiting, names: frozenset[str], pool: str | None) -> Waiting:
    """Remove names from the reviews of a pool, None for all; offers stay as they are."""

    def rest(review: Review) -> Collection[str] | None:
        affected = review.kind == "ask" and pool in (None, review.pool)
        return {*review.names} - names if affected and not names.isdisjoint(review.names) else None

    return narrowed(waiting, rest)


def put_back(waiting: Waiting, before: Waiting, after: Waiting) -> Waiting:
    """Restore the reviews that one step removed or changed; those that came since stay.

    ``before``, ``after``: the step.
    """
    if waiting.reviews == after.reviews:
        return replace(waiting, reviews=before.reviews)
    back = {key: each for key, each in before.reviews.items() if after.reviews.get(key) != each}
    numbers = {each.id for each in back.values()}
    stay = {key: each for key, each in waiting.reviews.items() if each.id not in numbers}
    ordered = sorted({**back, **stay}.items(), key=lambda pair: pair[1].at)
    return replace(waiting, reviews=_bounded(dict(ordered)))


def check_answer(review: Review, word: Word, pool: str) -> None:
    """Raise RefusedError where an answer is about something else than the review.

    UsageError where it names nothing.
    """

    def conflict(what: str) -> RefusedError:
        return RefusedError("conflict", what, "see `reticent requests list --waiting`")

    if others := {*(word.names or ())}.difference(review.names):
        raise conflict(f"{min(others)!r} is not pending under {review.id}")
    if word.names is not None and not word.names:
        raise UsageError("the answer names no attribute", "leave out names for all of them")
    if word.about == "family" and not review.families:
        raise UsageError("these facts have no family left to settle", "leave out --family")
    if word.disclose not in ("auto", "never") and word.about != "family":
        raise UsageError("what waits is approved or denied", "use auto or never")
    if pool != review.pool or word.recipient not in (None, pool):
        raise conflict(f"who {review.recipient} pools with has changed")


def _bounded(reviews: dict[Key, Review]) -> dict[Key, Review]:
    """Remove the oldest of a kind that has too many."""
    for kind, most in MOST_REVIEWS.items():
        same = [key for key in reviews if key[0] == kind]
        for key in same[: max(0, len(same) - most)]:
            del reviews[key]
    return reviews


class Approved(msgspec.Struct, frozen=True):
    """An approved offer: the names, and the last day on which it holds, None for no end.

    ``searches``: where the site is searched, as `policy.services` writes it; older records have
    none.
    """

    names: tuple[str, ...]
    until: date | None = None
    searches: tuple[str, ...] = ()

    def names_on(self, today: date) -> frozenset[str]:
        """Name what the recipient can use on a day: nothing where it is over."""
        over = self.until is not None and today > self.until
        return frozenset() if over else frozenset(self.names)

    def after(self, before: "Approved | None", today: date) -> "Approved":
        """Add the searches of the offer that this one replaces, if that one still holds."""
        older = before.searches if before is not None and before.names_on(today) else ()
        unique = tuple(dict.fromkeys((*self.searches, *older)))
        return changed(self, searches=unique[:SEARCHES_PER_SITE])


class Offers:
    """Approved offers by site, read from the vault when first needed."""

    def __init__(self, items: Items) -> None:
        self._items, self.find = items, lru_cache(MOST_OFFERS)(self._record)
        """Find a site's approved offer, None where none was ever approved."""
        self.searched = cache(self._all_searched)
        """All that say where their site is searched."""

    def keep(self, site: str, approved: Approved | None) -> None:
        """Replace a site's offer, None for none."""
        if approved is None:
            self._items.delete(PREFIX + site)
        else:
            self._items.put(PREFIX + site, msgspec.msgpack.encode(approved))
        self.find.cache_clear()
        self.searched.cache_clear()

    def _all_searched(self) -> tuple[Approved, ...]:
        records = (self._record(name.removeprefix(PREFIX)) for name in self._items.names(PREFIX))
        return tuple(each for each in records if each is not None and each.searches)

    def _record(self, site: str) -> Approved | None:
        """Read a site's record; one of another version is an offer of nothing."""
        content = self._items.get(PREFIX + site)
        try:
            return None if content is None else msgspec.msgpack.decode(content, type=Approved)
        except msgspec.DecodeError:
            return Approved(())


def sites(book: Rulebook, offered: Iterable[Approved], today: date) -> list[Site]:
    """List the searches in order, of recipients that get anything by the policy.

    ``offered``: approved offers; at most MOST_SEARCHES, the policy's first.
    """
    ruled = sorted({*book.searches(today)})
    texts = (text for each in offered if each.names_on(today) for text in each.searches)
    more = {
        search
        for search in map(usable, texts)
        if search is not None and book.refusing(search.host, today) is None
    }
    searches = sorted([*ruled, *sorted(more.difference(ruled))][:MOST_SEARCHES])
    return [
        Site(
            recipient=each.host,
            search=each.text,
            carry=(ruling := book.match(each.host, "", today)).carry,
            rerank=ruling.settings["results"].value != "send",
        )
        for each in searches
    ]

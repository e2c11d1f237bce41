"""What waits for the user, and what was approved of offers: which searches browsers act on.

An offer closes what it does not name. What it closed stays closed when it is over, and when its
record cannot be read: nothing opens because time passes.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from typing import Protocol

import msgspec
from msgspec.structs import replace as changed

from agent.errors import UsageError
from agent.wire.policy import Review
from agent.wire.state import Site
from policy.hosts import site_of, suffixes
from policy.match import WRITE, Rulebook, Search, searches, usable

EXPIRES = timedelta(hours=24)
HOUR = timedelta(hours=1)
MOST_REVIEWS = {"ask": 1000, "offer": 100}  # an offer may name a thousand attributes
MOST_PROMPTS = 1000  # within an hour, whatever the policy says
Key = tuple[str, str, frozenset[str]]
NOBODY: Key = ("", "", frozenset())
PREFIX = "offers/"
MOST_OFFERS = 4096  # sites whose offers are at hand
SEARCHES_PER_SITE = 8  # of one site
MOST_SEARCHES = 400  # of the longest addresses, so that a browser's relay takes the answer: 1 MiB


@dataclass(frozen=True, slots=True)
class Waiting:
    """The reviews, the one that was met longest ago first, and when prompts were granted to which.

    ``last``: the highest number that a review had.
    """

    reviews: Mapping[Key, Review] = field(default_factory=dict)
    prompts: tuple[tuple[datetime, Key], ...] = ()
    last: int = 0

    def find(self, number: int) -> Review:
        """Return the review with a number; UsageError if none has it."""
        for review in self.reviews.values():
            if review.id == number:
                return review
        hint = "it may be settled already: see `reticent requests pending`"
        raise UsageError(f"nothing is pending under the number {number}", hint)


def queued(
    waiting: Waiting, review: Review, hourly: int, now: datetime
) -> tuple[Waiting, Review | None]:
    """Return what waits with one more review, or with the one that is like it refreshed.

    ``review``: its number and whether it is prompted do not matter; ``hourly``: prompts that may
    be granted within an hour, one of them to a recipient's offers. Also returns the review if it is
    new, or a prompt from now on. What was shown under a number never grows: an offer of other
    names, or with another search, has a number of its own.
    """
    key = _key(review)
    before = _shown_before(waiting.reviews.get(key), review)
    prompts = tuple((at, other) for at, other in waiting.prompts if now - at < HOUR)
    had = before.prompted if before is not None else False
    spent = review.kind == "offer" and any(other == key for _, other in prompts)
    granted = not had and not spent and len(prompts) < min(hourly, MOST_PROMPTS)
    last = waiting.last + (before is None)
    review = changed(
        review,
        id=last if before is None else before.id,
        prompted=granted or had,
    )
    reviews = {other: each for other, each in waiting.reviews.items() if other != key}
    reviews[key] = review
    made = Waiting(_bounded(reviews), (*prompts, (now, key)) if granted else prompts, last)
    return made, review if granted or before is None else None


def met(waiting: Waiting, review: Review) -> Review:
    """Return what waits in the place of a review that was queued."""
    return waiting.reviews[_key(review)]


def expired(waiting: Waiting, now: datetime) -> Waiting:
    """Return what waits without what nothing has met for a day."""
    kept = {key: each for key, each in waiting.reviews.items() if now - each.at < EXPIRES}
    return waiting if len(kept) == len(waiting.reviews) else replace(waiting, reviews=kept)


def forgotten(waiting: Waiting) -> Waiting:
    """Return what waits, and of the prompts for what was settled no more than when they were."""
    kept = waiting.reviews
    prompts = tuple((at, key if key in kept else NOBODY) for at, key in waiting.prompts)
    return replace(waiting, prompts=prompts)


def removed(waiting: Waiting, number: int) -> Waiting:
    """Return what waits without a review; UsageError if there is no such."""
    key = _key(waiting.find(number))
    left = {other: each for other, each in waiting.reviews.items() if other != key}
    return replace(waiting, reviews=left)


def offered_names(waiting: Waiting, recipient: str, now: datetime) -> frozenset[str] | None:
    """Return what an offer that waits says its recipient can use, None where none waits.

    Asked before every decision: it looks at no other review.
    """
    review = waiting.reviews.get(("offer", recipient, frozenset()))
    return frozenset(review.names) if review and now - review.at < EXPIRES else None


def settled(waiting: Waiting, number: int, names: frozenset[str]) -> Waiting:
    """Return what waits, a review without these names, or gone if it has no others."""
    review = waiting.find(number)
    left = removed(waiting, number)
    rest = changed(
        review,
        names=[name for name in review.names if name not in names],
        more_bits=None,
        people_left=None,
    )
    if not rest.names or _key(rest) in left.reviews:
        return left
    return replace(left, reviews={**left.reviews, _key(rest): rest})


def followed(
    waiting: Waiting,
    gone: Callable[[Review], frozenset[str]],
    is_as_before: Callable[[Review], bool],
) -> Waiting:
    """Return what waits by other rules: without names, and without figures that were of the old.

    ``gone``: returns what of a review would not wait now; offers stay as they are.
    """
    for key, review in [*waiting.reviews.items()]:
        if review.kind == "offer" or is_as_before(review):
            continue
        if names := gone(review):
            waiting = settled(waiting, review.id, names)
        else:
            bare = changed(review, more_bits=None, people_left=None)
            waiting = replace(waiting, reviews={**waiting.reviews, key: bare})
    return waiting


def cleared(waiting: Waiting, names: frozenset[str], pool: str | None) -> Waiting:
    """Return what waits without these names of a pool, None for all; offers stay as they are."""
    for review in [*waiting.reviews.values()]:
        about = review.kind == "ask" and pool in (None, review.pool)
        if about and not names.isdisjoint(review.names):
            waiting = settled(waiting, review.id, names)
    return waiting


def put_back(waiting: Waiting, before: Waiting, after: Waiting) -> Waiting:
    """Return what waits with all that went from the list in one step; what came since stays.

    ``before``, ``after``: the step.
    """
    if waiting.reviews == after.reviews:
        return replace(waiting, reviews=before.reviews)
    gone = {key: each for key, each in before.reviews.items() if after.reviews.get(key) != each}
    left = {each.id for each in gone.values()}
    stay = {key: each for key, each in waiting.reviews.items() if each.id not in left}
    found = sorted({**gone, **stay}.items(), key=lambda pair: pair[1].at)
    return replace(waiting, reviews=_bounded(dict(found)))


def _key(review: Review) -> Key:
    """Return what no two reviews have in common; a recipient's later offer replaces its own."""
    if review.kind == "offer":
        return review.kind, review.recipient, frozenset()
    return review.kind, review.pool, frozenset(review.names)


def _shown_before(before: Review | None, review: Review) -> Review | None:
    """Return the review in whose place another comes, if it said the same."""
    if before is None or {*before.names} != {*review.names}:
        return None
    return before if (before.pool, before.search) == (review.pool, review.search) else None


def _bounded(reviews: dict[Key, Review]) -> dict[Key, Review]:
    """Return the reviews without the oldest of a kind that has too many."""
    for kind, most in MOST_REVIEWS.items():
        same = [key for key in reviews if key[0] == kind]
        for key in same[: max(0, len(same) - most)]:
            del reviews[key]
    return reviews


class Items(Protocol):
    """Sealed records of the vault, as `agent.vault.store.Items` has them."""

    def get(self, name: str) -> bytes | None:
        """Return a record, None if there is none."""

    def put(self, name: str, content: bytes, /, *, durable: bool = True) -> None:
        """Set a record; ``durable``: on the disk when it returns."""

    def names(self, prefix: str) -> list[str]:
        """Return the names of all records that begin so, sorted."""

    def delete(self, name: str) -> None:
        """Take a record out, if it is there."""


class Approved(msgspec.Struct, frozen=True):
    """An approved offer: the names, and the last day on which it holds, None for no end.

    ``searches``: where the site is searched, as `policy.match` writes it; older records have none.
    """

    names: tuple[str, ...]
    until: date | None = None
    searches: tuple[str, ...] = ()

    def names_on(self, today: date) -> frozenset[str]:
        """Return the names that the recipient can use on a day: none where it is over."""
        over = self.until is not None and today > self.until
        return frozenset() if over else frozenset(self.names)

    def after(self, before: "Approved | None", today: date) -> "Approved":
        """Return this offer with the searches of the one in whose place it comes, if that holds."""
        held = before.searches if before is not None and before.names_on(today) else ()
        return msgspec.structs.replace(
            self, searches=tuple(dict.fromkeys((*self.searches, *held)))[:SEARCHES_PER_SITE]
        )


class Offers:
    """Approved offers by site, read from the vault when first asked for."""

    def __init__(self, items: Items) -> None:
        self._items = items
        self._known: dict[str, Approved | None] = {}
        self._searched: tuple[Approved, ...] | None = None

    def find(self, site: str) -> Approved | None:
        """Return what a site may be offered, None where it has offered nothing."""
        if site not in self._known:
            if len(self._known) >= MOST_OFFERS:
                self._known.clear()
            self._known[site] = _read(self._items.get(PREFIX + site))
        return self._known[site]

    @property
    def searched(self) -> tuple[Approved, ...]:
        """All that say where their site is searched: the same tuple until one of them changes."""
        if self._searched is None:
            found = (_read(self._items.get(name)) for name in self._items.names(PREFIX))
            self._searched = tuple(each for each in found if each is not None and each.searches)
        return self._searched

    def approve(self, site: str, approved: Approved) -> None:
        """Keep an offer from now on, instead of the one before."""
        self._items.put(PREFIX + site, msgspec.msgpack.encode(approved))
        self._known[site], self._searched = approved, None

    def restore(self, site: str, before: Approved | None) -> None:
        """Keep of a site what was kept before, None for nothing."""
        if before is not None:
            self.approve(site, before)
            return
        self._items.delete(PREFIX + site)
        self._known[site] = self._searched = None


def _read(content: bytes | None) -> Approved | None:
    """Return a record as it was kept; one of another version is an offer of nothing."""
    if content is None:
        return None
    try:
        return msgspec.msgpack.decode(content, type=Approved)
    except msgspec.DecodeError:
        return Approved(())


Offered = tuple[Approved, ...]


def own_search(text: str, host: str) -> str:
    """Return a search as browsers write it; UsageError where it is none, or not of the host.

    ``host``: canonical. Below it is its own too, but not where somebody else registered that.
    """
    search = Search.parse(text)
    if host not in suffixes(search.host) or site_of(search.host) != site_of(host):
        raise UsageError(f"{search.host} is not {host}, nor below it", WRITE)
    return search.text


class Sites:
    """The searches, remembered until the policy, the approved offers or the day are others."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Forget what was asked."""
        self._of: tuple[Rulebook, Offered, date] | None = None
        self._found: list[Site] = []

    def at(self, book: Rulebook, offered: Offered, today: date) -> list[Site]:
        """Return the searches in order, of recipients that get anything by the policy.

        ``offered``: approved offers, another tuple where they are others; at most `MOST`
        searches, the policy's first.
        """
        of = self._of
        if of is None or of[0] is not book or of[1] is not offered or of[2] != today:
            self._found = _sites(book, offered, today)
            self._of = (book, offered, today)
        return self._found


def _sites(book: Rulebook, offered: Offered, today: date) -> list[Site]:
    ruled = sorted({*searches(book, today)})
    more = sorted({*_approved(book, offered, today)}.difference(ruled))
    found = sorted([*ruled, *more][:MOST_SEARCHES])
    return [Site(recipient=each.host, search=each.text) for each in found]


def _approved(book: Rulebook, offered: Offered, today: date) -> Iterator[Search]:
    """Yield the searches of offers that hold, of recipients that get anything."""
    for approved in offered:
        for text in approved.searches if approved.names_on(today) else ():
            search = usable(text)
            if search is not None and book.refusing(search.host, today) is None:
                yield search

"""The reviews that wait for the user, as a value."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from msgspec.structs import replace as changed

from agent.errors import UsageError
from agent.wire.policy import Review

EXPIRES = timedelta(hours=24)
HOUR = timedelta(hours=1)
MOST_REVIEWS = {"ask": 1000, "offer": 100}  # an offer may name a thousand attributes
MOST_PROMPTS = 1000  # within an hour, whatever the policy says
Key = tuple[str, str, frozenset[str]]
NOBODY: Key = ("", "", frozenset())


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


def key_of(review: Review) -> Key:
    """Return what no two reviews have in common; a recipient's later offer replaces its own."""
    if review.kind == "offer":
        return review.kind, review.recipient, frozenset(filter(None, [review.address]))
    return review.kind, review.pool, frozenset(review.names)


def queued(
    waiting: Waiting, review: Review, hourly: int, now: datetime
) -> tuple[Waiting, Review | None]:
    """Return what waits with one more review, or with the one that is like it refreshed.

    ``review``: its number and whether it is prompted do not matter; ``hourly``: prompts that may
    be granted within an hour, one of them to a recipient's offers. Also returns the review if it is
    new, or a prompt from now on. What was shown under a number never grows: an offer of other
    names, or with another search, has a number of its own.
    """
    key = key_of(review)
    before = waiting.reviews.get(key)
    if before is not None and (frozenset(before.names), before.pool, before.search) != (
        frozenset(review.names),
        review.pool,
        review.search,
    ):
        before = None
    prompts = tuple((at, other) for at, other in waiting.prompts if now - at < HOUR)
    had = before is not None and before.prompted
    spent = review.kind == "offer" and any(other == key for _, other in prompts)
    granted = not had and not spent and len(prompts) < min(hourly, MOST_PROMPTS)
    last = waiting.last + (before is None)
    review = changed(review, id=last if before is None else before.id, prompted=granted or had)
    reviews = {other: each for other, each in waiting.reviews.items() if other != key}
    reviews[key] = review
    made = Waiting(_bounded(reviews), (*prompts, (now, key)) if granted else prompts, last)
    return made, review if granted or before is None else None


def expired(waiting: Waiting, now: datetime) -> Waiting:
    """Return what waits without what nothing has met for a day."""
    kept = {key: each for key, each in waiting.reviews.items() if now - each.at < EXPIRES}
    return waiting if len(kept) == len(waiting.reviews) else replace(waiting, reviews=kept)


def anonymous(waiting: Waiting) -> Waiting:
    """Return what waits, with no more than the time of each prompt whose review is settled."""
    kept = waiting.reviews
    prompts = tuple((at, key if key in kept else NOBODY) for at, key in waiting.prompts)
    return replace(waiting, prompts=prompts)


def settled(waiting: Waiting, number: int, names: frozenset[str] | None = None) -> Waiting:
    """Return what waits, a review without these names, or gone if it has no others.

    ``names``: None for all. UsageError if there is no such review.
    """
    review = waiting.find(number)
    reviews = {key: each for key, each in waiting.reviews.items() if each is not review}
    rest = [name for name in review.names if names is not None and name not in names]
    left = changed(review, names=rest, more_bits=None, people_left=None)
    if rest:
        reviews.setdefault(key_of(left), left)
    return replace(waiting, reviews=reviews)


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


def _bounded(reviews: dict[Key, Review]) -> dict[Key, Review]:
    """Return the reviews without the oldest of a kind that has too many."""
    for kind, most in MOST_REVIEWS.items():
        same = [key for key in reviews if key[0] == kind]
        for key in same[: max(0, len(same) - most)]:
            del reviews[key]
    return reviews

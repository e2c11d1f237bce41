"""What waits for the user, as a value: at most so many, each for a day after it was last met."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from msgspec.structs import replace as changed

from agent.errors import UsageError
from agent.wire.policy import Review

EXPIRES = timedelta(hours=24)
HOUR = timedelta(hours=1)
MOST = {"ask": 1000, "offer": 100}  # an offer may name a thousand attributes
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
        hint = "it may have been settled meanwhile: see `reticent requests pending`"
        raise UsageError(f"nothing that waits has the number {number}", hint)


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
    for kind, most in MOST.items():
        same = [key for key in reviews if key[0] == kind]
        for key in same[: max(0, len(same) - most)]:
            del reviews[key]
    return reviews

"""The desk: what waits for the user, and what the user has said of it."""

from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta
from pathlib import Path

from agent.daemon.desk.kept import Items
from agent.daemon.desk.offers import Approved, Offers
from agent.daemon.desk.refusals import allow, refuse
from agent.daemon.desk.verdicts import Words, denied_once, overlaid, say, used_up, without
from agent.daemon.desk.waiting import HOUR, Waiting, expired, queued, removed, settled
from agent.daemon.desk.written import Wish, write
from agent.decision.decision import Decision
from agent.decision.terms import Terms
from agent.errors import LockedError, RefusedError, UsageError
from agent.wire.asking import Ask
from agent.wire.reviews import Review, Ruled, Verdict
from policy.groups import Pools
from policy.hosts import host_of, site_of
from policy.match import Rulebook, Ruling
from policy.rules import Policy

WRITTEN = ("days", "always")
MOST_REFUSALS = 60  # within an hour


class Desk:
    """Holds what waits and what was said; it belongs to one thread.

    Nothing is written because something expires or is dismissed.
    """

    def __init__(self, path: Path, policy: Callable[[], Policy | None]) -> None:
        """Take the policy file, and what returns the rules that are in use, None where none are."""
        self._path = path
        self._policy = policy
        self._book: Rulebook | None = None
        self._offers: Offers | None = None
        self._waiting = Waiting()
        self._words: Words = ()
        self._refusals: tuple[datetime, ...] = ()

    def opened(self, items: Items) -> None:
        """Take what remembers approved offers, once the vault is unlocked."""
        self._offers = Offers(items)

    def closed(self) -> None:
        """Forget what the vault holds and what was asked, as it is locked; what waits stays."""
        self._offers, self._book = None, None

    def offered(self, site: str, now: datetime) -> frozenset[str] | None:
        """Return what an approved offer says a recipient can use, None where there never was one.

        One that is over says that it can use nothing.
        """
        approved = self._offers.find(site) if self._offers else None
        return approved.names_on(now.date()) if approved else None

    def overlay(self, terms: Terms, pool: str) -> Terms:
        """Return the terms with the user's verdicts for a pool applied to what they would ask."""
        return overlaid(terms, self._words, pool)

    def note(self, decision: Decision, ruling: Ruling, ask: Ask, now: datetime) -> Review | None:
        """Queue what waits, also where the answer cannot be recorded then: it was asked for.

        Returns the review if it is new, or may be shown as a prompt from now on.
        """
        denied = denied_once(self._words, decision, ruling.pool)
        pending = decision.pending
        names = [name for name in pending.names if name not in denied] if pending else []
        if pending is None or not names:
            return None
        whole = not denied
        review = Review(
            id=0,
            kind="ask",
            at=now,
            recipient=ruling.host,
            pool=ruling.pool,
            names=names,
            query=ask.query,
            more_bits=pending.figures.utility - decision.figures.utility if whole else None,
            people_left=pending.figures.people_left if whole else None,
        )
        return self._queue(review, now)

    def answered(self, decision: Decision, ruling: Ruling) -> None:
        """Use up what was said once, now that an answer leaves by it."""
        self._words = used_up(self._words, decision, ruling)

    def reviews(self, now: datetime) -> list[Review]:
        """Return what waits, the one that was met longest ago first."""
        self._waiting = expired(self._waiting, now)
        return [*self._waiting.reviews.values()]

    def verdict(self, number: int, verdict: Verdict, now: datetime) -> Ruled:
        """Apply the user's word from the next request on; the policy file may have changed then.

        An offer is settled for good, or for so many days. UsageError where there is no such
        review, or the policy cannot be written; RefusedError where it is not what the user was
        shown; LockedError for an offer that cannot be remembered.
        """
        self._waiting = expired(self._waiting, now)
        review = self._waiting.find(number)
        names = _chosen(review, verdict)
        pool = self._pool(review.recipient)
        if pool != review.pool or verdict.pool not in (None, pool):
            raise _changed(f"who {review.recipient} pools with has changed", review)
        if review.kind == "offer":
            ruled = self._settle_offer(review, names, verdict, now)
            self._waiting = removed(self._waiting, number)
            return ruled
        whom = None if verdict.about == "everyone" else pool
        ruled = Ruled(written=None, without_effect=[])
        if verdict.lasting in WRITTEN:
            ruled = self._write(review, names, verdict, now)
            self._words = without(self._words, names, whom)
        else:
            once = verdict.lasting == "once"
            self._words = say(self._words, names, whom, verdict.decided, once=once)
        self._waiting = settled(self._waiting, number, frozenset(names))
        return ruled

    def dismiss(self, number: int) -> None:
        """Take a review off the list, ruling nothing; UsageError where there is none."""
        self._waiting = removed(self._waiting, number)

    def offer(self, site: str, pool: str, names: Sequence[str], now: datetime) -> Review | None:
        """Queue what a recipient says it can use; returns the review if it is new.

        Nothing is queued that was approved already, or of a recipient that gets nothing.
        """
        unique = [*dict.fromkeys(names)]
        if self.offered(site, now) == frozenset(unique) or self._gets_nothing(site, now):
            return None
        review = Review(id=0, kind="offer", at=now, recipient=site, pool=pool, names=unique)
        return self._queue(review, now)

    def refuse(self, host: str, now: datetime) -> None:
        """Write into the policy that a recipient gets nothing; UsageError where it cannot be.

        RefusedError where that was asked for too often: each time the file is written.
        """
        canonical = host_of(host)
        site = site_of(canonical)
        if not self._gets_nothing(site, now, for_good=True):
            self._count_refusal(now)
            refuse(self._path, canonical)
        for review in self.reviews(now):
            if review.kind == "offer" and review.recipient == site:
                self.dismiss(review.id)

    def _queue(self, review: Review, now: datetime) -> Review | None:
        policy = self._policy()
        hourly = policy.daemon.prompts_per_hour if policy else 0
        self._waiting, new = queued(expired(self._waiting, now), review, hourly, now)
        return new

    def _pool(self, host: str) -> str:
        policy = self._policy()
        return Pools(policy.groups if policy else {}).of(host)

    def _count_refusal(self, now: datetime) -> None:
        lately = tuple(each for each in self._refusals if now - each < HOUR)
        if len(lately) >= MOST_REFUSALS:
            what = f"{MOST_REFUSALS} recipients were refused within an hour"
            raise RefusedError("refused", what, "write a rule for several of them into the policy")
        self._refusals = (*lately, now)

    def _gets_nothing(self, site: str, now: datetime, *, for_good: bool = False) -> bool:
        policy = self._policy()
        if policy is None:
            return False
        if self._book is None or self._book.policy is not policy:
            self._book = Rulebook(policy, ())
        ruled = self._book.match(site, "", now.date()).settings["nothing"]
        return ruled.value is True and not (for_good and ruled.rule.expires)

    def _write(
        self, review: Review, names: tuple[str, ...], verdict: Verdict, now: datetime
    ) -> Ruled:
        wish = Wish(
            host=review.recipient,
            decided=verdict.decided,
            names=names,
            query=review.query,
            everyone=verdict.about == "everyone",
            until=_until(verdict, now),
        )
        written = write(self._path, wish, now.date())
        return Ruled(
            written=written.rule,
            without_effect=[*written.without_effect],
            decided_by=[*written.decided_by],
        )

    def _settle_offer(
        self, review: Review, names: tuple[str, ...], verdict: Verdict, now: datetime
    ) -> Ruled:
        site, until = review.recipient, _until(verdict, now)
        if verdict.about == "everyone":
            raise UsageError("an offer is about its recipient alone", "leave out everyone")
        if verdict.decided == "deny":
            written = write(self._path, Wish(site, None, until=until), now.date())
            return Ruled(written=written.rule, without_effect=[])
        if self._offers is None:
            raise LockedError
        if self._gets_nothing(site, now):
            allow(self._path, site)
        self._offers.approve(site, Approved(names, until))
        return Ruled(written=None, without_effect=[])


def _chosen(review: Review, verdict: Verdict) -> tuple[str, ...]:
    """Return the names that a verdict is about; RefusedError for one that is not of its review."""
    for name in verdict.names or ():
        if name not in review.names:
            raise _changed(f"{name!r} does not wait under {review.id}", review)
    if verdict.names is not None and not verdict.names:
        raise UsageError("the verdict is about no attribute", "leave names out for all of them")
    if (verdict.lasting == "days") != (verdict.days is not None):
        raise UsageError("days go with a verdict that lasts days", "say both, or neither")
    return tuple(dict.fromkeys(verdict.names or review.names))


def _changed(what: str, review: Review) -> RefusedError:
    """Return the error for a word on something else than what waits."""
    hint = f"look again with `reticent pending`; `--dismiss {review.id}` takes it off the list"
    return RefusedError("conflict", what, hint)


def _until(verdict: Verdict, now: datetime) -> date | None:
    """Return the last day of a verdict, None for no end."""
    return None if verdict.days is None else now.date() + timedelta(days=verdict.days)

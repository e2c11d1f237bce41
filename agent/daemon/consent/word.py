"""The user's word: on what waits, on attributes in advance, and on recipients; and its undoing.

A word that lasts is written into the policy; one for the next request is a preference in memory.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace as changed

from agent.daemon.consent import managed_rules, queue
from agent.daemon.consent.blocks import Blocks
from agent.daemon.consent.managed_rules import Instruction
from agent.daemon.consent.preferences import (
    Bases,
    Preferences,
    applied,
    denied_once,
    still_waiting,
    used_up,
    with_word,
    without_word,
)
from agent.daemon.consent.queue import Approved, Offers, Waiting
from agent.daemon.policy_file import ActivePolicy, Edit, restore, rewrite
from agent.decision.terms import Terms
from agent.decision.values import Decision
from agent.errors import LockedError, UsageError
from agent.vault.store import Items
from agent.wire.decide import Ask
from agent.wire.policy import Override, Review, Ruled, Word
from agent.wire.state import Site
from agent.words.figures import listed
from policy.hosts import host_of, site_of
from policy.match import Attributes, Ruling, known
from policy.rules import Rule

ALREADY_SENT = "Data already sent cannot be recalled."
ONLY_THE_LAST = (
    "you can undo only your latest change, and only until the vault locks; "
    "`reticent policy show` has the rules"
)
IN_MEMORY = Ruled(written=None, without_effect=[])
ApprovedOffer = tuple[str, Approved | None]  # a site, and what was approved of it


class Step(NamedTuple):
    """The user's latest change: ``undo`` reverts it, and says what it was.

    ``of_values``: it changed the user's values, and is final once a request was answered.
    """

    undo: Callable[[datetime], str]
    of_values: bool = False


class Consent:
    """What waits, what the user wants, and their latest step; of one thread.

    Nothing is written because something is dismissed or expires.
    """

    def __init__(self, path: Path, active: Callable[[], ActivePolicy]) -> None:
        """Take the policy file, and what returns the rules in use."""
        self._path, self._active = path, active
        self._offers: Offers | None = None
        self._sites = lru_cache(1)(queue.sites)  # until what it is of changes
        self._waiting, self._preferences = Waiting(), Preferences()
        self._step: Step | None = None
        self._followed: tuple[object, ...] = ()  # what the reviews were last shown by
        self._shown: list[Review] = []
        self._bases, self._blocks = Bases(), Blocks(path)

    # the vault

    def opened(self, items: Items) -> None:
        """Take what remembers approved offers, once the vault is unlocked."""
        self._offers = Offers(items)

    def closed(self) -> None:
        """Forget as the vault is locked what it holds, what was asked, and the latest step.

        What waits stays.
        """
        self._offers = self._step = None
        self._waiting = queue.anonymous(self._waiting)
        self._bases.clear()
        self._sites.cache_clear()

    # recipients

    def offered(self, site: str, now: datetime) -> frozenset[str] | None:
        """Return what an approved offer says a recipient can use, None where there never was one.

        One that is over says that it can use nothing.
        """
        approved = self._offers.find(site) if self._offers else None
        return approved.names_on(now.date()) if approved else None

    def usable(self, site: str, now: datetime) -> frozenset[str] | None:
        """Return what a recipient is known to be able to use, None where it has not said.

        As was approved; before that, what it says in an offer that still waits: the policy may
        allow facts to a site that never offered, but none that it says it has no use for.
        """
        approved = self.offered(site, now)
        return self.waiting_offer(site, now) if approved is None else approved

    def waiting_offer(self, site: str, now: datetime) -> frozenset[str] | None:
        """Return what a recipient says it can use in an offer that waits, None where none does.

        Asked before every decision: it looks at no other review.
        """
        review = self._waiting.reviews.get(("offer", site, frozenset()))
        return frozenset(review.names) if review and now - review.at < queue.EXPIRES else None

    def waiting_assistant(self, recipient: str, address: str) -> bool:
        """Say whether the listing of an assistant waits."""
        return ("offer", recipient, frozenset({address})) in self._waiting.reviews

    def sites(self, now: datetime) -> list[Site]:
        """Return the searches that browsers may act on; without a vault the policy's alone."""
        book = self._active().recipients
        offered = self._offers.searched if self._offers else ()
        return [] if book is None else self._sites(book, offered, now.date())

    def assistants(self, now: datetime) -> list[str]:
        """Return the origins at which the popup may offer a line for a chat box."""
        book = self._active().recipients
        return [] if book is None else sorted({each for _, each in book.assistants(now.date())})

    def refused_by(self, recipient: str, now: datetime) -> Rule | None:
        """Return the rule by which a recipient gets nothing, None where it may get something."""
        book = self._active().recipients
        return None if book is None else book.refusing(recipient, now.date())

    # requests

    def overlay(self, terms: Terms) -> Terms:
        """Return the terms with the user's preferences applied."""
        return applied(terms, self._preferences)

    def note(
        self, decision: Decision, ruling: Ruling, ask: Ask, now: datetime, model: str
    ) -> Review | None:
        """Queue what waits, even if the answer cannot be recorded later: it was asked for.

        ``model``: that decided. Returns the review if it is new, or may be shown as a prompt from
        now on.
        """
        pending = decision.pending
        denied = denied_once(self._preferences, ruling)
        names = [name for name in pending.names if name not in denied] if pending else []
        if pending is None or not names:
            return None
        review = Review(
            id=0,
            kind="ask",
            at=now,
            recipient=ruling.host,
            pool=ruling.pool,
            names=names,
            query=ask.query,
            model=model,
            more_bits=None if denied else pending.figures.utility - decision.figures.utility,
            people_left=None if denied else pending.figures.people_left,
        )
        new = self._queue(review, now)
        number = self._waiting.reviews[queue.key_of(review)].id
        self._bases.note(number, decision, ruling, self._preferences)
        return new

    def answered(self, decision: Decision, ruling: Ruling) -> None:
        """Use up preferences, now that an answer relies on them."""
        self._preferences = used_up(self._preferences, decision, ruling)
        self._bases.answered(decision, ruling.pool)

    def reviews(self, now: datetime) -> list[Review]:
        """Return what waits, the one that was met longest ago first, by the rules in force now."""
        self._waiting = queue.expired(self._waiting, now)
        followed = (self._active(), self._preferences, now.date())
        if (self._waiting, self._bases.sent, *followed) != self._followed:
            shown = [self._refreshed(each, now) for each in [*self._waiting.reviews.values()]]
            self._shown = [each for each in shown if each is not None]
            self._followed = (self._waiting, self._bases.sent, *followed)
        return self._shown

    def offer(
        self,
        site: str,
        pool: str,
        names: Sequence[str],
        now: datetime,
        search: str | None = None,
        address: str | None = None,
    ) -> Review | None:
        """Queue what a recipient says it can use; returns the review if it is new.

        ``search``: where it is searched, as `policy.services` writes it; ``address``: of an
        assistant that the user wants listed. Nothing is queued that was approved already, or of a
        recipient that gets nothing.
        """
        unique = [*dict.fromkeys(names)]
        approved = self._offers.find(site) if self._offers else None
        if address is not None:
            same = address.rstrip("/") in self.assistants(now)
        else:
            searched = search is None or (approved is not None and search in approved.searches)
            same = self.offered(site, now) == frozenset(unique) and searched
        if same or self.refused_by(site, now) is not None:
            return None
        review = Review(
            id=0,
            kind="offer",
            at=now,
            recipient=site,
            pool=pool,
            names=unique,
            search=search,
            address=address,
        )
        return self._queue(review, now)

    def unset(self, names: Iterable[str]) -> None:
        """Remove these from what waits: the user unset them, so they are never sent."""
        self._waiting = queue.cleared(self._waiting, frozenset(names), None)

    # the user's word

    def answer(self, number: int, word: Word, now: datetime) -> Ruled:
        """Apply the user's word on a review from the next request on; it may change the policy.

        An offer is settled for good, or for some days. UsageError if there is no such review, or
        the policy cannot be written; RefusedError where it is not what the user was shown;
        LockedError for an offer that cannot be remembered.
        """
        self.reviews(now)
        before, preferences = self._waiting, self._preferences
        review = before.find(number)
        pool = self._active().pool_of(review.recipient)
        queue.check_answer(review, word, pool)
        names = tuple(dict.fromkeys(word.names or review.names))
        host, attributes = review.recipient, self._known(names)
        wanted = managed_rules.instruction(word, host, attributes, now.date(), review.query)
        scope = None if wanted.everyone else pool
        edit, offer = None, None
        if review.kind == "offer":
            ruled, edit, offer = self._settle(wanted, review, now)
            self._waiting = queue.settled(before, number)
        else:
            ruled, edit = self._apply(wanted, word.lasting, scope, now)
            nothing = self.refused_by(review.recipient, now)
            if nothing is not None and word.decided == "approve" and scope is not None:
                decided_by = [nothing.name] * len(names)
                ruled = changed(ruled, without_effect=[*names], decided_by=decided_by, blocked=True)
            self._waiting = queue.settled(before, number, frozenset(names))
        verb = "Approved" if word.decided == "approve" else "Denied"
        what = review.address or f"{listed(names)} for {scope or 'everyone'}"
        self._can_undo(f"{verb} {what}: undone. {ALREADY_SENT}", before, preferences, edit, offer)
        return ruled

    def override(self, word: Override, now: datetime) -> Ruled:
        """Apply the user's word on attributes of a model; it may change the policy file.

        UsageError where no rules are in use, where one of them is guarded or the recipient gets
        nothing, where a rule decides that none of ours can beat, or the policy cannot be written.
        """
        names = tuple(dict.fromkeys(word.names))
        host, attributes = host_of(word.recipient), self._known(names)
        wanted = managed_rules.instruction(word, host, attributes, now.date())
        self.reviews(now)
        before, preferences, policy = self._waiting, self._preferences, self._active().policy
        if policy is None:
            hint = "create one with `reticent init`, or write one by hand"
            raise UsageError("no policy is in use, so nothing is sent", hint)
        ruling = managed_rules.check_open(policy, wanted, now.date())
        pool = None if wanted.everyone else ruling.pool
        ruled, edit = self._apply(wanted, word.lasting, pool, now)
        if word.disclose != "ask":
            had = {each: wanted.names[each] for each in names if each not in ruled.without_effect}
            self._waiting = queue.cleared(before, replace(wanted, names=had).called, pool)
        what = f"Set {listed(names)} to {word.disclose} for {pool or 'everyone'}"
        self._can_undo(f"{what}: undone. {ALREADY_SENT}", before, preferences, edit)
        return ruled

    def dismiss(self, number: int) -> None:
        """Take a review off the list, ruling nothing; UsageError where there is none."""
        before = self._waiting
        review = before.find(number)
        self._waiting = queue.settled(before, number)
        what = review.address or f"{listed(review.names)} for {review.pool}"
        self._can_undo(f"Dismissed {what}: undone.", before, self._preferences)

    def refuse(self, recipient: str, now: datetime) -> None:
        """Write into the policy that a recipient gets nothing; UsageError where it cannot be.

        RefusedError where that was asked for too often: each time the file is written.
        """
        host = host_of(recipient)
        self._blocks.refuse(host, now)
        offer = self._waiting.reviews.get(("offer", site_of(host), frozenset()))
        if offer is not None:
            self._waiting = queue.settled(self._waiting, offer.id)

    def allow(self, recipient: str) -> Edit:
        """Lift a block, as `Blocks.allow` does."""
        return self._blocks.allow(recipient)

    # undoing

    def changed(self, what: str, revert: Callable[[], str]) -> None:
        """Note that the user's values were changed: a step that can be undone like others.

        ``revert``: restores them, and says what was sent meanwhile.
        """
        self._step = Step(lambda _: f"{what}: undone. {revert()}", of_values=True)

    def commit(self, *, values_only: bool = False) -> None:
        """Make the latest step final: something was done since that cannot be undone.

        ``values_only``: only where it was a change of the user's values.
        """
        if not values_only or (self._step is not None and self._step.of_values):
            self._step = None

    def undo(self, now: datetime) -> str:
        """Undo the latest answer, override, dismissal or change of the user's values.

        Returns what it was, and what cannot be undone. UsageError, and nothing undone, where there
        is none, or where the policy file has changed since; LockedError for an offer that cannot
        be remembered; VaultError for values that cannot be kept.
        """
        if self._step is None:
            raise UsageError("nothing to undo", ONLY_THE_LAST)
        sentence = self._step.undo(now)
        self._step = None
        return sentence

    def _can_undo(
        self,
        sentence: str,
        before: Waiting,
        preferences: Preferences,
        edit: Edit | None = None,
        offer: ApprovedOffer | None = None,
    ) -> None:
        """Have the step that has just been made undone by `undo`.

        ``before``, ``preferences``: what they were; ``offer``: what was approved of it before.
        """
        after, new_preferences = self._waiting, self._preferences

        def undo(now: datetime) -> str:
            with ExitStack() as on_failure:
                if offer is not None:
                    if self._offers is None:
                        raise LockedError
                    on_failure.callback(self._offers.keep, offer[0], self._offers.find(offer[0]))
                    self._offers.keep(*offer)
                if edit is not None and edit.changed:
                    restore(self._path, edit)
                on_failure.pop_all()
            self._waiting = queue.expired(queue.put_back(self._waiting, before, after), now)
            used = {*new_preferences}.difference(self._preferences)  # and stays so
            self._preferences = tuple(each for each in preferences if each not in used)
            return sentence

        self._step = Step(undo)

    # what these are made of

    def _known(self, names: Sequence[str]) -> Attributes:
        """Return attributes by all that any model calls them; an unknown one by its own name."""
        every = self._active().attributes
        return {name: every.get(name) or known(name)[name] for name in names}

    def _apply(
        self, wanted: Instruction, lasting: str, pool: str | None, now: datetime
    ) -> tuple[Ruled, Edit | None]:
        """Write an instruction that lasts into the policy, or remember it for the next request."""
        today, policy = now.date(), self._active().policy
        if lasting != "once":
            edit = rewrite(
                self._path,
                lambda text, policy: managed_rules.with_instruction(text, policy, wanted, today),
                lambda before, after: managed_rules.check_effect(before, after, wanted, today),
            )
            self._preferences = without_word(self._preferences, wanted, pool)
            return managed_rules.outcome(edit.after, wanted, today), edit
        ruling = None if policy is None else managed_rules.ruling_of(policy, wanted, today)
        self._preferences = with_word(self._preferences, wanted, pool, ruling)
        return IN_MEMORY, None

    def _settle(
        self, wanted: Instruction, review: Review, now: datetime
    ) -> tuple[Ruled, Edit | None, ApprovedOffer | None]:
        """Settle an offer: an approval is remembered, a denial and an assistant are rules."""
        site, until, today = wanted.host, wanted.until, now.date()
        if wanted.everyone:
            raise UsageError("an offer concerns its recipient only", "leave out everyone")
        if review.address is not None:
            if wanted.disclose == "never":
                return IN_MEMORY, None, None
            return *self._blocks.list_assistant(wanted, review.address, today), None
        if wanted.disclose == "never":
            return *self._blocks.deny(site, until, today), None
        if self._offers is None:
            raise LockedError
        before = self._offers.find(site)
        edit: Edit | None = None
        searches = () if review.search is None else (review.search,)
        approved = Approved((*wanted.names,), until, searches).after(before, today)
        self._offers.keep(site, approved)  # first, so that nothing opens if the rest fails
        with ExitStack() as undo:
            undo.callback(self._offers.keep, site, before)
            if self.refused_by(site, now) is not None:
                edit = self.allow(site)
            undo.pop_all()
        return IN_MEMORY, edit, (site, before)

    def _queue(self, review: Review, now: datetime) -> Review | None:
        policy = self._active().policy
        hourly = policy.daemon.prompts_per_hour if policy else 0
        self._waiting, new = queue.queued(queue.expired(self._waiting, now), review, hourly, now)
        return new

    def _refreshed(self, review: Review, now: datetime) -> Review | None:
        """Return a review as it is now, without figures of other rules; None if it is settled.

        Names that no longer wait are settled.
        """
        active = self._active()
        model = next((each for each in active.models if each.id == review.model), None)
        book = None if model is None else active.book(model)
        if book is None or review.kind == "offer":
            return review
        ruling = book.match(review.recipient, review.query, now.date())
        if self._bases.hold(review, ruling, self._preferences):
            return review
        decided = {*review.names}.difference(still_waiting(review, ruling, self._preferences))
        if not decided or ruling.pool != review.pool:  # an answer to it reports that change
            return changed(review, more_bits=None, people_left=None)
        self._waiting = queue.settled(self._waiting, review.id, frozenset(decided))
        return next((e for e in self._waiting.reviews.values() if e.id == review.id), None)

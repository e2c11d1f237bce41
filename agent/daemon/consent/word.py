"""The user's word: on what waits, on attributes in advance, and on recipients; and its undoing.

A word that lasts is written into the policy; one for the next request is a preference in memory.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import date, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace as changed

from agent.daemon.consent import managed_rules
from agent.daemon.consent.managed_rules import Instruction
from agent.daemon.consent.preferences import (
    Preference,
    Preferences,
    applied,
    denied_once,
    holding,
    ruled_of,
    used_up,
)
from agent.daemon.consent.queue import (
    EXPIRES,
    HOUR,
    Approved,
    Offers,
    Waiting,
    anonymous,
    cleared,
    expired,
    key_of,
    put_back,
    queued,
    settled,
    sites,
)
from agent.daemon.policy_file import ActivePolicy, Edit, restore, rewrite
from agent.decision.terms import Terms
from agent.decision.values import Decision
from agent.errors import LockedError, RefusedError, UsageError
from agent.vault.store import Items
from agent.wire.decide import Ask
from agent.wire.policy import Override, Review, Ruled, Word
from agent.wire.state import Site
from agent.words.figures import listed
from policy.amend import Scope, with_assistant, with_settings, without_refusals
from policy.hosts import host_of, site_of
from policy.match import Rulebook, Ruling
from policy.precedence import GUARDED, known, may
from policy.rules import Policy, Rule

MOST_REFUSALS = 60  # within an hour
MOST_BASES = 4096  # of reviews that wait or did
MOST_BLOCKS = 1000  # rules by which somebody gets nothing: half of what a policy may hold
MERGE = "write one rule for several of them in the policy"
ALREADY_SENT = "Data already sent cannot be recalled."
ONLY_THE_LAST = (
    "you can undo only your latest change, and only until the vault locks; "
    "`reticent policy show` has the rules"
)
IN_MEMORY = Ruled(written=None, without_effect=[])


OfferBefore = tuple[str, Approved | None]  # a site, and what was approved of it


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
        self._sites = lru_cache(1)(sites)  # until the policy, the offers or the day are others
        self._waiting, self._preferences = Waiting(), Preferences()
        self._step: Step | None = None
        self._followed: tuple[object, ...] = ()  # what the reviews were last shown by
        self._shown: list[Review | None] = []
        self._bases: dict[int, tuple[object, ...]] = {}  # what the figures of a review depend on
        self._sent: Counter[str] = Counter()  # how often each pool was sent something new
        self._refusals: tuple[datetime, ...] = ()

    # the vault

    def opened(self, items: Items) -> None:
        """Take what remembers approved offers, once the vault is unlocked."""
        self._offers = Offers(items)

    def closed(self) -> None:
        """Forget as the vault is locked what it holds, what was asked, and the latest step.

        What waits stays.
        """
        self._offers = self._step = None
        self._waiting = anonymous(self._waiting)
        self._sent.clear()
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
        return frozenset(review.names) if review and now - review.at < EXPIRES else None

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
        queued_as = self._waiting.reviews[key_of(review)]
        # As it will be once the answer is sent: the figures were weighed with what it carries.
        preferences = used_up(self._preferences, decision, ruling)
        sent = self._sent[ruling.pool] + (len(decision.again) < len(decision.disclosed))
        self._bases[queued_as.id] = _basis(ruling, preferences, sent)
        if len(self._bases) > MOST_BASES:
            del self._bases[min(self._bases)]
        return new

    def answered(self, decision: Decision, ruling: Ruling) -> None:
        """Use up preferences, now that an answer relies on them."""
        self._preferences = used_up(self._preferences, decision, ruling)
        self._sent[ruling.pool] += len(decision.again) < len(decision.disclosed)

    def reviews(self, now: datetime) -> list[Review]:
        """Return what waits, the one that was met longest ago first, by the rules in force now."""
        self._waiting, active = expired(self._waiting, now), self._active()
        models, sent = [*map(id, active.models)], self._sent.total()
        followed = (active.policy, models, self._preferences, now.date(), sent)
        if (self._waiting, *followed) != self._followed:
            self._shown = [self._refreshed(each, now) for each in [*self._waiting.reviews.values()]]
            self._followed = (self._waiting, *followed)
        return [each for each in self._shown if each is not None]

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
        self._waiting = cleared(self._waiting, frozenset(names), None)

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
        _check(review, word, pool)
        names = tuple(dict.fromkeys(word.names or review.names))
        wanted = self._instruction(word, review.recipient, names, now, review.query)
        scope = None if wanted.everyone else pool
        edit, offer = None, None
        if review.kind == "offer":
            ruled, edit, offer = self._settle(wanted, review, now)
            self._waiting = settled(before, number)
        else:
            ruled, edit = self._apply(wanted, word.lasting, scope, now)
            nothing = self.refused_by(review.recipient, now)
            if nothing is not None and word.decided == "approve" and scope is not None:
                decided_by = [nothing.name] * len(names)
                ruled = changed(ruled, without_effect=[*names], decided_by=decided_by, blocked=True)
            self._waiting = settled(before, number, frozenset(names))
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
        wanted = self._instruction(word, host_of(word.recipient), names, now)
        self.reviews(now)
        before, preferences, policy = self._waiting, self._preferences, self._active().policy
        if policy is None:
            hint = "create one with `reticent init`, or write one by hand"
            raise UsageError("no policy is in use, so nothing is sent", hint)
        ruling = managed_rules.ruling_of(policy, wanted, now.date())
        for name in names:
            verdicts = ruling.attributes[name]
            if may(verdicts) == GUARDED:
                what = f"{name} is guarded by {verdicts['guard'].rule.name!r}, so it is never sent"
                raise UsageError(what, "to allow it, remove the guard from the policy")
        nothing = ruling.settings["nothing"]
        if nothing.value is True and word.disclose != "never" and not wanted.everyone:
            what = f"{ruling.host} gets nothing, by {nothing.rule.name!r}, so this has no effect"
            hint = f"`reticent policy block --undo {ruling.host}` lifts a block"
            raise UsageError(what, f"{hint}, or change that rule")
        pool = None if wanted.everyone else ruling.pool
        ruled, edit = self._apply(wanted, word.lasting, pool, now)
        if word.disclose != "ask":
            had = {each: wanted.names[each] for each in names if each not in ruled.without_effect}
            self._waiting = cleared(before, replace(wanted, names=had).called, pool)
        what = f"Set {listed(names)} to {word.disclose} for {pool or 'everyone'}"
        self._can_undo(f"{what}: undone. {ALREADY_SENT}", before, preferences, edit)
        return ruled

    def dismiss(self, number: int) -> None:
        """Take a review off the list, ruling nothing; UsageError where there is none."""
        before = self._waiting
        review = before.find(number)
        self._waiting = settled(before, number)
        what = review.address or f"{listed(review.names)} for {review.pool}"
        self._can_undo(f"Dismissed {what}: undone.", before, self._preferences)

    def refuse(self, recipient: str, now: datetime) -> None:
        """Write into the policy that a recipient gets nothing; UsageError where it cannot be.

        RefusedError where that was asked for too often: each time the file is written.
        """
        host = host_of(recipient)

        def change(text: str, policy: Policy) -> str:
            rule = Rulebook(policy, {}).refusing(site_of(host), now.date())
            if rule is not None and rule.expires is None:
                return text
            self._refusals = tuple(each for each in self._refusals if now - each < HOUR)
            blocks = sum(each.settings.get("nothing") is True for each in policy.rules)
            if blocks >= MOST_BLOCKS:  # the rest of the file is for what the user says
                raise RefusedError("refused", f"{MOST_BLOCKS:,} rules give somebody nothing", MERGE)
            if len(self._refusals) >= MOST_REFUSALS:
                what = f"{MOST_REFUSALS} recipients were refused within an hour"
                raise RefusedError("refused", what, MERGE)
            return _refused(text, policy, host)

        if rewrite(self._path, change).changed:
            self._refusals = (*self._refusals, now)
        offer = self._waiting.reviews.get(("offer", site_of(host), frozenset()))
        if offer is not None:
            self._waiting = settled(self._waiting, offer.id)

    def allow(self, recipient: str) -> Edit:
        """Take out of the policy that a recipient gets nothing, where rules name it exactly.

        UsageError where no rule can mean it alone, or the file cannot be changed.
        """
        host = host_of(recipient)

        def change(text: str, policy: Policy) -> str:
            return without_refusals(text, managed_rules.owner_of(policy, host))

        return rewrite(self._path, change)

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
        offer: OfferBefore | None = None,
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
            self._waiting = expired(put_back(self._waiting, before, after), now)
            self._preferences = tuple(  # what was used up since stays used up
                each
                for each in preferences
                if each not in new_preferences or each in self._preferences
            )
            return sentence

        self._step = Step(undo)

    # what these are made of

    def _instruction(
        self,
        word: Word | Override,
        host: str,
        names: Sequence[str],
        now: datetime,
        query: str = "",
    ) -> Instruction:
        """Return what the user wants; UsageError where days are missing, or given without need."""
        if (word.lasting == "days") != (word.days is not None):
            raise UsageError("days goes with lasting=days", "give both or neither")
        every = self._active().attributes
        return Instruction(
            host,
            word.disclose,
            {name: every.get(name) or known(name)[name] for name in names},
            query,
            everyone=word.about == "everyone",
            until=None if word.days is None else now.date() + timedelta(days=word.days),
            answers=isinstance(word, Word),
        )

    def _apply(
        self, wanted: Instruction, lasting: str, pool: str | None, now: datetime
    ) -> tuple[Ruled, Edit | None]:
        """Write an instruction that lasts into the policy, or remember it for the next request."""
        today, policy = now.date(), self._active().policy
        concepts = {each for attribute in wanted.names.values() for each in attribute.concepts}
        kept = tuple(
            each
            for each in self._preferences
            if each.concept not in concepts or pool not in (None, each.pool)
        )
        if lasting != "once":
            edit = rewrite(
                self._path,
                lambda text, policy: managed_rules.with_instruction(text, policy, wanted, today),
                lambda before, after: managed_rules.check_effect(before, after, wanted, today),
            )
            self._preferences = kept
            return managed_rules.outcome(edit.after, wanted, today), edit
        ruling = None if policy is None else managed_rules.ruling_of(policy, wanted, today)
        new = []
        for name, attribute in wanted.names.items():
            ruled = "ask" if wanted.answers else None if ruling is None else ruled_of(ruling, name)
            for concept in sorted(attribute.concepts) if ruled is not None else ():
                preference = Preference(
                    concept, pool, wanted.disclose, ruled or "ask", answers=wanted.answers
                )
                new.append(preference)
        self._preferences = (*kept, *new)
        return IN_MEMORY, None

    def _settle(
        self, wanted: Instruction, review: Review, now: datetime
    ) -> tuple[Ruled, Edit | None, OfferBefore | None]:
        """Settle an offer: an approval is remembered, a denial and an assistant are rules."""
        site, until = wanted.host, wanted.until
        if wanted.everyone:
            raise UsageError("an offer concerns its recipient only", "leave out everyone")
        if review.address is not None:
            return *self._settle_assistant(wanted, review.address, now.date()), None
        if wanted.disclose == "never":
            denied = rewrite(self._path, lambda text, policy: _refused(text, policy, site, until))
            rule = Rulebook(denied.after, {}).refusing(site, now.date())
            written = None if rule is None else rule.name
            return Ruled(written=written, without_effect=[]), denied, None
        if self._offers is None:
            raise LockedError
        before = self._offers.find(site)
        edit: Edit | None = None
        searches = () if review.search is None else (review.search,)
        approved = Approved((*wanted.names,), until, searches).after(before, now.date())
        self._offers.keep(site, approved)  # first, so that nothing opens if the rest fails
        with ExitStack() as undo:
            undo.callback(self._offers.keep, site, before)
            if self.refused_by(site, now) is not None:
                edit = self.allow(site)
            undo.pop_all()
        return IN_MEMORY, edit, (site, before)

    def _settle_assistant(
        self, wanted: Instruction, address: str, today: date
    ) -> tuple[Ruled, Edit | None]:
        """List an assistant by a rule; nothing is written where it is not to be.

        UsageError where another rule decides otherwise, or the policy cannot be written.
        """
        if wanted.disclose == "never":
            return IN_MEMORY, None

        def check(_: Policy, after: Policy) -> None:
            listed_at = dict(Rulebook(after, {}).assistants(today)).values()
            if address.rstrip("/") not in listed_at:
                what = "this would have no effect: another rule decides about this assistant"
                hint = f"`reticent policy show --recipient {wanted.host}` names it"
                raise UsageError(what, hint)

        def change(text: str, _: Policy) -> str:
            return with_assistant(text, wanted.host, address, wanted.until)

        edit = rewrite(self._path, change, check)
        ours = [each for each in edit.after.rules if each.settings.get("address") == address]
        return Ruled(written=ours[-1].name, without_effect=[]), edit

    def _queue(self, review: Review, now: datetime) -> Review | None:
        policy = self._active().policy
        hourly = policy.daemon.prompts_per_hour if policy else 0
        self._waiting, new = queued(expired(self._waiting, now), review, hourly, now)
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
        if self._bases.get(review.id) == _basis(ruling, self._preferences, self._sent[review.pool]):
            return review
        words = holding(self._preferences, ruling)
        denied = denied_once(self._preferences, ruling)
        decided = frozenset(
            name
            for name in review.names
            if name in ruling.attributes
            and name not in denied
            and (words[name].disclose if name in words else ruled_of(ruling, name)) != "ask"
        )
        if not decided or ruling.pool != review.pool:  # an answer to it reports that change
            return changed(review, more_bits=None, people_left=None)
        self._waiting = settled(self._waiting, review.id, decided)
        rest = (each for each in self._waiting.reviews.values() if each.id == review.id)
        return next(rest, None)


def _basis(ruling: Ruling, preferences: Preferences, sent: int) -> tuple[object, ...]:
    """Return what the names and the figures of a review depend on, to be compared."""
    settings = {key: each.value for key, each in ruling.settings.items()}
    attributes = {
        name: {key: each.value for key, each in verdicts.items()}
        for name, verdicts in ruling.attributes.items()
    }
    return settings, attributes, holding(preferences, ruling), sent


def _check(review: Review, word: Word, pool: str) -> None:
    """Raise RefusedError where an answer is to something else than what waits, else UsageError."""

    def conflict(what: str) -> RefusedError:
        hint = f"see `reticent requests list --waiting`; `--dismiss {review.id}` removes it"
        return RefusedError("conflict", what, hint)

    for name in word.names or ():
        if name not in review.names:
            raise conflict(f"{name!r} is not pending under {review.id}")
    if word.names is not None and not word.names:
        raise UsageError("the answer names no attribute", "leave out names for all of them")
    if pool != review.pool or word.pool not in (None, pool):
        raise conflict(f"who {review.recipient} pools with has changed")


def _refused(text: str, policy: Policy, host: str, until: date | None = None) -> str:
    """Return the text of a policy with a rule by which the owner of a host gets nothing."""
    where = Scope(recipient=managed_rules.owner_of(policy, host), expires=until)
    return with_settings(text, policy, where, {"nothing": True})

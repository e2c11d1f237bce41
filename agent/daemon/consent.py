"""The user's word: on what waits, on attributes in advance, and on recipients; and its undoing.

A word that lasts is written into the policy; one for the next request is a preference in memory.
"""

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from datetime import date, datetime, timedelta
from functools import lru_cache, partial
from pathlib import Path

from msgspec.structs import replace as changed

from agent.daemon import instructions, reviews
from agent.daemon.instructions import Instruction, Preferences, waits
from agent.daemon.policy_file import ActivePolicy, Edit, restore, rewrite
from agent.daemon.request_log import ASSISTED, Asker
from agent.daemon.reviews import Approved, Offers, Waiting
from agent.decision.values import Decision
from agent.errors import LockedError, RefusedError, UsageError
from agent.vault.store import Items
from agent.wire.decide import Ask
from agent.wire.policy import Disclose, Review, Ruled, Word
from agent.wire.state import Site
from agent.words.figures import listed
from agent.words.notices import GONE
from agent.words.titles import in_words, titled
from policy.amend import RuleScope
from policy.hosts import site_of
from policy.match import NO_TOPICS, Rulebook, Ruling, known
from policy.rules import FACT, Policy, Rule

ONLY_THE_LAST = "you can undo only your latest change, and only until the vault locks"
IN_MEMORY = Ruled(written=None, without_effect=[])
RAISED = "questions"  # in the vault: a day, and of how many questions the user was notified on it
NOTIFYING: frozenset[Asker] = frozenset({"command", "user", *ASSISTED})  # no page
MOST_BLOCKS = 1000  # rules by which somebody gets nothing: half of what a policy may hold
MERGE = "write one rule for several of them in the policy"
Revert = Callable[[], object]


class Consent:
    """What waits, what the user wants, and how to undo their latest change; of one thread.

    ``preferences``: for the next request. Nothing is written because something is dismissed or
    expires.
    """

    def __init__(self, path: Path, active: Callable[[], ActivePolicy]) -> None:
        """Take the policy file, and what returns the rules in use."""
        self._path, self._active = path, active
        self._offers: Offers | None = None
        self._items: Items | None = None
        self._sites = lru_cache(1)(reviews.sites)  # until any of its arguments changes
        self._waiting, self.preferences = Waiting(), Preferences()
        self._raised = dict[date, int]()  # of how many questions the user was notified, by day
        self._latest: tuple[str, Callable[[], str]] | None = None  # change, and what reverts it
        self._followed: object = None  # the rules by which the reviews still wait

    # the vault

    def opened(self, items: Items) -> None:
        """Take what remembers approved offers, and questions, once the vault is unlocked."""
        self._offers, self._items = Offers(items), items
        day, _, count = (items.get(RAISED) or b"").decode().partition(" ")
        self._raised = {date.fromisoformat(day): int(count)} if day else {}

    def closed(self) -> None:
        """Forget the vault, what was requested, and the latest change; what waits stays."""
        self._offers = self._items = self._latest = self._followed = None
        self._sites.cache_clear()

    # recipients

    def usable(self, site: str, now: datetime, *, approved: bool = False) -> frozenset[str] | None:
        """Name what a recipient can use as far as is known, None where it has not said.

        As was approved, which is nothing where that is over; before that, if not only what was
        ``approved`` counts, what it says in an offer that still waits: the policy may allow facts
        to a site that never offered, but none that it says it has no use for.
        """
        offer = self._offers.find(site) if self._offers else None
        if offer is not None:
            return offer.names_on(now.date())
        return self.waiting_offer(site, now) if self._waiting.reviews and not approved else None

    def waiting_offer(
        self, recipient: str, now: datetime, address: str | None = None
    ) -> frozenset[str] | None:
        """Name what a recipient says it can use in an offer that waits, None where none does.

        ``address``: of an assistant whose listing waits, which names nothing. Called before every
        decision: it looks at no other review.
        """
        review = self._waiting.reviews.get(reviews.offer_key(recipient, address))
        return frozenset(review.names) if review and now - review.at < reviews.EXPIRES else None

    def sites(self, now: datetime) -> list[Site]:
        """List the searches that browsers may act on; without a vault the policy's alone."""
        book = self._active().recipients
        searched = self._offers.searched() if self._offers else ()
        return [] if book is None else self._sites(book, searched, now.date())

    def assistants(self, now: datetime) -> list[str]:
        """List the origins at which the popup may offer a line for a chat box."""
        book = self._active().recipients
        return [] if book is None else sorted({each for _, each in book.assistants(now.date())})

    def refused_by(self, recipient: str, now: datetime) -> Rule | None:
        """Find the rule by which a recipient gets nothing, None where it may get something."""
        book = self._active().recipients
        return None if book is None else book.refusing(recipient, now.date())

    # requests

    def note(
        self, decision: Decision, ruling: Ruling, ask: Ask, now: datetime, by: Asker = "command"
    ) -> Review | None:
        """Queue what waits, even if the answer cannot be recorded later: it was asked for.

        ``by``: who asks. Returns the review if the user is to be notified of it now: no page asks,
        and it is one of the first of the day, of so many as the policy says.
        """
        pending, today = decision.pending, now.date()
        if pending is None or not decision.waiting:
            return None
        count = self._raised.get(today, 0)
        review = Review(
            id=0,
            kind="ask",
            at=now,
            recipient=ruling.host,
            pool=ruling.pool,
            names=[decision.called(each) for each in decision.waiting],
            query=ask.query,
            model=decision.model,
            more_bits=pending.utility - decision.figures.utility,
            people_left=pending.people_left,
            raised=by in NOTIFYING and count < self._active().daemon.questions_per_day,
        )
        new = self.queue(review)
        is_raised = new is not None and new.raised
        self._raised = {today: count + is_raised}
        if is_raised and self._items is not None:
            self._items.put(RAISED, f"{today} {count + 1}".encode())
        return new if is_raised else None

    def answered(self, decision: Decision, ruling: Ruling) -> None:
        """Use up preferences, now that an answer relies on them."""
        self.preferences = instructions.used_up(self.preferences, decision, ruling)

    def reviews(self, now: datetime) -> list[Review]:
        """List what waits by the rules in force now, the least recently requested first."""
        self._waiting = reviews.expired(self._waiting, now)
        if self._followed != (self._active(), now.date()):
            self._followed = self._active(), now.date()
            current = partial(self._current, now, self._active())
            self._waiting = reviews.narrowed(self._waiting, current)
        return [self._with_families(each, now) for each in self._waiting.reviews.values()]

    def offer(self, review: Review) -> Review | None:
        """Queue what a recipient says it can use; returns the review if it is new.

        Nothing is queued that was approved already, or of a recipient that gets nothing.
        """
        site, search, now = review.recipient, review.search, review.at
        if review.address is not None:
            is_approved = review.address.rstrip("/") in self.assistants(now)
        else:
            approved = self._offers.find(site) if self._offers else None
            is_searched = search is None or (approved is not None and search in approved.searches)
            usable = self.usable(site, now, approved=True)
            is_approved = is_searched and usable == frozenset(review.names)
        if is_approved or self.refused_by(site, now) is not None:
            return None
        return self.queue(review)

    def queue(self, review: Review) -> Review | None:
        """Queue a review; return it, with its number, if it is new."""
        self._waiting, new = reviews.queued(reviews.expired(self._waiting, review.at), review)
        return new

    def unset(self, names: Iterable[str]) -> None:
        """Remove these from what waits: the user unset them, so they are never sent."""
        self._waiting = reviews.cleared(self._waiting, frozenset(names), None)

    # the user's word

    def answer(self, number: int, word: Word, now: datetime) -> Ruled:
        """Apply the user's word on a review from the next request on; it may change the policy.

        An offer is settled for good, or for some days. UsageError if there is no such review, and
        as `override`; RefusedError where it is not what the user was shown; LockedError for an
        offer that cannot be remembered.
        """
        self.reviews(now)
        before = self._waiting, self.preferences
        review = self._with_families(self._waiting.find(number), now)
        pool = self._active().pool_of(review.recipient)
        reviews.check_answer(review, word, pool)
        if word.about == "family":
            return self._rule_families(review, word.disclose, now)
        word = changed(word, names=word.names or review.names)
        wanted = self._instruction(word, review.recipient, now, review.query)
        settled = None if review.kind == "offer" else frozenset(wanted.names)
        apply = self._apply if settled else partial(self._settle, review)
        ruled, revert = apply(wanted, word.lasting, now)
        self._waiting = reviews.settled(self._waiting, number, settled)
        to = "everyone" if wanted.everyone else pool
        what = review.address or f"{self._named(wanted.names)} for {to}"
        self._can_undo(f"{'Approved' if wanted.approves else 'Denied'} {what}", before, revert)
        return ruled

    def override(self, word: Word, now: datetime) -> Ruled:
        """Apply the user's word on attributes of a model; it may change the policy file.

        UsageError where it names no attribute or no recipient, no rules are in use, one of them is
        guarded or the recipient gets nothing, where a rule decides that none of ours can beat, or
        the policy cannot be written.
        """
        if not word.names or word.recipient is None or word.about == "family":
            raise UsageError("the word is about nothing", "name attributes and a recipient")
        wanted = self._instruction(word, self._active().host(word.recipient), now)
        self.reviews(now)
        before = self._waiting, self.preferences
        pool = None if wanted.everyone else self._active().pool_of(wanted.host)
        ruled, revert = self._apply(wanted, word.lasting, now)
        if word.disclose != "ask":
            effective = {*wanted.names}.difference(ruled.without_effect)
            called = replace(wanted, names={e: wanted.names[e] for e in effective}).called
            self._waiting = reviews.cleared(self._waiting, called, pool)
        what = f"Set {self._named(wanted.names)} to {word.disclose} for {pool or 'everyone'}"
        self._can_undo(what, before, revert)
        return ruled

    def dismiss(self, number: int, revert: Revert = lambda: None) -> None:
        """Take a review off the list, ruling nothing; UsageError where there is none.

        ``revert``: undoes what was done beside that.
        """
        before = self._waiting, self.preferences
        review = self._waiting.find(number)
        self._waiting = reviews.settled(self._waiting, number)
        what = f"Dismissed {review.address or f'{self._named(review.names)} for {review.pool}'}"
        what = what if review.topic is None else "Settled what a text means"
        what = what if review.kind != "fact" else "Settled a fact to remember"
        self._can_undo(what, before, revert, says="")

    def refuse(self, recipient: str, now: datetime) -> None:
        """Write into the policy that a recipient gets nothing; UsageError where it cannot be.

        RefusedError where too many rules say so of somebody: a page may ask for it.
        """
        host = self._active().host(recipient)

        def change(text: str, policy: Policy) -> str:
            rule = Rulebook(policy, {}).refusing(site_of(host), now.date())
            if rule is not None and rule.expires is None:
                return text
            blocks = sum(each.settings.get("nothing") is True for each in policy.rules)
            if blocks >= MOST_BLOCKS:  # the rest of the file is for what the user says
                raise RefusedError("refused", f"{MOST_BLOCKS:,} rules give somebody nothing", MERGE)
            return instructions.with_block(text, policy, host)

        before, edit = (self._waiting, self.preferences), rewrite(self._path, change)
        offer = self._waiting.reviews.get(reviews.offer_key(site_of(host)))
        if offer is not None:
            self._waiting = reviews.settled(self._waiting, offer.id)
        if edit.changed:
            self._can_undo(f"Blocked {host}", before, partial(restore, self._path, edit))

    def allow(self, recipient: str) -> Edit:
        """Remove the rules that name the recipient, or what it pools with, and give it nothing.

        UsageError where the file cannot be changed.
        """
        host = self._active().host(recipient)
        edit = rewrite(self._path, partial(instructions.without_refusals, host=host))
        self.rewrote(f"Unblocked {host}", edit)
        return edit

    # undoing

    def changed(self, what: str, revert: Callable[[], str]) -> None:
        """Note the user's latest change; ``revert``: says what cannot be undone of it."""
        self._latest = what, revert

    def rewrote(self, what: str, edit: Edit) -> None:
        """Note the user's latest change of the policy file, if it changed anything."""
        if edit.changed:
            before = self._waiting, self.preferences
            self._can_undo(what, before, partial(restore, self._path, edit), says="")

    def undo(self, now: datetime) -> str:
        """Undo the latest answer, override, dismissal, or change of the policy or of the profile.

        Returns what it was, and what cannot be undone. UsageError, and nothing undone, where there
        is none, or where the policy file has changed since; VaultError for what cannot be kept.
        """
        if self._latest is None:
            raise UsageError("nothing to undo", ONLY_THE_LAST)
        what, revert = self._latest
        sentence = f"{what}: undone. {revert()}".rstrip()
        self._latest = None
        self._waiting = reviews.expired(self._waiting, now)
        return sentence

    def _named(self, names: Iterable[str]) -> str:
        words = {FACT + e.id: e.words for e in self._active().facts if e.words}
        return listed(titled(names, in_words(words)))

    def _can_undo(
        self,
        what: str,
        before: tuple[Waiting, Preferences],
        revert: Revert = lambda: None,
        says: str = GONE,
    ) -> None:
        """Note a change of what waited and of the preferences, both as they were ``before``."""
        after, new = self._waiting, {*self.preferences}

        def put_back() -> str:
            revert()
            self._waiting = reviews.put_back(self._waiting, before[0], after)
            used = new.difference(self.preferences)  # and stays so
            self.preferences = tuple(each for each in before[1] if each not in used)
            return says

        self.changed(what, put_back)

    # what these are made of

    def _instruction(
        self, word: Word, host: str, now: datetime, query: str | None = None
    ) -> Instruction:
        """Read a word about a host; ``query``: of the review that it answers, if it does.

        UsageError where the number of days is missing, or given without need.
        """
        if (word.lasting == "days") != (word.days is not None):
            raise UsageError("days goes with lasting=days", "give both or neither")
        every = self._active().attributes
        return Instruction(
            host,
            word.disclose,
            {name: every.get(name) or known(name)[name] for name in word.names or ()},
            query or "",
            everyone=word.about == "everyone",
            until=None if word.days is None else now.date() + timedelta(days=word.days),
            answers=query is not None,
            topics=self._active().topics(query) if query else NO_TOPICS,
        )

    def _apply(self, wanted: Instruction, lasting: str, now: datetime) -> tuple[Ruled, Revert]:
        """Write an instruction that lasts into the policy, or remember it for the next request."""
        today, active = now.date(), self._active()
        if active.policy is None:
            hint = "`reticent policy set preset=balanced` writes one"
            raise UsageError("no policy is in use, so nothing is sent", hint)
        pool = None if wanted.everyone else active.pool_of(wanted.host)
        ruling = instructions.check_open(active.policy, wanted, today)
        if lasting == "once":
            self.preferences = instructions.with_word(self.preferences, wanted, pool, ruling)
            return IN_MEMORY, lambda: None
        edit = rewrite(
            self._path,
            lambda text, policy: instructions.with_instruction(text, policy, wanted, today),
            lambda after: instructions.check_effect(after, wanted, today),
        )
        self.preferences = instructions.without_word(self.preferences, wanted, pool)
        return instructions.outcome(edit.after, wanted, today), partial(restore, self._path, edit)

    def _settle(
        self, review: Review, wanted: Instruction, _lasting: str, now: datetime
    ) -> tuple[Ruled, Revert]:
        """Settle an offer: an approval is remembered, a denial and an assistant are rules."""
        site, until, today, address = wanted.host, wanted.until, now.date(), review.address
        if wanted.everyone:
            raise UsageError("an offer concerns its recipient only", "leave out everyone")
        if wanted.approves and self.refused_by(site, now) is not None:
            hint = f"`reticent policy block --undo {site}` lifts a block, or change that rule"
            raise UsageError(f"{site} gets nothing, so this has no effect", hint)
        if wanted.approves and address is None:
            return IN_MEMORY, self._approve(wanted, review, now)
        if not wanted.approves and address is not None:
            return IN_MEMORY, lambda: None

        def change(text: str, policy: Policy) -> str:
            if address is None:
                return instructions.with_block(text, policy, site, until)
            return instructions.with_assistant(text, site, address, until)

        def check(after: Policy) -> None:
            origins = dict(Rulebook(after, {}).assistants(today)).values()
            if address and address.rstrip("/") not in origins:
                what = "this would have no effect: another rule decides about this assistant"
                raise UsageError(what, f"`reticent policy show --recipient {site}` names it")

        edit = rewrite(self._path, change, check)
        written = Rulebook(edit.after, {}).match(site, "", today).settings
        rule = written["nothing" if address is None else "address"].rule
        return changed(IN_MEMORY, written=rule.name), partial(restore, self._path, edit)

    def _approve(self, wanted: Instruction, review: Review, now: datetime) -> Revert:
        """Remember an offer; returns what takes that back."""
        offers, site = self._offers, wanted.host
        if offers is None:
            raise LockedError
        before = offers.find(site)
        searches = () if review.search is None else (review.search,)
        approved = Approved((*wanted.names,), wanted.until, searches).after(before, now.date())
        offers.keep(site, approved)
        return partial(offers.keep, site, before)

    def _rule_families(self, review: Review, value: Disclose, now: datetime) -> Ruled:
        """Write what is wanted of the families of a review, for its kind of recipient, for good."""
        before, active = (self._waiting, self.preferences), self._active()
        scopes = [RuleScope(recipient=review.whom, attribute=each) for each in review.families]
        edit = rewrite(self._path, partial(instructions.with_rulings, scopes, value))
        after = ActivePolicy(edit.after, active.models, active.read, active.facts)
        ruling = self._ruling(now, active, review)
        if ruling and value == "auto":  # own words would wait on for whom nobody named
            names = frozenset(each for each in review.names if ruling.open_families([each]))
            self._waiting = reviews.settled(self._waiting, review.id, names)
        self._waiting = reviews.narrowed(self._waiting, partial(self._current, now, after))
        what = f"Set {listed(review.families)} to {value} for {review.whom}"
        self._can_undo(what, before, partial(restore, self._path, edit))
        return changed(IN_MEMORY, written=listed(each.title for each in scopes))

    def _with_families(self, review: Review, now: datetime) -> Review:
        """Say which families of facts one word settles for all recipients of a review's kind."""
        ruling = self._ruling(now, self._active(), review)
        if ruling is None or not (families := ruling.open_families(review.names)):
            return review
        return changed(review, families=families, whom=ruling.kind)

    def _ruling(self, now: datetime, active: ActivePolicy, review: Review) -> Ruling | None:
        """Apply rules to the request of a review; None where none are about its facts."""
        facts = tuple(each for each in review.names if each.startswith(FACT))
        return active.ruling(review.model, review.recipient, review.query, now.date(), facts)

    def _current(self, now: datetime, used: ActivePolicy, review: Review) -> Collection[str] | None:
        """Name what a review still asks about, None for all of it."""
        ruling = self._ruling(now, used, review)
        if ruling is None or ruling.pool != review.pool:  # an answer to it reports that change
            return None
        named = used.names(review.recipient)
        rest = [each for each in review.names if waits(ruling, each, named=named)]
        return None if len(rest) == len(review.names) else rest

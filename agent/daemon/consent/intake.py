"""Consent as requests pass: what needs it is queued, and the user's decisions are applied."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from agent.daemon.consent.managed_rules import allow, alone, refused
from agent.daemon.consent.reviews import (
    HOUR,
    Approved,
    Items,
    Offers,
    Sites,
    Waiting,
    cleared,
    expired,
    followed,
    forgotten,
    met,
    offered_names,
    put_back,
    queued,
)
from agent.daemon.consent.verdicts import (
    KNOWN,
    Words,
    denied_once,
    overlaid,
    taken_back,
    unasked,
    used_up,
)
from agent.daemon.policy_file import Edit, edit
from agent.decision.decide import Decision
from agent.decision.terms import Terms
from agent.errors import RefusedError
from agent.wire.decide import Ask
from agent.wire.policy import Disclose, Review, Ruled
from agent.wire.state import Site
from agent.words.figures import listed
from policy.hosts import site_of
from policy.match import Rulebook, Ruling
from policy.read import with_typo_guard
from policy.rules import Policy, Pools, Rule

MOST_REFUSALS = 60  # within an hour
ALREADY_SENT = "Data already sent cannot be recalled."
CALLED = {"approve": "Approved", "deny": "Denied"}
MOST_UNDER = 4096  # of reviews that there are or were


class Refusals:
    """What is ruled of recipients as a whole; it belongs to one thread."""

    def __init__(self, path: Path, policy: Callable[[], Policy | None]) -> None:
        """Take the policy file, and what returns the rules that are in use."""
        self._path = path
        self._policy = policy
        self._book: Rulebook | None = None
        self._refusals: tuple[datetime, ...] = ()

    def forget(self) -> None:
        """Forget what was asked."""
        self._book = None

    def gets_nothing(self, site: str, now: datetime) -> bool:
        """Return whether a site gets nothing by the policy."""
        return self.rule(site, now) is not None

    def rule(self, host: str, now: datetime) -> Rule | None:
        """Return the rule by which a host gets nothing, whatever the query; None where it does."""
        book = self.book()
        return None if book is None else book.refusing(host, now.date())

    def book(self) -> Rulebook | None:
        """Return the rules that are in use, ready to be asked of recipients; None for none."""
        policy = self._policy()
        if policy is None:
            return None
        if self._book is None or self._book.policy is not policy:
            self._book = Rulebook(policy, ())
        return self._book

    def refuse(self, host: str, now: datetime) -> None:
        """Write into the policy that a canonical host gets nothing, if the file does not say so.

        UsageError where it cannot be, RefusedError where that was asked for too often: each time
        the file is written.
        """

        def change(text: str, policy: Policy) -> str:
            rule = Rulebook(policy, ()).refusing(site_of(host), now.date())
            if rule is not None and rule.expires is None:
                return text
            self._refusals = tuple(each for each in self._refusals if now - each < HOUR)
            if len(self._refusals) >= MOST_REFUSALS:
                what = f"{MOST_REFUSALS} recipients were refused within an hour"
                hint = "write one rule for several of them in the policy"
                raise RefusedError("refused", what, hint)
            return refused(text, alone(policy, host))

        if edit(self._path, change).changed:
            self._refusals = (*self._refusals, now)

    def allow(self, host: str) -> Edit:
        """Take out of the policy what we wrote so that a canonical host gets nothing.

        UsageError where the file cannot be changed.
        """
        return allow(self._path, host)


class State(NamedTuple):
    """The state at one time: what was decided, and what is pending."""

    words: Words = ()
    waiting: Waiting = Waiting()


class Effect(NamedTuple):
    """What a word came to, and what it changed besides the state.

    ``edit``: of the policy; ``offer``: a site, and what was approved of it before.
    """

    ruled: Ruled
    edit: Edit | None = None
    offer: tuple[str, Approved | None] | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One decision of the user; ``what``: in words, without a full stop.

    ``own``: where it changed the user's values, puts them back, and says what left meanwhile.
    """

    what: str
    before: State
    after: State
    made: Effect | None = None
    own: Callable[[], str] | None = None

    def back(self, state: State) -> State:
        """Return the state without this step, keeping what happened since."""
        words = taken_back(state.words, self.before.words, self.after.words)
        return State(words, put_back(state.waiting, self.before.waiting, self.after.waiting))

    @property
    def sentence(self) -> str:
        """What is taken back."""
        return f"{self.what}: undone."


def verdict_on(decided: str, names: Sequence[str], whom: str | None) -> str:
    """Return what was said of something that waits, or that it was dismissed."""
    return f"{CALLED.get(decided, 'Dismissed')} {listed(names)} for {whom or 'everyone'}"


def override_of(disclose: Disclose, names: Sequence[str], whom: str | None) -> str:
    """Return what was said of attributes."""
    return f"Said {disclose} of {listed(names)} for {whom or 'everyone'}"


class _Under(NamedTuple):
    """What a review was weighed by: the settings, what held of each attribute, what was told."""

    names: tuple[str, ...]
    settings: Mapping[str, object]
    attributes: Mapping[str, object]
    told: int


class Intake:
    """Holds what waits and what was said; it belongs to one thread.

    Nothing is written because something expires.
    """

    def __init__(self, path: Path, policy: Callable[[], Policy | None]) -> None:
        """Take the policy file, and what returns the rules that are in use, None where none are."""
        self._path = path
        self._policy = policy
        self._refusals_book = Refusals(path, policy)
        self._offers: Offers | None = None
        self._sites = Sites()
        self._state = State()
        self._step: Step | None = None
        self._followed: tuple[object, ...] = ()
        self._under: dict[int, _Under] = {}  # by the number of a review
        self._last: tuple[int, Ruling | None] = (0, None)  # what was queued last
        self._told: Counter[str] = Counter()  # how often each pool was told something new

    def opened(self, items: Items) -> None:
        """Take what remembers approved offers, once the vault is unlocked."""
        self._offers = Offers(items)

    def closed(self) -> None:
        """Forget as the vault is locked what it holds, what was asked, and the last step.

        What waits stays.
        """
        self._offers = self._step = None
        self._state = self._state._replace(waiting=forgotten(self._state.waiting))
        self._told.clear()
        self._last = (0, None)
        self._refusals_book.forget()
        self._sites.forget()

    def offered(self, site: str, now: datetime) -> frozenset[str] | None:
        """Return what an approved offer says a recipient can use, None where there never was one.

        One that is over says that it can use nothing.
        """
        approved = self._offers.find(site) if self._offers else None
        return approved.names_on(now.date()) if approved else None

    def usable(self, site: str, now: datetime) -> frozenset[str] | None:
        """Return what a recipient is known to be able to use, None where it has not said.

        As was approved; before that, what it says in an offer that still waits: the policy may let
        a site have facts that never offered, but none gets what it says it has no use for.
        """
        approved = self.offered(site, now)
        return self.waiting_offer(site, now) if approved is None else approved

    def waiting_offer(self, site: str, now: datetime) -> frozenset[str] | None:
        """Return what a recipient says it can use in an offer that waits, None where none does."""
        return offered_names(self._state.waiting, site, now)

    def sites(self, now: datetime) -> list[Site]:
        """Return the searches that browsers may act on; without a vault the policy's alone."""
        book = self._refusals_book.book()
        offered = self._offers.searched if self._offers else ()
        return [] if book is None else self._sites.at(book, offered, now.date())

    def overlay(self, terms: Terms, pool: str) -> Terms:
        """Return the terms with the user's decisions for a pool applied."""
        return overlaid(terms, self._state.words, pool)

    def note(self, decision: Decision, ruling: Ruling, ask: Ask, now: datetime) -> Review | None:
        """Queue what waits, also where the answer cannot be recorded then: it was asked for.

        Returns the review if it is new, or may be shown as a prompt from now on.
        """
        denied = denied_once(self._state.words, decision, ruling.pool)
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
        new = self._queue(review, now)
        number = met(self._state.waiting, review).id
        self._under[number] = _under(ruling, self._state.words, self._told[ruling.pool])
        self._last = number, ruling
        if len(self._under) > MOST_UNDER:
            there = {each.id for each in self._state.waiting.reviews.values()}
            self._under = {each: under for each, under in self._under.items() if each in there}
        return new

    def answered(self, decision: Decision, ruling: Ruling) -> None:
        """Use up decisions for one time, now that an answer relies on them."""
        words = used_up(self._state.words, decision, ruling)
        told = any(each.disclosed and each.reason != KNOWN for each in decision.candidates)
        self._told[ruling.pool] += told
        number, last = self._last
        if last is ruling and (told or words != self._state.words):
            # What was queued was weighed with what leaves.
            self._under[number] = _under(ruling, words, self._told[ruling.pool])
        self._state = self._state._replace(words=words)

    def reviews(self, now: datetime) -> list[Review]:
        """Return what waits, the one that was met longest ago first."""
        return [*self._current(now).waiting.reviews.values()]

    def unset(self, names: Iterable[str]) -> None:
        """Remove these from what is pending: the user unset them, so they are never sent."""
        waiting = cleared(self._state.waiting, frozenset(names), None)
        self._state = self._state._replace(waiting=waiting)

    def offer(
        self,
        site: str,
        pool: str,
        names: Sequence[str],
        now: datetime,
        search: str | None = None,
    ) -> Review | None:
        """Queue what a recipient says it can use; returns the review if it is new.

        ``search``: where it is searched, as `policy.match` writes it. Nothing is queued that was
        approved already, or of a recipient that gets nothing.
        """
        unique = [*dict.fromkeys(names)]
        approved = self._offers.find(site) if self._offers else None
        searched = search is None or (approved is not None and search in approved.searches)
        same = self.offered(site, now) == frozenset(unique) and searched
        if same or self._refusals_book.gets_nothing(site, now):
            return None
        review = Review(
            id=0, kind="offer", at=now, recipient=site, pool=pool, names=unique, search=search
        )
        return self._queue(review, now)

    def _current(self, now: datetime) -> State:
        """Return the state, without reviews that nothing has met for a day.

        What waits follows the rules in force, and is put back with the step that made them.
        """
        self._state = self._state._replace(waiting=expired(self._state.waiting, now))
        policy, words = self._policy(), self._state.words
        basis = (policy, words, now.date(), self._told.total())
        if policy is not None and basis != self._followed:
            self._followed = basis
            self._state = self._following(self._state, policy, now)
            if self._step is not None:
                after = self._following(self._step.after, policy, now)
                self._step = replace(
                    self._step, after=self._step.after._replace(waiting=after.waiting)
                )
        return self._state

    def _following(self, state: State, policy: Policy, now: datetime) -> State:
        """Return a state in which what waits is by these rules, and by the words there are."""
        words, books = self._state.words, dict[tuple[str, ...], Rulebook]()

        def ruled(review: Review) -> Ruling:
            under = self._under.get(review.id)
            names = tuple(review.names) if under is None else under.names
            if names not in books:
                books[names] = Rulebook(with_typo_guard(policy, names), names)
            return books[names].match(review.recipient, review.query, now.date())

        def gone(review: Review) -> frozenset[str]:
            ruling = ruled(review)
            if ruling.pool != review.pool:  # a word on it says so
                return frozenset()
            return unasked(words, ruling).intersection(review.names)

        def is_as_before(review: Review) -> bool:
            now_under = _under(ruled(review), words, self._told[review.pool])
            return self._under.get(review.id) == now_under

        return state._replace(waiting=followed(state.waiting, gone, is_as_before))

    def _queue(self, review: Review, now: datetime) -> Review | None:
        policy = self._policy()
        hourly = policy.daemon.prompts_per_hour if policy else 0
        waiting, new = queued(self._current(now).waiting, review, hourly, now)
        self._state = self._state._replace(waiting=waiting)
        return new

    def _pool(self, host: str) -> str:
        policy = self._policy()
        return Pools(policy.groups if policy else {}).of(host)


def _under(ruling: Ruling, words: Words, told: int) -> _Under:
    """Return what is weighed by where this is ruled and said."""
    waits = unasked(words, ruling)
    attributes = {
        name: ({key: each.value for key, each in verdicts.items()}, name in waits)
        for name, verdicts in ruling.attributes.items()
    }
    settings = {key: each.value for key, each in ruling.settings.items()}
    return _Under(tuple(ruling.attributes), settings, attributes, told)

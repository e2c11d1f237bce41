"""Consent as requests pass: what needs it is queued, preferences and approved offers are applied.

An offer closes what it does not name. What it closed stays closed when it is over, and when its
record cannot be read: nothing opens because time passes.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec.structs import replace as changed

from agent.daemon.consent.preferences import Preferences, applied, denied_once, unasked, used_up
from agent.daemon.consent.reviews import (
    EXPIRES,
    Waiting,
    anonymous,
    cleared,
    expired,
    key_of,
    queued,
    settled,
)
from agent.daemon.policy_file import ActivePolicy, Edit
from agent.decision.terms import Terms, attributes_of, rules_on
from agent.decision.values import Decision
from agent.errors import UsageError
from agent.vault.store import Items
from agent.wire.decide import Ask
from agent.wire.policy import Review
from agent.wire.state import Site
from policy.hosts import site_of, suffixes
from policy.match import WRITE, Rulebook, Ruling, Search, assistants, searches, usable
from policy.precedence import Attributes, known
from policy.rules import Policy, Rule

MOST_BASES = 4096  # of reviews that there are or were
PREFIX = "offers/"
MOST_OFFERS = 4096  # sites whose offers are at hand
SEARCHES_PER_SITE = 8
MOST_SEARCHES = 400  # of the longest addresses, so that a browser's relay takes the answer: 1 MiB


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
        """Return this offer with the searches of the one that it replaces, if that one holds."""
        older = before.searches if before is not None and before.names_on(today) else ()
        unique = tuple(dict.fromkeys((*self.searches, *older)))
        return changed(self, searches=unique[:SEARCHES_PER_SITE])


class Offers:
    """Approved offers by site, read from the vault when first asked for."""

    def __init__(self, items: Items) -> None:
        self._items = items
        self._read = lru_cache(MOST_OFFERS)(self._record)
        self._searched: tuple[Approved, ...] | None = None

    def find(self, site: str) -> Approved | None:
        """Return what a site may be offered, None where it has offered nothing."""
        return self._read(PREFIX + site)

    @property
    def searched(self) -> tuple[Approved, ...]:
        """All that say where their site is searched."""
        if self._searched is None:
            found = map(self._record, self._items.names(PREFIX))
            self._searched = tuple(each for each in found if each is not None and each.searches)
        return self._searched

    def keep(self, site: str, approved: Approved | None) -> None:
        """Keep an offer from now on instead of the one before, None for none."""
        if approved is None:
            self._items.delete(PREFIX + site)
        else:
            self._items.put(PREFIX + site, msgspec.msgpack.encode(approved))
        self._read.cache_clear()
        self._searched = None

    def _record(self, name: str) -> Approved | None:
        """Return a record as it was kept; one of another version is an offer of nothing."""
        content = self._items.get(name)
        try:
            return None if content is None else msgspec.msgpack.decode(content, type=Approved)
        except msgspec.DecodeError:
            return Approved(())


def own_search(text: str, host: str) -> str:
    """Return a search as browsers write it; UsageError where it is none, or not of the host.

    ``host``: canonical. A host below it is its own too, unless somebody else registered that.
    """
    search = Search.parse(text)
    if host not in suffixes(search.host) or site_of(search.host) != site_of(host):
        raise UsageError(f"{search.host} is not {host}, nor below it", WRITE)
    return search.text


def sites(book: Rulebook, offered: Iterable[Approved], today: date) -> list[Site]:
    """Return the searches in order, of recipients that get anything by the policy.

    ``offered``: approved offers; at most MOST_SEARCHES, the policy's first.
    """
    ruled = sorted({*searches(book, today)})
    texts = (text for each in offered if each.names_on(today) for text in each.searches)
    more = {
        search
        for search in map(usable, texts)
        if search is not None and book.refusing(search.host, today) is None
    }
    found = sorted([*ruled, *sorted(more.difference(ruled))][:MOST_SEARCHES])
    return [
        Site(recipient=each.host, search=each.text, carry=book.match(each.host, "", today).carry)
        for each in found
    ]


class State(NamedTuple):
    """The state at one time: what the user wants, and what is pending."""

    preferences: Preferences = ()
    waiting: Waiting = Waiting()


@dataclass(frozen=True, slots=True)
class Step:
    """One decision of the user, and what ``undo`` says of it.

    ``edit``: of the policy; ``offer``: a site, and what was approved of it before; ``put_back``:
    where it changed the user's values, puts them back, and says what was sent meanwhile.
    """

    sentence: str
    before: State
    after: State
    edit: Edit | None = None
    offer: tuple[str, Approved | None] | None = None
    put_back: Callable[[], str] | None = None


class _Basis(NamedTuple):
    """What the figures of a review depend on: rulings, what would wait, what its pool was sent."""

    known: Attributes
    settings: Mapping[str, object]
    attributes: Mapping[str, object]
    sent: int


class PendingConsent:
    """Holds the reviews and the preferences; it belongs to one thread.

    Nothing is written because something expires.
    """

    def __init__(self, path: Path, active: Callable[[], ActivePolicy]) -> None:
        """Take the policy file, and what returns the rules in use."""
        self._path = path
        self._active = active
        self._offers: Offers | None = None
        self._sites = lru_cache(1)(sites)  # until the policy, the offers or the day are others
        self._state = State()
        self._step: Step | None = None
        self._followed: tuple[object, ...] = ()
        self._bases: dict[int, _Basis] = {}  # by the number of a review
        self._last: tuple[int, Ruling | None] = (0, None)  # what was queued last
        self._sent: Counter[str] = Counter()  # how often each pool was sent something new

    def opened(self, items: Items) -> None:
        """Take what remembers approved offers, once the vault is unlocked."""
        self._offers = Offers(items)

    def closed(self) -> None:
        """Forget as the vault is locked what it holds, what was asked, and the last step.

        What waits stays.
        """
        self._offers = self._step = None
        self._state = self._state._replace(waiting=anonymous(self._state.waiting))
        self._sent.clear()
        self._last = (0, None)
        self._sites.cache_clear()

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
        review = self._state.waiting.reviews.get(("offer", site, frozenset()))
        return frozenset(review.names) if review and now - review.at < EXPIRES else None

    def sites(self, now: datetime) -> list[Site]:
        """Return the searches that browsers may act on; without a vault the policy's alone."""
        book = self._active().recipients
        offered = self._offers.searched if self._offers else ()
        return [] if book is None else self._sites(book, offered, now.date())

    def assistants(self, now: datetime) -> list[str]:
        """Return the origins at which the popup may offer a line for a chat box."""
        book = self._active().recipients
        return [] if book is None else sorted({each for _, each in assistants(book, now.date())})

    def overlay(self, terms: Terms, pool: str) -> Terms:
        """Return the terms with the user's preferences for a pool applied."""
        preferences = self._state.preferences
        return applied(terms, preferences, pool) if preferences else terms

    def note(
        self, decision: Decision, ruling: Ruling, ask: Ask, now: datetime, model: str
    ) -> Review | None:
        """Queue what waits, also where the answer cannot be recorded then: it was asked for.

        ``model``: that decided. Returns the review if it is new, or may be shown as a prompt from
        now on.
        """
        pending = decision.pending
        if pending is None:
            return None
        denied = denied_once(self._state.preferences, decision, ruling)
        names = [name for name in pending.names if name not in denied]
        if not names:
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
        number = self._state.waiting.reviews[key_of(review)].id
        self._bases[number] = self._basis(ruling)
        self._last = number, ruling
        if len(self._bases) > MOST_BASES:
            there = {each.id for each in self._state.waiting.reviews.values()}
            self._bases = {each: basis for each, basis in self._bases.items() if each in there}
        return new

    def answered(self, decision: Decision, ruling: Ruling) -> None:
        """Use up preferences for one time, now that an answer relies on them."""
        before = self._state.preferences
        if before:
            self._state = self._state._replace(preferences=used_up(before, decision, ruling))
        new = len(decision.again) < len(decision.disclosed)
        self._sent[ruling.pool] += new
        number, last = self._last
        if last is ruling and (new or before != self._state.preferences):
            # What was queued was weighed with what leaves.
            self._bases[number] = self._basis(ruling)

    def reviews(self, now: datetime) -> list[Review]:
        """Return what waits, the one that was met longest ago first."""
        return [*self._current(now).waiting.reviews.values()]

    def known(self, names: Iterable[str], number: int = 0) -> Attributes:
        """Return attributes by all that they go by; ``number``: of the review that names them."""
        basis, every = self._bases.get(number), self._active().attributes
        asked = {**every, **(basis.known if basis else {})}
        return {name: asked.get(name) or known(name)[name] for name in names}

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
        if same or self.refused_by(site, now) is not None:
            return None
        review = Review(
            id=0, kind="offer", at=now, recipient=site, pool=pool, names=unique, search=search
        )
        return self._queue(review, now)

    def offer_assistant(
        self, recipient: str, pool: str, address: str, now: datetime
    ) -> Review | None:
        """Queue that the user wants an assistant listed; returns the review if it is new.

        Nothing is queued that is listed already, or of a recipient that gets nothing.
        """
        if address.rstrip("/") in self.assistants(now) or self.refused_by(recipient, now):
            return None
        review = Review(
            id=0, kind="offer", at=now, recipient=recipient, pool=pool, names=[], address=address
        )
        return self._queue(review, now)

    def waiting_assistant(self, recipient: str, address: str) -> bool:
        """Say whether it waits that an assistant is listed."""
        return ("offer", recipient, frozenset({address})) in self._state.waiting.reviews

    def refused_by(self, recipient: str, now: datetime) -> Rule | None:
        """Return the rule by which a recipient gets nothing, None where it may get something."""
        book = self._active().recipients
        return None if book is None else book.refusing(recipient, now.date())

    def _queue(self, review: Review, now: datetime) -> Review | None:
        policy = self._active().policy
        hourly = policy.daemon.prompts_per_hour if policy else 0
        waiting, new = queued(self._current(now).waiting, review, hourly, now)
        self._state = self._state._replace(waiting=waiting)
        return new

    def _current(self, now: datetime) -> State:
        """Return the state, without reviews that nothing has met for a day.

        What waits follows the rules in force, and is put back with the step that made them.
        """
        self._state = self._state._replace(waiting=expired(self._state.waiting, now))
        active = self._active()
        policy, models = active.policy, [*map(id, active.models)]
        followed = (policy, models, self._state.preferences, now.date(), self._sent.total())
        if policy is not None and followed != self._followed:
            self._followed = followed
            waiting = self._following(self._state.waiting, policy, now)
            self._state = self._state._replace(waiting=waiting)
            if self._step is not None:
                after = self._step.after
                waiting = self._following(after.waiting, policy, now)
                self._step = replace(self._step, after=after._replace(waiting=waiting))
        return self._state

    def _following(self, waiting: Waiting, policy: Policy, now: datetime) -> Waiting:
        """Return what waits by these rules: without names, or figures, that were of others.

        Offers stay as they are.
        """
        models, books = self._active().models, list[tuple[Attributes, Rulebook]]()
        for key, review in [*waiting.reviews.items()]:
            if review.kind == "offer":
                continue
            before = self._bases.get(review.id)
            asked = self.known(review.names) if before is None else before.known
            now_known = attributes_of(models, (each for each in models if each.id == review.model))
            asked = {name: now_known.get(name, each) for name, each in asked.items()}
            if before is not None:
                before = self._bases[review.id] = before._replace(known=asked)
            book = next((book for each, book in books if each == asked), None)
            if book is None:
                book = rules_on(policy, asked, models)
                books.append((asked, book))
            ruling = book.match(review.recipient, review.query, now.date())
            if before == self._basis(ruling)._replace(sent=self._sent[review.pool]):
                continue
            gone = unasked(self._state.preferences, ruling).intersection(review.names)
            if gone and ruling.pool == review.pool:  # else a verdict on it reports the change
                waiting = settled(waiting, review.id, gone)
            else:
                bare = changed(review, more_bits=None, people_left=None)
                waiting = replace(waiting, reviews={**waiting.reviews, key: bare})
        return waiting

    def _basis(self, ruling: Ruling) -> _Basis:
        """Return what the figures of a review under a ruling depend on now."""
        free = unasked(self._state.preferences, ruling)
        attributes = {
            name: ({key: each.value for key, each in verdicts.items()}, name in free)
            for name, verdicts in ruling.attributes.items()
        }
        settings = {key: each.value for key, each in ruling.settings.items()}
        return _Basis(ruling.known, settings, attributes, self._sent[ruling.pool])

"""The screen of requests, with the user's decisions on what waits and what left."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import ClassVar, TypeVar

from textual.binding import BindingType

from agent.errors import UsageError
from agent.tui import actions
from agent.tui.action import keys
from agent.tui.dialogs import Choice
from agent.tui.screens.requests_list import key_of, with_it
from agent.tui.screens.requests_trial import (
    ALWAYS,
    ONCE,
    Ruling,
    Span,
    Trial,
    change,
    listed,
    outcome,
    overrides,
    rulings,
    settled,
    spans,
    tells,
    verdict,
    whom,
)
from agent.tui.screens.requests_view import Board
from agent.tui.virtual_list import Listing
from agent.wire.policy import Review, Ruled

T = TypeVar("T")
NO_REVIEW = ("nothing waits here", "space tries an attribute, then a or o makes that hold")
NO_ROW = ("no attribute is chosen", "open a request with Enter, and move to one")
NO_CHANGE = ("nothing is tried yet", "space tries the attribute under the cursor the other way")
LEAVE = "Leave it as it is"
OFFER = ("what a recipient can use is settled for good or for some days", "press a, d or c")


class Requests(Board):
    """What waits and what left, and what is said of it."""

    BINDINGS: ClassVar[list[BindingType]] = [*keys(actions.REQUESTS)]

    def on_listing_chosen(self, event: Listing.Chosen) -> None:
        """Open what is clicked, or try it the other way."""
        if event.listing.id == "first":
            self.action_open()
        else:
            self.action_switch()

    def action_open(self) -> None:
        """Look into what is under the cursor; in the detail: choose for how long."""
        self._checked(self.action_choose if self.inside() else self.open)

    def action_switch(self) -> None:
        """Try the attribute under the cursor the other way."""
        self._checked(self._switch)

    def action_reset(self) -> None:
        """Try nothing any more."""
        trial = self.detail.reset()
        if trial is not None:
            self.weigh(trial)

    def action_always(self) -> None:
        """Let what waits leave for good, or make what is tried hold."""
        self._checked(partial(self._say_yes, ALWAYS))

    def action_once(self) -> None:
        """The same with the next request only."""
        self._checked(partial(self._say_yes, ONCE))

    def action_deny(self) -> None:
        """Keep what waits for good."""
        self._checked(lambda: self._rule(self._review(), Ruling("deny", ALWAYS)))

    def action_deny_once(self) -> None:
        """Keep what waits out of the next request."""
        self._checked(lambda: self._rule(self._review(), Ruling("deny", ONCE)))

    def action_put_aside(self) -> None:
        """Take what waits off the list."""
        self._checked(lambda: self.do(partial(self._dismiss, self._review())))

    def action_approve_all(self) -> None:
        """Let all that waits from this recipient leave, once or always."""
        self._checked(self._approve_all)

    def action_choose(self) -> None:
        """Choose for how long, and for whom."""
        self._checked(self._choose)

    # how it does that

    def _checked(self, doing: Callable[[], None]) -> None:
        """Do something, or say why it cannot be done."""
        try:
            doing()
        except UsageError as error:
            self.review.say(error)

    def _review(self) -> Review:
        subject = self.subject()
        if not isinstance(subject, Review):
            raise UsageError(*NO_REVIEW)
        return subject

    def _switch(self) -> None:
        name = self.detail.row() if self.inside() else None
        if name is None:
            raise UsageError(*NO_ROW)
        trial = self.detail.switch(name)
        if trial is not None:
            self.weigh(trial)

    def _say_yes(self, span: Span) -> None:
        subject = self.subject()
        if not self.inside() and isinstance(subject, Review):
            self._rule(subject, Ruling("approve", span))
            return
        self._hold(span)

    def _hold(self, span: Span) -> None:
        """Make what is tried hold."""
        self.do(partial(self._settle, self._tried(), span))

    def _tried(self) -> Trial:
        """Return the request in detail with what is tried on it; UsageError where nothing is."""
        trial = self.detail.trial
        if trial is None or not self.inside():
            raise UsageError(*NO_ROW)
        if not trial.change and not isinstance(trial.subject, Review):
            raise UsageError(*NO_CHANGE)
        return trial

    def _choose(self) -> None:
        subject = self.subject()
        if isinstance(subject, Review):
            asked = f"May {listed(subject.names)} leave to {whom(subject)}?"
            self._ask(asked, rulings(subject), partial(self._rule, subject))
        else:
            asked = f"{change(self._tried().change)}, to {whom(subject)}: how long, for whom?"
            self._ask(asked, spans(subject.recipient), self._hold)

    def _approve_all(self) -> None:
        subject = self.subject()
        if not isinstance(subject, Review):
            self._choose()
            return
        found = with_it(self.waits, subject)
        names = listed(dict.fromkeys(name for each in found for name in each.names))
        asked = f"Let all that waits from {whom(subject)} leave ({len(found)}): {names}?"
        answers = [("Once, with the next request", ONCE), ("Always", ALWAYS)]
        self._ask(asked, answers, lambda span: self.do(partial(self._rule_all, found, span)))

    def _ask(
        self, question: str, answers: Sequence[tuple[str, T]], take: Callable[[T], None]
    ) -> None:
        """Ask, and do what is chosen, if anything is; Enter alone changes nothing."""

        def chosen(answer: T | None) -> None:
            if answer is not None:
                self._checked(partial(take, answer))

        nothing: tuple[str, T | None] = (LEAVE, None)
        self.app.push_screen(Choice[T | None](question, [nothing, *answers]), chosen)

    def _rule(self, review: Review, ruling: Ruling) -> None:
        if review.kind == "offer" and ruling.span == ONCE:
            raise UsageError(*OFFER)
        self.do(partial(self._rule_all, [review], ruling.span, ruling))

    async def _rule_all(
        self, reviews: Sequence[Review], span: Span, ruling: Ruling | None = None
    ) -> None:
        """Say the same of all of them; an offer is not settled by a word for once."""
        word = ruling or Ruling("approve", span)
        for each in reviews:
            if each.kind == "ask" or span != ONCE:
                await self._verdict(each, word, each.names)
        self._done(reviews)

    async def _verdict(self, review: Review, ruling: Ruling, names: Sequence[str]) -> None:
        message = verdict(review, ruling, names)
        ruled: Ruled = await self.review.link.call("verdict", message, attended=True, id=review.id)
        self.review.tell(outcome(settled(review, ruling, names), ruled))

    async def _settle(self, trial: Trial, span: Span) -> None:
        """Make a change hold: what waits is ruled on, the rest is the user's own word."""
        subject, words = trial.subject, overrides(trial, span)
        names = trial.approved()
        if isinstance(subject, Review) and names:
            if subject.kind == "offer" and span == ONCE:
                raise UsageError(*OFFER)
            await self._verdict(subject, Ruling("approve", span), names)
        elif not words:
            raise UsageError(*NO_CHANGE)
        for each in words:
            ruled: Ruled = await self.review.link.call("override", each, attended=True)
            self.review.tell(outcome(tells(each), ruled))
        if isinstance(subject, Review):
            self._done([subject])
        else:
            self.action_reset()

    async def _dismiss(self, review: Review) -> None:
        await self.review.link.call("dismiss", attended=True, id=review.id)
        self.review.tell("Off the list; nothing is ruled.")
        self._done([review])

    def _done(self, reviews: Sequence[Review]) -> None:
        """Go on with what comes after that which is settled."""
        gone = {each.id for each in reviews}
        under = self.listing.under
        if isinstance(under, Review) and under.id in gone:
            following = self.listing.beside()
            if following is not None:
                self.listing.put(key_of(following))
        if self.inside():
            self.close()
        self.look()

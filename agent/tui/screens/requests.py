"""The screen of requests, with the user's decisions about what waits and what was sent."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from agent.errors import UsageError
from agent.tui.dialogs import Choice
from agent.tui.screens.requests_list import (
    key_of,
    with_it,
)
from agent.tui.screens.requests_trial import (
    ALWAYS,
    ONCE,
    Ruling,
    Span,
    Trial,
    overrides,
    result,
    rulings,
    spans,
    verdict,
)
from agent.tui.screens.requests_view import RequestsView
from agent.tui.virtual_list import Listing
from agent.wire.policy import Review, Ruled
from agent.words.figures import listed
from agent.words.notices import overridden, settled, whom
from agent.words.titles import titled

NO_REVIEW = ("nothing waits here", "space tries an attribute, then a or o makes that hold")
NO_ROW = ("no attribute chosen", "open a request with Enter, and move to an attribute")
NO_CHANGE = ("nothing tried yet", "space tries the attribute under the cursor the other way")
LEAVE = "Leave it as it is"
OFFER = ("an offer cannot be settled for one request", "press a, d or c")
T = TypeVar("T")


class RequestsScreen(RequestsView, where="requests"):
    """What waits and what was sent, and the user's decisions about it."""

    def on_listing_chosen(self, event: Listing.Chosen) -> None:
        """Open what is clicked, or try it the other way."""
        if event.listing.id == "first":
            self.action_open()
        else:
            self.action_switch()

    def action_open(self) -> None:
        """Look into what is under the cursor; in the detail: choose for how long."""
        if self.inside() and self.detail.folds:
            self.detail.unfold()
        else:
            self._checked(self._choose if self.inside() else self.open)

    def action_switch(self) -> None:
        """Try the attribute under the cursor the other way, or unfold the others."""
        if self.inside() and self.detail.folds:
            self.detail.unfold()
            return
        name = self.detail.row() if self.inside() else None
        trial = None if name is None else self.detail.switch(name)
        if trial is not None:
            self.weigh(trial)
        elif name is None:
            self.review.say(UsageError(*NO_ROW))

    def action_only_figures(self) -> None:
        """Show the figures behind the detail, or hide them."""
        self.detail.toggle_figures()

    def action_reset(self) -> None:
        """Try nothing any more."""
        trial = self.detail.reset()
        if trial is not None:
            self.weigh(trial)

    def action_always(self) -> None:
        """Let what waits be sent from now on, or make what is tried hold."""
        self._checked(partial(self._say_yes, ALWAYS))

    def action_once(self) -> None:
        """The same with the next request only."""
        self._checked(partial(self._say_yes, ONCE))

    def action_deny(self) -> None:
        """Withhold what waits from now on."""
        self._checked(lambda: self._rule(self._review(), Ruling("deny", ALWAYS)))

    def action_deny_once(self) -> None:
        """Withhold what waits from the next request."""
        self._checked(lambda: self._rule(self._review(), Ruling("deny", ONCE)))

    def action_put_aside(self) -> None:
        """Take what waits off the list."""
        self._checked(lambda: self.do(partial(self._dismiss, self._review())))

    def action_approve_all(self) -> None:
        """Approve all that waits for this recipient, once or always."""
        self._checked(self._approve_all)

    def action_choose(self) -> None:
        """Choose for how long, and for whom."""
        self._checked(self._choose)

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

    def _say_yes(self, span: Span) -> None:
        subject = self.subject()
        if not self.inside() and isinstance(subject, Review):
            self._rule(subject, Ruling("approve", span))
        else:
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
            names = listed(titled(subject.names, self._titles))
            asked = f"Send {names} to {whom(subject)}?"
            self._ask(asked, rulings(subject), partial(self._rule, subject))
        else:
            change = self._tried().change.said(self._titles)
            asked = f"{change}, to {whom(subject)}: for how long, and for whom?"
            self._ask(asked, spans(subject.recipient), self._hold)

    def _approve_all(self) -> None:
        subject = self.subject()
        if not isinstance(subject, Review):
            self._choose()
            return
        found = with_it(self.waits, subject)
        names = dict.fromkeys(name for each in found for name in each.names)
        asked = f"Send everything that waits for {whom(subject)}: "
        asked += f"{listed(titled(names, self._titles))}?"
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
        """Decide the same about all of them; an offer is not settled for one request."""
        for each in reviews:
            if each.kind == "ask" or span != ONCE:
                await self._verdict(each, ruling or Ruling("approve", span), each.names)
        self._done(reviews)

    async def _verdict(self, review: Review, ruling: Ruling, names: Sequence[str]) -> None:
        message = verdict(review, ruling, names)
        ruled: Ruled = await self.review.link.call("verdict", message, attended=True, id=review.id)
        self.review.tell(result(settled(review, message, self._titles), ruled))

    async def _settle(self, trial: Trial, span: Span) -> None:
        """Make a change hold: what waits is decided, the rest overrides the policy."""
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
            self.review.tell(result(overridden(each, self._titles), ruled))
        if isinstance(subject, Review):
            self._done([subject])
        else:
            self.action_reset()

    async def _dismiss(self, review: Review) -> None:
        await self.review.link.call("dismiss", attended=True, id=review.id)
        self.review.tell("Removed from the list; nothing was decided.")
        self._done([review])

    def _done(self, reviews: Sequence[Review]) -> None:
        """Go on to the item after those that are settled."""
        gone = {each.id for each in reviews}
        under = self.listing.under
        if isinstance(under, Review) and under.id in gone:
            following = self.listing.beside()
            if following is not None:
                self.listing.put(key_of(following))
        if self.inside():
            self.close()
        self.look()

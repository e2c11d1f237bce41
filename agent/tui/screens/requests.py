"""The Requests screen: waiting and answered requests, and the user's decisions about them."""

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from typing import ClassVar

from msgspec.structs import replace
from textual.widget import Widget

from agent.decision.values import Reading
from agent.errors import UsageError
from agent.tui.dialogs import Choice
from agent.tui.list_page import ListPage, for_item
from agent.tui.screens import requests_view as view
from agent.tui.screens.requests_detail import Detail
from agent.tui.screens.requests_view import WAITING, Fold, Item, Subject, Trial
from agent.tui.virtual_list import Look
from agent.wire.base import MOST_ENTRIES
from agent.wire.decide import Ask
from agent.wire.policy import Lasting, Review, Ruled, Word
from agent.wire.state import Corrected, Entry, EventKind, ReadingEdit
from agent.words.figures import listed
from agent.words.notices import corrected, named_in, overridden, settled, took_effect, whom

LATEST = 1_000  # requests that are listed; `reticent requests list` has all
UNSEEN = ("the request was out of view", "it is shown now: press the key again")
NO_SUBJECT = ("no request is under the cursor, or it has left the list", "move to one first")
NO_REVIEW = ("nothing waits here", "space tries an attribute, then a or o makes that hold")
NO_ROW = ("no attribute chosen", "open a request with Enter, and move to an attribute")
NO_CHANGE = ("nothing tried yet", "space tries the attribute under the cursor the other way")
LEAVE = "Leave it as it is"
OFFER = ("an offer cannot be settled for one request", "press a or d, or open it with Enter")


class RequestsScreen(ListPage[Item], where="requests"):
    """Waiting and answered requests on one side, one of them in detail on the other."""

    concerns: ClassVar[frozenset[EventKind]] = frozenset(
        {"answer", "nothing", "review", "offer", "forget", "policy", "models"}
    )
    opens = True
    orders = (*view.ORDERS,)

    def __init__(self) -> None:
        super().__init__()
        self._past: Sequence[Entry] = ()
        self._waits: Sequence[Review] = ()
        self._unfolded = False  # whether all that waits is listed
        self._outdated = False  # whether other rules hold than when the detail was computed

    # rendering

    def beside(self) -> Widget:
        """Make the widget that shows a request in detail."""
        return Detail(self.review.environment.clock)

    def item_look(self) -> Look[Item]:
        """Say how requests are shown."""
        now = self.review.environment.clock
        return Look(
            key=view.key_of,
            lines=lambda item, width: view.lines(item, width, now(), self._titles),
            height=lambda item, _: 1 if isinstance(item, str | Fold) else 2,
            rests=lambda item: not isinstance(item, str),
        )

    @property
    def detail(self) -> Detail:
        """The request that is looked into."""
        return self.query_one(Detail)

    def items(self) -> Sequence[Item]:
        """List the waiting and the answered requests that pass the filter."""
        under, waits = self.listing.under, [each.id for each in reversed(self._waits)]
        at = waits.index(under.id) if isinstance(under, Review) and under.id in waits else 0
        shown = len(waits) if self._unfolded else max(WAITING, at + 1)  # never what is under it
        given = self._waits, self._past, self.text, self._titles
        return view.arranged(*given, order=self.order, shown=shown)

    def record(self, item: Item) -> Mapping[str, str]:
        """Name the cells of a request in a file."""
        if isinstance(item, str | Fold):
            return {}
        what, left = view.outcome(item, self._titles)
        at = item.at.isoformat(timespec="seconds")
        cells = {"time": at, "recipient": item.recipient, "request": item.query}
        return {**cells, "what happened": what, "people left": left.strip()}

    def draw(self) -> None:
        """Show the requests that pass the filter, and how many they are."""
        super().draw()
        count = sum(not isinstance(each, str | Fold) for each in self.listing.items)
        of = len(self._waits) + len(self._past)
        part = f"Only requests with these words: {count:,} of {of:,} · escape shows all"
        self.put_text("#headline", part if self.text.strip() else "")

    def clear(self) -> None:
        """Show no request, and keep none."""
        self._past = self._waits = ()
        self._unfolded = False
        self.detail.show(None)
        self.close()
        super().clear()

    def mask(self) -> None:
        """Show the values of the request in detail, or hide them."""
        if self.review.masked:
            self.detail.reveal({})
        else:
            self.do(self._reveal)

    # daemon calls

    def on_screen_resume(self) -> None:
        """Evaluate the detail anew: on another screen other rules may have been made."""
        self._outdated = True

    def happened(self, kind: EventKind) -> None:
        """Renew the screen, also the detail where other rules may hold."""
        self._outdated |= kind in ("policy", "models", "review", "forget")
        super().happened(kind)

    async def renew(self) -> None:
        """Show what waits, and what was answered."""
        call = self.review.link.call
        waits, past = await asyncio.gather(call("reviews"), call("requests", limit=LATEST))
        titles = await self.review.titles()
        if not self.review.reachable:
            return
        self._waits, self._past, self._titles = waits, past, titles
        self.detail.titles = titles
        self.draw()
        if self._outdated:
            self.weigh(self.detail.trial, attended=False)

    def weigh(self, trial: Trial | None, *, attended: bool = True) -> None:
        """Ask what a change would do, and show it; the answer to an earlier question is dropped."""
        if trial is not None:
            self._outdated = False
            self.do(partial(self._weighed, trial, attended=attended), "weigh", exclusive=True)

    async def _weighed(self, trial: Trial, *, attended: bool) -> None:
        ask, weighed = view.question(trial), None
        if ask is not None:
            weighed = await self.review.link.call("whatif", ask, attended=attended)
        if self.review.reachable:
            self.detail.show(Trial(trial.subject, trial.change, weighed))
            if not self.review.masked:
                await self._reveal()

    async def _reveal(self) -> None:
        """Show the values that were sent with the request in detail."""
        trial = self.detail.trial
        subject = None if trial is None else trial.subject
        if not isinstance(subject, Entry) or subject.kind != "disclosed":
            return
        asked = {"recipient": subject.recipient, "after": subject.number - 1}
        entries: Sequence[Entry] = await self.ask("ledger", **asked, limit=MOST_ENTRIES)
        entry = next((each for each in entries if each.number == subject.number), None)
        if entry is not None and not self.review.masked and self.detail.trial is trial:
            self.detail.reveal(entry.values)

    # navigation

    def inside(self) -> bool:
        """Say whether keys apply to the detail."""
        return self.has_class("opened") or self.focused is self.detail.rows

    def chosen_item(self) -> Subject:
        """Find the request that keys apply to; UsageError without one in view."""
        trial = self.detail.trial
        under = trial.subject if trial is not None and self.inside() else self.listing.under
        if under is None or isinstance(under, str | Fold):
            raise UsageError(*NO_SUBJECT)
        if not self.inside() and not self.listing.seen:
            self.listing.bring_into_view()
            raise UsageError(*UNSEEN)
        return under

    def follow(self) -> None:
        """Let the detail follow where both stand side by side."""
        under = self.listing.under
        if isinstance(under, Review | Entry) and self.has_class("-wide") and not self.inside():
            self.weigh(view.begun(under))

    def on_listing_chosen(self) -> None:
        """Open what is clicked."""
        self.action_open()

    def action_open(self) -> None:
        """Look into what is under the cursor, or list all that waits."""
        if isinstance(self.listing.under, Fold) and not self.inside():
            self._unfolded = True
            self.draw()
            self.listing.action_move(1)  # to the first that was hidden
        else:
            self._open()

    @for_item
    async def _open(self, subject: Subject) -> None:
        """Look into what is under the cursor; in the detail: unfold, or choose for how long."""
        trial = self.detail.trial
        if self.inside() and self.detail.folds:
            self.detail.unfold()
        elif self.inside():
            await self._choose(subject)
        else:
            if trial is None or trial.subject != subject:
                self.detail.show(view.begun(subject))
                self.weigh(view.begun(subject))
            self.add_class("opened")
            self.call_after_refresh(self.detail.rows.focus)

    def action_switch(self) -> None:
        """Try the attribute under the cursor the other way, or unfold the others."""
        name = self.detail.row() if self.inside() else None
        if self.inside() and self.detail.folds:
            self.detail.unfold()
        elif name is None:
            self.review.say(UsageError(*NO_ROW))
        else:
            self.weigh(self.detail.switch(name))

    def action_reset(self) -> None:
        """Try nothing any more."""
        self.weigh(self.detail.reset())

    # the user's decisions

    @for_item
    async def action_decide(self, subject: Subject, decided: str, lasting: Lasting) -> None:
        """Approve or deny what waits, for good or once; in the detail, apply what is tried."""
        verdict = Word(disclose="auto" if decided == "approve" else "never", lasting=lasting)
        if decided == "deny" or (isinstance(subject, Review) and not self.inside()):
            await self._rule(verdict, subject)
        else:
            await self._hold(verdict)

    async def _choose(self, subject: Subject) -> None:
        """Ask for how long, and for whom; Enter alone changes nothing."""
        if isinstance(subject, Review):
            question = f"Send {listed(named_in(subject, self._titles))} to {whom(subject)}?"
        else:
            change = self._tried().change.text(self._titles)
            question = f"{change}, to {whom(subject)}: for how long, and for whom?"
        answers = [(LEAVE, None), *view.choices(subject)]
        picked = await self.review.push_screen_wait(Choice[Word | None](question, answers))
        if picked is not None and isinstance(subject, Review):
            await self._rule(picked, subject)
        elif picked is not None:
            await self._hold(picked)

    async def _rule(self, verdict: Word, subject: Subject) -> None:
        """Decide about a review."""
        if not isinstance(subject, Review):
            raise UsageError(*NO_REVIEW)
        await self._settle(verdict, subject, subject.names)
        self._done(subject)

    async def _settle(self, verdict: Word, review: Review, names: Sequence[str]) -> None:
        """Decide about a review as it was shown, or about some names of it.

        An offer is not settled for one request.
        """
        if review.kind == "offer" and verdict.lasting == "once":
            raise UsageError(*OFFER)
        message = replace(verdict, names=[*names] or None, recipient=review.pool)
        ruled: Ruled = await self.ask("verdict", message, id=review.id)
        self._tell(settled(review, message, self._titles), ruled)

    def _tell(self, sentence: str, ruled: Ruled) -> None:
        """Show a decision, where it was written, and which rules still win."""
        self.review.tell("\n".join([sentence, *took_effect(ruled, "your policy", self._titles)]))

    def _tried(self) -> Trial:
        """Find the request in detail and the change tried on it; UsageError without one."""
        trial = self.detail.trial
        if trial is None or not self.inside():
            raise UsageError(*NO_ROW)
        if not trial.change and not isinstance(trial.subject, Review):
            raise UsageError(*NO_CHANGE)
        return trial

    async def _hold(self, verdict: Word) -> None:
        """Apply what is tried: decide what waits, and override the policy for the rest."""
        trial = self._tried()
        subject, names = trial.subject, trial.approved()
        words = view.overrides(trial, verdict)
        if isinstance(subject, Review) and (names or subject.address or subject.topic):
            await self._settle(verdict, subject, names)
        elif not words:
            raise UsageError(*NO_CHANGE)
        for each in words:
            ruled: Ruled = await self.ask("override", each)
            self._tell(overridden(each, self._titles, whom(subject)), ruled)
        if isinstance(subject, Review):
            self._done(subject)
        else:
            self.action_reset()

    @for_item
    async def action_not_that(self, subject: Subject) -> None:
        """Record that its text was misread."""
        await self._correct(view.correction(subject))

    @for_item
    async def action_means(self, subject: Subject) -> None:
        """Ask what its text means, the likeliest topics first; Escape changes nothing."""
        edit = view.correction(subject)
        asked = Ask(query=subject.query, recipient=subject.recipient)
        topics: Sequence[Reading] = await self.ask("topics", asked)
        answers = [(each.title, each.query) for each in topics]
        question = Choice(f"What does “{subject.query}” mean?", answers, None, find=True)
        topic = await self.review.push_screen_wait(question)
        if topic is not None:
            await self._correct(replace(edit, topic=topic))

    async def _correct(self, edit: ReadingEdit) -> None:
        answer: Corrected = await self.ask("correct", edit)
        self.review.tell(corrected(answer, edit))

    @for_item
    async def action_put_aside(self, subject: Subject) -> None:
        """Take what waits off the list."""
        if not isinstance(subject, Review):
            raise UsageError(*NO_REVIEW)
        await self.ask("dismiss", id=subject.id)
        self.review.tell("Removed from the list; nothing was decided.")
        self._done(subject)

    def _done(self, review: Review) -> None:
        """Go on to the item after one that is settled."""
        self._unfolded = True
        under, following = self.listing.under, self.listing.following()
        if following is not None and under == review:
            self.listing.put(view.key_of(following))
        if self.inside():
            self.close()
        self.look()

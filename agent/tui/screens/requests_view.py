"""The list of requests and the detail beside it: what is shown, and moving about in it."""

import asyncio
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Input, Static

from agent.errors import UsageError
from agent.tui.page import Page
from agent.tui.screens.requests_detail import Detail
from agent.tui.screens.requests_list import (
    ONLY,
    Item,
    Subject,
    Title,
    Wanted,
    arranged,
    look,
    merged,
)
from agent.tui.screens.requests_trial import (
    Trial,
    begun,
    question,
)
from agent.tui.virtual_list import Listing
from agent.wire.base import MOST_ENTRIES
from agent.wire.policy import Review
from agent.wire.records import Entry, Handled
from agent.wire.state import EventKind
from agent.words.titles import Titles

LATEST = 200  # requests that are asked for once all are known
PAUSE = 0.08  # seconds that the cursor rests before the detail follows it
TYPED = 0.2  # seconds without a letter before the list follows what is typed
LONGEST = 200  # letters that are sought
TOOLTIP = (
    "The requests of your programs, the latest first; what waits for your approval on top. Enter "
    "shows why each fact was sent or not. ? waits, + sent facts, · sent nothing, ~ marked as "
    "having forgotten."
)
FIND = "Words that a request has: of its recipient, its query or its attributes."
NONE_YET = "No requests yet. They appear here once a browser or `reticent ask` makes one."
NONE_FITS = "No matches. Escape shows all again."
UNSEEN = ("the request was out of view", "it is shown now: press the key again")
NO_SUBJECT = ("no request chosen", "move to a request first")
GONE = ("the request under the cursor has left the list", "move to another one first")


class RequestsView(Page):
    """What waits and what left on one side, one of it in detail on the other."""

    concerns: ClassVar[frozenset[EventKind]] = frozenset(
        {"answer", "nothing", "review", "offer", "forget", "policy", "models"}
    )

    def __init__(self) -> None:
        super().__init__()
        self._past: dict[int, Handled] = {}
        self.waits: list[Review] = []
        self._wanted = Wanted()
        self._process: int | None = None  # the daemon that counted the requests
        self._titles: Titles = {}
        self._outdated = False  # whether other rules hold than when the detail was computed
        self._following: Timer | None = None
        self._typing: Timer | None = None

    # what is on the screen

    def body(self) -> ComposeResult:
        """Lay the list beside the detail, or where there is no room in its place."""
        with Horizontal(id="both"):
            with Vertical(id="side"):
                find = Input(
                    placeholder="recipient, query or attribute", id="find", max_length=LONGEST
                )
                find.tooltip = FIND
                yield find
                yield Static(id="filtered")
                yield Static(id="none")
                yield Listing[Item](
                    look(self._now, lambda: self._titles), id="first", tooltip=TOOLTIP
                )
            yield Detail(self._now)

    @property
    def listing(self) -> Listing[Item]:
        """The list."""
        return self.query_one("#first", Listing)

    @property
    def detail(self) -> Detail:
        """The request that is looked into."""
        return self.query_one(Detail)

    def clear(self) -> None:
        """Show no request, and keep none."""
        self._past, self.waits, self._wanted = {}, [], Wanted()
        self.query_one(Input).value = ""
        self.detail.show(None)
        self.close()
        self._draw()

    def mask(self) -> None:
        """Show the values of the request in detail, or hide them."""
        if self.review.masked:
            self.detail.reveal({})
        else:
            self.do(self._reveal)

    def _now(self) -> datetime:
        return self.review.environment.clock()

    def _draw(self) -> None:
        wanted = self._wanted
        items = arranged(self.waits, self._past.values(), wanted, self._titles)
        self.listing.show(items)
        none = self.query_one("#none", Static)
        none.display = not items
        none.update(Content(NONE_YET if wanted.everything else NONE_FITS))
        self.query_one("#find").display = self.query_one(Input).has_focus or bool(wanted.text)
        shown = self.query_one("#filtered", Static)
        shown.display = not wanted.everything
        count = sum(not isinstance(each, Title) for each in items)
        of = len(self.waits) + len(self._past)
        shown.update(Content(f"{wanted}: {count:,} of {of:,} · escape shows all"))

    # what the daemon says

    def on_screen_resume(self) -> None:
        """Weigh anew what is looked into: on another screen other rules may have been made."""
        self._outdated = True

    def happened(self, kind: EventKind) -> None:
        """Look again, also into the detail where other rules may hold."""
        self._outdated |= kind in ("policy", "models", "review", "forget")
        super().happened(kind)

    async def renew(self) -> None:
        """Show what waits and what was answered since."""
        call, status = self.review.link.call, self.review.state.status
        process = None if status is None else status.process
        known = self._past if process == self._process else {}
        most = LATEST if known else MOST_ENTRIES
        attributes, waits, latest = await asyncio.gather(
            call("attributes"), call("reviews"), call("requests", limit=most)
        )
        past = merged(known, latest) if known else None
        if known and past is None:
            latest = await call("requests", limit=MOST_ENTRIES)
        if not self.review.reachable:
            return
        self._past = {each.number: each for each in latest} if past is None else past
        self.waits, self._process = waits, process
        self._titles = {each.name: each.title for each in attributes}
        self._draw()
        if self._outdated and self.detail.trial is not None:
            self._outdated = False
            self.weigh(self.detail.trial, attended=False)

    def weigh(self, trial: Trial, *, attended: bool = True) -> None:
        """Ask what a change would do, and show it; the answer to what was asked before is late."""
        self.do(partial(self._weighed, trial, attended=attended), "weigh", exclusive=True)

    async def _weighed(self, trial: Trial, *, attended: bool) -> None:
        """Show a request with what is tried out on it."""
        ask, weighed = question(trial), None
        if ask is not None:
            weighed = await self.review.link.call("whatif", ask, attended=attended)
        if not self.review.reachable:
            return
        self.detail.show(Trial(trial.subject, trial.change, weighed))
        if not self.review.masked:
            await self._reveal()

    async def _reveal(self) -> None:
        """Show the values that left with the request in detail."""
        trial = self.detail.trial
        subject = None if trial is None else trial.subject
        if not isinstance(subject, Handled) or subject.kind != "disclosed":
            return
        found: Sequence[Entry] = await self.review.link.call(
            "ledger",
            recipient=subject.recipient,
            after=subject.number - 1,
            limit=MOST_ENTRIES,
            attended=True,
        )
        entry = next((each for each in found if each.number == subject.number), None)
        if entry is not None and not self.review.masked and self.detail.trial is trial:
            self.detail.reveal(entry.disclosed)

    # moving about

    def inside(self) -> bool:
        """Return whether the keys are meant for the detail."""
        return self.has_class("opened") or self.focused is self.detail.rows

    def subject(self) -> Subject:
        """Return what the keys are meant for; UsageError where there is none, or out of view."""
        trial = self.detail.trial
        under = trial.subject if trial is not None and self.inside() else self.listing.under
        if under is None or isinstance(under, Title):
            raise UsageError(*(GONE if self.listing.gone else NO_SUBJECT))
        if not self.inside() and not self.listing.seen:
            self.listing.bring()
            raise UsageError(*UNSEEN)
        return under

    def on_listing_moved(self, event: Listing.Moved) -> None:
        """Let the detail follow where both stand side by side."""
        if event.listing.id == "first" and self.has_class("-wide"):
            if self._following is not None:
                self._following.stop()
            self._following = self.set_timer(PAUSE, self._follow)

    def on_input_changed(self) -> None:
        """See only what has these words, once no more are typed."""
        if self._typing is not None:
            self._typing.stop()
        self._typing = self.set_timer(TYPED, self._sift)

    def on_input_submitted(self) -> None:
        """Go on in the list."""
        self._sift()
        self.listing.focus()

    def open(self) -> None:
        """Look into what is under the cursor."""
        subject, trial = self.subject(), self.detail.trial
        if trial is None or trial.subject != subject:
            self.detail.show(begun(subject))
            self.weigh(begun(subject))
        self.add_class("opened")
        self.call_after_refresh(self.detail.rows.focus)

    def close(self) -> None:
        """Go back to the list."""
        self.remove_class("opened")
        self.call_after_refresh(self.listing.focus)

    def action_only_find(self) -> None:
        """Ask for the words."""
        self.close()
        field = self.query_one(Input)
        field.display = True
        self.call_after_refresh(field.focus)

    def action_only_some(self) -> None:
        """See only a part, then the next."""
        every = [*ONLY]
        only = every[(every.index(self._wanted.only) + 1) % len(every)]
        self._see(Wanted(self._wanted.text, only))

    def action_only_back(self) -> None:
        """Back to the list; there, back to all of it."""
        if not self.inside():
            self.query_one(Input).value = ""
            self._see(Wanted())
        self.close()

    def _sift(self) -> None:
        """See only what has the words that are typed."""
        if self._typing is not None:
            self._typing.stop()
        self._see(Wanted(self.query_one(Input).value, self._wanted.only))

    def _see(self, wanted: Wanted) -> None:
        """See something else, from its first item on where less of it is to be seen."""
        other, self._wanted = wanted != self._wanted, wanted
        self._draw()
        if other and not wanted.everything:
            self.listing.first()

    def _follow(self) -> None:
        under = self.listing.under
        if under is not None and not isinstance(under, Title) and not self.inside():
            self.weigh(begun(under))

"""The screen of recipients: who was told what, and the user's decisions about them."""

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Input, Static

from agent.errors import DaemonError, ReticentError
from agent.tui.dialogs import Confirm
from agent.tui.page import Page
from agent.tui.screens.recipients_view import (
    Detail,
    Told,
    are,
    heads,
    look,
    matches,
    means,
    unblocked,
)
from agent.tui.virtual_list import Listing
from agent.wire.base import Done
from agent.wire.decide import Allow, Refuse
from agent.wire.records import Forget, Recipient
from agent.wire.state import EventKind
from agent.wire.what_if import Weighed, WhatIf
from agent.words.titles import Titles

PAUSE = 0.08  # seconds that the cursor rests before the detail follows it
TOOLTIP = (
    "Who knows anything about you, the latest first; how many people look like you to it, and how "
    "that number fell; × is blocked. Enter shows what it knows."
)
NONE_YET = "Nobody knows anything about you yet. Requests that send facts appear here."
NONE_FITS = "No matches. Escape shows all again."


class Heads(Static):
    """What stands in the columns of the list."""

    found: Sequence[Recipient] = ()

    def show(self, found: Sequence[Recipient]) -> None:
        """Say it of these recipients, or nothing of none."""
        self.found, self.display = found, bool(found)
        self.refresh()

    def render(self) -> Content:
        """Fit it to the width there is."""
        return Content(heads(self.found, self.content_size.width))


class RecipientsScreen(Page, where="recipients"):
    """Who knows what: a list, and one in detail."""

    concerns: ClassVar[frozenset[EventKind]] = frozenset(
        {"answer", "forget", "policy", "models", "offer"}
    )

    def __init__(self) -> None:
        super().__init__()
        self._all: Sequence[Recipient] = ()
        self._titles: Titles = {}
        self._following: Timer | None = None

    def body(self) -> ComposeResult:
        """Lay the list beside the detail, or where there is no room in its place."""
        with Horizontal(id="whole"):
            with Vertical(id="list"):
                yield Input(placeholder="a name, an attribute, or blocked", id="find")
                yield Heads(id="heads")
                yield Listing[Recipient](look(lambda: self._titles), id="first", tooltip=TOOLTIP)
                yield Static(id="none")
            yield Detail()

    @property
    def listing(self) -> Listing[Recipient]:
        """The list."""
        return self.query_one("#first", Listing)

    @property
    def detail(self) -> Detail:
        """The recipient that is looked into."""
        return self.query_one(Detail)

    # what is on the screen

    def clear(self) -> None:
        """Show nobody, and keep nobody."""
        self._all = ()
        self.query_one(Input).value = ""
        self._show(None)
        self.remove_class("opened", "finding")
        self._draw()

    def on_resize(self) -> None:
        """Show the detail where there is room now."""
        if self.detail.pool is None:
            self.call_after_refresh(self._look_into, attended=False)

    def mask(self) -> None:
        """Show the values that a recipient holds, or hide them."""
        if self.review.masked:
            self.detail.mask(self.review.environment.clock().tzinfo)
        else:
            self._look_into(attended=True)

    def _draw(self) -> None:
        text = self.query_one(Input).value
        found = [each for each in self._all if matches(each, text, self._titles)]
        self.listing.show(found)
        self.listing.display = bool(found)
        self.query_one(Heads).show(found)
        none = self.query_one("#none", Static)
        none.display = not found
        none.update(Content(NONE_FITS if self._all else NONE_YET))

    def _show(self, told: Told | None) -> None:
        zone = self.review.environment.clock().tzinfo
        self.detail.show(told, zone, masked=self.review.masked)

    # what the daemon says

    async def renew(self) -> None:
        """Show who was told anything, and look again into the one that is looked into."""
        call = self.review.link.call
        found, attributes = await asyncio.gather(call("recipients"), call("attributes"))
        if self.review.reachable:
            self._all = found
            self._titles = {each.name: each.title for each in attributes}
            self._draw()
            self._look_into(attended=False)

    def _look_into(self, *, attended: bool) -> None:
        """Ask all about the one under the cursor; the answer about another is late."""
        under, seen = self.listing.under, self.has_class("-wide") or self.has_class("opened")
        if under is not None and seen:
            self.do(partial(self._looked_into, under, attended=attended), "into", exclusive=True)

    async def _looked_into(self, one: Recipient, *, attended: bool) -> None:
        call = self.review.link.call
        held = await call("knowledge", recipient=one.pool, attended=attended)
        known = await call("attributes", recipient=one.sites[0], attended=attended)
        weighed = await self._weighed(one, attended=attended)
        if self.review.reachable:
            titles = {each.name: each.title for each in known}
            self._show(Told(one, held, weighed, titles))

    async def _weighed(self, one: Recipient, *, attended: bool) -> Weighed | str:
        """Return what one more attribute would do, or why nobody can say."""
        ask = WhatIf(recipient=one.sites[0])
        try:
            found: Weighed = await self.review.link.call("whatif", ask, attended=attended)
        except DaemonError:
            raise
        except ReticentError as error:
            return f"The effect of one more attribute is not known: {error} ({error.hint})."
        return found

    # moving about

    def on_listing_moved(self, event: Listing.Moved) -> None:
        """Let the detail follow, once the cursor rests."""
        event.stop()
        if self._following is not None:
            self._following.stop()
        follow = partial(self._look_into, attended=self.detail.pool is not None)
        self._following = self.set_timer(PAUSE, follow)

    def on_listing_chosen(self, event: Listing.Chosen) -> None:
        """Open what is clicked."""
        event.stop()
        self.action_knows()

    def on_input_changed(self) -> None:
        """See only who has these words."""
        self._draw()

    def on_input_submitted(self) -> None:
        """Go on in the list."""
        self.listing.focus()
        if self.listing.under is None:
            self.listing.action_edge(1)

    def action_knows(self) -> None:
        """Look into the recipient under the cursor."""
        if self.listing.under is not None:
            self.add_class("opened")
            self.detail.focus()
            if self.detail.pool != self.listing.under.pool:
                self._show(None)
                self._look_into(attended=True)

    def action_whatif(self) -> None:
        """Look at what one more attribute would do."""
        self.action_knows()
        self.call_after_refresh(self.detail.to_more)

    def action_only_find(self) -> None:
        """Ask for the words."""
        self.remove_class("opened")
        self.add_class("finding")
        self.query_one(Input).focus()

    def action_only_back(self) -> None:
        """Back to the list; there, back to all of it."""
        if not self.has_class("opened"):
            self.query_one(Input).value = ""
            self.remove_class("finding")
        self.remove_class("opened")
        self.listing.focus()

    def action_requests(self) -> None:
        """List the requests of the recipient under the cursor; of a group, of all its sites."""
        under = self.listing.under
        if under is not None:
            self.do(partial(self._list_requests, under.pool))

    async def _list_requests(self, pool: str) -> None:
        await self.review.switch_mode("requests")
        self.review.screen.query_one("#find", Input).value = pool

    def action_forget(self) -> None:
        """Ask whether it forgot."""
        under = self.listing.under
        if under is not None:
            yes = f"{under.pool} can no longer link it"
            self.app.push_screen(
                Confirm(means(under.pool), yes), partial(self._take_forgotten, under.pool)
            )

    def _take_forgotten(self, pool: str, answer: bool | None) -> None:  # noqa: FBT001  (what Textual hands over)
        if answer:
            self.do(partial(self._forget, pool))

    async def _forget(self, pool: str) -> None:
        stated: Done = await self.review.link.call("forget", Forget(recipient=pool), attended=True)
        done = "is now assumed to know" if stated.done else "already knew"
        self.review.tell(f"{pool} {done} nothing about you.")

    def action_block(self) -> None:
        """Give it nothing any more, or treat it like others again."""
        under = self.listing.under
        if under is not None:
            self.do(partial(self._allow if under.blocked else self._refuse, under))

    def action_unblock(self) -> None:
        """Treat it like others again."""
        under = self.listing.under
        if under is not None:
            self.do(partial(self._allow, under))

    async def _refuse(self, one: Recipient) -> None:
        for site in one.sites:
            await self.review.link.call("refuse", Refuse(recipient=site), attended=True)
        self.review.tell(f"{are(one.sites)} blocked and will be sent nothing. b unblocks.")
        self.soon()

    async def _allow(self, one: Recipient) -> None:
        call = self.review.link.call
        done = [await call("allow", Allow(recipient=site), attended=True) for site in one.sites]
        self.review.tell(unblocked(one.sites, done))
        self.soon()

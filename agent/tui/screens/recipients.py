"""The screen of recipients: what each was sent, and the user's decisions about them."""

from collections.abc import Sequence
from functools import partial
from typing import ClassVar

from msgspec.structs import replace
from rich.console import Group
from textual.containers import VerticalScroll
from textual.widget import Widget
from textual.widgets import Input, Static

from agent.errors import DaemonError, ReticentError
from agent.tui.dialogs import Confirm
from agent.tui.list_page import ListPage, for_item
from agent.tui.screens.recipients_view import (
    Findings,
    added,
    are,
    forgetting,
    headline,
    heads,
    knowledge,
    lines,
    matches,
    unblocked,
)
from agent.tui.virtual_list import Look
from agent.wire.base import Done
from agent.wire.decide import Allow, Refuse
from agent.wire.records import Forget, Held, Recipient
from agent.wire.state import EventKind
from agent.wire.what_if import Weighed, WhatIf
from agent.words.titles import Titles

TOOLTIP = (
    "What this recipient knows about you, and how many people look like that to it. w shows what "
    "one more attribute would do, m shows your values."
)


class RecipientsScreen(ListPage[Recipient], where="recipients"):
    """Who knows what: a list, and one in detail."""

    concerns: ClassVar[frozenset[EventKind]] = frozenset(
        {"answer", "forget", "policy", "models", "offer"}
    )
    opens = True
    sought = "a name, an attribute, or blocked"
    tooltip_list = (
        "Who knows anything about you, the latest first; how many people in the model look like "
        "you to it, and how that number fell; × is blocked. Enter shows what it knows."
    )
    none_yet = "Nobody knows anything about you yet. Requests that send facts appear here."

    def __init__(self) -> None:
        super().__init__()
        self._all: Sequence[Recipient] = ()
        self._titles: Titles = {}
        self._wants_more = False
        self.findings: Findings | None = None

    def beside(self) -> Widget:
        """Return what shows a recipient, and below, on demand, what one more fact would do."""
        detail = VerticalScroll(Static(id="known"), Static(id="more"), id="detail")
        detail.tooltip = TOOLTIP
        return detail

    def item_look(self) -> Look[Recipient]:
        """Return how recipients are shown."""
        return Look(
            key=lambda each: each.pool,
            lines=lambda each, width: lines(each, width, self._titles),
            height=lambda _item, _width: 2,
        )

    def items(self) -> Sequence[Recipient]:
        """Return who has the words that are sought."""
        return [each for each in self._all if matches(each, self.text, self._titles)]

    # what is on the screen

    def draw(self) -> None:
        """Show the recipients that fit, and above them whose people the numbers count."""
        super().draw()
        self.put_text("#headline", headline(self._all))
        self.on_listing_resized()

    def on_listing_resized(self) -> None:
        """Show the titles of the columns, and the detail where there is room now."""
        width = self.listing.scrollable_content_region.width
        self.put_text("#heads", heads(self._all, width) if self._all else "")
        if self.findings is None and self._all:
            self.follow()

    def clear(self) -> None:
        """Show nobody, and keep nobody."""
        self._all = ()
        self.query_one(Input).value = ""
        self._show(None)
        self.remove_class("opened")
        self.draw()

    def mask(self) -> None:
        """Show the values that a recipient holds, or hide them."""
        if self.review.masked:
            self._show(self.findings)
        else:
            self._look_into(attended=True)

    def _show(self, findings: Findings | None) -> None:
        """Show a recipient, or none; values are kept only while they are seen."""
        masked, zone = self.review.masked, self.review.environment.clock().tzinfo
        if findings is not None and masked:
            held = replace(findings.held, values=dict.fromkeys(findings.held.values, ""))
            findings = findings._replace(held=held)
        pool = findings and findings.recipient.pool
        if pool != (self.findings and self.findings.recipient.pool):
            self._wants_more = False
            self.query_one("#detail").scroll_home(animate=False)
        self.findings = findings
        above, below = self.query_one("#known", Static), self.query_one("#more", Static)
        if findings is None:
            above.update("")
            below.update("")
            return
        above.update(Group(*knowledge(findings, zone, masked=masked)))
        below.update(added(findings.weighed))
        weighed = findings.weighed
        below.display = self._wants_more or isinstance(weighed, str) or not weighed.rows

    # what the daemon says

    async def renew(self) -> None:
        """Show who knows anything, and look again into the one that is looked into."""
        found = await self.review.link.call("recipients")
        titles = await self.review.titles()
        if self.review.reachable:
            self._all, self._titles = found, titles
            self.draw()
            self._look_into(attended=False)

    def follow(self) -> None:
        """Look into the one under the cursor."""
        self._look_into(attended=self.findings is not None)

    def _look_into(self, *, attended: bool) -> None:
        """Ask all about the one under the cursor; the answer about another is late."""
        under, seen = self.listing.under, self.has_class("-wide") or self.has_class("opened")
        if under is not None and seen:
            self.do(partial(self._looked_into, under, attended=attended), "into", exclusive=True)

    async def _looked_into(self, one: Recipient, *, attended: bool) -> None:
        call = partial(self.review.link.call, attended=attended)
        held: Held = await call("knowledge", recipient=one.pool)
        weighed: Weighed | str
        try:
            weighed = await call("whatif", WhatIf(recipient=one.sites[0]))
        except DaemonError:
            raise
        except ReticentError as error:
            weighed = f"The effect of one more attribute is not known: {error} ({error.hint})."
        if self.review.reachable:
            self._show(Findings(one, held, weighed, self._titles))

    # moving about

    def on_listing_chosen(self) -> None:
        """Open what is clicked."""
        self.action_knows()

    def action_knows(self) -> None:
        """Look into the recipient under the cursor."""
        under = self.listing.under
        if under is not None:
            self.add_class("opened")
            self.query_one("#detail").focus()
            if self.findings is None or self.findings.recipient.pool != under.pool:
                self._show(None)
                self._look_into(attended=True)

    def action_whatif(self) -> None:
        """Look at what one more attribute would do."""
        self.action_knows()
        more = self.query_one("#more", Static)
        self._wants_more = more.display = True
        detail = self.query_one("#detail")
        self.call_after_refresh(detail.scroll_to_widget, more, animate=False, top=True)

    @for_item
    async def action_requests(self, one: Recipient) -> None:
        """List the requests of the recipient under the cursor; of a group, of all its sites."""
        await self.app.switch_mode("requests")
        field = self.app.screen.query_one("#find", Input)
        field.value, field.display = one.pool, True

    # decisions

    @for_item
    async def action_forget(self, one: Recipient) -> None:
        """State that it has forgotten, after asking."""
        sure = Confirm(forgetting(one.pool), f"{one.pool} can no longer link it")
        if await self.review.push_screen_wait(sure):
            stated: Done = await self.ask("forget", Forget(recipient=one.pool))
            done = "is now assumed to know" if stated.done else "already knew"
            self.review.tell(f"{one.pool} {done} nothing about you.")

    @for_item
    async def action_block(self, one: Recipient) -> None:
        """Send it nothing any more, or treat it like others again."""
        if one.blocked:
            await self._unblock(one)
            return
        for site in one.sites:
            await self.ask("refuse", Refuse(recipient=site))
        self.review.tell(f"{are(one.sites)} blocked and will be sent nothing. b unblocks.")

    @for_item
    async def action_unblock(self, one: Recipient) -> None:
        """Treat it like others again."""
        await self._unblock(one)

    async def _unblock(self, one: Recipient) -> None:
        done = [await self.ask("allow", Allow(recipient=site)) for site in one.sites]
        self.review.tell(unblocked(one.sites, done))

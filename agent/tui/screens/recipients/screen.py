"""The screen: who was told anything, and what a person says of them."""

from functools import partial
from typing import ClassVar

from textual.binding import BindingType
from textual.widgets import Input

from agent.tui.actions import recipients
from agent.tui.actions.action import keys
from agent.tui.asked import Confirm
from agent.tui.screens.recipients.board import Board
from agent.tui.screens.recipients.outcome import blocked, forgotten, means, unblocked
from agent.wire.base import Done
from agent.wire.decide import Allow, Refuse
from agent.wire.records import Forget, Recipient


class Recipients(Board):
    """Who knows what, and the user's word on it."""

    BINDINGS: ClassVar[list[BindingType]] = [*keys(recipients.ACTIONS)]

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
        self.review.tell(forgotten(pool, stated))

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
        self.review.tell(blocked(one.sites))
        self.soon()

    async def _allow(self, one: Recipient) -> None:
        call = self.review.link.call
        done = [await call("allow", Allow(recipient=site), attended=True) for site in one.sites]
        self.review.tell(unblocked(one.sites, done))
        self.soon()

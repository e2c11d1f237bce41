"""What the vault keeps: the ledger, what recipients hold, the profile."""

import asyncio

from agent.daemon.calls.base import Base
from agent.daemon.calls.places import absolute
from agent.daemon.holdings import change, entries, forget, holding, opened
from agent.daemon.recipients import recipients
from agent.daemon.requested import requested
from agent.wire.base import Done
from agent.wire.records import (
    Changed,
    Entry,
    Forget,
    Handled,
    Held,
    Profile,
    ProfileChange,
    Recipient,
)
from agent.wire.state import Place


class Keeping(Base):
    """The vault's contents, for the user's own eyes."""

    def ledger(
        self, *, recipient: str | None = None, after: int = 0, limit: int | None = None
    ) -> list[Entry]:
        """Return the latest entries of the ledger, oldest first."""
        return entries(self._agent, recipient, after, limit)

    def knowledge(self, *, recipient: str) -> Held:
        """Return what a recipient or a group holds."""
        self._agent.look(self._clock())
        return holding(self._agent, recipient, self._clock())

    def forget(self, body: Forget) -> Done:
        """State that a recipient forgot; not done where it was never told anything."""
        done = forget(self._agent, body.recipient, self._clock())
        if done:
            self._agent.desk.ruled()
            self._agent.bus.publish("forget")
        return Done(done=done)

    def profile(self) -> Profile:
        """Return the user's values."""
        return Profile(values=opened(self._agent).profile.values())

    def change_profile(self, body: ProfileChange) -> Changed:
        """Change the user's values, all or nothing; or say what would change."""
        changed = change(self._agent, body, self._clock())
        if changed.done:
            self._agent.bus.publish("profile")
        return changed

    async def backup(self, body: Place) -> Done:
        """Copy the vault to a new file; others are answered meanwhile."""
        await asyncio.to_thread(opened(self._agent).backup, absolute(body))
        return Done()

    def requests(self, *, recipient: str | None = None, limit: int | None = None) -> list[Handled]:
        """Return the latest requests, oldest first."""
        self._agent.look(self._clock())
        return requested(self._agent, recipient, limit)

    def recipients(self) -> list[Recipient]:
        """Return who was told anything, the latest first."""
        now = self._clock()
        self._agent.look(now)
        return recipients(self._agent, now)

"""What stands on the screen while the vault is locked, or nobody is there: nothing."""

from functools import partial
from time import monotonic

from textual import events

from agent.tui.cover import Cover
from agent.tui.hearing import Hearing
from agent.tui.link import Link
from agent.tui.page import standing
from agent.tui.unlock import Unlocking
from agent.wire.state import Status

LOOKS = 5.0  # seconds between two looks at the clock
TOUCHES = 30.0  # seconds between two words to the daemon that a person is there


class Hiding(Hearing):
    """Hides what is private; ``idle``: seconds without a key until all is covered.

    ``masked``: whether the user's own values are hidden.
    """

    def __init__(self, link: Link, idle: float, *, ansi_color: bool | None) -> None:
        super().__init__(link, ansi_color=ansi_color)
        self.masked = True
        self._idle = idle
        self._touched = self._told = monotonic()

    def on_mount(self) -> None:
        """Look at the clock from time to time."""
        self.set_interval(min(LOOKS, self._idle / 4), self._look_at_clock)

    async def on_event(self, event: events.Event) -> None:
        """Note that somebody is there."""
        if isinstance(event, events.Key | events.MouseDown | events.Paste):
            self._touched = monotonic()
        await super().on_event(event)

    def cover(self) -> None:
        """Hide all that is private, until a key is pressed; values stay hidden then."""
        self.masked = True
        self._show_mask()
        if not isinstance(self.screen, Cover | Unlocking):
            self.push_screen(Cover())

    def hide(self) -> None:
        """Take everything private off all screens, and ask for the key."""
        self.masked = True
        for each in standing(self._screen_stacks.values()):
            each.clear()
        if not isinstance(self.screen, Unlocking):
            self.push_screen(Unlocking(), self._unlocked)

    def action_mask(self) -> None:
        """Show the user's values, or hide them."""
        self.masked = not self.masked
        self._show_mask()

    def _look_at_clock(self) -> None:
        """Cover all once nobody is there; tell the daemon if somebody is."""
        now = monotonic()
        if now - self._touched >= self._idle:
            self.cover()
        elif self.reachable and self._touched > self._told and now - self._told >= TOUCHES:
            self._told = now
            self.beside(partial(self.call_and_take, "status"))

    def _unlocked(self, status: Status | None) -> None:
        if status is not None:
            self.take(status)

    def _show_mask(self) -> None:
        """Hide the values on all screens, or show them on this one."""
        for each in standing(self._screen_stacks.values()):
            if self.masked or each is self.page():
                each.masked()

    async def _close_all(self) -> None:
        """End what runs beside the drawing before the screens go that it would draw on."""
        self.workers.cancel_all()
        self._idle = float("inf")  # nor is a screen covered that goes
        await super()._close_all()

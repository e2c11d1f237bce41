"""The screens as a test runs them: over a daemon's socket, without a terminal."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from textual.pilot import Pilot
from textual.worker import WorkerCancelled

from agent.tui.actions import Where
from agent.tui.app import IDLE, ReviewApp
from agent.tui.link import Link
from agent.tui.page import SOON, Environment, Page

QUIET = 2  # looks at which the screen is as before, further apart than two renewals
PATIENCE = 60.0  # seconds, for what takes a fraction of one
NOW = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
NOTHING = Environment(list, lambda _path, _line: None, lambda: NOW)  # is wrong, or edited
SMALL, USUAL, LARGE = (60, 20), (80, 24), (120, 40)  # columns and lines


class Running(NamedTuple):
    """The program, and what presses its keys."""

    app: ReviewApp
    pilot: Pilot[None]

    async def until(self, holds: Callable[[], Any]) -> None:
        """Wait until something holds."""
        end = time.monotonic() + PATIENCE
        while not holds():
            assert time.monotonic() < end, "it does not come to hold"
            await self.pilot.pause(0.02)
        await self.pilot.pause()

    async def go(self, where: Where) -> Page:
        """Go to a screen, and return it."""
        self.app.action_show(where)
        await self.until(lambda: getattr(self.app.screen, "where", "") == where)
        page = self.app.page()
        assert page is not None
        return page

    async def settled(self) -> None:
        """Wait until nothing is asked of the daemon, and the screen has stayed as it is."""
        before, same = "", 0
        async with asyncio.timeout(PATIENCE):
            while same < QUIET:
                await self.pilot.pause(SOON)
                with suppress(WorkerCancelled):  # a later one took its place
                    await self.app.workers.wait_for_complete()
                before, same = self.text(), same + 1 if self.text() == before else 0

    def text(self) -> str:
        """Return what stands on the screen, line by line."""
        width = self.app.size.width
        strips = self.app.screen._compositor.render_strips()  # noqa: SLF001  (what a terminal gets)
        return "\n".join(strip.text.ljust(width).rstrip() for strip in strips)

    def notes(self) -> str:
        """Return what was said in passing and is still shown, unwrapped."""
        return "\n".join(each.message for each in self.app._notifications)  # noqa: SLF001  (as said)


@asynccontextmanager
async def running(
    control: Path,
    size: tuple[int, int] = USUAL,
    *,
    start: Callable[[], None] = lambda: None,
    environment: Environment | None = None,
    idle: float = IDLE,
) -> AsyncIterator[Running]:
    """Yield the program over the daemon behind a control socket, once it has heard of it."""
    app = ReviewApp(Link(control, start), environment or NOTHING, idle)
    async with app.run_test(size=size, notifications=True) as pilot:
        shown = Running(app, pilot)
        await shown.until(lambda: app.state.status is not None and app.page() is not None)
        yield shown


def run(test: Any) -> None:  # noqa: ANN401  (a coroutine)
    """Run a test that is a coroutine."""
    asyncio.run(test)

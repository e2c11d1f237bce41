"""How the daemon is run, and when it ends."""

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

ENDS = (signal.SIGTERM, signal.SIGINT)
RELOADS = signal.SIGHUP


@dataclass(frozen=True, slots=True)
class Options:
    """How to run: ``listen``: a port of 127.0.0.1 for the query door, None for no such door.

    ``origins``: of the web pages that may ask there.
    """

    listen: int | None = None
    origins: tuple[str, ...] = ()


class Lifetime:
    """Whether the daemon is to end, or to read its files again; asked from signals and calls."""

    def __init__(self) -> None:
        self.over = False
        self._reload = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._woken = asyncio.Event()

    def end(self) -> None:
        """Let the daemon end."""
        self.over = True
        self._wake()

    def reload(self) -> None:
        """Let the daemon read its files again."""
        self._reload = True
        self._wake()

    async def until_over(self, reload: Callable[[], object]) -> None:
        """Wait for the end, and call ``reload`` whenever that is asked for."""
        self._loop = asyncio.get_running_loop()
        while not self.over:
            if self._reload:
                self._reload = False
                reload()
            self._woken.clear()
            if not (self.over or self._reload):
                await self._woken.wait()

    def _wake(self) -> None:
        """Wake the one who waits; a signal may come at any instruction of the event loop."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._woken.set)


@contextmanager
def lifetime() -> Iterator[Lifetime]:
    """Return what notes the signals, from here on: none of them interrupts what is being done.

    asyncio's own handlers would leave the time before and after its loop to chance.
    """
    life = Lifetime()

    def note(number: int, _frame: FrameType | None) -> None:
        if number == RELOADS:
            life.reload()
        else:
            life.end()

    before = {number: signal.signal(number, note) for number in (*ENDS, RELOADS)}
    try:
        yield life
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
